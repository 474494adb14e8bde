"""Geometry of the small charts, in per cent of their width. Pure numbers; templates draw them."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from tourney.ratings import Standing

__all__ = ("Axis", "heat", "share_axis", "think_height")

STEP = 0.1
"""Axis ends are whole tenths, so that they are easy to read."""

HEAT_CLASSES = 11
"""Classes of the diverging colours, 0 worst, 5 even, 10 best."""


class Axis(NamedTuple):
    """A scale from `low` to `high`."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Where `value` lies, in per cent from the left, never outside."""
        place = (value - self.low) / (self.high - self.low)
        return round(100 * min(1.0, max(0.0, place)), 2)


def share_axis(standings: Sequence[Standing]) -> Axis:
    """A scale of win shares on which every interval has room."""
    lows = [line.win_share if line.win_low is None else line.win_low for line in standings]
    highs = [line.win_share if line.win_high is None else line.win_high for line in standings]
    if not standings:
        return Axis(0.0, 1.0)
    low = max(0, int(min(lows) / STEP)) * STEP
    high = min(10, int(max(highs) / STEP) + 1) * STEP
    return Axis(round(low, 1), round(high, 1))


def heat(share: float) -> int:
    """The colour class of a share between 0 and 1."""
    return min(HEAT_CLASSES - 1, int(share * HEAT_CLASSES))


def think_height(us: int) -> float:
    """Height of a bar for a thinking time, in per cent: a step for each power of ten, to 10 s."""
    return round(min(100.0, 16 + 12 * math.log10(1 + us)), 1)
