"""The test vectors of Dam (RULES.md section D), each set up as a position and played."""

import dataclasses
from collections.abc import Sequence

import pytest

from tourney.errors import GameError
from tourney.games.base import Chance, Decision, Over, Step
from tourney.games.cards import PACK
from tourney.games.dam import Dam, DamRules, DamState

ROW_0 = "9C 4D JH 2S KH 9D KS".split()
ROW_1 = "6H 5S TC QC 8D 3H KC".split()


def position(
    game: Dam,
    rows: Sequence[Sequence[str]],
    stock: Sequence[str],
    discard: Sequence[str] = (),
    to_act: int = 0,
) -> DamState:
    """Seats with these rows, nobody knows a card, `stock` in any order."""
    return dataclasses.replace(
        game.start(len(rows)),
        phase="source",
        to_act=to_act,
        rows=tuple(tuple(row) for row in rows),
        seen=(tuple((None,) * len(row) for row in rows),) * len(rows),
        stock=frozenset(stock),
        discard=tuple(discard),
    )


def play(game: Dam, state: DamState, *actions: str) -> DamState:
    """Play actions; `draw 5D` also says which stock card comes."""
    for text in actions:
        action, *card = text.split()
        if action == "ask":
            action, card = text, []
        state = game.act(state, action).state
        if card:
            assert isinstance(game.turn(state), Chance)
            state = game.drawn(state, card).state
    return state


def legal(game: Dam, state: DamState) -> set[str]:
    decision = game.turn(state)
    assert isinstance(decision, Decision)
    return set(decision.legal)


def known_to(game: Dam, state: DamState, seat: int) -> dict[tuple[int, int], str]:
    """What `seat` knows, as (seat, slot from 1) to card."""
    rows = game.view(state, seat)["rows"]
    return {
        (s, slot): card
        for s, row in enumerate(rows)
        for slot, card in enumerate(row, 1)
        if card is not None
    }


def rest(*rows: Sequence[str]) -> list[str]:
    used = {card for row in rows for card in row}
    return [card for card in PACK if card not in used]


@pytest.fixture
def game() -> Dam:
    return Dam(DamRules(rounds=1, first="seat0"))


@pytest.mark.parametrize(
    ("row", "value"),
    [
        ("QC QD QH QS KH AC AD", 2),  # DV-01
        ("QC QD QH QS KH AC 2C", 3),  # DV-02
        ("KC KD KS JC JD JH JS", 83),  # DV-03
        ("KC KD KS JC JD JH TS", 82),
        ("KC KD KS JC JD JH KH", 72),
        ("AH 2C 3D 4S 5H 6C 7D", 28),  # DV-04
        ("8H 9C TD JS QH KD KH", 51),
    ],
)
def test_dv_01_to_04_row_values(game: Dam, row: str, value: int) -> None:
    assert sum(game.values[card] for card in row.split()) == value


def test_dv_05_first_turn_can_only_draw(game: Dam) -> None:
    assert legal(game, position(game, [ROW_0, ROW_1], rest(ROW_0, ROW_1))) == {"draw"}


def test_dv_06_draw_and_throw_changes_nothing_but_the_pile(game: Dam) -> None:
    state = position(game, [ROW_0, ROW_1], rest(ROW_0, ROW_1))
    after = play(game, state, "draw 5D", "throw")
    assert after.rows[0] == tuple(ROW_0)
    assert known_to(game, after, 0) == {}
    assert after.discard[-1] == "5D"
    assert after.to_act == 1
    assert legal(game, after) == {"draw", "take"}


SEVEN = "7C 4D JH 2S KH 9D KS".split()


def test_dv_07_seven_keeps_end_in_a_forced_throw(game: Dam) -> None:
    state = position(game, [SEVEN, ROW_1], rest(SEVEN, ROW_1))
    state = play(game, state, "draw QH", *["keep"] * 7)
    assert legal(game, state) == {"throw"}
    state = play(game, state, "throw")
    assert state.rows[0] == tuple("QH 7C 4D JH 2S KH 9D".split())
    assert sum(game.values[card] for card in state.rows[0]) == 33
    assert state.discard[-1] == "KS"
    assert {slot for _, slot in known_to(game, state, 0)} == set(range(1, 8))


def test_dv_08_three_keeps_make_a_prefix_of_three(game: Dam) -> None:
    state = position(game, [SEVEN, ROW_1], rest(SEVEN, ROW_1))
    state = play(game, state, "draw QH", *["keep"] * 3, "throw")
    assert state.rows[0] == tuple("QH 7C 4D 2S KH 9D KS".split())
    assert sum(game.values[card] for card in state.rows[0]) == 35
    assert state.discard[-1] == "JH"
    assert known_to(game, state, 0) == {(0, 1): "QH", (0, 2): "7C", (0, 3): "4D"}
    assert known_to(game, state, 1) == {}


def test_dv_09_a_good_last_card_must_be_thrown(game: Dam) -> None:
    row = "7C 4D 5H 2S KH 9D QS".split()
    state = position(game, [row, ROW_1], rest(row, ROW_1))
    state = play(game, state, "draw AD", *["keep"] * 7)
    assert state.hand == "QS"
    assert legal(game, state) == {"throw"}
    state = play(game, state, "throw")
    assert state.rows[0] == tuple("AD 7C 4D 5H 2S KH 9D".split())
    assert sum(game.values[card] for card in state.rows[0]) == 28
    assert legal(game, state) == {"draw", "take"}


def test_dv_10_a_taken_discard_must_be_kept_and_is_known_to_all(game: Dam) -> None:
    state = position(game, [ROW_0, ROW_1], ["2C", "3C"], ["2D"], to_act=1)
    state = play(game, state, "take")
    assert legal(game, state) == {"keep"}
    state = play(game, state, "keep", "throw")
    assert state.rows[1] == tuple("2D 5S TC QC 8D 3H KC".split())
    assert state.discard[-1] == "6H"
    assert known_to(game, state, 0) == {(1, 1): "2D"}


def test_dv_11_free_take_allows_a_null_turn() -> None:
    game = Dam(DamRules(rounds=1, discard_take="free"))
    state = position(game, [ROW_0, ROW_1], ["2C", "3C"], ["2D"], to_act=1)
    taken = play(game, state, "take")
    assert legal(game, taken) == {"keep", "throw"}
    after = play(game, taken, "throw")
    assert (after.rows, after.discard, after.stock) == (state.rows, state.discard, state.stock)
    assert after.to_act == 0


def test_dv_12_four_takes_in_a_row_force_a_draw_and_a_draw_resets(game: Dam) -> None:
    state = position(game, [ROW_0, ROW_1], rest(ROW_0, ROW_1))
    state = play(game, state, "draw 5D", "throw")
    for _ in range(4):
        assert legal(game, state) == {"draw", "take"}
        state = play(game, state, "take", "keep", "throw")
    assert legal(game, state) == {"draw"}
    state = play(game, state, "draw 5C", "throw")
    assert state.streak == 0
    assert legal(game, state) == {"draw", "take"}


def test_dv_13_the_last_turn_is_completed_and_nothing_follows(game: Dam) -> None:
    state = position(game, [ROW_0, ROW_1], ["3C"])
    state = play(game, state, "draw 3C")
    assert not state.stock
    state = play(game, state, *["keep"] * 3, "throw")
    assert state.rows[0] == tuple("3C 9C 4D 2S KH 9D KS".split())
    assert state.discard[-1] == "JH"
    over = game.turn(state)
    assert isinstance(over, Over)
    assert over.scores == (40, 45)
    assert over.ranks == (1, 2)


def finish(game: Dam, rows: Sequence[Sequence[str]]) -> Over:
    """End a deal with these rows: the last stock card is drawn and thrown."""
    spare = next(card for card in rest(*rows) if card[0] == "9")
    state = play(game, position(game, rows, [spare]), f"draw {spare}", "throw")
    over = game.turn(state)
    assert isinstance(over, Over)
    return over


TIED = ["QC AC 2C 3C 4C 5C 6C".split(), "QD AD 2D 3D 4D 5D 6D".split()]


def test_dv_14_equal_rows_share_the_deal(game: Dam) -> None:
    over = finish(game, TIED)
    assert over.scores == (21, 21)
    assert over.ranks == (1, 1)
    assert over.detail["round_wins"] == (0.5, 0.5)


@pytest.mark.parametrize(
    ("side", "wins"), [("KH 3S", (1, 0)), ("QS KH", (0.5, 0.5)), ("KD 3S", (0, 1))]
)
def test_dv_15_the_decider_splits_a_tie(side: str, wins: tuple[float, float]) -> None:
    game = Dam(DamRules(rounds=1, tie="decider"))
    state = position(game, TIED, ["9C"])
    state = dataclasses.replace(state, side=tuple(side.split()))
    over = game.turn(play(game, state, "draw 9C", "throw"))
    assert isinstance(over, Over)
    assert over.detail["round_wins"] == wins
    assert over.ranks == ((1, 1) if wins[0] == wins[1] else tuple(int(2 - win) for win in wins))


def after_dv_16(game: Dam) -> DamState:
    state = position(game, [ROW_0, ROW_1], ["3C", "QD", "AS", "TS"])
    ask = ["no-ask"] if game.rules.ask != "off" else []
    if ask:
        state = dataclasses.replace(state, phase="ask")
    turns = (
        ["draw 3C", "keep", "throw"],
        ["take", "keep", "throw"],
        ["draw QD", "keep", "keep", "throw"],
        ["draw AS", "keep", "keep", "throw"],
    )
    for turn in turns:
        state = play(game, state, *ask, *turn)
    return state


def test_dv_16_what_each_seat_knows_after_four_turns(game: Dam) -> None:
    state = after_dv_16(game)
    assert known_to(game, state, 0) == {(0, 1): "QD", (0, 2): "3C", (1, 2): "9C"}
    assert known_to(game, state, 1) == {(1, 1): "AS", (1, 2): "9C"}
    assert state.discard == ("6H", "4D", "5S")


def test_dv_17_minus_sevens() -> None:
    game = Dam(DamRules(minus_rank=7))
    assert sum(game.values[card] for card in "7C 7D 7H 7S QC QD QH".split()) == -4
    assert sum(game.values[card] for card in "KC KD KS JC JD JH JS".split()) == 83
    assert sum(Dam(DamRules()).values[c] for c in "7C 7D 7H 7S QC QD QH".split()) == 28


@pytest.mark.parametrize(("length", "low", "high"), [(4, 0, 50), (5, 0, 61), (7, 2, 83)])
def test_dv_18_bounds_by_row_length(length: int, low: int, high: int) -> None:
    info = Dam(DamRules(rounds=1, row_len=length)).info  # type: ignore[arg-type]
    assert (info.lowest_score, info.highest_score) == (low, high)


@pytest.mark.parametrize(
    ("seats", "stock", "with_decider", "most_turns"),
    [(2, 38, 36, 186), (3, 31, 28, 211), (4, 24, 20, 208), (5, 17, 12, 177), (6, 10, 4, 118)],
)
def test_dv_19_stock_sizes_and_longest_deals(
    seats: int, stock: int, with_decider: int, most_turns: int
) -> None:
    def dealt(game: Dam) -> DamState:
        state = game.start(seats)
        chance = game.turn(state)
        assert isinstance(chance, Chance)
        return game.drawn(state, list(chance.cards)[: chance.count]).state

    game = Dam(DamRules(rounds=1, first="seat0"))
    assert len(dealt(game).stock) == stock
    decider = Dam(DamRules(rounds=1, first="seat0", tie="decider"))
    if seats == 6:
        with pytest.raises(GameError, match=r"decider = own with 6 seats"):
            decider.start(seats)
    else:
        assert len(dealt(decider).stock) == with_decider
    assert turns_when_all_take(game, dealt(game)) == most_turns


def turns_when_all_take(game: Dam, state: DamState) -> int:
    """DAM-23: takers reach the bound exactly."""
    while True:
        turn = game.turn(state)
        if isinstance(turn, Over):
            return state.turns
        if isinstance(turn, Chance):
            state = game.drawn(state, [min(turn.cards)]).state
        else:
            wanted = "take" if "take" in turn.legal else "throw"
            state = game.act(state, wanted if wanted in turn.legal else turn.legal[0]).state


def test_dv_20_a_binding_swap_moves_knowledge_with_the_cards() -> None:
    game = Dam(DamRules(rounds=1, ask="binding"))
    state = after_dv_16(game)
    assert state.to_act == 0
    state = play(game, state, "ask 1 2 3")
    decision = game.turn(state)
    assert isinstance(decision, Decision)
    assert (decision.seat, decision.phase, decision.legal) == (1, "answer", ("no", "yes"))
    state = play(game, state, "yes")
    assert state.rows[0][1] == "TC"
    assert state.rows[1][2] == "3C"
    assert known_to(game, state, 0) == {(0, 1): "QD", (1, 2): "9C", (1, 3): "3C"}
    assert known_to(game, state, 1) == {(1, 1): "AS", (1, 2): "9C"}
    assert legal(game, state) == {"draw", "take"}


@pytest.mark.parametrize(
    ("answers", "swapped"),
    [(["withdraw"], False), (["confirm", "withdraw"], False), (["confirm", "confirm"], True)],
)
def test_dv_21_a_yes_that_does_not_bind(answers: list[str], swapped: bool) -> None:
    game = Dam(DamRules(rounds=1, ask="nonbinding"))
    state = play(game, after_dv_16(game), "ask 1 2 3", "yes")
    seats = []
    for answer in answers:
        decision = game.turn(state)
        assert isinstance(decision, Decision)
        assert decision.phase == "confirm"
        seats.append(decision.seat)
        state = play(game, state, answer)
    assert seats == [0, 1][: len(answers)]
    assert (state.rows[0][1] == "TC") == swapped
    assert legal(game, state) == {"draw", "take"}, "the question of this turn is spent"


def test_dv_22_totals_decide_a_match_of_three_deals() -> None:
    game = Dam(DamRules(rounds=3))
    state = dataclasses.replace(
        game.start(2),
        phase="over",
        sums=((30, 41), (52, 20), (21, 21)),
        winners=((0,), (1,), (0, 1)),
    )
    over = game.turn(state)
    assert isinstance(over, Over)
    assert over.scores == (103, 82)
    assert over.ranks == (2, 1)
    assert over.detail["round_wins"] == (1.5, 1.5)


def test_an_illegal_action_is_refused_and_changes_nothing(game: Dam) -> None:
    state = position(game, [ROW_0, ROW_1], rest(ROW_0, ROW_1))
    with pytest.raises(GameError, match="'take' is not legal for seat 0"):
        game.act(state, "take")


def test_events_show_cards_only_to_those_who_know_them(game: Dam) -> None:
    state = position(game, [ROW_0, ROW_1], rest(ROW_0, ROW_1))
    step: Step[DamState] = game.act(state, "draw")
    drawn = game.drawn(step.state, ["5D"])
    assert drawn.events[0].seen_by(0) == {"seat": 0, "event": "draw", "card": "5D"}
    assert drawn.events[0].seen_by(1) == {"seat": 0, "event": "draw"}
    kept = game.act(drawn.state, "keep")
    assert kept.events[0].seen_by(0) == {"seat": 0, "event": "keep", "slot": 1, "card": "5D"}
    assert kept.events[0].seen_by(1) == {"seat": 0, "event": "keep", "slot": 1}
