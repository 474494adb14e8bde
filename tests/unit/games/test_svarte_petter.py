"""Svarte Petter: its vector, its options, exact chances, and whole matches."""

import math
import random
from fractions import Fraction
from functools import cache
from itertools import permutations
from typing import Any

import pytest

from tests.unit.games.playing import (
    POLICIES,
    act,
    cards,
    chance,
    finish,
    heard,
    legal,
    moments,
    renamed,
    result,
    seen,
    swap,
)
from tourney.deals import Deals, group_key
from tourney.errors import GameError
from tourney.games.base import Chance, Decision, Over
from tourney.games.registry import make_game
from tourney.games.svarte_petter import SvartePetterState


def petter(**options: Any) -> Any:
    return make_game("svarte-petter", options)


def position(*hands: str, to_act: int = 0, source: int = -1, draws: int = 0) -> SvartePetterState:
    """Seats with these hands; `to_act` is about to draw from the seat to its right."""
    n = len(hands)
    return SvartePetterState(
        phase="fan",
        seats=n,
        dealer=n - 1,
        hands=tuple(cards(hand) for hand in hands),
        to_act=to_act,
        source=source % n,
        pairs=((),) * n,
        draws=draws,
    )


def draw(game: Any, state: SvartePetterState, card: str) -> Any:
    """Shuffle the fan and draw `card` from it."""
    state = game.drawn(state, state.hands[state.source]).state
    return game.act(state, f"draw {state.fan.index(card) + 1}")


GAME = petter()


def test_pv_01_the_jack_of_spades_is_always_the_odd_card() -> None:
    assert len(GAME.pack) == 51
    assert "JC" not in GAME.pack  # SP-1
    pairs = list(GAME.pairs_in(GAME.pack))
    assert len(pairs) == 25
    assert set(GAME.pack) - {card for pair in pairs for card in pair} == {"JS"}
    assert GAME.is_pair("JH", "JD")
    assert GAME.is_pair("7C", "7S")
    assert not GAME.is_pair("7C", "7D")  # SP-3
    assert not GAME.is_pair("7C", "8C")


def test_pairs_by_rank_leave_the_jack_of_spades_out() -> None:
    game = petter(pair="rank")
    assert game.is_pair("7C", "7D")
    assert not any(game.is_pair("JS", other) for other in ("JH", "JD"))
    pairs = list(game.pairs_in(game.pack))
    assert len(pairs) == 25
    assert set(game.pack) - {card for pair in pairs for card in pair} == {"JS"}
    assert list(game.pairs_in(cards("7C 7D 7H 9S"))) == [("7C", "7D")]  # the third stays


def test_with_the_queen_odd_the_queen_of_clubs_is_left_out() -> None:
    game = petter(odd="QS")
    assert len(game.pack) == 51
    assert "QC" not in game.pack
    assert game.is_pair("JC", "JS")
    assert not game.is_pair("QS", "QH")  # SP-8
    over, state, _ = finish(game, 4, POLICIES["random"], 3)
    assert state.hands[over.detail["loser"]] == ("QS",)


def test_all_cards_are_dealt_one_by_one_from_forehand_and_pairs_laid_away() -> None:
    state = GAME.drawn(GAME.start(4), ["2"]).state
    assert chance(GAME, state) == Chance(GAME.pack, 51, "deal")
    assert state.dealer == 1
    step = GAME.drawn(state, GAME.pack)
    counts = {event.seat: event.data["count"] for event in step.events if event.kind == "hand"}
    assert counts == {2: 13, 3: 13, 0: 13, 1: 12}  # SP-2
    for hand in step.state.hands:
        assert not list(GAME.pairs_in(hand))  # SP-4
    assert step.state.to_act == 2


def test_a_seat_draws_from_the_nearest_seat_with_cards_to_its_right() -> None:
    state = draw(GAME, position("JS 4C", "5C", "4S 5S", "", source=2), "4S").state
    assert state.hands == (("JS",), ("5C",), ("5S",), ())  # SP-5: the new pair goes
    assert state.pairs[0] == (("4C", "4S"),)
    assert (state.to_act, state.source) == (1, 0)
    state = draw(GAME, state, "JS").state  # SP-6: seat 0 is out now
    assert (state.to_act, state.source) == (2, 1)


def test_draw_from_left() -> None:
    game = petter(draw_from="left")
    state = draw(game, position("JS 4C", "5C", "4S 5S", "", source=2), "4S").state
    assert (state.to_act, state.source) == (1, 2)


def test_who_keeps_the_odd_card_loses() -> None:
    state = draw(GAME, position("4C", "", "JS 4S"), "4S").state
    over = result(GAME, state)
    assert [*over.scores, *over.ranks] == [0, 0, 1, 1, 1, 3]  # SP-7
    assert over.detail == {"loser": 2, "capped": False}


def test_cap_on_draws() -> None:
    state = draw(GAME, position("4C 5C", "6C 5S", "JS 4S 6S", draws=1999), "JS").state
    over = result(GAME, state)
    assert list(over.scores) == [1, 0, 0]  # SP-10
    assert over.detail["capped"]


def test_only_drawer_and_source_see_the_card_unless_it_pairs() -> None:
    step = draw(GAME, position("4C 5C", "6C 5S", "JS 4S 6S"), "JS")
    assert b"JS" in heard(step, 0)
    assert b"JS" in heard(step, 2)
    assert b"JS" not in heard(step, 1)  # SP-9
    step = draw(GAME, position("4C 5C", "6C 5S", "JS 4S 6S"), "4S")
    assert b'{"seat":0,"event":"pair","cards":["4C","4S"]}' in heard(step, 1)


def test_actions_are_places_in_the_fan() -> None:
    state = GAME.drawn(position("4C 5C", "6C 5S", "JS 4S 6S"), ("6S", "JS", "4S")).state
    assert legal(GAME, state) == ("draw 1", "draw 2", "draw 3")
    assert "JS" in act(GAME, state, "draw 2").hands[0]


def test_options_and_seats() -> None:
    for seats in (1, 7):
        with pytest.raises(GameError, match=f"2 to 6 seats, not {seats}"):
            GAME.start(seats)
    with pytest.raises(GameError, match="odd"):
        petter(odd="JC")


VARIANTS: list[dict[str, Any]] = [
    {},
    {"pair": "rank"},
    {"odd": "QS"},
    {"draw_from": "left"},
    {"pair": "rank", "odd": "QS", "draw_cap": 9},
]


@pytest.mark.parametrize("options", VARIANTS, ids=lambda o: "-".join(o) or "base")
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
def test_every_policy_ends(seats: int, policy: str, options: dict[str, Any]) -> None:
    game = petter(**options)

    def conserved(state: SvartePetterState) -> None:
        if state.hands:
            held = [card for hand in state.hands for card in hand]
            away = [card for pairs in state.pairs for pair in pairs for card in pair]
            assert sorted(held + away) == sorted(game.pack)

    over, state, n_actions = finish(game, seats, POLICIES[policy], seats, conserved)
    assert sum(over.scores) == 1
    assert n_actions == state.draws <= game.rules.draw_cap
    if not over.detail["capped"]:
        assert state.hands[over.detail["loser"]] == (game.rules.odd,)


def hidden(state: SvartePetterState, seat: int) -> set[str]:
    return {card for s, hand in enumerate(state.hands) if s != seat for card in hand}


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_nothing_leaks(seats: int) -> None:
    """Other cards in other hands, or in another order in the fan: the same bytes."""
    dice = random.Random(seats)
    for state, turn, _, _ in moments(GAME, seats, POLICIES["random"], seats):
        for seat in range(seats):
            names = swap(sorted(hidden(state, seat)), dice)
            twin = renamed(state, names, ("hands", "fan"))
            assert seen(GAME, twin, seat) == seen(GAME, state, seat)
            if isinstance(turn, Decision) and turn.seat == seat:
                assert GAME.turn(twin) == turn


# Two seats: everything but the odd card lies half in each hand, so a position is the number of
# pairs still apart, and whether the seat about to draw holds the odd card.


@cache
def chance_to_lose(apart: int, has_odd: bool) -> Fraction:
    """Probability that the seat about to draw loses.

    Against the odd card it draws one of apart + 1 cards: the odd one, and the tables are turned,
    or a card that pairs. With p for the answer and q for the chance after a pair, this is
    p = (1 - p) / (apart + 1) + q apart / (apart + 1).
    """
    if apart == 0:
        return Fraction(has_odd)
    if has_odd:  # every card of the other hand makes a pair
        return 1 - chance_to_lose(apart - 1, False)
    return (1 + apart * (1 - chance_to_lose(apart - 1, True))) / Fraction(apart + 2)


def value(state: SvartePetterState, seat: int) -> Fraction:
    """The chance of `seat` to lose from a position with two seats."""
    if state.phase == "over":
        return Fraction(result(GAME, state).scores[seat])
    own = state.hands[state.to_act]
    mover = chance_to_lose(len(set(own) - {"JS"}), "JS" in own)
    return mover if seat == state.to_act else 1 - mover


@pytest.mark.parametrize(
    ("hands", "exact"),
    [
        (("4C", "4S JS"), Fraction(1, 3)),
        (("4C JS", "4S"), Fraction(1)),
        (("4C 5C", "4S 5S JS"), None),
        (("4C 5C JS", "4S 5S"), None),
        (("4C 5C 6D", "4S 5S 6H JS"), None),
        (("4C 5C 6D 7D", "4S 5S 6H 7H JS"), None),
    ],
)
def test_chances_of_two_seats_are_exact(hands: tuple[str, str], exact: Fraction | None) -> None:
    """Over all orders of the fan the chances after a draw average to the chance before it."""
    state = position(*hands)
    orders = list(permutations(chance(GAME, state).cards))
    after = [act(GAME, GAME.drawn(state, order).state, "draw 1") for order in orders]
    assert sum(value(s, 0) for s in after) / len(orders) == value(state, 0)
    assert exact in (None, value(state, 0))


@pytest.mark.parametrize("policy", ["first", "last", "random"])
def test_no_policy_changes_the_chances(policy: str) -> None:
    """SP-9: whatever places are drawn, the loser is pure chance."""
    n, lost, dice = 2000, 0, random.Random(1)
    for number in range(n):
        deals = Deals(group_key(policy.encode(), str(number)))
        state: Any = position("4C 5C 6D 7D", "4S 5S 6H 7H JS")
        while not isinstance(turn := GAME.turn(state), Over):
            if isinstance(turn, Chance):
                state = GAME.drawn(state, deals.draw(turn)).state
            else:
                state = act(GAME, state, POLICIES[policy](turn, dice))
        lost += turn.scores[0] == 1
    expected = float(chance_to_lose(4, False))
    assert abs(lost / n - expected) < 4 * math.sqrt(expected * (1 - expected) / n)
