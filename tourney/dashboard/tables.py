"""How a game's table is laid out on a match page: Dam's own way, and one that fits any game.

Only what a `Moment` says is used, so a perspective never shows more than its view.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tourney.dashboard.values import Moment

__all__ = ("DamSeat", "DamTable", "Slot", "phrase", "table_of")


class Slot(msgspec.Struct, frozen=True):
    """One place of a row."""

    number: int
    card: str | None
    """None where it is hidden from this perspective."""
    unseen: bool
    """Whether it is shown although its owner has never seen it."""
    target: bool
    """Whether the card in hand would go here."""


class DamSeat(msgspec.Struct, frozen=True):
    """One row."""

    seat: int
    total: float
    slots: tuple[Slot, ...]


class DamTable(msgspec.Struct, frozen=True):
    """Dam's table: rows, stock, discard pile and the card in hand."""

    round: int
    rounds: int
    stock: int
    discard: tuple[str, ...]
    """Oldest first."""
    deciding: bool
    """Whether somebody has a card in hand."""
    hand: str | None
    origin: str | None
    slot: int | None
    seats: tuple[DamSeat, ...]
    more: Mapping[str, Any]
    """What a variant's view says besides."""


BASE = frozenset(
    {"round", "rounds", "seat", "dealer", "stock", "discard"}
    | {"rows", "hand", "from", "slot", "streak", "totals"}
)
"""Parts of the view of Dam's base game; the layout draws or deliberately leaves out each."""


def table_of(
    game: str, moment: Moment, owner_views: Sequence[Mapping[str, Any]]
) -> DamTable | Mapping[str, Any]:
    """The table for the page: `DamTable` for Dam, the view itself for any other game.

    Args:
        game: registered name.
        moment: what is shown.
        owner_views: each seat's own view where everything is shown, else empty.
    """
    return _dam(moment, owner_views) if game == "dam" else moment.view


def _dam(moment: Moment, owner_views: Sequence[Mapping[str, Any]]) -> DamTable:
    view = moment.view
    seats = []
    for seat, row in enumerate(view["rows"]):
        own = owner_views[seat]["rows"][seat] if owner_views else row
        slots = tuple(
            Slot(
                number=place,
                card=card,
                unseen=card is not None and own[place - 1] is None,
                target=seat == moment.to_act and place == view["slot"],
            )
            for place, card in enumerate(row, 1)
        )
        seats.append(DamSeat(seat, view["totals"][seat], slots))
    return DamTable(
        round=view["round"],
        rounds=view["rounds"],
        stock=view["stock"],
        discard=tuple(view["discard"]),
        deciding=view["from"] is not None,
        hand=view["hand"],
        origin=view["from"],
        slot=view["slot"],
        seats=tuple(seats),
        more={name: part for name, part in view.items() if name not in BASE and part is not None},
    )


PHRASES: dict[str, tuple[str, ...]] = {
    "draw": ("draws", "card", "from the stock"),
    "take": ("takes", "card", "from the discard pile"),
    "keep": ("keeps", "card", "in slot", "slot"),
    "throw": ("throws", "card", "on the discard pile"),
    "round": ("Deal", "round", "ends; the rows are worth", "sums"),
    "play": ("plays", "card"),
    "pass": ("passes",),
    "knock": ("knocks",),
}
"""Events in words; a word that is a field of the event stands for its value."""


def phrase(event: Mapping[str, Any]) -> list[Any]:
    """An event as parts of a sentence without its subject: words, numbers, cards, flat lists."""
    fields = {name: value for name, value in event.items() if name not in ("event", "seat")}
    words = PHRASES.get(event["event"])
    if words is not None:
        hidden = {"card": "a card"}
        return [fields.get(word) or hidden.get(word, word) for word in words]
    told: list[Any] = [event["event"]]
    for name, value in fields.items():
        if _is_short(value):
            told += [name.replace("_", " "), value]
    return told


def _is_short(value: Any) -> bool:
    """Whether `value` fits into a sentence."""
    parts = value if isinstance(value, list | tuple) else [value]
    return all(isinstance(part, str | int | float) for part in parts)
