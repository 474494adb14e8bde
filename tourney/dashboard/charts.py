"""Geometry of the small charts, in per cent of their width. Pure numbers; templates draw them."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from tourney.ratings import Standing

__all__ = ("Axis", "Bar", "heat", "share_axis", "timeline")

STEP = 0.1
"""Axis ends are whole tenths, so that they are easy to read."""

BAR_LOW, BAR_HIGH = 5, 34
"""Heights of bars in pixels: a go without thinking is still there to be clicked."""

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


class Bar(NamedTuple):
    """One go of a seat: its actions without another seat's between them."""

    seat: int | None
    first: int
    """Step of its first action."""
    last: int
    x: float
    """Per cent from the left; a step is as wide as any other."""
    width: float
    height: float
    """Pixels; by the order of magnitude of its thinking time, full for a fault."""
    fault: bool


def timeline(seats: Sequence[int | None], think_us: Sequence[int], faults: set[int]) -> list[Bar]:
    """A bar for each go of a match.

    Args:
        seats: who acted, an item for each action.
        think_us: how long that took.
        faults: steps with a fault; step n follows the nth action.
    """
    goes: list[tuple[int, int, int]] = []
    for place, seat in enumerate(seats):
        if goes and seats[goes[-1][0]] == seat:
            first, _, spent = goes[-1]
            goes[-1] = (first, place, spent + think_us[place])
        else:
            goes.append((place, place, think_us[place]))
    most = max((math.log10(1 + spent) for _, _, spent in goes), default=0.0) or 1.0
    unit = 100 / max(1, len(seats))
    bars = []
    for first, last, spent in goes:
        fault = any(first < step <= last + 1 for step in faults)
        part = 1.0 if fault else math.log10(1 + spent) / most
        bars.append(
            Bar(
                seat=seats[first],
                first=first + 1,
                last=last + 1,
                x=round(first * unit, 3),
                width=round((last + 1 - first) * unit * 0.88, 3),
                height=round(BAR_LOW + (BAR_HIGH - BAR_LOW) * part, 1),
                fault=fault,
            )
        )
    return bars
