"""All sums of a run that a leaderboard needs, in one value: workers ship it, the driver adds it.

Sums of disjoint sets of whole groups add up to the sums of their union, in any order, so neither
the driver nor a reader has to look at a row twice.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from tourney.ratings.matches import arrange
from tourney.ratings.points import add_points, tally_points
from tourney.ratings.scores import merge, tally
from tourney.ratings.seats import SeatSums, add_seats, tally_seats
from tourney.ratings.sketch import Sketch, add_sketches, sketch

__all__ = ("Sums", "add_sums", "sums")


@dataclass(frozen=True, slots=True)
class Sums:
    """The sums of some whole groups."""

    sketches: tuple[Sketch, ...]
    """Who finished where, a row a pairing, for each number of seats."""
    scores: pl.DataFrame
    """Scores, faults and thinking times, a row a bot."""
    points: pl.DataFrame
    """Scores against the table's mean, a row a bot."""
    seats: tuple[SeatSums, ...]
    """What each seat gained, for each number of seats."""

    @property
    def matches(self) -> int:
        """Matches counted."""
        return sum(one.matches for one in self.sketches)

    @property
    def size(self) -> int:
        """Pairings held: what this costs in memory, about."""
        return sum(one.rows.height for one in self.sketches)


def sums(seats: pl.DataFrame | pl.LazyFrame) -> Sums:
    """The sums of rows of the table `seats`, which hold whole groups.

    Raises:
        ValueError: a bot sits twice in a match, or a group's matches are of different bots.
    """
    rows = seats.lazy()
    arranged = arrange(rows).values()
    return Sums(
        sketches=tuple(sketch(matches) for matches in arranged),
        scores=tally(rows),
        points=tally_points(rows),
        seats=tuple(tally_seats(matches) for matches in arranged),
    )


def add_sums(parts: Iterable[Sums]) -> Sums | None:
    """The sums of all groups together, None of nothing; no group may be in two parts."""
    found = list(parts)
    if len(found) < 2:
        return found[0] if found else None
    return Sums(
        sketches=add_sketches(*(one.sketches for one in found)),
        scores=merge(*(one.scores for one in found)),
        points=add_points(*(one.points for one in found)),
        seats=add_seats(*(one.seats for one in found)),
    )
