"""Elo after a sequential test: the usual estimate is too good when a test stopped on success.

The ratio of a test walks like a Brownian motion whose drift depends on the true strength. Its
outcomes are ordered from the quickest failure over the slowest verdicts to the quickest pass
(Siegmund 1978), and the estimate is the strength under which the outcome seen is the median one;
2.5 and 97.5 % give the interval. The walk's chances between two bounds solve the heat equation:
who never comes back, and a Fourier series for who is still on the way.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from tourney.ratings.gates import NORMALISED, Bounds
from tourney.ratings.rate import ELO
from tourney.ratings.sequences import GroupMean

__all__ = ("StoppedElo", "stopped_elo")

Scale = Literal["logistic", "normalised"]

WAVES = 1000
"""Terms of the series: enough for walks of a ten-thousandth of the time that a verdict takes."""

SEARCH = 6.0
"""How many standard errors an end of the interval may be from the plain estimate."""

FAR = 0.25
"""Standard deviations of a group's score between it and the claims, beyond which the ratio does
not walk as evenly as the estimate takes it to."""

OVERSHOT = 1.1
"""A ratio so many times its bound was not stopped there."""

LEVELS = (0.5, 0.975, 0.025)


class StoppedElo(NamedTuple):
    """How much better A is than B, given that a sequential test was looked at all the time."""

    elo: float
    """Logistic Elo under which the outcome is the median one."""
    low: float
    high: float
    """95 % interval."""
    superiority: float
    """How sure it is that A is better."""


class _Walk(NamedTuple):
    """A test's ratio as a Brownian motion from 0, seen after some groups."""

    scores: GroupMean
    variance: float
    """Of one group's score."""
    claims: tuple[float, float]
    """Scores of the two claims."""
    bounds: Bounds
    groups: float
    ratio: float

    def not_better(self, score: float) -> float:
        """Chance of an outcome no better than the one seen, were `score` the true mean."""
        low, high = self.claims
        variance = self.variance + (score - self.scores.mean) ** 2
        spread = (high - low) ** 2 / variance
        tilt = (score - (low + high) / 2) / (high - low)
        height = self.bounds.upper - self.bounds.lower
        return _left_of(
            self.ratio - self.bounds.lower, -self.bounds.lower, height, tilt, spread * self.groups
        )


def _left_of(end: float, start: float, height: float, tilt: float, time: float) -> float:
    """Chance to be absorbed at 0, or else to be below `end`, after `time`.

    A Brownian motion of variance 1 a unit of time and drift `tilt` from `start`, absorbed at 0 and
    at `height`.
    """
    waves = np.arange(1, WAVES + 1) * math.pi / height
    size = (tilt * np.sin(waves * end) - waves * np.cos(waves * end)) / (tilt**2 + waves**2)
    fading = -(waves**2 + tilt**2) * time / 2 + tilt * (end - start)
    rest = 2 / height * float((np.exp(fading) * size * np.sin(waves * start)).sum())
    return min(1.0, max(0.0, _ruin(start, height, tilt) + rest))


def _ruin(start: float, height: float, tilt: float) -> float:
    """Chance of ever being absorbed at 0."""
    if abs(tilt * height) < 1e-8:
        return 1 - start / height
    # Written for a drift away from 0, where nothing overflows; the other is its mirror image.
    if tilt < 0:
        return 1 - _ruin(height - start, height, -tilt)
    return (math.exp(-2 * tilt * start) - math.exp(-2 * tilt * height)) / -math.expm1(
        -2 * tilt * height
    )


def stopped_elo(
    scores: GroupMean,
    claims: tuple[float, float],
    bounds: Bounds,
    *,
    matches: int,
    scale: Scale = "normalised",
) -> StoppedElo | None:
    """Elo of group scores between 0 and 1 in a sequential test.

    None where the scores have no spread, where the ratio is far beyond a bound, because play went
    on then, and where the bots are so unequal that the walk is no Brownian motion.

    Args:
        scores: all groups until the test stopped, or until now.
        claims: Elo that is not good enough, and that is wanted, in `scale`.
        bounds: of the log-likelihood ratio.
        matches: of a group.
        scale: of the claims. The answer is in logistic Elo.
    """
    walk = _walk(scores, claims, bounds, matches, scale)
    if walk is None:
        return None
    error = math.sqrt(walk.variance / walk.groups)
    nothing = 1e-9
    low = max(nothing, scores.mean - SEARCH * error)
    high = min(1 - nothing, scores.mean + SEARCH * error)

    def at(level: float) -> float:
        """The score under which the outcome seen has so many worse ones."""
        if walk.not_better(low) <= level:
            return low
        if walk.not_better(high) >= level:
            return high
        return float(brentq(lambda score: walk.not_better(score) - level, low, high, xtol=1e-12))

    elo, least, most = (float(ELO) * float(logit(at(level))) for level in LEVELS)
    return StoppedElo(elo, least, most, walk.not_better(0.5))


def _walk(
    scores: GroupMean, claims: tuple[float, float], bounds: Bounds, matches: int, scale: Scale
) -> _Walk | None:
    if scores.groups < 2 or scores.sd == 0:
        return None
    variance = scores.sd**2 * (scores.groups - 1) / scores.groups
    if scale == "logistic":
        low, high = (float(expit(elo / ELO)) for elo in claims)
    else:
        low, high = (0.5 + elo / NORMALISED * math.sqrt(variance * matches) for elo in claims)
    a_group = (scores.mean - (low + high) / 2) * (high - low) / variance
    ratio = a_group * scores.groups
    if abs(scores.mean - (low + high) / 2) > FAR * math.sqrt(variance):
        return None
    if not OVERSHOT * bounds.lower <= ratio <= OVERSHOT * bounds.upper:
        return None
    # A test by groups runs a little over its bound; it counts as stopped at it.
    inside = min(max(ratio, bounds.lower), bounds.upper)
    groups = scores.groups if inside == ratio else inside / a_group
    return _Walk(scores, variance, (low, high), bounds, groups, inside)
