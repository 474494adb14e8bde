"""The contract of a game: what the rules of any game must offer, and the values they speak in.

Rules are pure. They never draw a card, wait, print or look at the clock: where chance decides they
say `Chance` and are told the cards. The whole match is one immutable state, so replay, analysis
from any point and search are plain function calls. The only doors for secrets are `view` and the
`private` part of an event.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

import msgspec

from tourney.errors import GameError
from tourney.games.cards import Card
from tourney.games.telling import told

__all__ = (
    "Action",
    "Chance",
    "Decision",
    "Event",
    "Game",
    "GameInfo",
    "Over",
    "Rules",
    "Seat",
    "Step",
    "Turn",
    "competition_ranks",
    "require_legal",
)

Action = str
"""An action is its canonical text, as on the wire: `keep`, `play QH`."""

Seat = int
"""A place at the table, 0 to n-1 clockwise."""


class Rules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of a game's options: one field an option, each with its default.

    Field annotations carry `msgspec.Meta(description=...)`, which `tourney games show` prints.
    """


class GameInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a game with resolved rules is, known before it is played."""

    name: str
    """Registered name, as in a config: `dam`."""
    title: str
    """Name for people: `Dam`."""
    version: int
    """Counts up when a rule's meaning changes, so old records are never read by new rules."""
    min_seats: int
    max_seats: int
    lower_is_better: bool
    """Whether the lowest score wins."""
    lowest_score: float
    """No match of this rule set ends with a lower score."""
    highest_score: float
    """No match of this rule set ends with a higher score."""
    headline: Literal["win", "placement"]
    """What bots are ranked by: who takes the match, or who finishes ahead of whom; whichever the
    rules pay."""
    score_name: str = "score"
    """What the score counts, for a column's head: `row sum`, `ramsar won`."""

    worst_by_seats: Mapping[int, float] = {}
    """The worst score of a match with so many seats, where it depends on them."""

    @property
    def worst_score(self) -> float:
        """The worst score of any match."""
        return self.highest_score if self.lower_is_better else self.lowest_score

    def worst_at(self, seats: int) -> float:
        """The score a faulting seat is booked with at such a table (PROTOCOL.md section 8)."""
        return self.worst_by_seats.get(seats, self.worst_score)


class Decision(msgspec.Struct, frozen=True, gc=False):
    """A seat must choose one of `legal`."""

    seat: Seat
    phase: str
    legal: tuple[Action, ...]
    """All legal actions, never empty, in a fixed order."""
    fallback: Action
    """The stand-in's choice for a silent seat; one of `legal`."""
    prompt: bool = False
    """Ask the seat even when only one action is legal."""


class Chance(msgspec.Struct, frozen=True):
    """Draw `count` of `cards`, in order, under `label`.

    Cards of one label come in one order a group, whatever else happens (`tourney.deals`).
    """

    cards: Collection[Card]
    """The candidates: cards, or other names for a lot (seats as `"0"`, `"1"` ...)."""
    count: int
    label: str


class Over(msgspec.Struct, frozen=True):
    """The match has ended."""

    scores: tuple[float, ...]
    """A score a seat, in the game's own unit."""
    ranks: tuple[int, ...]
    """A rank a seat: 1 is best, ties share the better rank, the next rank is skipped."""
    detail: Mapping[str, Any] = {}
    """What everybody may see at the end; sent to bots as `reveal`."""


Turn = Decision | Chance | Over


class Event(msgspec.Struct, frozen=True):
    """Something that happened at the table."""

    kind: str
    seat: Seat | None = None
    """Who did it, or None for the table."""
    data: Mapping[str, Any] = {}
    """What every seat sees."""
    private: Mapping[str, Any] = {}
    """What only the seats of `audience` see besides."""
    audience: tuple[Seat, ...] = ()

    def seen_by(self, seat: Seat | None) -> dict[str, Any]:
        """The event's wire form for `seat`; None sees everything."""
        return told(self, seat)


S = TypeVar("S")


class Step(msgspec.Struct, Generic[S], frozen=True):
    """The position after an action or a draw, and what happened on the way."""

    state: S
    events: tuple[Event, ...] = ()


class Game(Protocol[S]):
    """A rule set with every option resolved. Instances never change.

    The class is what an entry point of the group `tourney.games` names. It is called with an
    instance of its `rules_type` and raises GameError when options do not go together, in a
    sentence that names them.
    """

    rules_type: ClassVar[type[Rules]]

    @property
    def info(self) -> GameInfo:
        """What the game is under these rules."""
        ...

    @property
    def rules(self) -> Rules:
        """Every option with its value."""
        ...

    def start(self, seats: int) -> S:
        """The state before anything is dealt.

        Raises:
            GameError: `seats` is outside `info.min_seats` to `info.max_seats`.
        """
        ...

    def turn(self, state: S) -> Turn:
        """What the game needs next."""
        ...

    def act(self, state: S, action: Action) -> Step[S]:
        """Play `action` for the seat to decide.

        Raises:
            GameError: `action` is not legal here; `state` is unchanged, as always.
        """
        ...

    def drawn(self, state: S, cards: Sequence[Card]) -> Step[S]:
        """Go on with the cards that a `Chance` asked for, in their order."""
        ...

    def view(self, state: S, seat: Seat | None) -> dict[str, Any]:
        """All that `seat` may know now, JSON-able; None for everything."""
        ...


def require_legal(action: Action, decision: Decision) -> None:
    """Raise GameError unless `action` is one of the decision's legal actions."""
    if action not in decision.legal:
        raise GameError(
            f"{action!r} is not legal for seat {decision.seat} in phase {decision.phase!r}; "
            f"legal: {', '.join(decision.legal)}"
        )


def competition_ranks(keys: Sequence[Any]) -> tuple[int, ...]:
    """Ranks of `keys`, lowest key first: 1 is best, ties share, the next rank is skipped."""
    return tuple(1 + sum(other < key for other in keys) for key in keys)
