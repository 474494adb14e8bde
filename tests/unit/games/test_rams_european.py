"""European rams: its vectors, every rule as a position, its options, and whole matches."""

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
from tourney.games.cards import PACK_32
from tourney.games.hands import Play
from tourney.games.rams_european import EuropeanState
from tourney.games.registry import make_game


def rams(**options: Any) -> Any:
    return make_game("rams-european", options)


GAME = rams()


def position(*hands: str, upcard: str = "7D", dealer: int = -1, **more: Any) -> EuropeanState:
    """Seats with these hands; by default the last seat deals and forehand, seat 0, declares."""
    n = len(hands)
    dealer %= n
    given: dict[str, Any] = {
        "counters": (5,) * n,
        "to_act": (dealer + 1) % n,
        "widow": cards("7S 8S 9S TS JS"),
        "said": (None,) * n,
        "thrown": ((),) * n,
        "tricks": (0,) * n,
        **more,
    }
    hands_ = tuple(cards(hand) for hand in hands)
    return EuropeanState("declare", n, dealer=dealer, hands=hands_, upcard=upcard, **given)


def playing(*hands: str, said: tuple[str, ...] = (), **more: Any) -> EuropeanState:
    """The same with play begun; everybody is active unless `said` differs."""
    n = len(hands)
    state = position(*hands, said=said or ("play",) * n, **more)
    return replace(state, phase="play", to_act=GAME.active(state)[0])


ANY = ("7C 8C 9C TC JC", "7H 8H 9H TH JH", "QC KC AC QH KH")


@pytest.mark.parametrize(
    ("seats", "count", "widow"), [(3, 21, 5), (4, 26, 5), (5, 31, 5), (6, 31, 0)]
)
def test_ev_01_card_budget(seats: int, count: int, widow: int) -> None:
    state = GAME.drawn(GAME.start(seats), ["0"]).state
    turn = chance(GAME, state)
    assert (turn.count, set(turn.cards)) == (count, set(PACK_32))  # EUR-4
    state = GAME.drawn(state, random.Random(1).sample(PACK_32, count)).state
    assert [len(hand) for hand in state.hands] == [5] * seats
    assert len(state.widow) == widow
    assert 6 * 5 + 5 + 1 > 32  # EUR-2: no room for a widow with six


def test_packets_of_three_and_two_from_forehand() -> None:
    state = GAME.drawn(GAME.start(3), ["1"]).state
    state = GAME.drawn(state, PACK_32[:21]).state
    deck = PACK_32
    assert state.hands[2] == cards(" ".join([*deck[0:3], *deck[12:14]]))  # EUR-4
    assert state.hands[1] == cards(" ".join([*deck[6:9], *deck[16:18]]))
    assert state.widow == cards(" ".join([*deck[9:12], *deck[18:20]]))
    assert state.upcard == deck[20]
    assert state.to_act == 2


def test_ev_02_a_counter_for_each_trick_and_five_for_none() -> None:
    state = playing("AC KC 7H 8H 9H", "QC JC AH KH QH", "TC 9C 7S 8S 9S", counters=(5, 6, 5))
    state = act(GAME, state, "play AC", "play JC", "play 9C")
    state = act(GAME, state, "play KC", "play QC", "play TC")
    state = act(GAME, state, "play 7H", "play QH", "play 7S")
    state = act(GAME, state, "play AH", "play 8S", "play 8H")
    state = act(GAME, state, "play KH", "play 9S", "play 9H")
    assert state.counters == (3, 3, 10)  # EUR-10
    assert (state.phase, state.deal, state.dealer) == ("deal", 2, 0)


def test_declarations() -> None:
    state = position(*ANY)
    assert legal(GAME, state) == ("pass", "play", "widow", "general")  # EUR-5
    state = act(GAME, state, "widow")
    assert legal(GAME, state) == ("pass", "play", "general")
    assert state.hands[0] == cards("7S 8S 9S TS JS")
    assert GAME.view(state, 0)["thrown"] == cards(ANY[0])
    assert GAME.view(state, 1)["thrown"] == ()
    assert (GAME.view(state, 1)["widow"], GAME.view(state, 1)["widow_taker"]) == (False, 0)


def test_widow_cards_are_told_to_the_taker_only() -> None:
    step = GAME.act(position(*ANY), "widow")
    assert b"JS" in heard(step, 0)
    assert b"JS" not in heard(step, 1)


def test_pass_only_after_widow() -> None:
    game = rams(pass_only_after_widow=True)
    state = position(*ANY)
    assert legal(game, state) == ("play", "widow", "general")
    assert legal(game, act(game, state, "widow")) == ("pass", "play", "general")
    with pytest.raises(GameError, match="pass_only_after_widow = true does not go with seats = 6"):
        game.start(6)
    assert game.info.max_seats == 5


def test_after_a_general_everybody_plays() -> None:
    state = act(GAME, position(*ANY), "pass", "general")
    assert legal(GAME, state) == ("play",)  # EUR-6
    state = act(GAME, state, "play")
    assert GAME.active(state) == [0, 1, 2]
    assert act(GAME, state, "exchange").to_act == 0
    assert "general" not in legal(rams(general=False), position(*ANY))


def test_walkovers() -> None:
    state = act(GAME, position(*ANY, counters=(5, 7, 7)), "pass", "pass")
    assert state.counters == (5, 7, 2)  # EUR-7: the dealer was not asked
    assert state.phase == "deal"
    state = act(GAME, position(*ANY, counters=(5, 7, 7)), "pass", "play", "pass")
    assert state.counters == (5, 2, 7)
    over = result(GAME, act(GAME, position(*ANY), "pass", "pass"))
    assert [*over.scores, *over.ranks] == [0, 0, 1, 2, 2, 1]


def test_dealer_may_take_the_upturned_trump() -> None:
    state = act(GAME, position(*ANY), "play", "pass", "play")
    assert legal(GAME, state)[:2] == ("exchange", "exchange QC")
    assert len(legal(GAME, state)) == 6  # EUR-8
    step = GAME.act(state, "exchange QC")
    assert step.state.hands[2] == cards("KC AC 7D QH KH")
    assert b"QC" in heard(step, 2)
    assert b"QC" not in heard(step, 0)
    assert GAME.view(step.state, 0)["upcard_taken"]
    assert not GAME.view(act(GAME, state, "exchange"), 0)["upcard_taken"]


def test_dealer_who_took_the_widow_or_passed_has_no_exchange() -> None:
    assert act(GAME, position(*ANY), "play", "pass", "widow").phase == "play"
    assert act(GAME, position(*ANY), "play", "play", "pass").phase == "play"


@pytest.mark.parametrize(
    ("hand", "trick", "expected"),
    [
        ("JH 7H KS AD", ["9H"], {"JH"}),  # RAMS-53: follow and overtake
        ("9H 7H AS KD", ["QH"], {"7H", "9H"}),  # RAMS-52
        ("8D AS 7C", ["QH"], {"8D"}),  # RAMS-54: trump
        ("JD 8D AS", ["QH", "9D"], {"JD"}),  # RAMS-54: overtrump
        ("8D 7D AS", ["QH", "9D"], {"7D", "8D"}),  # RAMS-54: undertrump
        ("AS 8C 7C", ["QH", "9D"], {"AS", "7C", "8C"}),  # RAMS-55
        ("AD KS", [], {"AD", "KS"}),  # EUR-9: no duty to lead the trump ace
    ],
)
def test_eur_9_legality(hand: str, trick: list[str], expected: set[str]) -> None:
    state = playing(hand, "7S", "8S")
    state = replace(state, trick=tuple(Play(s + 1, card) for s, card in enumerate(trick)))
    assert set(legal(GAME, state)) == {f"play {card}" for card in expected}


def test_ecarte_order_puts_the_ace_between_jack_and_ten() -> None:
    for order, taker in (("ace_high", 0), ("ecarte", 1)):
        game = rams(trump_order=order)
        state = playing("AH", "JH", "TH")
        assert act(game, state, "play AH", "play JH", "play TH").counters[taker] == 4  # EUR-1


def test_first_to_get_rid_of_the_last_counter_wins() -> None:
    state = playing("AC 7H", "KC AH", "QC KH", counters=(1, 1, 9))
    state = act(GAME, state, "play AC", "play KC", "play QC")
    assert state.home == (0,)
    assert state.phase == "play"  # RAMS-58: the deal is played to its end


def general(declarer: int, tricks: tuple[int, ...], counters: tuple[int, ...]) -> Any:
    """The last trick of a general: seat 0 leads and takes it."""
    said = tuple("general" if s == declarer else "play" for s in range(3))
    played = ((),) * 4
    state = playing("AC", "KC", "QC", said=said, tricks=tricks, counters=counters, played=played)
    return act(GAME, state, "play AC", "play KC", "play QC")


def test_general_made_wins_outright() -> None:
    over = result(GAME, general(0, (4, 0, 0), (6, 1, 2)))
    assert [*over.scores, *over.ranks] == [1, 0, 0, 1, 2, 3]  # EUR-10
    assert over.detail["counters"] == (5, 6, 7)


def test_general_failed_is_handed_counters_by_every_opponent() -> None:
    state = general(1, (2, 2, 0), (7, 4, 2))
    # Seat 0 takes the last trick: 7 - 1; seat 2 has no trick: 2 + 5; then each hands over 3.
    assert state.counters == (3, 10, 4)  # EUR-10
    assert state.phase == "deal"


def test_opponents_hand_over_no_more_than_they_have_and_may_win_by_it() -> None:
    over = result(GAME, general(1, (1, 1, 2), (3, 4, 3)))
    # Missed four: seat 0 has 2 left after its trick, seat 2 has 3; both are rid of them at once.
    assert over.detail["counters"] == (0, 9, 0)
    assert [*over.scores, *over.ranks] == [0.5, 0, 0.5, 1, 3, 1]


def test_options_and_seats() -> None:
    for seats in (2, 7):
        with pytest.raises(GameError, match=f"3 to 6 seats, not {seats}"):
            GAME.start(seats)
    with pytest.raises(GameError, match="counters"):
        rams(counters=6)
    assert rams(counters=7).start(3).counters == (7, 7, 7)  # EUR-3


def test_cap_on_deals() -> None:
    game = rams(deal_cap=1, counters=10)
    over = result(game, act(game, position(*ANY, counters=(10, 10, 10)), "pass", "pass"))
    assert [*over.scores] == [0, 0, 1]
    both = playing("AC", "KC", "QC", counters=(4, 3, 3), tricks=(1, 1, 2), played=((),) * 4)
    over = result(game, act(game, both, "play AC", "play KC", "play QC"))
    assert [*over.ranks] == [1, 1, 1]
    assert over.scores[0] == pytest.approx(1 / 3)


VARIANTS: list[dict[str, Any]] = [
    {},
    {"counters": 10, "trump_order": "ecarte", "deal_cap": 3},
    {"pass_only_after_widow": True, "counters": 7},
    {"general": False},
]


@pytest.mark.parametrize("options", VARIANTS, ids=lambda o: "-".join(o) or "base")
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seats", [3, 4, 5, 6])
def test_every_policy_ends(seats: int, policy: str, options: dict[str, Any]) -> None:
    game = rams(**options)
    if seats > game.info.max_seats:
        pytest.skip("refused")

    def conserved(state: EuropeanState) -> None:
        if not state.hands or state.phase == "deal":
            return
        laid = [play.card for trick in (*state.played, state.trick) for play in trick]
        cards = [card for hand in (*state.hands, *state.thrown) for card in hand]
        upcard = [] if state.took_upcard else [state.upcard]
        everything = [*laid, *cards, *upcard, *state.widow]
        assert len(set(everything)) == len(everything) == 5 * seats + (seats < 6) * 5 + 1

    for seed in range(5):
        over, state, _ = finish(game, seats, POLICIES[policy], seed, conserved)
        assert sum(over.scores) == pytest.approx(1)
        assert state.deal <= game.rules.deal_cap
        winners = [seat for seat in range(seats) if over.ranks[seat] == 1]
        assert winners == sorted(state.winners)  # the winner of the rules is rank 1


def hidden(state: EuropeanState, seat: int) -> set[str]:
    if not state.hands:
        return set()
    laid = {play.card for trick in (*state.played, state.trick) for play in trick}
    return set(PACK_32) - laid - {*state.hands[seat], *state.thrown[seat], state.upcard}


@pytest.mark.parametrize("seats", [3, 5, 6])
def test_nothing_leaks(seats: int) -> None:
    for seed in range(3):
        assert_nothing_leaks(GAME, seats, hidden, ("hands", "thrown", "widow"), seed)


def test_counters_go_by_five_a_deal_without_flights_or_generals() -> None:
    """Every deal books five tricks (EUR-7, EUR-10), as long as nobody is down to the last ones."""
    game = rams(general=False, counters=10)
    for state, _, _, step in moments(game, 4, POLICIES["random"], 8):
        for event in step.events:
            if event.kind == "score" and step.state.deal == 2:
                walked = any(e.kind == "walkover" for e in step.events)
                flown = sum(
                    1 for s in game.active(state) if not walked and not step.state.tricks[s]
                )
                assert sum(event.data["counters"]) == 40 - 5 + 5 * flown
