"""Intervals that hold at every look at once, so that one may stop when they say enough.

A fixed-size 95 % interval that is looked at after every group is wrong for more than half of all
runs. A confidence sequence pays for the looks: an interval after t groups of

    mean ± sd sqrt(2 (t r + 1) / (t^2 r) log(sqrt(t r + 1) / a))

covers the truth at all t together but for a share a of runs, for t not too small (the asymptotic
sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, after Robbins 1970; r as in Howard,
Ramdas, McAuliffe and Sekhon 2021 makes it narrowest at `BEST_AT` groups).
"""

import math
from typing import NamedTuple

from scipy.optimize import brentq

__all__ = ("FIRST_LOOK", "GroupMean", "groups_needed", "reach")

FIRST_LOOK = 50
"""Before this many groups nothing is decided: the sequence is asymptotic."""

BEST_AT = 500
"""Groups at which the sequence is narrowest for its error."""

MOST_GROUPS = 10**10
"""A forecast beyond this says: never."""


class GroupMean(NamedTuple):
    """A mean of values, one a group, from sums that add up."""

    groups: int
    total: float
    squares: float

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
    def wary_sd(self) -> float:
        """The same for values from 0 to 1, as if one more group had given 0 and another 1.

        Where nearly all groups agree the plain spread is too small for what may still come: at a
        mean of 0.9 it makes the sequence miss in 9 % of runs, and this in 6 %.
        """
        mean = self.mean
        spread = self.squares - self.total * mean + mean**2 + (1 - mean) ** 2
        return math.sqrt(max(spread, 0.0) / (self.groups + 1))


def reach(groups: float, error: float) -> float:
    """Half the width of the sequence after `groups` groups, in standard deviations of one group.

    Args:
        groups: how many; infinite before the first look.
        error: the share of runs in which the sequence ever misses the truth.
    """
    if groups < FIRST_LOOK:
        return math.inf
    lost = -2 * math.log(error)
    r = (lost + math.log(lost) + 1) / BEST_AT
    inner = groups * r + 1
    return math.sqrt(2 * inner / (groups * groups * r) * math.log(math.sqrt(inner) / error))


def groups_needed(width: float, error: float) -> float:
    """Groups until the sequence reaches no farther than `width` standard deviations.

    Infinite when that is beyond any tournament.
    """
    if reach(FIRST_LOOK, error) <= width:
        return float(FIRST_LOOK)
    if width <= 0 or reach(MOST_GROUPS, error) > width:
        return math.inf

    def gap(log_groups: float) -> float:
        return math.log(reach(math.exp(log_groups), error) / width)

    return math.exp(brentq(gap, math.log(FIRST_LOOK), math.log(MOST_GROUPS)))
