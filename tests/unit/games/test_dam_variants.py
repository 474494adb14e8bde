"""Dam's options (RULES.md DAM-V1 to DAM-V5 and the profile of section G), one by one."""

import dataclasses
from typing import Any

import pytest

from tests.unit.games.test_dam_exact import play_match, threshold
from tests.unit.games.test_dam_vectors import (
    ROW_0,
    ROW_1,
    TIED,
    known_to,
    legal,
    play,
    position,
    rest,
)
from tourney.deals import group_key
from tourney.errors import GameError
from tourney.games.base import Chance, Decision, Over
from tourney.games.dam import Dam, DamRules, DamState
from tourney.games.registry import make_game

ROWS = [ROW_0, ROW_1]


def over(game: Dam, state: DamState) -> Over:
    turn = game.turn(state)
    assert isinstance(turn, Over)
    return turn


def test_v5_immediate_the_last_stock_card_is_nobodys_choice() -> None:
    game = Dam(DamRules(rounds=1, end="immediate"))
    state = play(game, position(game, ROWS, ["3C"], ["2D"]), "draw 3C")
    assert state.discard == ("2D", "3C")
    assert state.rows == (tuple(ROW_0), tuple(ROW_1))
    assert over(game, state).scores == (48, 45)


def test_v5_last_lap_gives_every_other_seat_one_turn_from_the_discard_pile() -> None:
    game = Dam(DamRules(rounds=1, end="last_lap"))
    third = "TD JC 9H 8S 7S 6S 5C".split()
    state = position(game, [ROW_0, ROW_1, third], ["3C"], ["KD"], to_act=1)
    state = play(game, state, "draw 3C", "keep", "throw")
    assert state.to_act == 2
    assert legal(game, state) == {"take", "pass"}
    state = play(game, state, "pass")
    assert state.to_act == 0
    assert legal(game, state) == {"take", "pass"}
    state = play(game, state, "take")
    assert legal(game, state) == {"keep"}, "a taken discard must be kept (DAM-18)"
    state = play(game, state, "keep", "throw")
    assert isinstance(game.turn(state), Over)
    assert state.rows[0][0] == "6H", "the card that seat 1 threw"


@pytest.mark.parametrize(("last_drawer", "extra"), [(0, [1, 2]), (1, [2]), (2, [])])
def test_v5_equal_turns_plays_on_until_all_had_as_many(last_drawer: int, extra: list[int]) -> None:
    game = Dam(DamRules(rounds=1, end="equal_turns"))
    third = "TD JC 9H 8S 7S 6S 5C".split()
    state = position(game, [ROW_0, ROW_1, third], ["3C"], ["KD"], to_act=last_drawer)
    state = play(game, state, "draw 3C", "throw")
    seats = []
    while not isinstance(game.turn(state), Over):
        seats.append(state.to_act)
        state = play(game, state, "pass")
    assert seats == extra, "seat 0 began the deal"


def finish(game: Dam) -> DamState:
    return play(game, position(game, TIED, ["9C"], ["KD"]), "draw 9C", "throw")


def test_tie_last_actor_loses() -> None:
    game = Dam(DamRules(rounds=1, tie="last_actor_loses"))
    result = over(game, finish(game))
    assert result.detail["round_wins"] == (0, 1), "seat 0 had the last turn"
    assert result.ranks == (2, 1)


def test_tie_replay_deals_the_round_anew_under_another_label() -> None:
    game = Dam(DamRules(rounds=1, tie="replay"))
    state = finish(game)
    chance = game.turn(state)
    assert isinstance(chance, Chance)
    assert (chance.count, chance.label) == (14, "deal/1/again1")
    assert state.sums == ()


def test_tie_replay_ends_after_ten_times() -> None:
    game = Dam(DamRules(rounds=1, tie="replay"))
    state = dataclasses.replace(position(game, TIED, ["9C"]), replays=10)
    assert over(game, play(game, state, "draw 9C", "throw")).ranks == (1, 1)


def test_decider_draw_takes_cards_from_a_shuffle_of_the_thrown_ones() -> None:
    game = Dam(DamRules(rounds=1, tie="decider", decider="draw"))
    state = finish(game)
    chance = game.turn(state)
    assert isinstance(chance, Chance)
    assert set(chance.cards) == {"KD", "9C"}
    assert chance.count == 2
    step = game.drawn(state, ["KD", "9C"])
    assert over(game, step.state).detail["round_wins"] == (0, 1)
    assert step.events[-1].data["decider"] == ["KD", "9C"]


def test_decider_draw_shares_when_the_thrown_cards_do_not_suffice() -> None:
    game = Dam(DamRules(rounds=1, tie="decider", decider="draw", streak_cap="none", turn_cap=1))
    state = play(game, position(game, TIED, ["9C", "8C"]), "draw 9C", "throw")
    assert len(state.discard) == 1
    assert over(game, state).ranks == (1, 1)


def test_decider_slot8_is_played_like_a_slot_and_only_decides() -> None:
    game = Dam(DamRules(rounds=1, tie="decider", decider="slot8"))
    dealt = game.drawn(dataclasses.replace(game.start(2), phase="deal"), list(game.pack[:16])).state
    assert [len(row) for row in dealt.rows] == [8, 8]
    assert len(dealt.stock) == 36
    rows = [[*TIED[0], "KD"], [*TIED[1], "3S"]]
    state = play(game, position(game, rows, ["9C"]), "draw 9C", "throw")
    assert over(game, state).scores == (21, 21), "the eighth slot is not counted"
    assert over(game, state).ranks == (2, 1)
    chain = play(game, position(game, rows, ["9C"]), "draw 9C", *["keep"] * 8)
    assert legal(game, chain) == {"throw"}
    assert chain.hand == "KD"


def test_own_side_cards_are_never_seen_before_the_end() -> None:
    game = Dam(DamRules(rounds=1, tie="decider", first="seat0"))
    state = game.drawn(game.start(2), list(game.pack[:16])).state
    assert len(state.side) == 2
    for seat in (0, 1):
        assert "side" not in game.view(state, seat)
    assert game.view(state, None)["side"] == state.side


@pytest.mark.parametrize(("cap", "takes"), [("n", 2), (3, 3), ("2n", 4)])
def test_streak_caps(cap: Any, takes: int) -> None:
    game = Dam(DamRules(rounds=1, streak_cap=cap))
    state = play(game, position(game, ROWS, rest(*ROWS)), "draw 5D", "throw")
    for _ in range(takes):
        assert legal(game, state) == {"draw", "take"}
        state = play(game, state, "take", "keep", "throw")
    assert legal(game, state) == {"draw"}


def test_a_turn_cap_ends_a_deal_without_a_streak_cap() -> None:
    game = Dam(DamRules(rounds=1, streak_cap="none", turn_cap=50))
    result = play_match(game, 2, group_key(b"k", "1"), (threshold(6), threshold(6)))
    assert len(result.scores) == 2


@pytest.mark.parametrize("end", ["last_lap", "equal_turns"])
def test_a_turn_cap_ends_a_deal_in_any_case(end: Any) -> None:
    game = Dam(DamRules(rounds=1, end=end, turn_cap=1))
    state = position(game, [ROW_0, ROW_1], ["3C"], ["KD"])
    assert isinstance(game.turn(play(game, state, "draw 3C", "throw")), Over)


def test_first_seat0_and_the_starter_moves_clockwise() -> None:
    game = Dam(DamRules(rounds="seats", first="seat0"))
    starters, state = [], game.start(3)
    while not isinstance(turn := game.turn(state), Over):
        if isinstance(turn, Chance):
            if turn.label.startswith("deal"):
                starters.append(state.starter)
            state = game.drawn(state, sorted(turn.cards)[: turn.count]).state
        else:
            state = game.act(state, turn.fallback).state
    assert starters == [0, 1, 2]


def test_round_wins_decide_when_asked_to() -> None:
    game = Dam(DamRules(rounds=3, match="round_wins"))
    state = dataclasses.replace(
        game.start(2),
        phase="over",
        sums=((30, 41), (30, 41), (60, 20)),
        winners=((0,), (0,), (1,)),
    )
    result = over(game, state)
    assert result.scores == (2, 1)
    assert result.ranks == (1, 2)
    assert not game.info.lower_is_better


def test_as_many_round_wins_are_told_apart_by_the_lowest_deal_and_not_by_totals() -> None:
    """DAM-42: more round wins, then lowest single round, then shared."""
    game = Dam(DamRules(rounds=2, match="round_wins"))
    state = dataclasses.replace(
        game.start(2), phase="over", sums=((20, 22), (60, 29)), winners=((0,), (1,))
    )
    assert over(game, state).ranks == (1, 2)


def test_v3_the_decider_is_turned_up_with_the_rows_even_where_it_decides_nothing() -> None:
    game = Dam(DamRules(rounds=1, tie="decider"))
    state = position(game, [ROW_0, ROW_1], ["3C"], ["KD"])
    step = game.act(play(game, dataclasses.replace(state, side=("9H", "9D")), "draw 3C"), "throw")
    assert step.events[-1].data["decider"] == ["9H", "9D"]
    assert len(over(game, step.state).detail["rows"]) == 2
    sums = over(game, step.state).scores
    assert over(game, step.state).ranks == ((1, 2) if sums[0] < sums[1] else (2, 1))


@pytest.mark.parametrize("tied_by", ["round wins", "lowest deal", "nothing"])
def test_dam_42_ties_of_a_match(tied_by: str) -> None:
    game = Dam(DamRules(rounds=2))
    sums, winners, ranks = {
        "round wins": (((30, 31), (31, 30)), ((0,), (0, 1)), (1, 2)),
        "lowest deal": (((30, 41), (41, 30)), ((0,), (1,)), (1, 1)),
        "nothing": (((30, 30), (31, 31)), ((0, 1), (0, 1)), (1, 1)),
    }[tied_by]
    state = dataclasses.replace(game.start(2), phase="over", sums=sums, winners=winners)
    assert over(game, state).ranks == ranks


def test_v4_whole_rows_change_places_with_what_is_known_of_them() -> None:
    game = Dam(DamRules(rounds=1, ask="binding", ask_object="row"))
    state = dataclasses.replace(position(game, ROWS, ["3C", "QD"]), phase="ask")
    state = play(game, state, "no-ask", "draw 3C", "keep", "throw")
    assert legal(game, state) == {"no-ask", "ask 0"}
    state = play(game, state, "ask 0", "yes")
    assert state.rows == (tuple(ROW_1), ("3C", *ROW_0[1:]))
    assert known_to(game, state, 0) == {(1, 1): "3C"}
    assert known_to(game, state, 1) == {}
    assert state.to_act == 1


def test_v4_the_hand_for_a_slot_that_the_asker_does_not_know() -> None:
    game = Dam(DamRules(rounds=1, ask="binding", ask_object="hand"))
    state = play(game, position(game, ROWS, ["KD", "QD"]), "draw KD")
    decision = game.turn(state)
    assert isinstance(decision, Decision)
    assert decision.phase == "ask"
    assert decision.legal == ("no-ask", *(f"ask 1 {slot}" for slot in range(1, 8)))
    state = play(game, state, "ask 1 4", "yes")
    assert state.rows[1][3] == "KD"
    assert state.hand == "QC", "what lay in the other's slot, seen by the asker"
    assert known_to(game, state, 0) == {(1, 4): "KD"}
    assert known_to(game, state, 1) == {}
    assert legal(game, state) == {"keep", "throw"}


def test_v4_a_no_leaves_everything_and_spends_the_question() -> None:
    game = Dam(DamRules(rounds=1, ask="binding"))
    state = dataclasses.replace(position(game, ROWS, ["3C", "QD"], ["2D"]), phase="ask")
    after = play(game, state, "ask 1 1 1", "no")
    assert after.rows == state.rows
    assert legal(game, after) == {"draw", "take"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"streak_cap": "none"}, ("streak_cap", "turn_cap")),
        ({"decider": "draw"}, ("decider = draw", "tie = share")),
        ({"minus_value": -3}, ("minus_value", "minus_rank")),
        ({"ask_object": "row"}, ("ask_object = row", "ask = off")),
        ({"rounds": 0}, ("rounds = 0",)),
        ({"streak_cap": 0}, ("streak_cap = 0",)),
        ({"minus_rank": 11}, ("minus_rank = 11",)),
        ({"row_len": 6}, ("row_len",)),
        ({"rownd": 1}, ("did you mean `rounds`",)),
    ],
)
def test_options_that_do_not_go_together_are_named(
    options: dict[str, Any], words: tuple[str, ...]
) -> None:
    with pytest.raises(GameError) as caught:
        make_game("dam", options)
    assert all(word in str(caught.value) for word in words)


def test_seats_outside_the_range_are_refused() -> None:
    for seats in (1, 7):
        with pytest.raises(GameError, match=f"not {seats}"):
            Dam(DamRules()).start(seats)
    assert Dam(DamRules(max_players=7)).start(7).seats == 7
    with pytest.raises(GameError, match="decider = own with 6 seats"):
        Dam(DamRules(tie="decider")).start(6)
    assert Dam(DamRules(tie="decider", decider="draw")).start(6).seats == 6
