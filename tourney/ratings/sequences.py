"""Intervals that hold at every look at once, so that one may stop when they say enough.

A fixed-size 95 % interval that is looked at after every group is wrong for more than half of all
runs. A confidence sequence pays for the looks. Two are here.

*Scores of groups* lie between 0 and 1, and that is all that `interval` assumes. A gambler who bets
l on "the mean is above m" has after all groups the product of 1 + l (x - m). If the mean is m no
bet can be expected to win, so that the gambler, and any mixture of gamblers, ever gets 1 / a times
the first stake in at most a share a of runs (Ville 1939; the sequence is Waudby-Smith and Ramdas
2024). Sums of x, x^2 and x^3 do not tell the product, but they tell how small it can be: least
where the scores are 0, 1 and one value between (the moment problem of Chebyshev and Markov). We
take that, so the sequence needs no group's own score, no order, and holds for few groups as for
many.

*Ratings* have no such bounds. `reach` is the asymptotic sequence

    mean ± sd sqrt(2 (t r + 1) / (t^2 r) log(sqrt(t r + 1) / a))

of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, after Robbins 1970; r as in Howard, Ramdas,
McAuliffe and Sekhon 2021 makes it narrowest at `BEST_AT` groups.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from tourney.ratings.matches import FloatArray

__all__ = ("FIRST_LOOK", "GroupMean", "certainly_above", "groups_needed", "interval", "reach")

FIRST_LOOK = 50
"""Before this many groups nothing is decided: ratings are asymptotic, and a schedule's first
pairings are not its mix."""

BEST_AT = 500
"""Groups at which the sequence of a rating is narrowest for its error."""

BEST_SPREAD = 30.0
"""Sum of squares at which the sequence of scores is narrowest: 500 groups whose sd is a quarter."""

BETS, LEAST_BET, MOST_BET = 48, 1e-3, 20.0
"""The gamblers; the least bet is for a difference that takes a hundred million groups."""

STEPS = np.linspace(0, 1, BETS)

RUINED = 0.999
"""No bet may lose everything."""

ROUNDING = 1e-9

MOST_GROUPS = 10**10
"""A forecast beyond this says: never."""


class GroupMean(NamedTuple):
    """A mean of values, one a group, from sums that add up."""

    groups: int
    total: float
    squares: float
    cubes: float

    @property
    def mean(self) -> float:
        """The mean value."""
        return self.total / self.groups

    @property
    def sd(self) -> float:
        """The standard deviation of one group's value."""
        if self.groups < 2:
            return math.inf
        spread = self.squares - self.total * self.total / self.groups
        return math.sqrt(max(spread, 0.0) / (self.groups - 1))

    @property
    def flipped(self) -> "GroupMean":
        """The other side's values, where both add up to 1."""
        return GroupMean(
            self.groups,
            self.groups - self.total,
            self.groups - 2 * self.total + self.squares,
            self.groups - 3 * self.total + 3 * self.squares - self.cubes,
        )

    @property
    def worst(self) -> tuple[tuple[float, float], ...]:
        """Values and how many groups had them, such that bets on these sums pay least."""
        inner, outer = self.total - self.squares, self.squares - self.cubes
        # Nothing between 0 and 1, or so little that rounding hides where it is.
        if inner <= ROUNDING * self.groups:
            return (0.0, self.groups - self.total), (1.0, self.total)
        value = min(max(outer / inner, ROUNDING), 1 - ROUNDING)
        there = inner / (value * (1 - value))
        ones = max(self.total - there * value, 0.0)
        return (0.0, max(self.groups - there - ones, 0.0)), (value, there), (1.0, ones)


def _hunger(error: float) -> float:
    """Twice the log of what a gambler must win, with a mixture's own cost (Howard et al.)."""
    lost = -2 * math.log(error)
    return lost + math.log(lost) + 1


class _Gamblers(NamedTuple):
    """What gamblers have at least who bet that the values are above a mean."""

    stakes: FloatArray
    won: FloatArray
    """Logarithm of what each has made of a stake of 1."""

    def log_wealth(self, times: float = 1.0) -> float:
        """Of all together, had the values come so often."""
        won = times * self.won
        top = float(won.max())
        return top + math.log(float(self.stakes @ np.exp(won - top)))


def _gamble(scores: GroupMean, mean: float, error: float) -> _Gamblers:
    """The gamblers against `mean`, who may multiply their stake by 1 / `error` in no more runs."""
    most = RUINED * min(1 / mean, MOST_BET)
    bets = LEAST_BET * (most / LEAST_BET) ** STEPS
    # Bets spread as half of a normal distribution, whose width suits `BEST_SPREAD`.
    stakes = bets * np.exp(-(bets**2) * BEST_SPREAD / _hunger(error) / 2)
    won = np.zeros(BETS)
    for value, groups in scores.worst:
        won += groups * np.log1p(bets * (value - mean))
    return _Gamblers(stakes / stakes.sum(), won)


def certainly_above(scores: GroupMean, mean: float, error: float) -> bool:
    """Whether the values' true mean is above `mean`; may be asked after every group.

    Args:
        scores: values from 0 to 1.
        mean: from 0 to 1.
        error: the share of runs in which the sequence ever misses the truth on either side.
    """
    if scores.groups < FIRST_LOOK or scores.mean <= mean:
        return False
    return mean <= 0 or _gamble(scores, mean, error / 2).log_wealth() >= math.log(2 / error)


def interval(scores: GroupMean, error: float) -> tuple[float, float]:
    """The sequence of a mean of values from 0 to 1: it holds at every look but for `error` of runs.

    Everything before the first look. Exact for any number of groups and any values.
    """
    return _low(scores, error), 1 - _low(scores.flipped, error)


def _low(scores: GroupMean, error: float) -> float:
    nothing, wanted = 1e-9, math.log(2 / error)

    def lacks(mean: float) -> float:
        return wanted - _gamble(scores, mean, error / 2).log_wealth()

    if not certainly_above(scores, nothing, error):
        return 0.0
    return float(brentq(lacks, nothing, scores.mean, xtol=1e-7))


def groups_needed(scores: GroupMean, mean: float, error: float) -> float:
    """Groups until the sequence excludes `mean`, if the values go on as they were.

    Infinite when that is beyond any tournament.
    """
    side = scores if scores.mean > mean else scores.flipped
    other = mean if scores.mean > mean else 1 - mean

    if side.mean <= other:
        return math.inf
    gamblers = _gamble(side, other, error / 2)

    def lacks(log_groups: float) -> float:
        return math.log(2 / error) - gamblers.log_wealth(math.exp(log_groups) / side.groups)

    first, last = math.log(FIRST_LOOK), math.log(MOST_GROUPS)
    if lacks(last) > 0:
        return math.inf
    return math.exp(first if lacks(first) <= 0 else brentq(lacks, first, last))


def reach(groups: float, error: float) -> float:
    """Half the width of a rating's sequence, in standard deviations of one group.

    Args:
        groups: how many; infinite before the first look.
        error: the share of runs in which the sequence ever misses the truth.
    """
    if groups < FIRST_LOOK:
        return math.inf
    r = _hunger(error) / BEST_AT
    inner = groups * r + 1
    return math.sqrt(2 * inner / (groups * groups * r) * math.log(math.sqrt(inner) / error))
