"""The options of European rams and its positions. How it is played is in `rams_european`."""

from typing import Annotated, Literal

import msgspec

from tourney.games.base import Rules, Seat
from tourney.games.cards import Card
from tourney.games.hands import Hand, Trick

__all__ = ("EuropeanRules", "EuropeanState")


class EuropeanRules(Rules, frozen=True, kw_only=True):
    """Every option of European rams; the defaults are the base game."""

    counters: Annotated[
        Literal[5, 7, 10], msgspec.Meta(description="counters at the start (EUR-3)")
    ] = 5
    trump_order: Annotated[
        Literal["ace_high", "ecarte"],
        msgspec.Meta(description="order of ranks: ecarte = K Q J A 10 9 8 7 (EUR-1)"),
    ] = "ace_high"
    pass_only_after_widow: Annotated[
        bool, msgspec.Meta(description="whether passing waits for the widow to be taken (EUR-5)")
    ] = False
    general: Annotated[
        bool, msgspec.Meta(description="whether general rams may be declared (EUR-6)")
    ] = True
    deal_cap: Annotated[
        int, msgspec.Meta(ge=1, description="deals after which the fewest counters win (EUR-10)")
    ] = 200


class EuropeanState(msgspec.Struct, frozen=True, gc=False):
    """One position of a match; a tuple over seats has an entry a seat."""

    phase: str
    """`lot`, `deal`, `declare`, `exchange`, `play` or `over`."""
    seats: int
    counters: tuple[int, ...]
    deal: int = 1
    """Running number, from 1."""
    dealer: Seat = 0
    to_act: Seat = 0
    hands: tuple[Hand, ...] = ()
    widow: Hand = ()
    """The five cards of the widow while nobody has taken them."""
    upcard: Card = ""
    said: tuple[str | None, ...] = ()
    """What each seat declared (EUR-5)."""
    thrown: tuple[Hand, ...] = ()
    """Cards that each seat laid away and alone has seen (EUR-5, EUR-8)."""
    took_upcard: bool = False
    trick: Trick = ()
    played: tuple[Trick, ...] = ()
    """Finished tricks of this deal."""
    tricks: tuple[int, ...] = ()
    home: tuple[Seat, ...] = ()
    """Seats that have got rid of their last counter, the first one first (EUR-10)."""
    winners: tuple[Seat, ...] = ()
