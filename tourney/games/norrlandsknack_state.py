"""The options of Norrlandsknack and its positions. How it is played is in `norrlandsknack`."""

from typing import Annotated, Literal

import msgspec

from tourney.games.base import Rules, Seat
from tourney.games.cards import Card
from tourney.games.hands import Hand, Trick

__all__ = ("KnackRules", "KnackState")


class KnackRules(Rules, frozen=True, kw_only=True):
    """Every option of Norrlandsknack; the defaults are the base game."""

    pots: Annotated[
        Annotated[int, msgspec.Meta(ge=1)] | Literal["seats"],
        msgspec.Meta(description="pots in a match (NOR-10); seats = as many as there are seats"),
    ] = "seats"
    redeal_cap: Annotated[
        int, msgspec.Meta(ge=0, description="redeals after which the dealer has to knock (NOR-6)")
    ] = 10
    deal_cap: Annotated[
        int, msgspec.Meta(ge=1, description="deals after which a pot is split (NOR-10)")
    ] = 20
    bete_cap: Annotated[
        Annotated[int, msgspec.Meta(ge=1)] | Literal["none"],
        msgspec.Meta(description="most that a knocker without a trick pays (NOR-9)"),
    ] = "none"
    stock: Annotated[
        Literal["streams", "pile"],
        msgspec.Meta(
            description="one order of the stock for each seat, or one pile; same law either way"
        ),
    ] = "streams"


class KnackState(msgspec.Struct, frozen=True, gc=False):
    """One position of a match; a tuple over seats has an entry a seat."""

    phase: str
    """`lot`, `deal`, `knock`, `exchange`, `draw`, `play` or `over`."""
    seats: int
    balance: tuple[int, ...]
    """Units won and lost, without the seats' shares of `split`."""
    split: int = 0
    """Units of pots that were split among all seats (NOR-10)."""
    pot: int = 0
    pot_number: int = 1
    pot_deal: int = 1
    """Deals of this pot, the present one included; a redeal is not counted anew."""
    redeals: int = 0
    """Times the first deal of this pot has been dealt anew (NOR-6)."""
    deal: int = 1
    """Shuffles of the match, the present one included."""
    dealer: Seat = 0
    to_act: Seat = 0
    hands: tuple[Hand, ...] = ()
    upcard: Card = ""
    stock: frozenset[Card] = frozenset()
    said: tuple[str | None, ...] = ()
    """`knock`, `lurk` or `pass`, None before any (NOR-4, NOR-5)."""
    thrown: tuple[Hand, ...] = ()
    """Cards that each seat threw when it bought, seen by nobody else."""
    exchanged: tuple[int | None, ...] = ()
    """How many these are, None before the seat has bought."""
    trick: Trick = ()
    played: tuple[Trick, ...] = ()
    """Finished tricks of this deal."""
    tricks: tuple[int, ...] = ()
