"""Norrlandsknack: its vector, every rule as a position, its options, and whole matches."""

import random
from typing import Any

import pytest
from msgspec.structs import replace

from tests.unit.games.playing import (
    POLICIES,
    act,
    assert_nothing_leaks,
    cards,
    chance,
    finish,
    heard,
    legal,
    moments,
    result,
)
from tourney.errors import GameError
from tourney.games.base import Decision
from tourney.games.cards import PACK
from tourney.games.hands import Play
from tourney.games.norrlandsknack import KnackState
from tourney.games.registry import make_game


def knack(**options: Any) -> Any:
    return make_game("norrlandsknack", options)


GAME = knack()

HANDS = ("7C 8C 9C TC JC", "7H 8H 9H TH JH", "QC KC AC QH KH 2D")


def position(*hands: str, upcard: str = "2D", dealer: int = -1, **more: Any) -> KnackState:
    """Seats with these hands about to speak; by default the last seat deals."""
    n = len(hands)
    dealer %= n
    held = {card for hand in hands for card in hand.split()}
    given: dict[str, Any] = {
        "balance": (0,) * (n - 1) + (-5,),
        "pot": 5,
        "to_act": (dealer + 1) % n,
        "stock": frozenset(PACK) - held,
        "said": (None,) * n,
        "thrown": ((),) * n,
        "exchanged": (None,) * n,
        "tricks": (0,) * n,
        **more,
    }
    hands_ = tuple(cards(hand) for hand in hands)
    return KnackState("knock", n, dealer=dealer, hands=hands_, upcard=upcard, **given)


def last_trick(*said: str, tricks: tuple[int, ...], **more: Any) -> Any:
    """The end of a deal in which seat 0 takes the last trick."""
    state = position("AC", "KC", "QC", said=said, tricks=tricks, **more)
    state = replace(state, phase="play", to_act=0, played=((),) * 4)
    return act(GAME, state, *(f"play {card}" for card in ("AC", "KC", "QC")))


def test_deal_of_five_cards_and_the_turned_card_to_the_dealer() -> None:
    state = GAME.drawn(GAME.start(3), ["1"]).state
    assert (state.balance, state.pot) == ((0, -5, 0), 5)  # NOR-3
    turn = chance(GAME, state)
    assert (turn.count, turn.label, set(turn.cards)) == (16, "deal/1", set(PACK))
    state = GAME.drawn(state, PACK[:16]).state
    assert [len(hand) for hand in state.hands] == [5, 6, 5]  # NOR-2
    assert state.upcard == PACK[15]
    assert PACK[15] in state.hands[1]
    assert state.hands[2] == cards(" ".join(PACK[:5]))
    assert state.to_act == 2


def test_nv_01_when_all_lurk_the_same_dealer_deals_again() -> None:
    state = act(GAME, position(*HANDS), "lurk", "lurk", "lurk")
    assert (state.phase, state.dealer, state.redeals) == ("deal", 2, 1)  # NOR-6
    assert (state.pot, state.pot_deal, state.deal) == (5, 1, 2)
    tenth = act(GAME, position(*HANDS, redeals=9), "lurk", "lurk", "lurk")
    assert tenth.redeals == 10
    state = act(GAME, position(*HANDS, redeals=10), "lurk", "lurk")
    assert legal(GAME, state) == ("knock",)  # NOR-6: the dealer counts as having knocked
    assert act(GAME, state, "knock").said == ("lurk", "lurk", "knock")


def test_first_knock_of_a_pot_ends_the_round_and_everybody_else_lurks() -> None:
    state = position(*HANDS)
    assert legal(GAME, state) == ("lurk", "knock")  # NOR-4
    state = act(GAME, state, "lurk", "knock")
    assert state.said == ("lurk", "knock", "lurk")
    assert (state.phase, state.to_act) == ("exchange", 0)


def test_later_deals_know_pass_and_knock() -> None:
    state = position(*HANDS, pot_deal=2)
    assert legal(GAME, state) == ("pass", "knock")  # NOR-5
    state = act(GAME, state, "knock", "pass", "knock")
    assert GAME.active(state) == [0, 2]
    assert state.phase == "exchange"


def test_walkovers_of_later_deals() -> None:
    dealer = act(GAME, position(*HANDS, pot_deal=2, pot=10), "pass", "pass")
    # RAMS-33: five tricks of two units; then seat 0, the next dealer, has opened a new pot.
    assert dealer.balance == (0 - 5, 0, 10 - 5)
    lone = act(GAME, position(*HANDS, pot_deal=2, pot=10), "knock", "pass", "pass")
    assert lone.balance == (10 - 5, 0, -5)  # RAMS-34
    assert (lone.pot_number, lone.pot_deal, lone.dealer) == (2, 1, 0)


def buying(*said: str) -> Any:
    return replace(position(*HANDS, said=said), phase="exchange", to_act=0)


def test_buying_from_forehand_dealer_last_and_one_card_fewer() -> None:
    state = buying("lurk", "knock", "lurk")
    assert len(legal(GAME, state)) == 32
    assert legal(GAME, state)[0] == "exchange"
    state = act(GAME, state, "exchange 7C 9C")
    assert chance(GAME, state).count == 2  # NOR-7
    assert chance(GAME, state).label == "stock/1/0"
    step = GAME.drawn(state, ["AS", "KS"])
    assert b"AS" in heard(step, 0)
    assert b"AS" not in heard(step, 1)  # NOR-11
    assert GAME.view(step.state, 1)["exchanged"] == (2, None, None)
    state = act(GAME, step.state, "exchange")
    assert state.to_act == 2
    assert len(legal(GAME, state)) == 63  # RAMS-42: at least one
    assert "exchange" not in legal(GAME, state)
    state = act(GAME, state, "exchange 2D")
    assert (state.phase, state.to_act, len(state.hands[2])) == ("play", 0, 5)
    six = act(
        GAME, replace(state, phase="exchange", to_act=2, hands=buying().hands), "exchange QC KC"
    )
    assert chance(GAME, six).count == 1


def test_the_dealer_may_exchange_all_six() -> None:
    state = replace(buying("pass", "knock", "knock"), to_act=2)
    state = act(GAME, state, "exchange QC KC AC 2D QH KH")
    assert chance(GAME, state).count == 5


@pytest.mark.parametrize(
    ("hand", "trick", "expected"),
    [
        ("AD 3C KH", "", "AD"),  # RAMS-50
        ("KD 4D AS", "", "KD 4D AS"),  # no tvångsmaning
        ("JH 7H KS AD", "9H", "JH"),  # RAMS-53
        ("9H 4H AS KD", "QH", "4H 9H"),  # RAMS-52
        ("3D AS 2C", "QH", "3D"),  # RAMS-54
        ("JD 4D AS", "QH 9D", "JD"),
        ("4D 3D AS", "QH 9D", "3D 4D"),
        ("AS 2C 7C", "QH 2D", "AS 2C 7C"),  # RAMS-55
    ],
)
def test_nor_8_legality(hand: str, trick: str, expected: str) -> None:
    state = replace(position(hand, "", ""), phase="play", said=("knock",) * 3)
    state = replace(state, trick=tuple(Play(1 + i, card) for i, card in enumerate(trick.split())))
    assert set(legal(GAME, state)) == {f"play {card}" for card in expected.split()}


def test_tricks_are_paid_from_the_pot_and_the_pot_is_over_when_empty() -> None:
    state = last_trick("lurk", "knock", "lurk", tricks=(1, 3, 0))
    assert state.balance == (2 - 5, 3, -5)  # NOR-3; seat 0 deals next and has opened the next pot
    assert (state.pot, state.pot_number, state.pot_deal, state.dealer) == (5, 2, 1, 0)


def test_a_knocker_without_a_trick_pays_the_size_of_the_pot() -> None:
    state = last_trick("lurk", "knock", "lurk", tricks=(4, 0, 0), pot=10)
    assert state.balance == (10, -10, -5)  # NOR-9: the lurker pays nothing
    assert (state.pot, state.pot_number, state.pot_deal, state.dealer) == (10, 1, 2, 0)
    both = last_trick("knock", "knock", "knock", tricks=(4, 0, 0), pot_deal=3)
    assert (both.balance, both.pot) == ((5, -5, -10), 10)


def test_remainder_stays_in_the_pot() -> None:
    state = last_trick("lurk", "knock", "lurk", tricks=(2, 1, 1), pot=13)
    assert state.balance == (6, 2, -3)  # NOR-3: two units a trick
    assert (state.pot, state.pot_deal) == (3, 2)


def test_bete_cap() -> None:
    game = knack(bete_cap=7)
    state = position("AC", "KC", "QC", said=("lurk", "knock", "lurk"), tricks=(4, 0, 0), pot=10)
    state = replace(state, phase="play", to_act=0, played=((),) * 4)
    state = act(game, state, "play AC", "play KC", "play QC")
    assert (state.balance, state.pot) == ((10, -7, -5), 7)


def test_a_pot_of_twenty_deals_is_split() -> None:
    state = last_trick("knock", "knock", "knock", tricks=(4, 0, 0), pot=10, pot_deal=20)
    assert (state.split, state.pot_number) == (20, 2)  # NOR-10
    assert GAME.balances(state)[1] == pytest.approx(-10 + 20 / 3)


def test_highest_balance_wins_after_the_last_pot() -> None:
    state = position("AC", "KC", "QC", said=("lurk", "knock", "lurk"), tricks=(1, 3, 0))
    state = replace(state, phase="play", to_act=0, played=((),) * 4, pot_number=3)
    over = result(GAME, act(GAME, state, "play AC", "play KC", "play QC"))
    assert [*over.scores, *over.ranks] == [2, 3, -5, 2, 1, 3]  # NOR-10


def test_options_and_seats() -> None:
    for seats in (2, 6):
        with pytest.raises(GameError, match=f"3 to 5 seats, not {seats}"):
            GAME.start(seats)
    with pytest.raises(GameError, match="pots"):
        knack(pots=0)
    assert knack(pots=2).n_pots(5) == 2
    assert GAME.n_pots(4) == 4
    pile = knack(stock="pile")
    state = act(pile, buying("knock", "knock", "knock"), "exchange 7C")
    assert chance(pile, state).label == "deal/1"
    free = knack(redeal_cap=0)
    assert legal(free, act(free, position(*HANDS), "lurk", "lurk")) == ("knock",)


VARIANTS: list[dict[str, Any]] = [
    {},
    {"stock": "pile", "redeal_cap": 0, "deal_cap": 2},
    {"bete_cap": 3, "pots": 2},
    {"deal_cap": 1, "pots": 1},
]


def brave(turn: Decision, dice: random.Random) -> str:
    """Knocks always: the pot grows as fast as it can."""
    return "knock" if "knock" in turn.legal else dice.choice(turn.legal)


@pytest.mark.parametrize("options", VARIANTS, ids=lambda o: "-".join(o) or "base")
@pytest.mark.parametrize("policy", [*POLICIES, "brave"])
@pytest.mark.parametrize("seats", [3, 4, 5])
def test_every_policy_ends(seats: int, policy: str, options: dict[str, Any]) -> None:
    game = knack(**options)

    def check(state: KnackState) -> None:
        assert sum(state.balance) + state.pot + state.split == 0
        assert state.redeals <= game.rules.redeal_cap
        assert state.pot_deal <= game.rules.deal_cap
        if state.hands and state.phase != "deal":
            laid = [play.card for trick in (*state.played, state.trick) for play in trick]
            held = [card for hand in (*state.hands, *state.thrown) for card in hand]
            assert sorted([*laid, *held, *state.stock]) == sorted(PACK)

    over, state, _ = finish(game, seats, {**POLICIES, "brave": brave}[policy], seats, check)
    assert sum(over.scores) == pytest.approx(0, abs=1e-6)
    pots, rules = game.n_pots(seats), game.rules
    assert state.deal <= pots * (rules.deal_cap + rules.redeal_cap)


def hidden(state: KnackState, seat: int) -> set[str]:
    if not state.hands:
        return set()
    laid = {play.card for trick in (*state.played, state.trick) for play in trick}
    known = {*laid, *state.hands[seat], *state.thrown[seat]}
    if state.exchanged[state.dealer] is None:
        known.add(state.upcard)  # RAMS-82
    return set(PACK) - known


@pytest.mark.parametrize("seats", [3, 4, 5])
def test_nothing_leaks(seats: int) -> None:
    game = knack(pots=2, deal_cap=4)
    assert_nothing_leaks(game, seats, hidden, ("hands", "thrown", "stock"), seats)


def test_legal_lists_stay_short() -> None:
    longest = max(
        len(turn.legal)
        for _, turn, _, _ in moments(GAME, 5, POLICIES["random"], 2)
        if isinstance(turn, Decision)
    )
    assert longest == 63
