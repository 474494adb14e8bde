"""Playing cards: names and orders. No game's rules live here.

A card is its text, rank then suit: `QH` is the queen of hearts, `TS` the ten of spades
(PROTOCOL.md section 4).
"""

__all__ = ("PACK", "PACK_32", "RANKS", "SUITS", "Card", "rank_of", "suit_of")

Card = str
"""A card's two-character name."""

RANKS = "A23456789TJQK"
"""Rank letters in the order of a new pack (ace first); games order them as their rules say."""

SUITS = "CDHS"
"""Clubs, diamonds, hearts, spades."""

PACK: tuple[Card, ...] = tuple(rank + suit for suit in SUITS for rank in RANKS)
"""The 52 cards, unshuffled."""

PACK_32: tuple[Card, ...] = tuple(card for card in PACK if card[0] in "A789TJQK")
"""The 32-card pack: seven to ace in every suit."""


def rank_of(card: Card) -> str:
    """Rank letter of `card`."""
    return card[0]


def suit_of(card: Card) -> str:
    """Suit letter of `card`."""
    return card[1]
