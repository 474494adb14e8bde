"""The test vectors of Rams (RULES.md section D), each set up as a position and played."""

import pytest
from msgspec.structs import replace

from tests.unit.games.rams_positions import (
    RV_01,
    act,
    at_points,
    chance,
    dealt,
    decision,
    draw,
    legal,
    play_match,
    rams,
    table,
)
from tourney.errors import GameError
from tourney.games.base import Decision, Event, Over, Step
from tourney.games.rams import Rams, RamsState
from tourney.games.rams.state import Ended
from tourney.games.tricks import ACE_HIGH, strengths, winner


@pytest.fixture
def game() -> Rams:
    return rams()


def rv_01(game: Rams, points: tuple[int, int, int] = (10, 10, 10)) -> RamsState:
    return dealt(game, at_points(game, points, dealer=2), RV_01)


def kinds(step: Step[RamsState]) -> list[str]:
    return [event.kind for event in step.events]


def test_rv_01_three_cards_each_then_the_trump_card_then_two(game: Rams) -> None:
    deal = rv_01(game).deal
    assert [" ".join(hand) for hand in deal.hands] == [
        "8D 4C 9C 8S QH",
        "AH QC 9H 3D KD",
        "5C 6C 7D 2S 8C AD",
    ]
    assert (deal.upcard, deal.trump, len(deal.stock)) == ("AD", "D", 36)
    assert "7H" in deal.stock


@pytest.mark.parametrize(
    ("seats", "dealt_cards", "talon", "demand", "after_swing"),
    [(2, 11, 41, 10, 40), (3, 16, 36, 15, 35), (4, 21, 31, 20, 30), (5, 26, 26, 25, 25)],
)
def test_rv_02_the_talon_never_runs_out(
    game: Rams, seats: int, dealt_cards: int, talon: int, demand: int, after_swing: int
) -> None:
    state = at_points(game, (10,) * seats, dealer=0)
    assert chance(game, state).count == dealt_cards
    state = dealt(game, state)
    assert len(state.deal.stock) == talon
    assert demand == 5 * seats <= after_swing
    state = act(game, state, "swing", *["accept"] * (seats - 1)).state
    state = game.drawn(state, sorted(state.deal.stock)[:1]).state
    assert len(state.deal.stock) == after_swing


@pytest.mark.parametrize(
    ("id_", "trick", "hand", "expected"),
    [
        ("RV-04", "9H", "JH 7H KS AD", "JH"),
        ("RV-05", "QH", "9H 4H AS KD", "4H 9H"),
        ("RV-06", "QH", "3D AS 2C", "3D"),
        ("RV-07", "QH 9D", "JD 4D AS", "JD"),
        ("RV-08", "QH 9D", "4D 2D AS", "2D 4D"),
        ("RV-09", "QH 2D", "KH 3H AD", "3H KH"),
        ("RV-10", "QH 2D", "AS 2C 7C", "AS 2C 7C"),
        ("RV-11", "9D", "AD TD 2D KS", "TD AD"),
    ],
)
def test_rv_04_to_11_what_a_follower_may_play(
    game: Rams, id_: str, trick: str, hand: str, expected: str
) -> None:
    laid = trick.split()
    seats = len(laid) + 1
    hands = ["2S"] * seats
    hands[-1] = hand
    state = table(
        game, hands, "D", to_act=seats - 1, trick=[(s, card) for s, card in enumerate(laid)]
    )
    assert legal(game, state) == set(expected.split())


@pytest.mark.parametrize(
    ("id_", "hand", "on_one", "expected"),
    [
        ("RV-12", "AD 3C KH", False, "AD"),
        ("RV-12", "AD KD 3C", True, "AD"),
        ("RV-13", "KD 4D AS", True, "4D KD"),
        ("RV-13", "KD 4D AS", False, "4D AS KD"),
        ("RV-13", "7C AS", True, "7C AS"),
    ],
)
def test_rv_12_and_13_what_a_leader_may_play(
    game: Rams, id_: str, hand: str, on_one: bool, expected: str
) -> None:
    state = table(game, [hand, "2C 3S"], "D", points=(5, 1 if on_one else 5))
    assert legal(game, state) == set(expected.split())
    assert game.view(state, 0)["forced_trump"] == on_one


@pytest.mark.parametrize(
    ("points", "passed", "expected"),
    [
        (1, False, "knock"),
        (2, True, "knock"),
        (2, False, "knock pass"),
        (3, True, "knock pass"),
    ],
)
def test_rv_14_who_must_knock(game: Rams, points: int, passed: bool, expected: str) -> None:
    state = at_points(game, (points, 9, 9), dealer=2, passed=[0] if passed else [])
    state = act(game, dealt(game, state), "stand").state
    assert legal(game, state) == set(expected.split())


def test_rv_14_a_pass_in_the_deal_before_counts_and_a_knock_does_not(game: Rams) -> None:
    before = dealt(game, at_points(game, (9, 9, 9, 2), dealer=0))
    state = act(game, before, "stand", "knock", "pass", "pass", "pass").state
    assert state.passed_last == (True, False, True, True)
    state = act(game, dealt(game, state), "stand", "pass").state
    assert (state.to_act, legal(game, state)) == (3, {"knock"})
    before = dealt(game, at_points(game, (9, 9, 9, 9), dealer=0))
    state = act(game, before, "stand", "knock", "pass", "knock", "pass").state
    while state.phase != "deal":
        state = act(game, state, decision(game, state).fallback).state
    assert state.passed_last == (True, False, True, False)


def walkover(game: Rams, points: tuple[int, ...], *spoken: str) -> Step[RamsState]:
    state = act(game, dealt(game, at_points(game, points, dealer=3)), "stand").state
    return act(game, state, *spoken)


def test_rv_15_all_pass_and_the_dealer_wins_the_rams_unasked(game: Rams) -> None:
    step = walkover(game, (10, 9, 4, 5), "pass", "pass", "pass")
    assert kinds(step) == ["pass", "pass", "pass", "walkover", "score", "rams"]
    assert step.events[3].seat == step.events[5].seat == 3
    assert step.events[4].data["points"] == (10, 9, 4, 0)
    assert step.events[4].data["flights"] == (0, 0, 0, 0)
    assert step.state.wins == (0, 0, 0, 1)


@pytest.mark.parametrize(("before", "after", "wins"), [(3, 0, True), (7, 2, False)])
def test_rv_16_five_tricks_stop_at_zero(game: Rams, before: int, after: int, wins: bool) -> None:
    step = walkover(game, (10, 9, 4, before), "pass", "pass", "pass")
    assert step.events[4].data["points"] == (10, 9, 4, after)
    assert ("rams" in kinds(step)) == wins
    assert step.state.wins[3] == wins
    assert not step.state.passed_last[3]  # unasked, the dealer has not passed (RAMS-32)


def test_rv_17_a_lone_knocker_takes_five(game: Rams) -> None:
    step = walkover(game, (6, 9, 4, 5), "knock", "pass", "pass", "pass")
    assert kinds(step) == ["knock", "pass", "pass", "pass", "walkover", "score"]
    assert step.state.points == (1, 9, 4, 5)
    assert step.state.flights == (0, 0, 0, 0)
    assert step.state.passed_last == (False, True, True, True)


@pytest.mark.parametrize(
    ("thrown", "draws"), [("5C", 0), ("5C 6C 2S 8C", 3), ("5C 6C 7D 2S 8C AD", 5)]
)
def test_rv_18_the_dealer_draws_one_fewer(game: Rams, thrown: str, draws: int) -> None:
    hands = ["8D 4C 9C 8S QH", "5C 6C 7D 2S 8C AD"]
    state = table(game, hands, "D", phase="knock")
    state = act(game, state, "knock", "knock", "exchange").state
    assert len(decision(game, state).legal) == 63
    with pytest.raises(GameError, match="not legal"):
        game.act(state, "exchange")
    state = act(game, state, f"exchange {thrown}").state
    if draws:
        assert chance(game, state).count == draws
        state = game.drawn(state, sorted(state.deal.stock)[:draws]).state
    assert state.phase == "play"
    assert len(state.deal.hands[1]) == 5
    assert state.deal.exchanged == (0, len(thrown.split()))


@pytest.mark.parametrize(("before", "after"), [(1, 6), (2, 7), (4, 9), (5, 10), (7, 10), (10, 10)])
def test_rv_19_a_flight_costs_five_up_to_ten_and_is_counted(
    game: Rams, before: int, after: int
) -> None:
    state = table(game, ["AS", "2H"], "S", points=(9, before))
    played = (state.deal.trick,) * 4  # four tricks have been played, all by seat 0
    deal = replace(state.deal, played=played, tricks=(4, 0))
    step = act(game, replace(state, deal=deal), "AS", "2H")
    assert step.state.points == (8, after)
    assert step.state.flights == (0, 1)


def test_rv_20_a_whole_deal(game: Rams) -> None:
    state = act(game, rv_01(game, (7, 3, 2)), "stand", "knock", "knock", "knock").state
    state = draw(game, act(game, state, "exchange 4C 9C 8S").state, "7H 2H JH")
    state = draw(game, act(game, state, "exchange QC 9H").state, "6S KC")
    state = draw(game, act(game, state, "exchange 5C 6C 2S 8C").state, "3S 9D 4D")
    forced = {
        "AH": {"AH"},
        "4D": {"4D", "7D", "9D", "AD"},
        "AD": {"AD"},
        "8D": {"8D"},
        "6S": {"6S"},
        "9D": {"9D"},
    }
    takers, events = list[int | None](), list[Event]()
    for card in "QH AH 4D AD 8D 3D 3S 2H 6S KD 7D 7H KC 9D JH".split():
        assert legal(game, state) == forced.get(card, legal(game, state))
        assert card in legal(game, state)
        if card == "KD":
            assert state.points == (7, 2, 0)  # seat 2 is home since trick 2, and play goes on
        step = act(game, state, card)
        state = step.state
        events += step.events
        takers += [event.seat for event in step.events if event.kind == "trick"]
    assert takers == [2, 2, 1, 1, 2]
    score, won = events[-2:]
    assert score.data == {"points": (10, 1, 0), "flights": (1, 0, 0)}
    assert (won.kind, won.seat, won.data["winners"]) == ("rams", 2, (2,))
    assert state.ended == (Ended((2,), (10, 1, 0)),)
    assert state.wins == (0, 0, 1)


def test_rv_21_the_first_to_reach_zero_wins(game: Rams) -> None:
    state = table(game, ["KS 5S QH AC 2D", "AS 3S KH 9C 7D"], "S", points=(2, 1))
    assert legal(game, state) == {"5S", "KS"}
    state = act(game, state, "KS", "AS").state
    assert legal(game, state) == {"3S"}
    state = act(game, state, "3S", "5S", "AC", "9C", "QH", "KH", "7D", "2D").state
    assert state.ended == (Ended((1,), (0, 0)),)


def test_rv_22_points_end_at_zero_and_ten(game: Rams) -> None:
    hands = ["KC KD QC QD JC", "2S AH 4H 5H 6H"]
    state = table(game, hands, "S", points=(9, 2))
    plays = ("KC", "2S", "AH", "KD", "4H", "QC", "5H", "QD", "6H", "JC")
    step = act(game, state, *plays)
    assert step.state.ended == (Ended((1,), (10, 0)),)
    assert step.state.flights == (1, 0)


def test_rv_23_a_passer_keeps_his_points_and_trick_order_decides(game: Rams) -> None:
    hands = ["AC KC 2D 3D 4H", "", "AS QC 7D 8D 9H"]
    state = table(game, hands, "S", points=(1, 6, 3), dealer=1, to_act=2)
    plays = ("AS", "4H", "QC", "KC", "AC", "9H", "2D", "8D", "7D", "3D")
    state = act(game, state, *plays).state
    assert state.ended == (Ended((0,), (0, 6, 0)),)
    assert state.flights == (0, 0, 0)


def test_rv_24_a_rejected_offer_changes_nothing(game: Rams) -> None:
    state = dealt(game, at_points(game, (10,) * 4, dealer=3))
    step = act(game, state, "better", "accept", "accept", "reject")
    after = step.state
    assert kinds(step) == ["offer", "vote", "vote", "vote"]
    assert after.deal.hands == state.deal.hands
    assert (after.deal.upcard, after.deal.stock) == (state.deal.upcard, state.deal.stock)
    assert (after.phase, after.to_act) == ("knock", 0)


def test_rv_24_the_first_reject_ends_the_vote(game: Rams) -> None:
    state = dealt(game, at_points(game, (10,) * 4, dealer=3))
    after = act(game, state, "better", "reject").state
    assert (after.phase, after.to_act) == ("knock", 0)


def test_rv_25_better_cards_from_a_new_shuffle(game: Rams) -> None:
    state = act(game, rv_01(game), "better", "accept", "accept").state
    turn = chance(game, state)
    assert (len(set(turn.cards)), turn.count) == (51, 15)
    assert "AD" not in turn.cards
    new = "2C 3C 4C 2D 3D 4D 2H 3H 4H 2S 3S 4S 5S 6S 7S"
    state = draw(game, state, new)
    assert [" ".join(hand) for hand in state.deal.hands] == [
        "2C 3C 4C 2S 3S",
        "2D 3D 4D 4S 5S",
        "2H 3H 4H 6S 7S AD",
    ]
    assert (state.deal.trump, len(state.deal.stock)) == ("D", 36)
    assert (state.phase, state.to_act) == ("knock", 0)


def test_rv_26_a_swing_turns_a_new_trump_card(game: Rams) -> None:
    before = rv_01(game)
    state = act(game, before, "swing", "accept", "accept").state
    state = draw(game, state, "7H")
    assert state.deal.hands == (*before.deal.hands[:2], ("5C", "6C", "7D", "2S", "8C", "7H"))
    assert (state.deal.trump, state.deal.upcard, len(state.deal.stock)) == ("H", "7H", 35)
    assert state.deal.old_upcards == ("AD",)
    assert game.view(state, 1)["out"] == ("AD",)
    assert (state.phase, state.to_act) == ("knock", 0)


def test_rv_27_five_buyers_after_a_swing_exhaust_the_talon_exactly(game: Rams) -> None:
    state = dealt(game, at_points(game, (10,) * 5, dealer=4))
    state = act(game, state, "swing", *["accept"] * 4).state
    state = game.drawn(state, sorted(state.deal.stock)[:1]).state
    state = act(game, state, *["knock"] * 5).state
    drawn = 0
    for seat in range(5):
        hand = state.deal.hands[seat]
        assert len(hand) == (6 if seat == 4 else 5)
        state = act(game, state, " ".join(("exchange", *hand))).state
        turn = chance(game, state)
        assert turn.count == 5
        drawn += turn.count
        state = game.drawn(state, sorted(turn.cards)[:5]).state
    assert drawn == 25
    assert not state.deal.stock
    assert state.phase == "play"


def test_rv_28_flights_then_end_points_decide_a_tie(game: Rams) -> None:
    ended = (
        Ended((0,), (0, 4, 4)),
        Ended((0,), (0, 4, 5)),
        Ended((1,), (5, 0, 7)),
        Ended((1,), (5, 0, 8)),
        Ended((2,), (5, 5, 0)),
        Ended((2,), (6, 6, 0)),
    )
    state = replace(game.start(3), phase="over", wins=(2, 2, 2), flights=(5, 3, 3), ended=ended)
    over = game.turn(state)
    assert isinstance(over, Over)
    assert over.detail["end_points"] == (21, 19, 24)
    assert over.ranks == (3, 1, 2)
    assert over.scores == (2.0, 2.0, 2.0)


def test_rv_29_a_new_rams_starts_on_ten_and_the_deal_goes_on_round(game: Rams) -> None:
    state = dealt(game, at_points(game, (10, 5, 4, 6), dealer=3, passed=[2]))
    state = replace(state, flights=(1, 2, 3, 4), n_deals=7)
    state = act(game, state, "stand", "pass", "knock", "pass", "pass").state
    assert list(state.wins) == [0, 1, 0, 0]
    assert (state.phase, state.rams, state.n_deals) == ("deal", 2, 1)
    assert state.deal.dealer == 0
    assert set(state.points) == {10}
    assert not any(state.passed_last)
    assert state.flights == state.flights_before == (1, 2, 3, 4)


def first_pass(state: RamsState, turn: Decision) -> str:
    return "pass" if "pass" in turn.legal else turn.legal[0]


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_rv_30_a_table_that_never_knocks(seats: int) -> None:
    game, states = rams(ramsar=1), list[RamsState]()
    over, last = play_match(game, seats, first_pass, "rv-30", states.append)
    dealer = next(state.deal.dealer for state in states if state.phase == "deal")
    assert last.deal.number == seats + 1
    assert over.scores == tuple(float(seat == dealer) for seat in range(seats))
    assert last.points == tuple(0 if seat == dealer else 5 for seat in range(seats))
    asked = [state for state in states if state.phase == "knock"]
    assert all(decision(game, state).legal == ("pass", "knock") for state in asked)


def test_rv_31_the_nearest_active_seat_leads_and_the_dealer_is_last(game: Rams) -> None:
    state = dealt(game, at_points(game, (10,) * 5, dealer=1))
    state = act(game, state, "stand", "pass", "pass", "knock", "pass", "knock").state
    assert (state.phase, state.to_act) == ("exchange", 4)
    state = act(game, state, "exchange").state
    assert (state.phase, state.to_act) == ("exchange", 1)
    state = act(game, state, decision(game, state).fallback).state
    assert (state.phase, state.to_act) == ("play", 4)
    state = act(game, state, decision(game, state).fallback).state
    assert (state.phase, state.to_act) == ("play", 1)


def test_rv_32_the_king_of_trumps_above_the_ace() -> None:
    game = rams(trump_order="king_over_ace")
    state = table(game, ["2S", "KD 2D"], "D", to_act=1, trick=[(0, "AD")])
    assert legal(game, state) == {"KD"}
    assert winner(["AD", "KD"], strengths(ACE_HIGH, "D", "23456789TJQAK")) == 1
    assert legal(game, table(game, ["AD KD 3C", "2S"], "D")) == {"AD"}
