"""Trick-taking: which card wins, and which cards a follower may play.

Shared by every game with tricks. A game says once how strong its cards are (`strengths`: an order
of ranks and a trump suit) and hands that table to the functions here. Cards are given in the order
they were played, the lead first.

The rule ids are those of Rams (docs/rules/rams.md), where the whole ladder is in force.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from tourney.games.cards import SUITS, Card

__all__ = (
    "ACE_HIGH",
    "Strengths",
    "beats",
    "follow_suit",
    "ladder",
    "strengths",
    "winner",
    "winning",
)

ACE_HIGH = "23456789TJQKA"
"""Ranks from the weakest to the strongest."""

Strengths = Mapping[Card, int]
"""How strong each card is: every trump above every plain card, each suit in the game's order."""

TRUMP = 100
"""Trumps have at least this strength, plain cards less."""


@cache
def strengths(order: str, trump: str = "", trump_order: str = "") -> Strengths:
    """The table of strengths (RAMS-5).

    Args:
        order: rank letters, the weakest first; a shorter pack names fewer.
        trump: the trump suit, empty in a game without trumps.
        trump_order: the order inside the trump suit where it differs from `order`.
    """
    table = {rank + suit: place for suit in SUITS for place, rank in enumerate(order)}
    if trump:
        for place, rank in enumerate(trump_order or order):
            table[rank + trump] = TRUMP + place
    return table


def beats(card: Card, best: Card, strength: Strengths) -> bool:
    """Whether `card` takes over a trick that `best` is winning (RAMS-56)."""
    power = strength[card]
    return power > strength[best] and (card[1] == best[1] or power >= TRUMP)


def winning(cards: Sequence[Card], strength: Strengths) -> Card:
    """The card that wins: the highest trump, else the highest of the suit led (RAMS-56)."""
    best = cards[0]
    for card in cards[1:]:
        if beats(card, best, strength):
            best = card
    return best


def winner(cards: Sequence[Card], strength: Strengths) -> int:
    """Place of the winning card in the order of play, 0 for the leader's (RAMS-56)."""
    return cards.index(winning(cards, strength))


def follow_suit(hand: Sequence[Card], suit: str) -> list[Card]:
    """The cards of the suit led, or the whole hand if it holds none."""
    return [card for card in hand if card[1] == suit] or list(hand)


def ladder(
    hand: Sequence[Card],
    trick: Sequence[Card],
    strength: Strengths,
    *,
    may_discard_beaten_trumps: bool = False,
    overtakes_in_trumped_suit: bool = False,
) -> list[Card]:
    """The cards a follower may play: suit, else trump, else any; among these, overtake.

    Args:
        hand: the follower's cards.
        trick: the cards played so far, at least the lead.
        strength: the table of the game and its trump suit.
        may_discard_beaten_trumps: a hand without the suit led, whose trumps cannot win, may play
            anything instead of trumping low.
        overtakes_in_trumped_suit: a hand that must follow a trumped trick must still beat the best
            card of the suit led.

    Returns:
        the legal cards in the order of the hand, never none.
    """
    led = trick[0][1]
    best = winning(trick, strength)
    allowed = [card for card in hand if card[1] == led]  # RAMS-52
    if allowed:
        if overtakes_in_trumped_suit:
            best = winning([card for card in trick if card[1] == led], strength)
    else:
        allowed = [card for card in hand if strength[card] >= TRUMP]  # RAMS-54
        if not allowed:
            return list(hand)  # RAMS-55
    overtaking = [card for card in allowed if beats(card, best, strength)]  # RAMS-53
    if not overtaking and may_discard_beaten_trumps and allowed[0][1] != led:
        return list(hand)
    return overtaking or allowed
