"""Cards change places in the rows of Dam, and who knows them goes along."""

from typing import Any

from tourney.games.base import Seat
from tourney.games.cards import Card
from tourney.games.dam_state import Known, Seen

__all__ = ("put", "replaced")


def put(seen: Seen, seat: Seat, slot: int, card: Card, known: Known) -> tuple[Seen, Known]:
    """Lay `card`, which the seats of `known` know, into a slot; slots count from 0.

    Returns:
        what every seat knows then, and who knew the card that lay there.
    """
    before, after, bit = 0, [], 1
    for rows in seen:
        row = rows[seat]
        there, here = row[slot], card if known & bit else None
        if there is not None:
            before |= bit
        # A card nobody knows takes the place of another: nothing changes for that seat.
        after.append(rows if here is there else replaced(rows, seat, replaced(row, slot, here)))
        bit <<= 1
    return tuple(after), before


def replaced(items: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    """A copy of `items` with one item changed."""
    copy = list(items)
    copy[index] = value
    return tuple(copy)
