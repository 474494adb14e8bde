"""The order of a Swiss or knockout tournament by its own rules, in lines for people."""

from collections.abc import Iterable

from tourney.store.info import PlaceInfo

__all__ = ("place_lines",)

SHOWN = 8
"""Bots that a line names."""


def place_lines(places: Iterable[PlaceInfo]) -> list[str]:
    """A line for each table size, the best first."""
    by_size: dict[int, list[PlaceInfo]] = {}
    for place in places:
        by_size.setdefault(place.seats, []).append(place)
    lines = []
    for seats, ranked in by_size.items():
        named = [f"{n}. {one.bot} ({one.what})" for n, one in enumerate(ranked[:SHOWN], 1)]
        more = [f"and {len(ranked) - SHOWN} more"] if len(ranked) > SHOWN else []
        size = f"at {seats} seats: " if len(by_size) > 1 else ""
        lines.append(size + ", ".join([*named, *more]))
    return lines
