"""Rows of seats as arrays of whole rotation groups: the input of every sum and panel.

Only whole groups pass: a group that lacks a match, or a match that lacks a seat, says something
else than its rotations together would, so it does not count at all. Reads no file.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

__all__ = ("ALL", "ByBot", "FloatArray", "IntArray", "Matches", "arrange")

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

ALL = slice(None)

BOT_BITS, SEAT_BITS = 16, 8
"""How a seat's bot, number and rank share one integer while the bots of a match are sorted."""


@dataclass(frozen=True, slots=True)
class Matches:
    """Matches with one number of seats, group after group; arrays are seat by match."""

    bots: tuple[str, ...]
    """Names, sorted; everything else holds their places in this tuple."""
    groups: IntArray
    """Number of each group."""
    starts: IntArray
    """First match of each group."""
    seating: npt.NDArray[np.integer[Any]]
    """The bot in each seat of each match."""
    ranks: npt.NDArray[np.integer[Any]]
    """The rank of each seat of each match, 1 is best."""
    scores: FloatArray | None = None
    """The score of each seat of each match, if there are scores."""

    @property
    def seats(self) -> int:
        """Bots at a table."""
        return int(self.seating.shape[0])

    @property
    def sizes(self) -> IntArray:
        """Matches of each group."""
        return np.diff(self.starts, append=self.seating.shape[1])

    @property
    def group_of(self) -> IntArray:
        """Place of each match's group."""
        return np.repeat(np.arange(len(self.starts)), self.sizes)

    def first(self, groups: int) -> "Matches":
        """The first so many groups, or all if there are fewer."""
        if groups >= len(self.starts):
            return self
        end = int(self.starts[groups])
        return Matches(
            bots=self.bots,
            groups=self.groups[:groups],
            starts=self.starts[:groups],
            seating=self.seating[:, :end],
            ranks=self.ranks[:, :end],
            scores=None if self.scores is None else self.scores[:, :end],
        )

    def by_bot(self, chosen: IntArray | slice = ALL) -> "ByBot":
        """The chosen matches with the bots of each in rising order."""
        seats = np.arange(self.seats, dtype=np.uint32)[:, None]
        keys: npt.NDArray[np.uint32] = self.seating[:, chosen].astype(np.uint32)
        keys <<= np.uint32(BOT_BITS)
        keys |= (seats << SEAT_BITS) | self.ranks[:, chosen].astype(np.uint32)
        _sort_columns(keys)
        return ByBot(keys)


@dataclass(frozen=True, slots=True)
class ByBot:
    """Matches with the bots of each in rising order; arrays are place by match."""

    keys: npt.NDArray[np.uint32]

    @property
    def bots(self) -> npt.NDArray[np.uint16]:
        """The bot of each place."""
        return (self.keys >> BOT_BITS).astype(np.uint16)

    @property
    def seats(self) -> npt.NDArray[np.uint8]:
        """The seat it sat in."""
        return (self.keys >> SEAT_BITS).astype(np.uint8)

    @property
    def ranks(self) -> npt.NDArray[np.uint8]:
        """The rank it got."""
        return self.keys.astype(np.uint8)


def _sort_columns(keys: npt.NDArray[np.uint32]) -> None:
    """Sort each column in place by an odd-even network: each step runs over all matches."""
    rows = len(keys)
    for turn in range(rows):
        for upper in range(turn % 2, rows - 1, 2):
            low = np.minimum(keys[upper], keys[upper + 1])
            np.maximum(keys[upper], keys[upper + 1], out=keys[upper + 1])
            keys[upper] = low


def arrange(seats: pl.LazyFrame | pl.DataFrame, *, rotations: bool = True) -> Mapping[int, Matches]:
    """Whole groups of the rows of the table `seats`, for each number of seats.

    Args:
        seats: rows with `match`, `group`, `bot`, `rank`, and `seat` and `score` where known.
        rotations: a group is whole when it has as many matches as seats; without, any group is.

    Raises:
        ValueError: a bot sits twice in one match.
    """
    known = seats.lazy().collect_schema().names()
    wanted = ["group", "match", *(name for name in ("seat",) if name in known)]
    extra = [name for name in ("score",) if name in known]
    rows = seats.lazy().select(*wanted, "bot", "rank", *extra).collect()
    if not rows.height:
        return {}
    keys = [rows[name].to_numpy().astype(np.int64) for name in wanted]
    if not _is_sorted(keys):
        rows = rows.sort(wanted)
        keys = [rows[name].to_numpy().astype(np.int64) for name in wanted]
    names = tuple(sorted(rows["bot"].unique().to_list()))
    codes = rows["bot"].cast(pl.Enum(names)).to_physical().to_numpy()
    ranks = rows["rank"].to_numpy()
    scores = rows["score"].to_numpy().astype(np.float64) if extra else None
    return _split(names, keys[0], keys[1], codes, ranks, scores, rotations=rotations)


def _is_sorted(keys: list[IntArray]) -> bool:
    """Whether the rows rise by the keys, the first one first."""
    equal = np.ones(len(keys[0]) - 1, dtype=bool)
    for key in keys:
        step = np.diff(key)
        if bool(np.any(equal & (step < 0))):
            return False
        equal &= step == 0
    return True


def _split(
    names: tuple[str, ...],
    group: IntArray,
    match: IntArray,
    codes: npt.NDArray[np.integer[Any]],
    ranks: npt.NDArray[np.integer[Any]],
    scores: FloatArray | None,
    *,
    rotations: bool,
) -> dict[int, Matches]:
    fresh = np.flatnonzero((np.diff(match) != 0) | (np.diff(group) != 0)) + 1
    first_row = np.concatenate(([0], fresh))
    seats = np.diff(first_row, append=len(match))
    of_match = group[first_row]
    starts = np.concatenate(([0], np.flatnonzero(np.diff(of_match) != 0) + 1))
    sizes = np.diff(starts, append=len(of_match))
    smallest = np.minimum.reduceat(seats, starts)
    whole = (smallest == np.maximum.reduceat(seats, starts)) & (smallest >= 2)
    if rotations:
        whole &= sizes == smallest
    out = {}
    for count in np.unique(smallest[whole]).tolist():
        chosen = whole & (smallest == count)
        taken = np.repeat(chosen, sizes)
        rows = first_row[taken] + np.arange(count)[:, None]
        seating = codes[rows]
        ordered = np.sort(seating, axis=0)
        if bool(np.any(ordered[1:] == ordered[:-1])):
            raise ValueError("a bot sits twice in one match")
        out[count] = Matches(
            bots=names,
            groups=of_match[starts[chosen]],
            starts=np.concatenate(([0], np.cumsum(sizes[chosen])[:-1])),
            seating=seating,
            ranks=ranks[rows],
            scores=None if scores is None else scores[rows],
        )
    return out
