"""Svarta Maja: its vectors as positions, its options, and whole matches."""

import math
from collections.abc import Sequence
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
from tourney.deals import Deals, group_key
from tourney.errors import GameError
from tourney.games.base import Chance, Over
from tourney.games.cards import PACK
from tourney.games.registry import make_game
from tourney.games.svarta_maja import QUEEN, SvartaMajaState


def maja(**options: Any) -> Any:
    return make_game("svarta-maja", options)


def position(
    *hands: str, trump: str = "2D", stock: Sequence[str] = (), attacker: int = 0, **more: Any
) -> SvartaMajaState:
    """Seats with these hands, the attacker to act; the trump card has been drawn."""
    n = len(hands)
    given = {card for hand in hands for card in hand.split()} | set(stock)
    return replace(
        SvartaMajaState(phase="lot", seats=n),
        phase="attack",
        hands=tuple(cards(hand) for hand in hands),
        attacker=attacker,
        defender=(attacker + 1) % n,
        trump_card=trump,
        stock=frozenset(stock),
        out=tuple(card for card in PACK if card not in given),
        **more,
    )


GAME = maja()


def test_sv_01_a_card_is_beaten_by_a_higher_one_of_its_suit_or_by_a_trump() -> None:
    state = position("9S JS 2C", "KS QS 3D 2H")
    state = act(GAME, state, "attack 9S", "attack JS", "done")
    assert legal(GAME, state) == ("beat 9S 3D", "beat 9S KS", "pick-up 9S")
    after = act(GAME, state, "beat 9S KS")
    assert legal(GAME, after) == ("beat JS 3D", "pick-up JS")
    after = act(GAME, state, "beat 9S 3D")
    assert legal(GAME, after) == ("beat JS KS", "pick-up JS")
    after = act(GAME, state, "pick-up 9S", "pick-up JS")
    assert set(after.hands[1]) == set(cards("KS QS 3D 2H 9S JS"))


def test_sv_02_the_queen_led_is_always_picked_up() -> None:
    state = position("4S QS 9C", "AS AD", "5H")
    state = act(GAME, state, "attack 4S", "attack QS", "done")
    assert legal(GAME, state) == ("beat 4S AD", "beat 4S AS", "pick-up 4S")
    state = act(GAME, state, "beat 4S AS")
    assert legal(GAME, state) == ("pick-up QS",)
    state = act(GAME, state, "pick-up QS")
    assert state.hands[1] == ("AD", "QS")
    assert state.out[-2:] == ("4S", "AS")
    assert (state.attacker, state.defender) == (2, 0)  # SM-15: the seat after the defender


def test_sv_03_no_more_cards_than_the_defender_holds() -> None:
    state = position("4H 6H 9H", "2C 3C")
    assert legal(GAME, state) == ("attack 4H", "attack 6H", "attack 9H")
    one = act(GAME, state, "attack 4H")
    assert legal(GAME, one) == ("attack 6H", "attack 9H", "done")
    assert legal(GAME, act(GAME, one, "attack 6H")) == ("done",)


def test_an_attack_is_of_one_suit_and_laid_upwards() -> None:
    state = act(GAME, position("4H 9H 6S QS", "2C 3C 4C 5C"), "attack 9H")
    assert legal(GAME, state) == ("done",)  # SM-9: each set of cards in one order only
    state = act(GAME, position("4H 9H 6S QS", "2C 3C 4C 5C"), "attack 6S")
    assert legal(GAME, state) == ("attack QS", "done")  # SM-9: QS counts as a spade


def test_trumps_are_beaten_by_higher_trumps_only() -> None:
    state = act(GAME, position("9D", "AS KD 2D 3H"), "attack 9D", "done")
    assert legal(GAME, state) == ("beat 9D KD", "pick-up 9D")  # SM-11


def test_a_card_picked_up_beats_nothing_in_the_same_defence() -> None:
    state = act(GAME, position("9S JS 2C", "2H 3H"), "attack 9S", "attack JS", "done")
    state = act(GAME, state, "pick-up 9S")
    assert legal(GAME, state) == ("pick-up JS",)


def test_who_beats_everything_attacks_next() -> None:
    state = position("9S JS 2C", "KS 3D 2H", "4C")
    state = act(GAME, state, "attack 9S", "attack JS", "done", "beat 9S 3D", "beat JS KS")
    assert (state.attacker, state.defender) == (1, 2)  # SM-15
    assert state.idle == 0
    assert state.out[-4:] == ("9S", "3D", "JS", "KS")  # SM-14


def test_who_beats_everything_with_the_last_card_is_out_and_the_next_seat_attacks() -> None:
    state = position("9S QS", "KS", "4C 5C", "6C")
    state = act(GAME, state, "attack 9S", "done", "beat 9S KS")
    assert (state.attacker, state.defender) == (2, 3)  # SM-15, SM-16


def test_attacker_refills_before_the_defence_and_defender_after_it() -> None:
    state = position("9S JS 2C 3C 4C", "KS 3D 2H 3H", stock=["5C", "6C", "7C", "8C"])
    state = act(GAME, state, "attack 9S", "attack JS", "done")
    turn = chance(GAME, state)
    assert (turn.count, turn.label) == (2, "stock/0")
    step = GAME.drawn(state, ["8C", "5C"])
    assert b"8C" in heard(step, 0)
    assert b"8C" not in heard(step, 1)  # SM-18
    state = act(GAME, step.state, "beat 9S 3D", "pick-up JS")
    turn = chance(GAME, state)
    assert (turn.count, turn.label) == (1, "stock/1")


def test_the_trump_card_is_drawn_last_and_everybody_sees_who_has_it() -> None:
    state = position("9S 2C 3C 4C 5C", "KS 3D 2H 3H 4H", trump="7D", stock=["6C"], trump_lies=True)
    state = act(GAME, state, "attack 9S", "done")
    assert GAME.view(state, 1)["stock"] == 2
    state = GAME.drawn(state, ["6C"]).state
    step = GAME.act(state, "beat 9S KS")
    assert [event.kind for event in step.events] == ["beat", "draw-trump"]  # SM-3
    view = GAME.view(step.state, 0)
    assert view["known"][1] == ["7D"]
    assert (view["trump"], view["trump_card"], view["stock"]) == ("D", None, 0)


def test_a_spade_turned_up_goes_back_and_another_card_is_turned() -> None:
    state = replace(GAME.start(2), phase="trump", stock=frozenset(PACK[10:]), next_from=1)
    state = replace(state, hands=(PACK[:5], PACK[5:10]))
    state = GAME.drawn(state, ["9S"]).state
    turn = chance(GAME, state)
    assert "9S" not in turn.cards
    step = GAME.drawn(state, ["4H"])
    state = step.state
    assert (state.trump_card, state.turned, state.attacker) == ("4H", ("9S",), 1)  # SM-3, SM-4
    assert "9S" in state.stock
    assert "4H" not in state.stock


def test_last_seat_with_cards_loses_and_holds_the_queen() -> None:
    state = act(GAME, position("QS", "2C", ""), "attack QS", "done", "pick-up QS")
    over = result(GAME, state)
    assert list(over.scores) == [0, 1, 0]  # SM-16
    assert over.ranks == (1, 3, 1)
    assert over.detail == {"loser": 1, "capped": False}


def test_caps_end_the_game_against_the_holder_of_the_queen() -> None:
    state = position("QS 9C", "2C 3C", "4H 5H", idle=299)
    state = act(GAME, state, "attack 9C", "done", "pick-up 9C")
    assert list(result(GAME, state).scores) == [1, 0, 0]  # SM-17
    state = position("QS 9C", "2C 3C", "4H 5H", attacks=999)
    state = act(GAME, state, "attack QS", "done", "pick-up QS")
    over = result(GAME, state)
    assert list(over.scores) == [0, 1, 0]
    assert over.detail["capped"]


def test_a_card_that_leaves_the_game_sets_the_idle_count_back() -> None:
    state = position("9C QS", "TC 3C", "4H 5H", idle=299)
    state = act(GAME, state, "attack 9C", "done", "beat 9C TC")
    assert state.idle == 0
    assert state.phase == "attack"


def test_a_cap_with_the_queen_in_the_stock_has_no_loser() -> None:
    hands = ("9C 2H 3H 4H 5H 6H", "2C 3C 4C 5C 6C", "7C 8C TC JC QC")
    state = position(*hands, stock=["QS", "8S"], idle=299)
    state = act(GAME, state, "attack 9C", "done", "pick-up 9C")
    over = result(GAME, state)
    assert [*over.scores, *over.ranks] == [0, 0, 0, 1, 1, 1]
    assert over.detail["loser"] is None


def test_options() -> None:
    with pytest.raises(GameError, match="players = '3-5' is for 3 to 5 seats, not 2"):
        maja(players="3-5").start(2)
    with pytest.raises(GameError, match="2 to 6 seats, not 7"):
        maja().start(7)
    with pytest.raises(GameError, match="idle_cap"):
        maja(idle_cap=0)
    game = maja(hand=6)
    state = game.drawn(game.start(2), ["1"]).state
    assert game.turn(state) == Chance(PACK, 12, "deal")  # SM-2
    pile = maja(stock="pile")
    state = act(pile, position("9S 2C", "KS", stock=["5C"]), "attack 9S", "done")
    turn = chance(pile, state)
    assert turn.label == "stock"


def conserved(state: SvartaMajaState) -> None:
    if not state.hands:
        return
    upcard = [state.trump_card] if state.trump_lies else []
    beaters = [card for card in state.beaters if card]
    held = [card for hand in state.hands for card in hand]
    assert sorted([*held, *state.stock, *upcard, *state.attack, *beaters, *state.out]) == sorted(
        PACK
    )
    assert state.shown <= set(held)
    assert state.attacks <= 1000


VARIANTS: list[dict[str, Any]] = [
    {},
    {"hand": 6},
    {"stock": "pile"},
    {"idle_cap": 5},
    {"attack_cap": 30},
]


@pytest.mark.parametrize("options", VARIANTS, ids=lambda o: "-".join(o) or "base")
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
def test_every_policy_ends(seats: int, policy: str, options: dict[str, Any]) -> None:
    over, state, n_actions = finish(maja(**options), seats, POLICIES[policy], seats, conserved)
    assert sum(over.scores) <= 1
    if not over.detail["capped"]:
        assert state.hands[over.detail["loser"]].count(QUEEN) == 1  # SM-16
    assert n_actions <= 1000 * 27


def test_seats_that_never_beat_are_stopped_by_the_cap() -> None:
    over, state, _ = finish(
        maja(), 3, lambda turn, _: turn.legal[0] if turn.phase == "attack" else turn.legal[-1]
    )
    assert over.detail["capped"]
    assert state.idle == 300


def hidden(state: SvartaMajaState, seat: int) -> set[str]:
    held = {card for s, hand in enumerate(state.hands) if s != seat for card in hand}
    return (held | state.stock) - state.shown


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_nothing_leaks(seats: int) -> None:
    assert_nothing_leaks(GAME, seats, hidden, ("hands", "stock"), seats)


def test_known_cards_are_those_that_everybody_saw_go_into_a_hand() -> None:
    seen: set[str] = set()
    for _, _, _, step in moments(GAME, 4, POLICIES["random"], 9):
        for event in step.events:
            if event.kind in ("pick-up", "draw-trump"):
                seen.add(event.data["card"])
            elif event.kind == "attack":
                seen.discard(event.data["card"])
            elif event.kind == "beat":
                seen.discard(event.data["with"])
        if step.state.phase == "attack" and not step.state.attack:
            known = GAME.view(step.state, 0)["known"]
            assert {card for hand in known for card in hand} == seen


def test_streams_and_pile_have_the_same_law() -> None:
    """Over many shuffles forehand loses equally often, however the stock is kept."""
    n = 600
    lost = dict.fromkeys(("streams", "pile"), 0)
    for stock in lost:
        game = maja(stock=stock)
        for number in range(n):
            deals = Deals(group_key(b"law", f"{stock}/{number}"))
            state = game.start(2)
            while not isinstance(turn := game.turn(state), Over):
                if isinstance(turn, Chance):
                    state = game.drawn(state, deals.draw(turn)).state
                else:
                    state = game.act(state, turn.fallback).state
            lost[stock] += turn.scores[(state.dealer + 1) % 2] == 1
    assert abs(lost["streams"] - lost["pile"]) < 3.5 * math.sqrt(2 * n * 0.25)
