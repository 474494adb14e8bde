"""What each bot of each group gained: the small whole numbers that a sketch adds up.

All work is on bytes, in pieces of groups that stay in a core's cache.
"""

import math
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tourney.ratings.matches import IntArray, Matches

__all__ = ("Gains", "gains")

PIECE = 1 << 15
"""Groups that are worked on at a time."""

MOST_SHARING = 8
"""More than so many first places in one match have no whole parts of `scores.WIN_UNIT`."""

Whole = npt.NDArray[np.integer[Any]]
Pairs = dict[tuple[int, int], Whole]
Bytes = npt.NDArray[np.uint8]
Chosen = slice | IntArray


class Gains(NamedTuple):
    """A number for each group; places are the group's bots in rising order."""

    ahead: Pairs
    """Finishes of one place before another, in halves."""
    place_products: Pairs
    """Seats beaten by the two (in halves), multiplied match by match."""
    wins: list[Whole]
    """Shares of wins of each place, in 1/`unit`."""
    win_products: Pairs
    """Shares of wins of the two, multiplied match by match."""
    unit: int
    """Parts of a win, so that every tie leaves whole numbers."""


def gains(matches: Matches, pairing: npt.NDArray[np.uint16]) -> Gains:
    """Walk through the first matches of all groups, then the second ones, and so on.

    Args:
        matches: whole groups.
        pairing: the bots of each group in rising order, place by group.

    Raises:
        ValueError: a group's matches are not all between the same bots, or more than eight bots
            share a first place.
    """
    seats, groups = pairing.shape
    sizes = matches.sizes
    most = int(sizes.max(initial=0))
    unit = math.lcm(*range(1, min(seats, MOST_SHARING) + 1))
    places = list(combinations(range(seats), 2))

    def empty(largest: int) -> Whole:
        fitting = np.int16 if largest * most < 1 << 15 else np.int32
        return np.zeros(groups, dtype=fitting)

    found = Gains(
        ahead={pair: empty(2) for pair in places},
        place_products={pair: empty(4 * (seats - 1) ** 2) for pair in places},
        wins=[empty(unit) for _ in range(seats)],
        win_products={pair: empty(unit * unit) for pair in places},
        unit=unit,
    )
    shares = [unit // sharing for sharing in range(1, min(seats, MOST_SHARING) + 1)]
    share = np.array([0, *shares], dtype=np.int16)
    bots = pairing.astype(matches.seating.dtype)
    alike = bool((sizes == most).all())
    for low in range(0, groups, PIECE):
        piece = slice(low, min(low + PIECE, groups))
        for turn in range(most):
            # Groups of one size lie at even steps, which needs no list of places.
            having: Chosen = piece if alike else low + np.flatnonzero(sizes[piece] > turn)
            at: Chosen = matches.starts[having] + turn
            if alike and groups:
                at = slice(low * most + turn, (piece.stop - 1) * most + turn + 1, most)
            ranks = _ranks(matches, at, bots[:, having])
            _count(found, having, ranks, share)
    return found


def _ranks(matches: Matches, at: Chosen, bots: Whole) -> Bytes:
    """The rank of each of the group's bots in its match at `at`."""
    seating = np.ascontiguousarray(matches.seating[:, at])
    ranks = np.ascontiguousarray(matches.ranks[:, at])
    out = np.zeros(bots.shape, dtype=np.uint8)
    sat = np.zeros(bots.shape[1], dtype=np.uint8)
    for own, bot in zip(out, bots, strict=True):
        for seat, rank in zip(seating, ranks, strict=True):
            here = (seat == bot).view(np.uint8)
            sat += here
            own += rank * here
    if not bool((sat == len(bots)).all()):
        raise ValueError("a group holds matches of different bots")
    return out


def _count(found: Gains, having: Chosen, ranks: Bytes, share: npt.NDArray[np.int16]) -> None:
    """Add one match of each of the groups in `having`."""
    beaten = np.zeros(ranks.shape, dtype=np.int16)
    for (i, j), count in found.ahead.items():
        halves = (ranks[j] > ranks[i]).view(np.uint8) + (ranks[j] >= ranks[i]).view(np.uint8)
        count[having] += halves
        beaten[i] += halves
        beaten[j] += np.uint8(2) - halves
    for (i, j), count in found.place_products.items():
        count[having] += beaten[i] * beaten[j]
    best = ranks.min(axis=0)
    first = (ranks == best).view(np.uint8)
    sharing = first.sum(axis=0, dtype=np.uint8)
    if int(sharing.max(initial=0)) > MOST_SHARING:
        raise ValueError(f"more than {MOST_SHARING} bots share a first place")
    part = share[sharing]
    for own, count in zip(first, found.wins, strict=True):
        count[having] += part * own
    tied = np.flatnonzero(sharing > 1)
    if not len(tied):
        return
    # Only who shares a win has a product with another.
    square = part[tied].astype(np.int32) ** 2
    groups = tied + having.start if isinstance(having, slice) else having[tied]
    for (i, j), count in found.win_products.items():
        both = first[i, tied] & first[j, tied]
        count[groups] += (square * both).astype(count.dtype)
