"""Geometry of the small charts, in per cent of their width. Pure numbers; templates draw them."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from tourney.ratings import Line
from tourney.reports.panels import HistoryPoint

__all__ = (
    "Axis",
    "Bar",
    "Chart",
    "Series",
    "compared",
    "heat",
    "history",
    "rating_axis",
    "timeline",
)

STEPS = (10, 20, 50, 100, 200, 500)
"""Axis ends are whole multiples of one of these, so that they are easy to read."""

MOST_STEPS = 8
"""Steps that an axis has at most."""

COMPARED = 1.96 / math.sqrt(2)
"""Quasi standard errors on either side of a bar: two bars touch where their difference is 1.96 of
its own."""

COLOURED = 6
"""Lines of a history that have a colour; the others are pale."""

BAR_LOW, BAR_HIGH = 5, 34
"""Heights of bars in pixels: a go without thinking is still there to be clicked."""

HEAT_CLASSES = 11
"""Classes of the diverging colours, 0 worst, 5 even, 10 best."""


class Axis(NamedTuple):
    """A scale from `low` to `high`."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """Half way."""
        return (self.low + self.high) / 2

    def at(self, value: float) -> float:
        """Where `value` lies, in per cent from the left, never outside."""
        place = (value - self.low) / (self.high - self.low)
        return round(100 * min(1.0, max(0.0, place)), 2)


def _axis(values: Sequence[float]) -> Axis:
    """A scale from one round number to another with all values within."""
    if not values:
        return Axis(1400.0, 1600.0)
    low, high = min(values), max(values)
    step = next((one for one in STEPS if (high - low) / one <= MOST_STEPS - 2), 1000)
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    return Axis(float(low), float(max(high, low + step)))


def rating_axis(lines: Sequence[Line]) -> Axis:
    """A scale of ratings on which every interval and bar has room."""
    values = []
    for line in lines:
        bar = compared(line) or 0.0
        values += [line.rating - bar, line.rating + bar]
        values += [end for end in (line.rating_low, line.rating_high) if end is not None]
    return _axis(values)


def compared(line: Line) -> float | None:
    """Half the length of a bar made for comparing: two that do not touch differ."""
    return None if line.rating_bar is None or line.bound else COMPARED * line.rating_bar


class Series(NamedTuple):
    """One bot's line in a history, in per cent of the chart from its top left corner."""

    bot: str
    colour: int | None
    """Number of its colour, None for a pale one."""
    line: str
    """Points of a polyline."""
    band: str
    """Points of the polygon of its intervals; empty where there are none."""
    rating: float
    """The last one."""


class Chart(NamedTuple):
    """Ratings over matches."""

    axis: Axis
    matches: int
    series: tuple[Series, ...]
    """Best last rating first."""


def history(points: Sequence[HistoryPoint], headline: str, own: str) -> Chart | None:
    """The lines of all bots, or None with less than two moments.

    Args:
        points: of a run, in the order of its moments.
        headline: which rating to show.
        own: the run's own headline, the only one whose intervals were kept.
    """
    moments = sorted({point.matches for point in points})
    if len(moments) < 2:
        return None
    last, ratings = moments[-1], f"{headline}_rating"
    by_bot: dict[str, list[HistoryPoint]] = {}
    for point in points:
        by_bot.setdefault(point.bot, []).append(point)
    # The first moments know next to nothing: their intervals would flatten all the rest.
    settled = [p for p in points if p.matches >= last / 8] or list(points)
    axis = _axis([getattr(p, ratings) for p in settled])
    x = Axis(float(moments[0]), float(last))
    ordered = sorted(by_bot, key=lambda bot: -float(getattr(by_bot[bot][-1], ratings)))
    return Chart(
        axis,
        last,
        tuple(
            _series(bot, place, by_bot[bot], (x, axis), ratings, bands=headline == own)
            for place, bot in enumerate(ordered)
        ),
    )


def _series(
    bot: str,
    place: int,
    points: Sequence[HistoryPoint],
    axes: tuple[Axis, Axis],
    ratings: str,
    *,
    bands: bool,
) -> Series:
    across, up = axes

    def at(matches: int, rating: float) -> str:
        return f"{across.at(matches):g},{100 - up.at(rating):g}"

    known = [p for p in points if p.rating_low is not None and p.rating_high is not None]
    band = ""
    if bands and place < COLOURED and len(known) > 1:
        upper = [at(p.matches, p.rating_high or 0.0) for p in known]
        lower = [at(p.matches, p.rating_low or 0.0) for p in reversed(known)]
        band = " ".join([*upper, *lower])
    return Series(
        bot=bot,
        colour=place if place < COLOURED else None,
        line=" ".join(at(p.matches, getattr(p, ratings)) for p in points),
        band=band,
        rating=float(getattr(points[-1], ratings)),
    )


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
