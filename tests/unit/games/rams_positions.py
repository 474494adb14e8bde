"""Set up positions of Rams, play from them, and play whole matches."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from tourney.deals import Deals
from tourney.games.base import Chance, Decision, Event, Over, Step
from tourney.games.rams import Play, Rams, RamsRules, RamsState
from tourney.games.rams.options import pack
from tourney.games.rams.state import fresh_deal

Policy = Callable[[RamsState, Decision], str]

RV_01 = "8D 4C 9C AH QC 9H 5C 6C 7D AD 8S QH 3D KD 2S 8C 7H"
"""The deck of RV-01, n = 3, dealer seat 2."""


def rams(**options: Any) -> Rams:
    return Rams(msgspec.convert(options, RamsRules))


def at_points(
    game: Rams, points: Sequence[int], *, dealer: int, passed: Iterable[int] = ()
) -> RamsState:
    """Before a deal, with these points; the seats in `passed` passed the deal before."""
    passers = set(passed)
    state = game.start(len(points))
    return replace(
        state,
        phase="deal",
        points=tuple(points),
        passed_last=tuple(s in passers for s in range(len(points))),
        deal=fresh_deal(1, dealer, tuple(points)),
    )


def dealt(game: Rams, state: RamsState, deck: str = "") -> RamsState:
    """`state` with cards dealt from the top of `deck`, filled up from the pack."""
    turn = chance(game, state)
    cards = [*deck.split(), *(card for card in pack(game.rules) if card not in deck)]
    return game.drawn(state, cards[: turn.count]).state


def table(
    game: Rams,
    hands: Sequence[str],
    trump: str,
    *,
    points: Sequence[int] = (),
    to_act: int = 0,
    dealer: int = -1,
    phase: str = "play",
    trick: Sequence[tuple[int, str]] = (),
) -> RamsState:
    """Hands on the table in `phase`; a seat with an empty hand has passed.

    The trump card is one that nobody holds, so that the talon is everything else.
    """
    n = len(hands)
    state = at_points(game, points or (10,) * n, dealer=dealer % n)
    cards = tuple(tuple(hand.split()) for hand in hands)
    held = {card for hand in cards for card in hand} | {card for _, card in trick}
    upcard = next(card for card in pack(game.rules) if card[1] == trump and card not in held)
    deal = replace(
        state.deal,
        hands=cards,
        stock=frozenset(pack(game.rules)) - held - {upcard},
        upcard=upcard,
        pile="deal/1",
        active=tuple(bool(hand) for hand in cards) if phase == "play" else state.deal.active,
        trick=tuple(Play(seat, card) for seat, card in trick),
    )
    return replace(state, phase=phase, to_act=to_act, deal=deal)


def chance(game: Rams, state: RamsState) -> Chance:
    turn = game.turn(state)
    assert isinstance(turn, Chance), state.phase
    return turn


def decision(game: Rams, state: RamsState) -> Decision:
    turn = game.turn(state)
    assert isinstance(turn, Decision), state.phase
    return turn


def legal(game: Rams, state: RamsState) -> set[str]:
    """Legal actions; cards without their verb."""
    turn = decision(game, state)
    return {action.removeprefix("play ") for action in turn.legal}


def act(game: Rams, state: RamsState, *actions: str) -> Step[RamsState]:
    """Play actions, a bare card for a play; gives the last state and all events."""
    events: list[Event] = []
    for action in actions:
        step = game.act(state, f"play {action}" if len(action) == 2 else action)
        state = step.state
        events.extend(step.events)
    return Step(state, tuple(events))


def draw(game: Rams, state: RamsState, cards: str) -> RamsState:
    turn = chance(game, state)
    assert turn.count == len(cards.split())
    assert set(cards.split()) <= set(turn.cards)
    return game.drawn(state, cards.split()).state


def play_match(
    game: Rams,
    seats: int,
    policy: Policy,
    key: str = "",
    watch: Callable[[RamsState], None] = lambda state: None,
) -> tuple[Over, RamsState]:
    """A whole match, drawn as the referee draws; `watch` sees every state."""
    deals = Deals(hashlib.sha256(key.encode()).digest())
    state = game.start(seats)
    while True:
        watch(state)
        turn = game.turn(state)
        if isinstance(turn, Over):
            return turn, state
        if isinstance(turn, Chance):
            state = game.drawn(state, deals.draw(turn)).state
        else:
            state = game.act(state, policy(state, turn)).state
