"""Text for a terminal: other people's words made harmless, cards made readable."""

__all__ = ("cards_in", "plain")

SUIT_SIGNS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
RANKS = "A23456789TJQK"


def plain(text: str) -> str:
    """Bots' text without control characters, so that none can repaint a terminal."""
    return "".join(char if char.isprintable() or char == "\t" else "·" for char in text)


def cards_in(text: str) -> str:
    """Cards in their signs: `play QH` becomes `play Q♥`, a ten is 10."""
    return " ".join(
        word[0].replace("T", "10") + SUIT_SIGNS[word[1]]
        if len(word) == 2 and word[0] in RANKS and word[1] in SUIT_SIGNS
        else word
        for word in text.split(" ")
    )
