"""The battery: one match with everything checked, and the cases that make up a game's check."""

from typing import Any

import msgspec

from tourney.errors import GameError
from tourney.games.base import Chance, Decision, Game, Over, Rules
from tourney.games.cards import Card
from tourney.games.checks.playing import (
    POLICIES,
    CheckFailed,
    History,
    Lot,
    Moment,
    draw,
    encoded,
    tokens,
)
from tourney.games.checks.steps import (
    Witness,
    check_cards,
    check_illegal,
    check_over,
    check_secrets,
    check_step,
    check_turn,
    check_views,
)
from tourney.games.checks.worlds import check_another_world, is_fresh, pack_of

__all__ = ("MAX_ACTIONS", "Report", "check_match", "check_rules", "play")

MAX_ACTIONS = 100_000
"""A longer match counts as one that does not end; the longest of ours are a few thousand."""

WORLDS = 4
"""Other worlds a match is played in, each as one seat sees it up to one moment."""


NEVER_LEGAL = ("", "no such action")


class Report(msgspec.Struct, frozen=True):
    """What a passed match has shown."""

    actions: int
    worlds: int
    """Messages compared with those of another world."""


def check_rules(game: Game[Any], rules_type: type[Rules]) -> None:
    """The rule set says what it is, and comes back from JSON as it was.

    Raises:
        CheckFailed: it does not.
    """
    info = game.info
    if info.lowest_score > info.highest_score:
        raise CheckFailed("info", f"lowest score {info.lowest_score} > {info.highest_score}")
    line = msgspec.json.encode(game.rules)
    if msgspec.json.decode(line, type=rules_type) != game.rules:
        raise CheckFailed("rules", f"do not come back from JSON as they were: {line.decode()}")
    for seats in (0, info.min_seats - 1, info.max_seats + 1):
        try:
            game.start(seats)
        except GameError:
            continue
        raise CheckFailed("seats", f"{seats} seats are not refused")


def check_match(
    game: Game[Any],
    seats: int,
    policy: str,
    seed: int,
    *,
    witness: Witness[Any] | None = None,
    max_actions: int = MAX_ACTIONS,
) -> Report:
    """Play one match and check everything in it.

    Args:
        game: the rule set.
        seats: seats at the table.
        policy: one of `POLICIES`, for all seats.
        seed: fixes cards and choices.
        witness: what an independent eye knows of the cards.
        max_actions: a match that is longer does not end.

    Raises:
        CheckFailed: names the check and says what was found.
    """
    try:
        history = play(game, seats, policy, seed, max_actions=max_actions)
        _check_moments(game, history, witness, Lot(f"checks/{seed}"))
        _check_replay(game, history)
        lot = Lot(f"worlds/{seed}")
        worlds = sum(
            check_another_world(game, history, lot.below(seats), lot) for _ in range(WORLDS)
        )
    except CheckFailed:
        raise
    except Exception as error:
        raise CheckFailed("raises", f"{type(error).__name__}: {error}") from error
    return Report(history.n_actions, worlds)


def play(
    game: Game[Any], seats: int, policy: str, seed: int, *, max_actions: int = MAX_ACTIONS
) -> History:
    """A whole match as the policy plays it; nothing but turns and length is checked.

    Raises:
        CheckFailed: a turn is not one, or the match does not end.
    """
    choose, lot, cards = POLICIES[policy], Lot(f"{policy}/{seed}"), f"cards/{seed}"
    state, left = game.start(seats), max_actions
    moments: list[Moment] = []
    while True:
        turn = game.turn(state)
        check_turn(turn, seats)
        if isinstance(turn, Over):
            return History(seats, moments, state, turn)
        if isinstance(turn, Chance):
            answer: Any = draw(cards, turn)
            step = game.drawn(state, answer)
        else:
            answer = choose(game, state, turn, lot)
            step = game.act(state, answer)
            left -= 1
        moments.append(Moment(state, turn, answer, step.events))
        state = step.state
        if left < 0:
            raise CheckFailed("length", f"not over after {max_actions} actions")


def _check_moments(
    game: Game[Any], history: History, witness: Witness[Any] | None, lot: Lot
) -> None:
    """Step by step what `steps` asks for, with the cards that each seat has seen."""
    pack, seats = pack_of(history), history.seats
    known: list[frozenset[Card]] = [frozenset()] * seats
    held: frozenset[Card] = frozenset()
    earlier: tuple[str, ...] = ()
    for moment in history.moments:
        state, turn = moment.state, moment.turn
        before = encoded(state)
        if held and not is_fresh(turn, pack):
            check_cards(state, held, witness)
        check_views(game, state, seats)
        check_illegal(game, state, (*NEVER_LEGAL, *earlier))
        if witness is not None and isinstance(turn, Decision):
            view = game.view(state, turn.seat)
            check_secrets(turn.seat, view, known[turn.seat], pack)
        if isinstance(turn, Chance):
            step = game.drawn(state, moment.answer)
        else:
            step = game.act(state, moment.answer)
            earlier = (*earlier[-2:], lot.pick(turn.legal))
        check_step(game, state, before, step, seats)
        if is_fresh(turn, pack):
            known = [frozenset()] * seats
            held = pack.intersection(tokens(step.state))
        if witness is not None:
            _check_told(moment, step.state, witness, known, pack)
    check_over(game, history.over, seats)
    check_views(game, history.state, seats)
    check_illegal(game, history.state, (*NEVER_LEGAL, *earlier))


def _check_told(
    moment: Moment,
    after: Any,
    witness: Witness[Any],
    known: list[frozenset[Card]],
    pack: frozenset[Card],
) -> None:
    shown = witness.shows(moment.answer) if isinstance(moment.turn, Decision) else ()
    for seat in range(len(known)):
        known[seat] = known[seat].union(witness.sees(after, seat), shown)
        for event in moment.events:
            check_secrets(seat, event.seen_by(seat), known[seat], pack)


def _check_replay(game: Game[Any], history: History) -> None:
    """The list of actions, with the same cards, leads to the same end."""
    state = game.start(history.seats)
    for moment in history.moments:
        is_chance = isinstance(moment.turn, Chance)
        step = game.drawn(state, moment.answer) if is_chance else game.act(state, moment.answer)
        if step.events != moment.events:
            raise CheckFailed("replay", f"{moment.answer!r} gives other events a second time")
        state = step.state
    if encoded(state) != encoded(history.state) or game.turn(state) != history.over:
        raise CheckFailed("replay", "the same actions and cards lead to another end")
