"""Whole matches of any game, played by simple policies, and what must hold on the way."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from tourney.games.base import Chance, Decision, Over, Step, Turn
from tourney.games.hands import arranged

Policy = Callable[[Decision, random.Random], str]

POLICIES: dict[str, Policy] = {
    "first": lambda turn, _: turn.legal[0],
    "last": lambda turn, _: turn.legal[-1],
    "fallback": lambda turn, _: turn.fallback,
    "random": lambda turn, dice: dice.choice(turn.legal),
}

Moment = tuple[Any, Turn, Any, Step[Any]]
"""A state, what it needed, what it got (an action or cards), and what came of it."""


def moments(game: Any, seats: int, policy: Policy, seed: int) -> Iterator[Moment]:
    """A match from start to end; each turn is checked for what every game promises."""
    dice, state = random.Random(seed), game.start(seats)
    while not isinstance(turn := game.turn(state), Over):
        before = msgspec.json.encode(game.view(state, None))
        given: Any
        if isinstance(turn, Decision):
            assert turn.legal
            assert len(set(turn.legal)) == len(turn.legal)
            assert turn.fallback in turn.legal
            given = policy(turn, dice)
            step = game.act(state, given)
        else:
            assert 1 <= turn.count <= len(turn.cards)
            given = dice.sample(sorted(turn.cards), turn.count)
            step = game.drawn(state, given)
        assert msgspec.json.encode(game.view(state, None)) == before, "a state has changed"
        yield state, turn, given, step
        state = step.state


def finish(
    game: Any,
    seats: int,
    policy: Policy,
    seed: int = 1,
    check: Callable[[Any], None] = lambda state: None,
) -> tuple[Over, Any, int]:
    """Play to the end: the result, the last state and how many actions it took."""
    state, n_actions = game.start(seats), 0
    for _, turn, _, step in moments(game, seats, policy, seed):
        state = step.state
        n_actions += isinstance(turn, Decision)
        check(state)
    over = result(game, state)
    assert len(over.scores) == len(over.ranks) == seats
    assert 1 in over.ranks
    assert all(game.info.lowest_score <= score <= game.info.highest_score for score in over.scores)
    return over, state, n_actions


def act(game: Any, state: Any, *actions: str) -> Any:
    """The state after `actions`."""
    for action in actions:
        state = game.act(state, action).state
    return state


def legal(game: Any, state: Any) -> tuple[str, ...]:
    decision = game.turn(state)
    assert isinstance(decision, Decision)
    return decision.legal


def chance(game: Any, state: Any) -> Chance:
    """The draw that `state` needs."""
    turn = game.turn(state)
    assert isinstance(turn, Chance)
    return turn


def result(game: Any, state: Any) -> Over:
    """How the match in `state` ended."""
    over = game.turn(state)
    assert isinstance(over, Over)
    return over


def cards(text: str) -> tuple[str, ...]:
    """`"9S JS"` as a hand."""
    return arranged(text.split())


def heard(step: Step[Any], seat: int) -> bytes:
    """What `seat` is told of a step, as bytes on the wire."""
    return msgspec.json.encode([event.seen_by(seat) for event in step.events])


def _renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, frozenset):
        return frozenset(_renamed(item, names) for item in value)
    if isinstance(value, tuple):
        items = tuple(_renamed(item, names) for item in value)
        is_hand = bool(items) and all(isinstance(item, str) for item in items)
        return arranged(items) if is_hand else items
    return value


def renamed(state: Any, names: dict[str, str], fields: Sequence[str]) -> Any:
    """The same position with other cards where `names` says so, in the fields that hide cards."""
    return replace(state, **{name: _renamed(getattr(state, name), names) for name in fields})


def swap(hidden: Sequence[str], dice: random.Random) -> dict[str, str]:
    """A name for each hidden card: another hidden one."""
    others = dice.sample(hidden, len(hidden))
    return dict(zip(hidden, others, strict=True))


def assert_nothing_leaks(
    game: Any,
    seats: int,
    hidden: Callable[[Any, int], set[str]],
    fields: Sequence[str],
    seed: int,
) -> None:
    """Other cards where a seat cannot see them give it the same bytes: view, question, events."""
    dice = random.Random(seed)
    for state, turn, given, step in moments(game, seats, POLICIES["random"], seed):
        for seat in range(seats):
            names = swap(sorted(hidden(state, seat)), dice)
            twin = renamed(state, names, fields)
            assert seen(game, twin, seat) == seen(game, state, seat)
            if isinstance(turn, Decision):
                if turn.seat == seat:
                    assert game.turn(twin) == turn
                still = sorted(hidden(state, seat) & hidden(step.state, seat))
                _same_action(game, state, seat, given, step, swap(still, dice), fields)
            else:
                _same_cards(game, state, seat, turn, given, step, hidden, dice)


def seen(game: Any, state: Any, seat: int) -> bytes:
    """The view of `seat`, as bytes on the wire."""
    return msgspec.json.encode(game.view(state, seat))


def _same_action(
    game: Any,
    state: Any,
    seat: int,
    action: str,
    step: Step[Any],
    names: dict[str, str],
    fields: Sequence[str],
) -> None:
    """`names` are of cards that stay hidden from `seat` after the action as well."""
    word, *rest = action.split()
    rest = [names.get(text, text) for text in rest]
    action = " ".join((word, *(arranged(rest) if word == "exchange" else rest)))
    twin = renamed(state, names, fields)
    if action in game.turn(twin).legal:
        assert heard(game.act(twin, action), seat) == heard(step, seat)


def _same_cards(
    game: Any,
    state: Any,
    seat: int,
    turn: Turn,
    drawn: Sequence[str],
    step: Step[Any],
    hidden: Callable[[Any, int], set[str]],
    dice: random.Random,
) -> None:
    assert isinstance(turn, Chance)
    unseen = hidden(step.state, seat)
    among = sorted(unseen.intersection(turn.cards))
    names = swap(among, dice)
    twin = game.drawn(state, [names.get(card, card) for card in drawn])
    assert heard(twin, seat) == heard(step, seat)
