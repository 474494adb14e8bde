"""Hands and tricks on the table: how they are ordered, dealt and told, for games that have them.

No game's rules live here. A hand is always kept in one order, so that neither a view nor a list
of legal actions can tell when a card came.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tourney.games.base import Decision, Event, Seat
from tourney.games.cards import SUITS, Card
from tourney.games.tricks import ACE_HIGH, Strengths, winner

__all__ = (
    "Hand",
    "Play",
    "Trick",
    "arranged",
    "clockwise",
    "hand_events",
    "in_packets",
    "play_decision",
    "replaced",
    "shown",
    "taker",
    "without",
)

Hand = tuple[Card, ...]
"""A seat's cards, arranged."""


class Play(NamedTuple):
    """A card on the table, and who played it."""

    seat: Seat
    card: Card


Trick = tuple[Play, ...]
"""Cards in the order they were played."""

PLACE: dict[Card, int] = {
    rank + suit: place
    for place, (suit, rank) in enumerate((suit, rank) for suit in SUITS for rank in ACE_HIGH)
}


def arranged(cards: Iterable[Card]) -> Hand:
    """`cards` by suit, within a suit from two to ace."""
    return tuple(sorted(cards, key=PLACE.__getitem__))


def without(hand: Hand, *cards: Card) -> Hand:
    """`hand` after `cards` have left it."""
    return tuple(card for card in hand if card not in cards)


def replaced(items: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    """A copy of `items` with one item changed."""
    return (*items[:index], value, *items[index + 1 :])


def clockwise(first: Seat, seats: int) -> list[Seat]:
    """All seats in the order of play, `first` first."""
    return [(first + step) % seats for step in range(seats)]


def in_packets(cards: Sequence[Card], n_hands: int, sizes: Sequence[int]) -> list[Hand]:
    """The hands that come of dealing `sizes[0]` cards to each, then `sizes[1]`, and so on."""
    hands: list[list[Card]] = [[] for _ in range(n_hands)]
    start = 0
    for size in sizes:
        for hand in hands:
            hand.extend(cards[start : start + size])
            start += size
    return [arranged(hand) for hand in hands]


def play_decision(seat: Seat, cards: Sequence[Card], strength: Strengths) -> Decision:
    """Ask `seat` to play one of `cards`; the stand-in plays the weakest."""
    weakest = min(cards, key=strength.__getitem__)
    return Decision(seat, "play", tuple(f"play {card}" for card in cards), f"play {weakest}")


def taker(trick: Trick, strength: Strengths) -> Seat:
    """Who takes a finished trick."""
    return trick[winner([play.card for play in trick], strength)].seat


def shown(trick: Trick) -> list[dict[str, Any]]:
    """A trick as views show it."""
    return [{"seat": seat, "card": card} for seat, card in trick]


def hand_events(hands: Sequence[Hand]) -> tuple[Event, ...]:
    """An event `hand` for each seat: everybody sees how many cards, the seat sees which."""
    return tuple(
        Event("hand", seat, {"count": len(hand)}, {"cards": hand}, (seat,))
        for seat, hand in enumerate(hands)
    )
