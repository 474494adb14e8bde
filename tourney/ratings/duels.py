"""Two bots against each other, a number between 0 and 1 a group: what gates and stops look at.

By placement it is the share of matches in which the first finished ahead, a tie is half. By wins
it is half of one plus the difference of their win shares. At a table of two they are the same.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tourney.ratings.matches import FloatArray, IntArray, Matches
from tourney.ratings.scores import WIN_UNIT
from tourney.ratings.sequences import GroupMean
from tourney.ratings.sketch import HALVES, Sketch
from tourney.ratings.spread import Model

__all__ = ("Duel", "Outcomes", "duel", "pair_outcomes")


class Duel(NamedTuple):
    """What all groups with both bots say of the first of them."""

    scores: GroupMean
    matches: int
    """Matches in which both sat."""
    stake: float
    """Share of matches that one of the two took; 1 by placement."""


def duel(sketches: Sequence[Sketch], bot: str, other: str, model: Model = "placement") -> Duel:
    """The groups in which both sat; each group counts as one, whatever its size.

    Raises:
        ValueError: groups of one pairing have different numbers of matches, so that the mean
            over a group cannot be told from its sums.
    """
    sums, matches, taken = np.zeros(4), 0.0, 0.0
    for sketch in sketches:
        if bot not in sketch.bots or other not in sketch.bots:
            continue
        first, second = sorted((sketch.bots.index(bot), sketch.bots.index(other)))
        flip = sketch.bots[first] != bot
        for rows, i, j in _places(sketch.pairings, first, second):
            groups, played = sketch.column("groups", rows), sketch.column("matches", rows)
            size = played / groups
            if not np.allclose(sketch.column("matches_sq", rows), size * size * groups):
                raise ValueError("groups of unequal size have no common score")
            gained, square, cube, won = _lead(sketch, rows, i, j, model)
            # The lead of a match is from -1 to 1, the score from 0 to 1.
            lead, lead_sq, lead_cu = gained / size, square / size**2, cube / size**3
            lead, lead_cu = (-lead, -lead_cu) if flip else (lead, lead_cu)
            sums += (
                groups.sum(),
                ((groups + lead) / 2).sum(),
                ((groups + 2 * lead + lead_sq) / 4).sum(),
                ((groups + 3 * lead + 3 * lead_sq + lead_cu) / 8).sum(),
            )
            matches += played.sum()
            taken += won.sum()
    stake = taken / matches if matches and model == "win" else 1.0
    return Duel(GroupMean(int(sums[0]), *sums[1:].tolist()), int(matches), float(stake))


class Outcomes(NamedTuple):
    """Groups by what the first of two bots took, from nothing to all in halves of a match."""

    counts: list[int]
    matches: int
    """Of each group."""


def pair_outcomes(arranged: Mapping[int, Matches], bot: str, other: str) -> Outcomes | None:
    """How often each result of a group came: the five of a pair, the nine at tables of four.

    A group's result is how often `bot` finished ahead of `other`, a tie is half. None when they
    have no group together, or groups of different sizes.
    """
    counts: IntArray | None = None
    for matches in arranged.values():
        if bot not in matches.bots or other not in matches.bots:
            continue
        one, two = (matches.bots.index(name) for name in (bot, other))
        ranks = np.zeros((2, matches.seating.shape[1]), dtype=np.int64)
        sat = np.ones(matches.seating.shape[1], dtype=bool)
        for row, code in zip(ranks, (one, two), strict=True):
            mine = matches.seating == code
            row += (matches.ranks.astype(np.int64) * mine).sum(axis=0)
            sat &= mine.any(axis=0)
        halves = np.add.reduceat(1 + np.sign(ranks[1] - ranks[0]), matches.starts)
        together, sizes = sat[matches.starts], matches.sizes
        if not together.any():
            continue
        size = int(sizes[together][0])
        seen = np.bincount(halves[together], minlength=size * HALVES + 1)
        if (sizes[together] != size).any() or (counts is not None and len(seen) != len(counts)):
            return None
        counts = seen if counts is None else counts + seen
    if counts is None:
        return None
    return Outcomes(counts.tolist(), (len(counts) - 1) // HALVES)


def _lead(
    sketch: Sketch, rows: IntArray, i: int, j: int, model: Model
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Sums over groups of place i's lead over place j, its square and cube; wins of the two."""

    def column(name: str) -> FloatArray:
        return sketch.column(name, rows)

    if model == "placement":
        # Ahead minus behind, with ahead counted in halves and ahead + behind = matches.
        ahead, played = column(f"ahead_{i}_{j}") * 2 / HALVES, column("matches")
        square = (
            column(f"ahead_sq_{i}_{j}") * 4 / HALVES**2
            - column(f"ahead_m_{i}_{j}") * 4 / HALVES
            + column("matches_sq")
        )
        return ahead - played, square, column(f"lead_cu_{i}_{j}"), played
    both = column(f"win_sq_{i}_{i}") + column(f"win_sq_{j}_{j}") - 2 * column(f"win_sq_{i}_{j}")
    return (
        (column(f"win_{i}") - column(f"win_{j}")) / WIN_UNIT,
        both / WIN_UNIT**2,
        column(f"win_lead_cu_{i}_{j}") / WIN_UNIT**3,
        (column(f"win_{i}") + column(f"win_{j}")) / WIN_UNIT,
    )


def _places(pairings: IntArray, first: int, second: int) -> list[tuple[IntArray, int, int]]:
    """Rows in which both bots sit, by their places."""
    seats = len(pairings)
    out = []
    for i in range(seats):
        for j in range(i + 1, seats):
            rows = np.flatnonzero((pairings[i] == first) & (pairings[j] == second))
            if len(rows):
                out.append((rows, i, j))
    return out
