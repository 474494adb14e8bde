"""Hjärter: its vector, every rule as a position, its options, and whole matches."""

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
    legal,
    moments,
    result,
)
from tourney.errors import GameError
from tourney.games.base import Decision
from tourney.games.cards import PACK
from tourney.games.hands import Play
from tourney.games.hearts import HeartsState, deal_points, penalty
from tourney.games.registry import make_game


def hearts(**options: Any) -> Any:
    return make_game("hearts", options)


GAME = hearts()


def position(
    *hands: str,
    to_act: int = 0,
    trick: str = "",
    first_trick: bool = False,
    **more: Any,
) -> HeartsState:
    """Seats with these hands in the middle of play; `trick` was played by the seats before."""
    n = len(hands)
    laid = trick.split()
    given: dict[str, Any] = {
        "hands": tuple(cards(hand) for hand in hands),
        "to_act": to_act,
        "trick": tuple(Play((to_act - len(laid) + i) % n, card) for i, card in enumerate(laid)),
        "played": () if first_trick else ((),),
        "passed": ((),) * n,
        "taken": (0,) * n,
        **more,
    }
    return HeartsState("play", n, **{"totals": (0,) * n, **given})


def played(state: HeartsState) -> set[str]:
    return {action.removeprefix("play ") for action in legal(GAME, state)}


def test_hv_01_who_takes_everything_gives_26_to_each_other() -> None:
    assert sum(map(penalty, PACK)) == 26
    assert deal_points((26, 0, 0, 0)) == (0, 26, 26, 26)  # HJ-10
    assert deal_points((13, 13, 0, 0)) == (13, 13, 0, 0)  # HJ-9
    moon = position("AS", "2S", "3S", "QS", totals=(1, 2, 3, 4), taken=(13, 0, 0, 0))
    state = act(GAME, moon, "play AS", "play 2S", "play 3S", "play QS")
    assert list(state.totals) == [1, 28, 29, 30]
    split = position("AS", "2S", "3S", "QS", totals=(1, 2, 3, 4), taken=(0, 13, 0, 0))
    state = act(GAME, split, "play AS", "play 2S", "play 3S", "play QS")
    assert list(state.totals) == [14, 15, 3, 4]


def test_penalties() -> None:
    assert [penalty(card) for card in ("2H", "AH", "QS", "KS", "QH")] == [1, 1, 13, 0, 1]  # HJ-9


@pytest.mark.parametrize(
    ("seats", "size", "left_out"), [(3, 17, {"2D"}), (4, 13, set()), (5, 10, {"2D", "2S"})]
)
def test_packs(seats: int, size: int, left_out: set[str]) -> None:
    state = GAME.start(seats)
    turn = chance(GAME, state)
    assert set(PACK) - set(turn.cards) == left_out  # HJ-1
    assert turn.label == "deal/1"
    state = GAME.drawn(state, turn.cards).state
    assert {len(hand) for hand in state.hands} == {size}  # HJ-2
    assert state.phase == "pass"


def dealt(game: Any, seats: int = 4, deal: int = 1) -> Any:
    state = replace(game.start(seats), deal=deal)
    return game.drawn(state, random.Random(7).sample(game.pack(seats), len(game.pack(seats)))).state


def test_three_cards_are_passed_one_at_a_time_in_the_order_of_the_hand() -> None:
    state = dealt(GAME)
    hand = state.hands[0]
    assert legal(GAME, state) == tuple(f"pass {card}" for card in hand[:-2])  # HJ-3
    state = act(GAME, state, f"pass {hand[4]}")
    assert legal(GAME, state) == tuple(f"pass {card}" for card in hand[5:-1])
    state = act(GAME, state, f"pass {hand[10]}")
    assert legal(GAME, state) == tuple(f"pass {card}" for card in hand[11:])
    state = act(GAME, state, f"pass {hand[12]}")
    assert state.to_act == 1
    assert state.hands[0] == hand


@pytest.mark.parametrize(
    ("cycle", "seats", "steps"),
    [
        ("left-right-across-none", 4, [1, 3, 2, 0, 1]),
        ("left-across-right-none", 4, [1, 2, 3, 0, 1]),
        ("left-right-across-none", 3, [1, 2, 0, 1]),
        ("left-across-right-none", 5, [1, 4, 0, 1]),
        ("none", 4, [0, 0]),
    ],
)
def test_pass_cycle(cycle: str, seats: int, steps: list[int]) -> None:
    game = hearts(pass_cycle=cycle)
    for number, step in enumerate(steps, 1):
        state = dealt(game, seats, number)
        if step == 0:
            assert state.phase == "play"
            assert game.view(state, 0)["passed_to"] is None
            continue
        before = state.hands
        for seat in range(seats):
            state = act(game, state, *(f"pass {card}" for card in before[seat][-3:]))
        assert state.phase == "play"
        for seat in range(seats):
            received = before[(seat - step) % seats][-3:]
            assert set(state.hands[seat]) == {*before[seat][:-3], *received}
            view = game.view(state, seat)
            assert view["passed_to"] == (seat + step) % seats
            assert (view["passed"], view["received"]) == (before[seat][-3:], received)  # HJ-12


def test_passed_cards_are_told_to_giver_and_receiver_only() -> None:
    state = dealt(GAME)
    own = state.hands[0][:3]
    for _ in range(12):
        step = GAME.act(state, legal(GAME, state)[0])
        told = step.events[0]
        assert "card" not in told.seen_by((told.seat + 1) % 4)
        assert told.seen_by(told.seat)["card"]
        state = step.state
    received = next(e for e in step.events if e.kind == "receive" and e.seat == 1)
    assert received.seen_by(0)["cards"] == received.seen_by(1)["cards"] == own
    assert received.seen_by(2) == {"seat": 1, "event": "receive", "from": 0}


def test_the_two_of_clubs_leads_the_first_trick() -> None:
    state = act(GAME, position("KD", "2C", "3C", first_trick=True, to_act=1), "play 2C")
    assert state.to_act == 2
    state = dealt(hearts(pass_cycle="none"))
    assert "2C" in state.hands[state.to_act]
    assert legal(GAME, state) == ("play 2C",)  # HJ-4


def test_following_suit() -> None:
    state = position("3D AD 5S", "", "", to_act=0, trick="KD")
    assert played(state) == {"3D", "AD"}  # HJ-5: no duty to beat the king
    assert played(position("5S 2H", "", "", trick="KD")) == {"5S", "2H"}


def test_no_penalty_cards_in_the_first_trick() -> None:
    def first(hand: str) -> set[str]:
        return played(position(hand, "", "", trick="2C", first_trick=True))

    assert first("QS 5S 2H 9D") == {"5S", "9D"}  # HJ-6
    assert first("QS 2H 9H") == {"QS", "2H", "9H"}
    assert first("QS 2H 9C") == {"9C"}


def test_hearts_are_led_only_when_broken_or_alone() -> None:
    assert played(position("2H 9H QS", "", "")) == {"QS"}  # HJ-7
    assert played(position("2H 9H", "", "")) == {"2H", "9H"}
    assert played(position("2H 9H QS", "", "", broken=True)) == {"2H", "9H", "QS"}


def test_a_heart_thrown_breaks_hearts_and_the_queen_only_by_option() -> None:
    state = position("2H QS 3C", "", "", trick="KD")
    assert act(GAME, state, "play 2H").broken
    assert not act(GAME, state, "play QS").broken
    assert act(hearts(queen_breaks=True), state, "play QS").broken  # HJ-7


def test_highest_of_the_suit_led_takes_the_trick_and_leads() -> None:
    state = position("3D 4C", "KD 5C", "AS 6C")
    state = act(GAME, state, "play 3D", "play KD", "play AS")
    assert state.to_act == 1  # HJ-8


def test_the_match_ends_at_a_hundred_and_the_lowest_wins() -> None:
    state = position("2H", "3H", "4D", "5D", totals=(99, 7, 7, 12), broken=True, to_act=0)
    state = act(GAME, state, "play 2H", "play 3H", "play 4D", "play 5D")
    assert state.phase == "deal"
    assert state.deal == 2
    state = position("4H", "3H", "4D", "5D", totals=(99, 7, 7, 12), broken=True, to_act=0)
    over = result(GAME, act(GAME, state, "play 4H", "play 3H", "play 4D", "play 5D"))
    assert [*over.scores, *over.ranks] == [101, 7, 7, 12, 4, 1, 1, 3]  # HJ-11


def test_options_and_seats() -> None:
    for seats in (2, 6):
        with pytest.raises(GameError, match=f"3, 4 or 5 seats, not {seats}"):
            GAME.start(seats)
    with pytest.raises(GameError, match="limit"):
        hearts(limit=0)
    with pytest.raises(GameError, match="pass_cycle"):
        hearts(pass_cycle="across")
    assert hearts(limit=50).info.highest_score == 75


VARIANTS: list[dict[str, Any]] = [
    {},
    {"limit": 20, "queen_breaks": True, "pass_cycle": "left-across-right-none"},
    {"limit": 1, "pass_cycle": "none"},
]


@pytest.mark.parametrize("options", VARIANTS, ids=lambda o: "-".join(o) or "base")
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seats", [3, 4, 5])
def test_every_policy_ends(seats: int, policy: str, options: dict[str, Any]) -> None:
    game = hearts(**options)

    def conserved(state: HeartsState) -> None:
        if state.hands and state.phase != "deal":
            tricks = (*state.played, state.trick)
            laid = [play.card for trick in tricks for play in trick]
            held = [card for hand in state.hands for card in hand]
            assert sorted(held + laid) == sorted(game.pack(seats))

    over, state, _ = finish(game, seats, POLICIES[policy], seats, conserved)
    # Each deal but the last leaves every total under the limit, and adds 26 or more in all.
    assert state.deal <= seats * (game.rules.limit - 1) // 26 + 1
    assert sum(over.scores) >= 26 * state.deal


def hidden(state: HeartsState, seat: int) -> set[str]:
    # A seat half way through choosing keeps its cards: others might break the order it is bound to.
    fixed = {seat, state.to_act} if state.phase == "pass" else {seat}
    held = {card for s, hand in enumerate(state.hands) if s not in fixed for card in hand}
    if state.phase == "play" and state.passed:
        held -= set(state.passed[seat])
    return held


@pytest.mark.parametrize("seats", [3, 4, 5])
def test_nothing_leaks(seats: int) -> None:
    game = hearts(limit=40)
    assert_nothing_leaks(game, seats, hidden, ("hands", "passed"), seats)


def test_legal_lists_stay_short() -> None:
    longest = max(
        len(turn.legal)
        for _, turn, _, _ in moments(GAME, 3, POLICIES["random"], 2)
        if isinstance(turn, Decision)
    )
    assert longest <= 17
