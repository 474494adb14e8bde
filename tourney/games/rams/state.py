"""A position of Rams: the standing of the match and the deal on the table."""

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from tourney.games.base import Seat
from tourney.games.cards import Card

__all__ = ("Deal", "Ended", "Play", "RamsState", "clockwise", "fresh_deal", "replaced")

Item = TypeVar("Item")


class Play(msgspec.Struct, frozen=True, gc=False):
    """A card on the table, and who played it."""

    seat: Seat
    card: Card


class Ended(msgspec.Struct, frozen=True, gc=False):
    """How a rams ended."""

    winners: tuple[Seat, ...]
    """One seat, but for a rams ended by the cap on its deals (RAMS-66)."""
    points: tuple[int, ...]


class Deal(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One deal; a tuple over seats has an entry a seat."""

    number: int
    """Running number in the match, from 1."""
    dealer: Seat
    points_before: tuple[int, ...]
    """Points at the start of the deal (RAMS-51)."""
    hands: tuple[tuple[Card, ...], ...]
    """In the order the cards came; the dealer's trump card is the last one as long as it is his."""
    stock: frozenset[Card] = frozenset()
    """The talon."""
    pile: str = ""
    """Label of the shuffle that the talon comes from."""
    upcard: Card = ""
    """The trump card, as last turned up."""
    old_upcards: tuple[Card, ...] = ()
    """Trump cards before a swing, oldest first."""

    n_offers: int = 0
    offer: str = ""
    """The last offer made, empty before any."""
    votes: tuple[bool | None, ...]
    """On the last offer; None for a seat that has not voted."""

    active: tuple[bool | None, ...]
    """True for a knock, False for a pass, None before either."""
    thrown: tuple[tuple[Card, ...], ...]
    """Dead cards that only the seat itself has seen."""
    exchanged: tuple[int | None, ...]
    """Cards thrown in the exchange, None before it."""

    trick: tuple[Play, ...] = ()
    played: tuple[tuple[Play, ...], ...] = ()
    """Finished tricks."""
    tricks: tuple[int, ...]
    """Tricks taken."""
    home: tuple[Seat, ...] = ()
    """Seats that have reached zero, the first one first (RAMS-64)."""

    @property
    def trump(self) -> str:
        """The trump suit (RAMS-11), empty before the deal."""
        return self.upcard[1:]


class RamsState(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One position of a match; a tuple over seats has an entry a seat."""

    phase: str
    """`lot`, `deal`, `offer`, `vote`, `redeal`, `swing`, `knock`, `exchange`, `draw`, `play` or
    `over`."""
    seats: int
    to_act: Seat = 0
    rams: int = 1
    """The rams being played, from 1."""
    n_deals: int = 1
    """Deals of this rams, the present one included (RAMS-66)."""
    points: tuple[int, ...]
    """Now: each trick is booked at once (RAMS-60)."""
    flights: tuple[int, ...]
    """In the whole match (RAMS-63)."""
    flights_before: tuple[int, ...]
    """The same at the start of this rams."""
    passed_last: tuple[bool, ...]
    """Whether the seat passed in the deal before, of the same rams (RAMS-32)."""
    wins: tuple[float, ...]
    """Ramsar won; a shared one counts in parts."""
    ended: tuple[Ended, ...] = ()
    """Finished ramsar."""
    deal: Deal

    @property
    def forehand(self) -> Seat:
        """The seat to the dealer's left (RAMS-4)."""
        return (self.deal.dealer + 1) % self.seats


def fresh_deal(number: int, dealer: Seat, points: tuple[int, ...]) -> Deal:
    """A deal before its cards are dealt."""
    n = len(points)
    return Deal(
        number=number,
        dealer=dealer,
        points_before=points,
        hands=((),) * n,
        votes=(None,) * n,
        active=(None,) * n,
        thrown=((),) * n,
        exchanged=(None,) * n,
        tricks=(0,) * n,
    )


def clockwise(first: Seat, seats: int) -> Iterator[Seat]:
    """All seats once, beginning with `first` (RAMS-4)."""
    yield from range(first, seats)
    yield from range(first)


def replaced(items: tuple[Item, ...], index: int, value: Item) -> tuple[Item, ...]:
    """`items` with another value at `index`."""
    return (*items[:index], value, *items[index + 1 :])
