"""Is A better than B: sequential tests on the outcomes of groups, and Elo with its error.

The generalised sequential probability ratio test compares two claims about the strength, each
with everything else at its most likely value (Van den Bergh, "The generalized maximum likelihood
ratio for the expectation of a distribution", 2019). Two scales: *logistic* Elo, the usual one, and
*normalised* Elo, the distance to even in standard deviations of one match, which does not depend
on how often matches are tied.

Two-seat groups have a few outcomes only (0, 1/2, 1, 3/2 or 2 points: the five of a pair), and the
likelihood is exact. Scores of larger groups take many values, and Student's t takes its place.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtr, ndtri

from tourney.ratings.matches import FloatArray
from tourney.ratings.rate import ELO
from tourney.ratings.sequences import GroupMean

__all__ = (
    "NORMALISED",
    "Bounds",
    "Decision",
    "EloStatement",
    "decide",
    "elo_statement",
    "gate_bounds",
    "logistic_ratio",
    "normalised_ratio",
    "t_ratio",
)

NORMALISED = 800 / math.log(10)
"""Normalised Elo of one standard deviation of a match."""

UNSEEN = 1e-3
"""An outcome that never came counts as this many, so that no claim is ruled out by its absence."""

ROUNDS, SETTLED = 100, 1e-12
CONFIDENCE = 0.95

Decision = Literal["accepted", "rejected", "open"]


class Bounds(NamedTuple):
    """Where the log-likelihood ratio ends a test."""

    lower: float
    upper: float


def gate_bounds(alpha: float, beta: float) -> Bounds:
    """Wald's bounds.

    Args:
        alpha: how often a change as bad as the lower claim passes.
        beta: how often one as good as the upper claim fails.
    """
    return Bounds(math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha))


def decide(ratio: float, bounds: Bounds) -> Decision:
    """What the ratio says: the upper claim is accepted, rejected, or neither yet."""
    if ratio >= bounds.upper:
        return "accepted"
    return "rejected" if ratio <= bounds.lower else "open"


class _Outcomes(NamedTuple):
    """How often each score of a group came."""

    total: float
    scores: FloatArray
    shares: FloatArray


def _outcomes(counts: Sequence[float]) -> _Outcomes:
    seen = np.array([count or UNSEEN for count in counts], dtype=np.float64)
    return _Outcomes(float(seen.sum()), np.linspace(0, 1, len(seen)), seen / seen.sum())


def logistic_ratio(counts: Sequence[float], low: float, high: float) -> float:
    """Log-likelihood ratio of `high` against `low` logistic Elo.

    Args:
        counts: groups by their score, from the worst to the best in even steps: losses, ties and
            wins of single matches, or the five outcomes of a pair.
        low: the lower claim.
        high: the upper claim.
    """
    out = _outcomes(counts)
    claims = [_likeliest(out, out.scores - float(expit(elo / ELO))) for elo in (low, high)]
    return float(out.total * (out.shares @ (np.log(claims[1]) - np.log(claims[0]))))


def normalised_ratio(
    counts: Sequence[float], low: float, high: float, *, matches: int = 2
) -> float:
    """Log-likelihood ratio of `high` against `low` normalised Elo; `matches` a group."""
    out = _outcomes(counts)
    scale = math.sqrt(matches) / NORMALISED
    claims = [_likeliest_at_t(out, elo * scale) for elo in (low, high)]
    return float(out.total * (out.shares @ (np.log(claims[1]) - np.log(claims[0]))))


def _likeliest(out: _Outcomes, gap: FloatArray) -> FloatArray:
    """The likeliest shares under which the mean of `gap` is 0: p / (1 + m gap) for the right m."""
    # At an edge one share would be infinite; the root is at least about the least share away.
    edge = max(1e-3 * float(out.shares.min()), 1e-15)
    low, high = -1 / gap.max(), -1 / gap.min()
    width = high - low

    def mean(m: float) -> float:
        return float((out.shares * gap / (1 + m * gap)).sum())

    m = brentq(mean, low + edge * width, high - edge * width, xtol=1e-15)
    shares: FloatArray = out.shares / (1 + m * gap)
    return shares


def _likeliest_at_t(out: _Outcomes, t: float) -> FloatArray:
    """The likeliest shares whose mean is t standard deviations above even."""
    shares = np.full(len(out.scores), 1 / len(out.scores))
    for _ in range(ROUNDS):
        mean = float(shares @ out.scores)
        sd = math.sqrt(float(shares @ (out.scores - mean) ** 2))
        # Linear in the shares with the right value and slope where they are.
        gap = out.scores - 0.5 - t * sd / 2 * (1 + ((out.scores - mean) / sd) ** 2)
        before, shares = shares, _likeliest(out, gap)
        if float(np.abs(shares - before).max()) < SETTLED:
            break
    return shares


def t_ratio(scores: GroupMean, low: float, high: float, *, matches: int) -> float:
    """The ratio of two claims in normalised Elo from group scores of any kind.

    (N/2) log[(1 + (t - t0)^2) / (1 + (t - t1)^2)] with t the mean above even in standard
    deviations; 0 before the scores have any spread.

    Args:
        scores: group scores between 0 and 1.
        low: the lower claim.
        high: the upper claim.
        matches: of a group.
    """
    if scores.groups < 2 or scores.sd == 0:
        return 0.0
    sd = scores.sd * math.sqrt((scores.groups - 1) / scores.groups)
    t, scale = (scores.mean - 0.5) / sd, math.sqrt(matches) / NORMALISED
    below, above = t - low * scale, t - high * scale
    return scores.groups / 2 * math.log((1 + below**2) / (1 + above**2))


class EloStatement(NamedTuple):
    """How much better A is than B, as match programs print it."""

    score: float
    elo: float
    elo_error: float
    """Half of the 95 % interval."""
    normalised: float
    normalised_error: float
    superiority: float


def elo_statement(scores: GroupMean, *, matches: int) -> EloStatement | None:
    """Elo of group scores between 0 and 1; None where they have no spread.

    Args:
        scores: as sums over groups.
        matches: of a group.
    """
    if scores.groups < 2 or scores.sd == 0:
        return None
    groups, mean = scores.groups, scores.mean
    sd = scores.sd * math.sqrt((groups - 1) / groups)
    quantile = float(ndtri((1 + CONFIDENCE) / 2))
    reach = quantile * sd / math.sqrt(groups)
    per_match = sd * math.sqrt(matches)
    return EloStatement(
        score=mean,
        elo=_elo(mean),
        elo_error=(_elo(mean + reach) - _elo(mean - reach)) / 2,
        normalised=(mean - 0.5) / per_match * NORMALISED,
        normalised_error=quantile * NORMALISED / math.sqrt(groups * matches),
        superiority=float(ndtr((mean - 0.5) / (sd / math.sqrt(groups)))),
    )


def _elo(score: float) -> float:
    """Rating points of a score, kept finite at nothing and all."""
    inside = min(max(score, UNSEEN), 1 - UNSEEN)
    return float(ELO) * math.log(inside / (1 - inside))
