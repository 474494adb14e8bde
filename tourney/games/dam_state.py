"""One position of a match of Dam."""

from dataclasses import dataclass

from tourney.games.base import Seat
from tourney.games.cards import Card

__all__ = ("DamState", "Known", "Row", "Seen")

Known = int
"""Which seats know a card: bit s is set when seat s does."""

Row = tuple[Card, ...]

Seen = tuple[tuple[tuple[Card | None, ...], ...], ...]
"""For each seat, all rows as that seat knows them: None where it does not know the card."""


@dataclass(init=False, unsafe_hash=True)
class DamState:
    """One position of a match. Nobody changes it: a step changes a copy.

    A class of this form is compiled to one whose fields are read without a look-up, which is a
    twentieth of a decision's whole cost (docs/performance.md).
    """

    phase: str
    """`lot`, `deal`, `ask`, `answer`, `confirm-asker`, `confirm-other`, `source`, `lap`, `draw` (a
    stock card is on its way), `decide`, `tie` (deciding cards are on their way) or `over`."""
    seats: int
    round: int
    """The deal being played, from 1."""
    starter: Seat
    to_act: Seat
    rows: tuple[Row, ...]
    seen: Seen
    side: tuple[Card, ...]
    """Each seat's deciding card beside the row (DAM-V3), known to nobody."""
    stock: frozenset[Card]
    discard: tuple[Card, ...]
    """Oldest first."""
    hand: Card
    """The card under decision, empty in other phases."""
    hand_known: Known
    origin: str
    """Where `hand` came from: `stock`, `discard`, `row`."""
    keeps: int
    """Cards kept so far this turn."""
    streak: int
    """Turns in a row, over the table, begun with a take (DAM-19)."""
    turns: int
    """Turns finished in this deal."""
    lap: int
    """Extra turns left after the stock ran out (DAM-V5)."""
    asked: bool
    """Whether this turn's question is spent (DAM-V4)."""
    request: tuple[int, ...]
    """The open question: the other seat, then slots counted from 1."""
    replays: int
    """Times this deal was dealt anew because of a tie."""
    sums: tuple[tuple[int, ...], ...]
    """Row sums of each finished deal, a tuple of seats each."""
    winners: tuple[tuple[Seat, ...], ...]
    """Who won each finished deal; several share it."""

    def __init__(
        self,
        phase: str,
        seats: int,
        round: int = 1,
        starter: Seat = 0,
        to_act: Seat = 0,
        rows: tuple[Row, ...] = (),
        seen: Seen = (),
        side: tuple[Card, ...] = (),
        stock: frozenset[Card] = frozenset(),
        discard: tuple[Card, ...] = (),
        hand: Card = "",
        hand_known: Known = 0,
        origin: str = "",
        keeps: int = 0,
        streak: int = 0,
        turns: int = 0,
        lap: int = 0,
        asked: bool = False,
        request: tuple[int, ...] = (),
        replays: int = 0,
        sums: tuple[tuple[int, ...], ...] = (),
        winners: tuple[tuple[Seat, ...], ...] = (),
    ) -> None:
        self.phase = phase
        self.seats = seats
        self.round = round
        self.starter = starter
        self.to_act = to_act
        self.rows = rows
        self.seen = seen
        self.side = side
        self.stock = stock
        self.discard = discard
        self.hand = hand
        self.hand_known = hand_known
        self.origin = origin
        self.keeps = keeps
        self.streak = streak
        self.turns = turns
        self.lap = lap
        self.asked = asked
        self.request = request
        self.replays = replays
        self.sums = sums
        self.winners = winners

    def copy(self) -> "DamState":
        """A state of its own, to be changed into what follows this one."""
        return DamState(
            self.phase,
            self.seats,
            self.round,
            self.starter,
            self.to_act,
            self.rows,
            self.seen,
            self.side,
            self.stock,
            self.discard,
            self.hand,
            self.hand_known,
            self.origin,
            self.keeps,
            self.streak,
            self.turns,
            self.lap,
            self.asked,
            self.request,
            self.replays,
            self.sums,
            self.winners,
        )
