"""Trick-taking, against an independent reading of the rules' sentences."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tourney.games.cards import PACK, SUITS
from tourney.games.tricks import ACE_HIGH, beats, follow_suit, ladder, strengths, winner, winning

ECARTE = "789TAJQK"


@pytest.mark.parametrize(
    ("card", "best", "taken_over"),
    [("AD", "KD", True), ("KD", "AH", True), ("2D", "AH", True), ("AC", "2H", False)],
)
def test_rv_03_what_beats_what_with_diamonds_trump(card: str, best: str, taken_over: bool) -> None:
    assert beats(card, best, strengths(ACE_HIGH, "D")) == taken_over


def test_of_two_cards_at_most_one_beats_the_other() -> None:
    strength = strengths(ACE_HIGH, "S")
    for one, other in combinations(PACK, 2):
        assert not (beats(one, other, strength) and beats(other, one, strength))
        same_suit_or_trump = one[1] == other[1] or "S" in one[1] + other[1]
        assert same_suit_or_trump == (beats(one, other, strength) or beats(other, one, strength))


def test_without_trumps_only_the_suit_led_can_win() -> None:
    strength = strengths(ACE_HIGH)
    assert winner(["2H", "AS", "KD", "3H"], strength) == 3
    assert winning(["2H", "AS", "KD", "AC"], strength) == "2H"


def test_a_game_may_order_its_ranks_and_its_trumps_apart() -> None:
    assert beats("KD", "AD", strengths(ECARTE))
    apart = strengths(ACE_HIGH, "D", "23456789TJQAK")
    assert beats("KD", "AD", apart)
    assert not beats("KH", "AH", apart)


def test_following_suit_alone_is_the_rule_of_hearts() -> None:
    assert follow_suit(["2H", "QS", "AH"], "H") == ["2H", "AH"]
    assert follow_suit(["2H", "QS"], "C") == ["2H", "QS"]


def place(card: str, led: str, trump: str) -> tuple[bool, bool, int]:
    """Orders the cards of a trick: RAMS-56 in one sentence."""
    return card[1] == trump, card[1] == led, ACE_HIGH.index(card[0])


def wins(card: str, trick: list[str], trump: str) -> bool:
    led = trick[0][1]
    return all(place(card, led, trump) > place(other, led, trump) for other in trick)


def allowed(card: str, hand: list[str], trick: list[str], trump: str) -> bool:
    """RAMS-52 to RAMS-55, a sentence a line."""
    led = trick[0][1]
    can_follow = any(held[1] == led for held in hand)
    has_trump = any(held[1] == trump for held in hand)
    if can_follow and card[1] != led:
        return False
    if not can_follow and has_trump and card[1] != trump:
        return False
    if not can_follow and not has_trump:
        return True
    kind = card[1]
    could_win = any(held[1] == kind and wins(held, trick, trump) for held in hand)
    return wins(card, trick, trump) or not could_win


cards = st.lists(st.sampled_from(PACK), min_size=2, max_size=9, unique=True)


@given(cards, st.integers(1, 4), st.sampled_from(SUITS))
def test_the_ladder_is_what_the_sentences_say(dealt: list[str], laid: int, trump: str) -> None:
    trick, hand = dealt[: min(laid, len(dealt) - 1)], dealt[min(laid, len(dealt) - 1) :][:5]
    legal = ladder(hand, trick, strengths(ACE_HIGH, trump))
    assert legal == [card for card in hand if allowed(card, hand, trick, trump)]
    assert legal


@given(cards, st.sampled_from(SUITS))
def test_the_winner_is_the_highest_trump_or_else_of_the_suit_led(
    trick: list[str], trump: str
) -> None:
    best = max(trick, key=lambda card: place(card, trick[0][1], trump))
    strength = strengths(ACE_HIGH, trump)
    assert winning(trick, strength) == best
    assert winner(trick, strength) == trick.index(best)


@given(cards, st.integers(1, 4), st.sampled_from(SUITS))
def test_options_of_the_ladder(dealt: list[str], laid: int, trump: str) -> None:
    trick, hand = dealt[: min(laid, len(dealt) - 1)], dealt[min(laid, len(dealt) - 1) :][:5]
    strength, led = strengths(ACE_HIGH, trump), trick[0][1]
    plain = ladder(hand, trick, strength)
    wins_any = any(wins(card, trick, trump) for card in plain)
    follows = any(card[1] == led for card in hand)
    freed = ladder(hand, trick, strength, may_discard_beaten_trumps=True)
    assert freed == (plain if follows or wins_any else hand)
    strict = ladder(hand, trick, strength, overtakes_in_trumped_suit=True)
    trumped = led != trump and any(card[1] == trump for card in trick)
    if follows and trumped:
        same_suit = [card for card in trick if card[1] == led]
        over = [card for card in plain if wins(card, same_suit, trump)]
        assert strict == (over or plain)
    else:
        assert strict == plain
