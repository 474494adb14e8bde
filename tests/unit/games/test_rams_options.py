"""What each value of each option of Rams changes (RULES.md section G)."""

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
from tourney.games.base import Over
from tourney.games.cards import PACK_32
from tourney.games.rams import Rams, RamsState
from tourney.games.rams.state import Ended


def four(game: Rams, *actions: str) -> RamsState:
    """Four seats, dealer 3, after these actions."""
    return act(game, dealt(game, at_points(game, (10,) * 4, dealer=3)), *actions).state


@pytest.mark.parametrize(
    ("votes", "result"),
    [
        ("accept accept", "redeal"),
        ("reject accept accept", "redeal"),
        ("accept reject accept", "redeal"),
        ("reject reject", "knock"),
        ("accept reject reject", "knock"),
    ],
)
def test_rams_21_a_majority_of_the_others(votes: str, result: str) -> None:
    game = rams(offers="majority")
    *first, last = votes.split()
    state = four(game, "better", *first)
    assert state.phase == "vote"
    assert act(game, state, last).state.phase == result


def test_rams_21_half_is_no_majority() -> None:
    game = rams(offers="majority")
    state = dealt(game, at_points(game, (10,) * 3, dealer=2), RV_01)
    assert act(game, state, "swing", "accept", "reject").state.phase == "knock"


@pytest.mark.parametrize(("vote", "result"), [("accept", "swing"), ("reject", "knock")])
def test_rams_21_only_the_dealer_votes(vote: str, result: str) -> None:
    game = rams(offers="dealer_only")
    state = four(game, "swing")
    assert (state.phase, state.to_act) == ("vote", 3)
    assert act(game, state, vote).state.phase == result


def test_rams_21_individual_changes_only_those_who_accept() -> None:
    game = rams(offers="individual")
    before = four(game, "better")
    state = act(game, before, "reject", "accept", "reject").state
    assert state.phase == "redeal"
    assert chance(game, state).count == 10
    old = before.deal.hands
    assert set(chance(game, state).cards) == before.deal.stock | {*old[0], *old[2]}
    state = game.drawn(state, sorted(before.deal.stock)[:10]).state
    assert (state.deal.hands[1], state.deal.hands[3]) == (old[1], old[3])
    assert not {*state.deal.hands[0], *state.deal.hands[2]} & {*old[0], *old[2]}
    assert len(state.deal.stock) == 31
    assert act(game, before, "reject", "reject", "reject").state.phase == "knock"


def test_rams_21_individual_is_for_better_cards_a_swing_needs_everybody() -> None:
    game = rams(offers="individual")
    assert four(game, "swing", "accept", "accept", "accept").phase == "swing"
    assert four(game, "swing", "accept", "reject").phase == "knock"


def test_rams_21_without_offers_the_pass_round_comes_first() -> None:
    game = rams(offers="off")
    state = four(game)
    assert (state.phase, state.to_act) == ("knock", 0)


def test_rams_22_a_swing_at_will() -> None:
    game = rams(swing_needs_vote=False)
    assert four(game, "swing").phase == "swing"
    assert four(game, "better").phase == "vote"


def test_rams_23_more_than_one_offer() -> None:
    game = rams(offers_per_deal=2)
    state = four(game, "better", "reject")
    assert (state.phase, state.to_act) == ("offer", 0)
    state = act(game, state, "swing", "accept", "accept", "accept").state
    state = game.drawn(state, sorted(state.deal.stock)[:1]).state
    assert (state.phase, state.to_act) == ("knock", 0)
    state = four(game, "better", "accept", "accept", "accept")
    first = chance(game, state).label
    state = game.drawn(state, sorted(state.deal.stock)[:20]).state
    state = act(game, state, "better", "accept", "accept", "accept").state
    assert chance(game, state).label != first


def test_rams_24_better_cards_from_the_talon() -> None:
    game = rams(better_from="talon")
    before = four(game, "better", "accept", "accept", "accept")
    assert set(chance(game, before).cards) == before.deal.stock
    state = game.drawn(before, sorted(before.deal.stock)[:20]).state
    assert len(state.deal.stock) == 11
    assert state.deal.thrown == tuple(hand[:5] for hand in before.deal.hands)
    assert state.deal.hands[3][-1] == before.deal.upcard
    assert [len(hand) for hand in state.deal.hands] == [5, 5, 5, 6]


def test_rams_24_an_offer_the_talon_cannot_serve_is_not_legal() -> None:
    game = rams(better_from="talon", offers_per_deal=3)
    state = four(game, "better", "accept", "accept", "accept")
    state = game.drawn(state, sorted(state.deal.stock)[:20]).state
    assert legal(game, state) == {"stand", "swing"}
    bare = replace(state, deal=replace(state.deal, stock=frozenset()))
    assert decision(game, bare).legal == ("stand",)


def test_rams_25_the_dealer_keeps_the_old_trump_card_and_discards_two() -> None:
    game = rams(old_upcard="dealer_keeps_discards_two")
    state = dealt(game, at_points(game, (10,) * 3, dealer=2), RV_01)
    state = draw(game, act(game, state, "swing", "accept", "accept").state, "7H")
    assert state.deal.hands[2] == ("5C", "6C", "7D", "2S", "8C", "AD", "7H")
    state = act(game, state, "pass", "knock", "knock", "exchange").state
    assert len(decision(game, state).legal) == 2**7 - 8
    assert decision(game, state).fallback == "exchange 5C 2S"
    assert act(game, state, "exchange AD 7H").state.phase == "play"
    state = act(game, state, "exchange 5C 6C 2S 8C").state
    assert chance(game, state).count == 2


@pytest.mark.parametrize(
    ("offered", "spoken"), [("stand", {"pass", "knock"}), ("better", {"knock"})]
)
def test_rams_26_an_offer_can_oblige_to_knock(offered: str, spoken: set[str]) -> None:
    game = rams(offerer_must_knock=True)
    votes = [] if offered == "stand" else ["reject"]
    state = four(game, offered, *votes)
    assert legal(game, state) == spoken
    assert legal(game, act(game, state, "knock").state) == {"pass", "knock"}


def test_rams_34_the_dealer_must_play_against_a_lone_knocker() -> None:
    game = rams(lone="dealer_must_play")
    state = four(game, "stand", "pass", "knock", "pass")
    assert (state.to_act, legal(game, state)) == (3, {"knock"})
    assert act(game, state, "knock").state.phase == "exchange"
    state = four(game, "stand", "pass", "knock", "knock")
    assert legal(game, state) == {"pass", "knock"}
    assert four(game, "stand", "pass", "pass", "pass").points == (10, 10, 10, 5)  # RAMS-33 stands


def test_rams_40_each_knocker_can_buy_before_the_next_seat_speaks() -> None:
    game = rams(exchange="immediate")
    state = four(game, "stand", "knock")
    assert (state.phase, state.to_act) == ("exchange", 0)
    state = act(game, state, "exchange").state
    assert (state.phase, state.to_act) == ("knock", 1)
    state = act(game, state, "pass", "knock", "exchange", "knock").state
    assert (state.phase, state.to_act) == ("exchange", 3)
    state = act(game, state, decision(game, state).fallback).state
    assert (state.phase, state.to_act) == ("play", 0)
    # A knocker whom nobody joins has bought for nothing.
    state = four(game, "stand", "knock", "exchange", "pass", "pass", "pass")
    assert state.points == (5, 10, 10, 10)


@pytest.mark.parametrize(
    ("maning", "second_lead", "exempt"),
    [
        ("all_leaders", True, False),
        ("first_lead", False, False),
        ("opponents", True, True),
        ("off", None, None),
    ],
)
def test_rams_51_whom_tvangsmaning_binds(
    maning: str, second_lead: bool | None, exempt: bool | None
) -> None:
    game = rams(maning=maning)
    holds = maning != "off"
    state = table(game, ["KD 4D AS KH", "2D 3D 4S 4C"], "D", points=(5, 1))
    assert legal(game, state) == ({"4D", "KD"} if holds else {"4D", "KD", "AS", "KH"})
    assert game.view(state, 1)["forced_trump"] == holds
    state = act(game, state, "KD", "2D").state
    assert legal(game, state) == ({"4D"} if second_lead else {"4D", "AS", "KH"})
    assert game.view(state, 1)["forced_trump"] == bool(second_lead)
    state = table(game, ["KD 4D AS", "2D 3S 4S"], "D", points=(5, 1), to_act=1)
    assert legal(game, state) == ({"2D"} if holds and not exempt else {"2D", "3S", "4S"})


def test_rams_51_points_at_the_start_or_now() -> None:
    hands = ["KD 4D AS", "2D 3D 4S"]
    for when, bound in (("start", False), ("live", True)):
        game = rams(maning_when=when)
        state = act(game, table(game, hands, "D", points=(2, 9)), "KD", "2D").state
        assert state.points == (1, 9)
        assert legal(game, state) == ({"4D"} if bound else {"4D", "AS"})
    for when, bound in (("start", True), ("live", False)):
        game = rams(maning_when=when)
        state = act(game, table(game, hands, "D", points=(1, 9)), "KD", "2D").state
        assert state.points == (0, 9)
        assert legal(game, state) == ({"4D"} if bound else {"4D", "AS"})


def test_rams_51_a_live_exemption_is_for_whoever_stands_on_one_now() -> None:
    game = rams(maning="opponents", maning_when="live")
    state = table(game, ["KD 4D AS", "2D 3D 4S"], "D", points=(2, 9))
    assert legal(game, act(game, state, "KD", "2D").state) == {"4D", "AS"}


def test_rams_54_a_trump_that_cannot_win_need_not_be_played() -> None:
    trick = [(0, "QH"), (1, "9D")]
    for undertrump, expected in (("forced", {"4D", "2D"}), ("free", {"4D", "2D", "AS"})):
        game = rams(undertrump=undertrump)
        state = table(game, ["2C", "3C", "4D 2D AS"], "D", to_act=2, trick=trick)
        assert legal(game, state) == expected
    game = rams(undertrump="free")
    state = table(game, ["2C", "3C", "4D TD AS"], "D", to_act=2, trick=trick)
    assert legal(game, state) == {"TD"}
    state = table(game, ["2C", "3C", "4D AS"], "D", to_act=2, trick=[(0, "TD"), (1, "9D")])
    assert legal(game, state) == {"4D"}


def test_rams_53_overtaking_in_suit_in_a_trumped_trick() -> None:
    trick = [(0, "QH"), (1, "2D")]
    for option, expected in ((False, {"KH", "3H"}), (True, {"KH"})):
        game = rams(overtake_in_suit_when_trumped=option)
        state = table(game, ["2C", "3C", "KH 3H AD"], "D", to_act=2, trick=trick)
        assert legal(game, state) == expected


@pytest.mark.parametrize(("first_zero", "winner"), [("trick_order", 0), ("lowest_raw", 1)])
def test_rams_64_first_to_zero_or_deepest_below(first_zero: str, winner: int) -> None:
    game = rams(first_zero=first_zero)
    state = table(game, ["AS 2H 3H 4H 5H", "KS AH KH QH JH"], "S", points=(1, 2))
    step = act(game, state, "AS", "KS", "2H", "AH", "KH", "3H", "QH", "4H", "JH", "5H")
    assert step.state.ended == (Ended((winner,), (0, 0)),)


def test_rams_61_without_a_floor_points_go_below_zero() -> None:
    game = rams(floor="none")
    state = act(game, dealt(game, at_points(game, (9, 3), dealer=1)), "stand", "pass").state
    assert state.ended == (Ended((1,), (9, -2)),)
    assert rams(floor="none", match="sum_of_end_points").info.lowest_score == -24.0


def test_rams_62_fly_and_cap() -> None:
    game = rams(fly=3, cap=12, start=12)
    for before, after in ((1, 4), (9, 12), (11, 12)):
        state = table(game, ["AS", "2H"], "S", points=(9, before))
        four_tricks = replace(state.deal, played=((),) * 4, tricks=(4, 0))
        assert act(game, replace(state, deal=four_tricks), "AS", "2H").state.points == (8, after)


def capped(
    game: Rams, points: tuple[int, ...], flights: tuple[int, ...], before: int = 0
) -> RamsState:
    """After the last deal that the cap allows, a lone knocker's walk-over by seat 0."""
    state = dealt(game, at_points(game, points, dealer=len(points) - 1))
    old = (before,) + (0,) * (len(points) - 1)
    state = replace(state, n_deals=game.rules.deal_cap, flights=flights, flights_before=old)
    return act(game, state, "stand", "knock", *["pass"] * (len(points) - 1)).state


def test_rams_66_the_cap_on_deals() -> None:
    game = rams(deal_cap=3)
    assert capped(game, (10, 4, 6), (0, 9, 0)).ended == (Ended((1,), (5, 4, 6)),)
    assert capped(game, (10, 5, 6), (2, 1, 0)).ended == (Ended((1,), (5, 5, 6)),)
    shared = capped(game, (10, 5, 5), (1, 1, 1))
    assert shared.ended == (Ended((0, 1, 2), (5, 5, 5)),)
    assert shared.wins == (1 / 3, 1 / 3, 1 / 3)
    assert shared.rams == 2
    # Only flights of this rams count: all three of seat 0 were flown before it.
    assert capped(game, (10, 5, 6), (3, 1, 0), before=3).ended == (Ended((0,), (5, 5, 6)),)
    assert capped(game, (5, 3, 3), (9, 0, 0)).ended == (Ended((0,), (0, 3, 3)),)


@pytest.mark.parametrize(
    ("next_dealer", "dealer"), [("rotate", 1), ("rams_winner", 0), ("rams_loser", 2)]
)
def test_rams_12_who_deals_in_the_next_rams(next_dealer: str, dealer: int) -> None:
    game = rams(next_dealer=next_dealer)
    state = dealt(game, at_points(game, (5, 3, 9, 9), dealer=0))
    state = act(game, state, "stand", "pass", "pass", "pass").state
    assert state.ended == (Ended((0,), (0, 3, 9, 9)),)
    assert state.deal.dealer == dealer


def test_rams_70_sum_of_end_points() -> None:
    game = rams(match="sum_of_end_points", ramsar=2)
    ended = (Ended((0,), (0, 7, 8)), Ended((2,), (10, 3, 0)))
    state = replace(game.start(3), phase="over", wins=(1, 0, 1), flights=(1, 1, 2), ended=ended)
    over = game.turn(state)
    assert isinstance(over, Over)
    assert over.scores == (10.0, 10.0, 8.0)
    assert over.ranks == (2, 3, 1)
    assert game.info.lower_is_better
    assert (game.info.lowest_score, game.info.highest_score) == (0.0, 20.0)


def test_bounds_of_the_score() -> None:
    info = rams().info
    assert (info.lowest_score, info.highest_score, info.worst_score) == (0.0, 6.0, 0.0)
    assert (info.lower_is_better, info.score_name) == (False, "ramsar won")


def test_eur_11_thirty_two_cards() -> None:
    game = rams(deck=32)
    for seats, talon in ((2, 21), (3, 16), (4, 11), (5, 6)):
        state = dealt(game, at_points(game, (10,) * seats, dealer=seats - 1))
        assert len(state.deal.stock) == talon
        assert {card for hand in state.deal.hands for card in hand} <= set(PACK_32)
    # Five seats, six cards in the talon: the third buyer finds one, the dealer none.
    state = act(game, state, "stand", *["knock"] * 5).state
    state = act(game, state, " ".join(("exchange", *state.deal.hands[0]))).state
    state = game.drawn(state, sorted(state.deal.stock)[:5]).state
    assert len(decision(game, state).legal) == 1 + 5
    state = act(game, state, f"exchange {state.deal.hands[1][0]}").state
    state = game.drawn(state, sorted(state.deal.stock)).state
    assert decision(game, state).legal == ("exchange",)
    state = act(game, state, "exchange", "exchange").state
    assert state.to_act == 4
    assert len(decision(game, state).legal) == 6  # one thrown, none drawn (RAMS-42)
    assert act(game, state, decision(game, state).legal[0]).state.phase == "play"


def test_rams_50_the_ace_keeps_its_duty_under_the_king() -> None:
    game = rams(trump_order="king_over_ace", deck=32)
    assert legal(game, table(game, ["AD KD", "7S 8S"], "D")) == {"AD"}
    plain = table(game, ["7S", "KH AH"], "D", to_act=1, trick=[(0, "QH")])
    assert legal(game, plain) == {"KH", "AH"}


def test_a_pile_is_one_order_for_the_whole_talon() -> None:
    labels = {}
    for stock in ("streams", "pile"):
        game = rams(stock=stock)
        state = four(game, "swing", "accept", "accept", "accept")
        swing = chance(game, state).label
        state = game.drawn(state, sorted(state.deal.stock)[:1]).state
        state = act(game, state, "knock", "pass", "knock", "pass").state
        state = act(game, state, f"exchange {state.deal.hands[0][0]}").state
        labels[stock] = [swing, chance(game, state).label]
    assert labels == {"streams": ["swing/1", "stock/1/0"], "pile": ["deal/1", "deal/1"]}
    game = rams(stock="pile")
    state = four(game, "better", "accept", "accept", "accept")
    state = game.drawn(state, sorted(chance(game, state).cards)[:20]).state
    state = act(game, state, "knock", "pass", "knock", "pass").state
    state = act(game, state, f"exchange {state.deal.hands[0][0]}").state
    assert chance(game, state).label == "better/1/1"


def test_more_and_fewer_ramsar() -> None:
    for ramsar in (1, 3):
        over, _ = play_match(rams(ramsar=ramsar), 3, lambda _, turn: turn.legal[0], "ramsar")
        assert sum(over.scores) == ramsar
        assert len(over.detail["ramsar"]) == ramsar
