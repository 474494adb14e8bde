"""How a match is played for a check: seeded cards, policies that choose, the moments that result.

Everything follows from a text, the seed: the same seed gives the same match on any machine. The
order of cards under a label is one order a seed, as in a real run.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from tourney.games.base import Action, Chance, Decision, Event, Game, Over, Seat
from tourney.games.cards import Card

__all__ = (
    "POLICIES",
    "CheckFailed",
    "History",
    "Lot",
    "Moment",
    "Policy",
    "draw",
    "encoded",
    "is_asked",
    "tokens",
    "verb",
)

T = TypeVar("T")

_TEXT = re.compile(r'"([^"]*)"')
"""A text in JSON, as long as it holds no quotation mark; names of cards do not."""


class CheckFailed(Exception):
    """A game breaks its contract.

    Attributes:
        check: name of the check, one word or a few.
        reason: what was found, in a sentence.
    """

    def __init__(self, check: str, reason: str) -> None:
        super().__init__(f"{check}: {reason}")
        self.check = check
        self.reason = reason


class Lot:
    """Choices that follow from a text: rules and their checks import no generator."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._drawn = 0

    def below(self, bound: int) -> int:
        """A number from 0 to `bound` - 1."""
        self._drawn += 1
        return int.from_bytes(_digest(f"{self.text}/{self._drawn}")[:8]) % bound

    def pick(self, items: Sequence[T]) -> T:
        """One of `items`."""
        return items[self.below(len(items))]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def draw(seed: str, chance: Chance) -> tuple[Card, ...]:
    """The cards that answer `chance`: the first of its label's order that are candidates."""
    order = sorted(chance.cards, key=lambda card: _digest(f"{seed}/{chance.label}/{card}"))
    return tuple(order[: chance.count])


class Moment(NamedTuple):
    """One step of a match."""

    state: Any
    """Before it."""
    turn: Decision | Chance
    answer: Any
    """The action, or the cards drawn."""
    events: tuple[Event, ...]
    """What happened."""


class History(NamedTuple):
    """A match from its start to its end."""

    seats: int
    moments: list[Moment]
    state: Any
    """After the last moment."""
    over: Over

    @property
    def n_actions(self) -> int:
        """Actions in the match, forced ones included."""
        return sum(isinstance(moment.turn, Decision) for moment in self.moments)


def encoded(value: Any) -> bytes:
    """`value` as bytes; equal values give equal bytes, and sets have no order."""
    return msgspec.json.encode(value, enc_hook=repr, order="deterministic")


def tokens(value: Any) -> list[str]:
    """Every word in the texts of a view, an event or a state, whatever holds them."""
    line = msgspec.json.encode(value, enc_hook=repr).decode()
    return [word for text in _TEXT.findall(line) for word in text.split()]


def verb(action: Action) -> str:
    """An action's first word: `play` of `play QH`."""
    return action.partition(" ")[0]


def is_asked(turn: Decision | Chance | Over, seat: Seat) -> bool:
    """Whether a bot in `seat` gets a message now."""
    if not isinstance(turn, Decision) or turn.seat != seat:
        return False
    return turn.prompt or len(turn.legal) > 1


# --- policies ---

Policy = Callable[[Game[Any], Any, Decision, Lot], Action]
"""Chooses an action: the game, the state, the decision, and a lot of its own a match."""


def _first(_game: Game[Any], _state: Any, decision: Decision, _lot: Lot) -> Action:
    return decision.legal[0]


def _last(_game: Game[Any], _state: Any, decision: Decision, _lot: Lot) -> Action:
    return decision.legal[-1]


def _random(_game: Game[Any], _state: Any, decision: Decision, lot: Lot) -> Action:
    return lot.pick(decision.legal)


def _fallback(_game: Game[Any], _state: Any, decision: Decision, _lot: Lot) -> Action:
    return decision.fallback


def _habit(_game: Game[Any], _state: Any, decision: Decision, lot: Lot) -> Action:
    """One order of the verbs for the whole match: always takes, never knocks, always picks up."""
    return min(decision.legal, key=lambda action: _digest(f"{lot.text}/{verb(action)}"))


def _stall(game: Game[Any], state: Any, decision: Decision, _lot: Lot) -> Action:
    """Put the end off: rather a decision than new cards, rather new cards than the end."""

    def progress(action: Action) -> int:
        turn = game.turn(game.act(state, action).state)
        return 0 if isinstance(turn, Decision) else 1 if isinstance(turn, Chance) else 2

    by_verb = {verb(action): action for action in reversed(decision.legal)}
    return min(by_verb.values(), key=progress)


POLICIES: Mapping[str, Policy] = {
    "first": _first,
    "last": _last,
    "random": _random,
    "fallback": _fallback,
    "habit": _habit,
    "stall": _stall,
}
"""Policies by name; `habit` and `stall` are there to keep a match from ending."""
