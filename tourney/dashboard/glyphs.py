"""Cards as people read them: which values of a view are cards, and their names in words."""

import re

__all__ = ("are_cards", "card_name", "is_card")

RANK_NAMES = {
    "A": "ace", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven",
    "8": "eight", "9": "nine", "T": "ten", "J": "jack", "Q": "queen", "K": "king",
}  # fmt: skip
SUIT_NAMES = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}
CARD = re.compile("[A2-9TJQK][CDHS]")


def is_card(value: object) -> bool:
    """Whether `value` is a card's name."""
    return isinstance(value, str) and CARD.fullmatch(value) is not None


def are_cards(value: object) -> bool:
    """Whether `value` is a list of cards, known or hidden, with one known at least."""
    if not isinstance(value, list | tuple):
        return False
    return any(map(is_card, value)) and all(item is None or is_card(item) for item in value)


def card_name(card: str) -> str:
    """A card in words: `QH` is the queen of hearts."""
    return f"{RANK_NAMES[card[0]]} of {SUIT_NAMES[card[1]]}"
