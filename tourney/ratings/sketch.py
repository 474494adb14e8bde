"""Exact sums of a run, a row a pairing: all that ratings, errors and stopping need of its matches.

A group has one pairing, so the cluster sandwich needs only second moments of what its bots gained,
never the group itself (RATINGS.md section 4.3). All sums are whole numbers: rows of disjoint
groups add up in any order, bit for bit, and a worker can ship them instead of its matches.
"""

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tourney.ratings.fits import Cells, cells_of, scatter
from tourney.ratings.gains import Gains, gains
from tourney.ratings.matches import ALL, FloatArray, IntArray, Matches, arrange
from tourney.ratings.scores import WIN_UNIT

__all__ = ("HALVES", "Sketch", "add_sketches", "sketch", "sketches")

HALVES = 2
"""Finishes ahead are counted in halves, so that a tie is a whole number."""

DENSE_CODES = 1 << 24
"""Up to this many conceivable pairings a table by code is quicker than a sort."""


@dataclass(frozen=True)
class Sketch:
    """The sums of all groups with one number of seats."""

    bots: tuple[str, ...]
    """Names, sorted."""
    seats: int
    rows: pl.DataFrame
    """A row a pairing. Bots are `bot_0` ... in rising order. `ahead_i_j` is how often the i-th
    finished before the j-th (in halves), `place_*` and `win_*` are moments of the seats beaten and
    of the win shares: `_sq` summed over groups, `_match` over matches, `_m` times the group's
    matches. `lead_cu_i_j` are cubes of ahead minus behind, `win_lead_cu_i_j` of what one won more
    than the other."""

    def plus(self, other: "Sketch") -> "Sketch":
        """The sketch of both; no group may be in both.

        Raises:
            ValueError: they hold tables of different sizes.
        """
        if self.seats != other.seats:
            raise ValueError(f"sketches of {self.seats} and {other.seats} seats do not add up")
        names = tuple(sorted({*self.bots, *other.bots}))
        keys = _bot_columns(self.seats)
        one, two = self._renamed(names), other._renamed(names)
        if one.select(keys).equals(two.select(keys)):
            # The same pairings, as in a long run: a sum column by column is quicker.
            sums = [one[name] if name in keys else one[name] + two[name] for name in one.columns]
            return Sketch(names, self.seats, pl.DataFrame(sums))
        rows = pl.concat([one, two]).group_by(keys).agg(pl.all().sum()).sort(keys)
        return Sketch(names, self.seats, rows)

    def _renamed(self, names: tuple[str, ...]) -> pl.DataFrame:
        if names == self.bots:
            return self.rows
        # Both lists of names are sorted, so bots keep their order within a pairing.
        new = pl.Series(np.searchsorted(np.array(names), np.array(self.bots)), dtype=pl.Int32)
        return self.rows.with_columns(
            new.gather(self.rows[column]).alias(column) for column in _bot_columns(self.seats)
        )

    def among(self, names: Collection[str]) -> "Sketch":
        """The pairings whose bots are all in `names`, which become the sketch's bots."""
        wanted = tuple(sorted(names))
        if wanted == self.bots:
            return self
        inside = [code for code, bot in enumerate(self.bots) if bot in set(wanted)]
        if len(inside) == len(self.bots):
            return Sketch(wanted, self.seats, self._renamed(wanted))
        kept = self.rows.filter(
            pl.all_horizontal(pl.col(name).is_in(inside) for name in _bot_columns(self.seats))
        )
        return Sketch(wanted, self.seats, Sketch(self.bots, self.seats, kept)._renamed(wanted))

    def column(self, name: str, chosen: IntArray | slice = ALL) -> FloatArray:
        """A column as numbers, of all pairings or the chosen ones."""
        return self.rows[name].to_numpy()[chosen].astype(np.float64)

    def __getstate__(self) -> dict[str, Any]:
        # What can be worked out again is not sent.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def pairings(self) -> IntArray:
        """The bots, place by pairing."""
        columns = [self.rows[name].to_numpy() for name in _bot_columns(self.seats)]
        return np.stack(columns).astype(np.int64)

    @cached_property
    def cells(self) -> Cells:
        """Where two places of each pairing meet in a flat matrix of the bots."""
        return cells_of(self.pairings, len(self.bots))

    @cached_property
    def finishes(self) -> FloatArray:
        """How often each bot (row) finished ahead of each other (column), a tie is half."""
        return scatter(self.cells, self.ahead, len(self.bots), symmetric=False)

    @property
    def groups(self) -> int:
        """Groups in all."""
        return int(self.rows["groups"].sum())

    @property
    def matches(self) -> int:
        """Matches in all."""
        return int(self.rows["matches"].sum())

    def vector(self, name: str) -> FloatArray:
        """Columns `name_i`, place by pairing."""
        return np.stack([self.column(f"{name}_{i}") for i in range(self.seats)])

    def ahead(self, i: int, j: int) -> FloatArray:
        """How often the i-th bot of each pairing finished ahead of the j-th, a tie is half."""
        if i == j:
            return np.zeros(self.rows.height)
        first = self.column(f"ahead_{min(i, j)}_{max(i, j)}") / HALVES
        return first if i < j else self.column("matches") - first


def _bot_columns(seats: int) -> list[str]:
    return [f"bot_{i}" for i in range(seats)]


def sketch(matches: Matches) -> Sketch:
    """The sums of `matches`.

    Raises:
        ValueError: a group's matches are not all between the same bots.
    """
    pairing = matches.by_bot(matches.starts).bots
    index, firsts = _pairing_index(pairing, len(matches.bots))
    rows: dict[str, npt.NDArray[Any]] = {
        name: pairing[place, firsts].astype(np.int32)
        for place, name in enumerate(_bot_columns(matches.seats))
    }
    rows |= _totals(gains(matches, pairing), matches.sizes, index, len(firsts))
    # Codes of pairings rise, so the rows are in order already.
    return Sketch(matches.bots, matches.seats, pl.DataFrame(rows))


def _totals(found: Gains, sizes: IntArray, index: IntArray, pairings: int) -> dict[str, IntArray]:
    """The columns of a sketch but for its bots; `index` is each group's pairing."""
    alike = bool((sizes == sizes[0]).all())
    seats, every = len(found.wins), sizes.astype(np.float64)

    def total(values: npt.NDArray[Any]) -> IntArray:
        """Sums of whole numbers, exact in floating point."""
        return np.bincount(index, values, pairings).astype(np.int64)

    def times_size(values: FloatArray, sums: IntArray) -> IntArray:
        """The total of values times their group's matches, where `sums` is without."""
        return sums * int(sizes[0]) if alike else total(values * every)

    groups = np.bincount(index, minlength=pairings).astype(np.int64)
    matches = groups * int(sizes[0]) if alike else total(every)
    out = {"groups": groups, "matches": matches, "matches_sq": times_size(every, matches)}
    place = np.zeros((seats, len(index)))
    for (i, j), count in found.ahead.items():
        halves = count.astype(np.float64)
        place[i] += halves
        place[j] += HALVES * every - halves
        out[f"ahead_{i}_{j}"] = sums = total(halves)
        out[f"ahead_m_{i}_{j}"] = times_size(halves, sums)
        out[f"ahead_sq_{i}_{j}"] = total(halves * halves)
        lead = halves - every  # ahead minus behind, in whole matches
        out[f"lead_cu_{i}_{j}"] = total(lead * lead * lead)
    # Each match has as many finishes ahead as pairs, and one win: what all but one gained tells the
    # rest, and so do products, whose rows add up to the own gain times that.
    pairs = HALVES * seats * (seats - 1) // 2
    win = np.stack([count.astype(np.float64) for count in found.wins])
    parts = (
        ("place", place, found.place_products, pairs, 1),
        ("win", win, found.win_products, found.unit, WIN_UNIT // found.unit),
    )
    for i, j in found.ahead:
        lead = win[i] - win[j]
        out[f"win_lead_cu_{i}_{j}"] = total(lead * lead * lead) * (WIN_UNIT // found.unit) ** 3
    for name, gained, products, whole, scale in parts:
        own = [total(row) for row in gained[:-1]]
        own.append(whole * matches - sum(own))
        weighed = [times_size(row, sums) for row, sums in zip(gained, own, strict=True)]
        square = {pair: total(gained[pair[0]] * gained[pair[1]]) for pair in products}
        match = {pair: total(product) for pair, product in products.items()}
        for i in range(seats):
            out[f"{name}_{i}"], out[f"{name}_m_{i}"] = own[i] * scale, weighed[i] * scale
            others = [(min(i, j), max(i, j)) for j in range(seats) if j != i]
            square[i, i] = whole * weighed[i] - sum(square[pair] for pair in others)
            match[i, i] = whole * own[i] - sum(match[pair] for pair in others)
        for i, j in combinations_with_replacement(range(seats), 2):
            out[f"{name}_sq_{i}_{j}"] = square[i, j] * scale**2
            out[f"{name}_match_{i}_{j}"] = match[i, j] * scale**2
    return out


def sketches(seats: pl.LazyFrame | pl.DataFrame, *, rotations: bool = True) -> tuple[Sketch, ...]:
    """The sums of the whole groups in rows of the table `seats`, one for each number of seats.

    Args:
        seats: rows with `match`, `group`, `bot` and `rank`.
        rotations: a group is whole when it has as many matches as seats; without, any group is.

    Raises:
        ValueError: a bot sits twice in a match, or a group's matches are of different bots.
    """
    wanted = [name for name in seats.lazy().collect_schema().names() if name != "score"]
    arranged = arrange(seats.lazy().select(wanted), rotations=rotations)
    return tuple(sketch(matches) for matches in arranged.values())


def add_sketches(*parts: Sequence[Sketch]) -> tuple[Sketch, ...]:
    """The sums of all parts together; no group may be in two of them."""
    of_size: dict[int, list[Sketch]] = {}
    for one in itertools.chain.from_iterable(parts):
        of_size.setdefault(one.seats, []).append(one)
    return tuple(_together(of_size[seats]) for seats in sorted(of_size))


def _together(same: Sequence[Sketch]) -> Sketch:
    """The sum of sketches with one number of seats: many at once, not one after another."""
    if len(same) <= 2:
        return same[0].plus(same[1]) if len(same) == 2 else same[0]
    names = tuple(sorted({bot for one in same for bot in one.bots}))
    keys = _bot_columns(same[0].seats)
    rows = pl.concat([one.among(names).rows for one in same]).group_by(keys).agg(pl.all().sum())
    return Sketch(names, same[0].seats, rows.sort(keys))


def _pairing_index(pairing: npt.NDArray[np.uint16], bots: int) -> tuple[IntArray, IntArray]:
    """Which pairing each group has, and a group of each pairing."""
    seats, groups = pairing.shape
    if bots**seats >= np.iinfo(np.int64).max:
        _, firsts, index = np.unique(pairing, axis=1, return_index=True, return_inverse=True)
        return index.reshape(-1), firsts
    codes = pairing[0].astype(np.int64)
    for row in pairing[1:]:
        codes = codes * bots + row
    if bots**seats > DENSE_CODES:
        _, firsts, index = np.unique(codes, return_index=True, return_inverse=True)
        return index, firsts
    first_of = np.full(bots**seats, -1, dtype=np.int32)
    first_of[codes] = np.arange(groups, dtype=np.int32)
    used = np.flatnonzero(first_of >= 0)
    firsts = first_of[used].astype(np.int64)
    first_of[used] = np.arange(len(used), dtype=np.int32)
    return first_of[codes].astype(np.int64), firsts
