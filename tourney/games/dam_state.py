"""One position of a match of Dam."""

import msgspec

from tourney.games.base import Seat
from tourney.games.cards import Card

__all__ = ("DamState", "Known", "Row", "Seen")

Known = int
"""Which seats know a card: bit s is set when seat s does."""

Row = tuple[Card, ...]

Seen = tuple[tuple[tuple[Card | None, ...], ...], ...]
"""For each seat, all rows as that seat knows them: None where it does not know the card."""


class DamState(msgspec.Struct, frozen=True, gc=False):
    """One position of a match."""

    phase: str
    """`lot`, `deal`, `ask`, `answer`, `confirm-asker`, `confirm-other`, `source`, `lap`, `draw` (a
    stock card is on its way), `decide`, `tie` (deciding cards are on their way) or `over`."""
    seats: int
    round: int = 1
    """The deal being played, from 1."""
    starter: Seat = 0
    to_act: Seat = 0
    rows: tuple[Row, ...] = ()
    seen: Seen = ()
    side: tuple[Card, ...] = ()
    """Each seat's deciding card beside the row (DAM-V3), known to nobody."""
    stock: frozenset[Card] = frozenset()
    discard: tuple[Card, ...] = ()
    """Oldest first."""
    hand: Card = ""
    """The card under decision, empty in other phases."""
    hand_known: Known = 0
    origin: str = ""
    """Where `hand` came from: `stock`, `discard`, `row`."""
    keeps: int = 0
    """Cards kept so far this turn."""
    streak: int = 0
    """Turns in a row, over the table, begun with a take (DAM-19)."""
    turns: int = 0
    """Turns finished in this deal."""
    lap: int = 0
    """Extra turns left after the stock ran out (DAM-V5)."""
    asked: bool = False
    """Whether this turn's question is spent (DAM-V4)."""
    request: tuple[int, ...] = ()
    """The open question: the other seat, then slots counted from 1."""
    replays: int = 0
    """Times this deal was dealt anew because of a tie."""
    sums: tuple[tuple[int, ...], ...] = ()
    """Row sums of each finished deal, a tuple of seats each."""
    winners: tuple[tuple[Seat, ...], ...] = ()
    """Who won each finished deal; several share it."""
