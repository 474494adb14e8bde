"""Play a recorded match again from its actions. Pure; knows no bot, no file and no clock."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from tourney.deals import Deals
from tourney.errors import GameError
from tourney.games.base import Chance, Decision, Event, Game, Over

__all__ = ("Frame", "group_id", "match_id", "replay")


class Frame(msgspec.Struct, frozen=True):
    """The match after one recorded action; frame 0 is the moment before the first."""

    step: int
    """Actions played so far."""
    state: Any
    decision: Decision | None
    """Who is to choose now, None at the end."""
    action: str | None
    """The action that led here."""
    seat: int | None
    """Who played it."""
    forced: bool
    """Whether that action was the only legal one, so that no bot was asked."""
    events: tuple[Event, ...]
    """What happened since the frame before."""
    over: Over | None


def group_id(pairing: Sequence[str], deal: int) -> str:
    """The text that fixes a group's cards: its bots in the pairing's order, and the deal."""
    return f"{'+'.join(pairing)}#{deal}"


def match_id(group: str, rotation: int) -> str:
    """The text that fixes the bots' own seeds in a match."""
    return f"{group}/{rotation}"


def replay(game: Game[Any], seats: int, deals: Deals, actions: Sequence[str]) -> Iterator[Frame]:
    """Every position of a recorded match.

    Raises:
        GameError: an action is not legal where it stands, or the record ends too early or late.
    """
    state, events = _through_chance(game, game.start(seats), (), deals)
    turn = game.turn(state)
    yield _frame(0, state, turn, events)
    for step, action in enumerate(actions, 1):
        if not isinstance(turn, Decision):
            raise GameError(f"the record goes on after the end: action {step} is {action!r}")
        seat, forced = turn.seat, len(turn.legal) == 1
        moved = game.act(state, action)
        state, events = _through_chance(game, moved.state, moved.events, deals)
        turn = game.turn(state)
        yield _frame(step, state, turn, events, action, seat, forced=forced)
    if not isinstance(turn, Over):
        raise GameError(f"the record ends after {len(actions)} actions, before the match does")


def _frame(
    step: int,
    state: Any,
    turn: Any,
    events: tuple[Event, ...],
    action: str | None = None,
    seat: int | None = None,
    *,
    forced: bool = False,
) -> Frame:
    decision = turn if isinstance(turn, Decision) else None
    over = turn if isinstance(turn, Over) else None
    return Frame(step, state, decision, action, seat, forced, events, over)


def _through_chance(
    game: Game[Any], state: Any, events: tuple[Event, ...], deals: Deals
) -> tuple[Any, tuple[Event, ...]]:
    turn = game.turn(state)
    while isinstance(turn, Chance):
        step = game.drawn(state, deals.draw(turn))
        state, events = step.state, events + step.events
        turn = game.turn(state)
    return state, events
