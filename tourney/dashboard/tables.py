"""How a game's table is laid out on a match page: Dam's own way, and one that fits any game.

Only what a `Moment` says is used, so a perspective never shows more than its view.
"""

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any

import msgspec

from tourney.dashboard.glyphs import are_cards, is_card
from tourney.dashboard.values import Moment

__all__ = ("AnyTable", "DamSeat", "DamTable", "Slot", "phrase", "table_of")


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


class AnyTable(msgspec.Struct, frozen=True):
    """The view of any game: what it says of each seat as lines, and all else as facts."""

    facts: Mapping[str, Any]
    columns: tuple[str, ...]
    lines: tuple[tuple[Any, ...], ...]
    """Seat 0 first, an item a column."""


BASE = frozenset(
    {"round", "rounds", "seat", "dealer", "stock", "discard"}
    | {"rows", "hand", "from", "slot", "streak", "totals"}
)
"""Parts of the view of Dam's base game; the layout draws or deliberately leaves out each."""


def table_of(
    game: str, seats: int, moment: Moment, owner_views: Sequence[Mapping[str, Any]]
) -> DamTable | AnyTable:
    """The table for the page: `DamTable` for Dam, `AnyTable` for any other game.

    Args:
        game: registered name.
        seats: how many play.
        moment: what is shown.
        owner_views: each seat's own view where everything is shown, else empty.
    """
    return _dam(moment, owner_views) if game == "dam" else _any(moment.view, seats)


def _any(view: Mapping[str, Any], seats: int) -> AnyTable:
    by_seat = {name: part for name, part in view.items() if _has_an_item_a_seat(part, seats)}
    return AnyTable(
        facts={name: part for name, part in view.items() if name not in by_seat},
        columns=tuple(by_seat),
        lines=tuple(tuple(part[seat] for part in by_seat.values()) for seat in range(seats)),
    )


def _has_an_item_a_seat(part: Any, seats: int) -> bool:
    if not isinstance(part, list | tuple) or len(part) != seats or are_cards(part):
        return False
    return not any(isinstance(item, Mapping) for item in part)


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


PHRASES: dict[str, str] = {
    "deal": "The cards are dealt",
    "draw": "draws {card}",
    "exchange": "exchanges {count} cards",
    "hand": "gets {cards}",
    "knock": "knocks",
    "offer": "offers {offer}",
    "pass": "passes",
    "pick-up": "picks up {card}",
    "play": "plays {card}",
    "trick": "takes the trick",
    "vote": "votes {vote}",
    "walkover": "wins without play",
}
"""Events that several games have, in words."""

PHRASES_OF: dict[str, dict[str, str]] = {
    "dam": {
        "draw": "draws {card} from the stock",
        "keep": "keeps {card} in slot {slot}",
        "round": "Deal {round} ends; the rows are worth {scores}",
        "take": "takes {card} from the discard pile",
        "throw": "throws {card} on the discard pile",
    },
}
"""Events of one game in words, by its registered name."""

HIDDEN = {"card": "a card", "cards": "cards"}
"""What is said of cards that this perspective does not see."""


def phrase(game: str, event: Mapping[str, Any]) -> list[Any]:
    """An event as parts of a sentence without its subject: words, numbers, cards, flat lists."""
    kind = event["event"]
    fields = {name: value for name, value in event.items() if name not in ("event", "seat")}
    known = PHRASES_OF.get(game, {}).get(kind) or PHRASES.get(kind)
    told: list[Any] = []
    used: set[str] = set()
    for words, name, _, _ in Formatter().parse(known or kind.replace("-", " ")):
        told += [words.strip()] if words.strip() else []
        if name is not None:
            used.add(name)
            value = fields.get(name)
            told.append(HIDDEN.get(name, "?") if value is None else value)
    for name, value in fields.items():
        # A known phrase leaves nothing out but cards that only some may see.
        new = name not in used and (known is None or is_card(value) or are_cards(value))
        if new and value is not None and _is_flat(value):
            told += [value] if name in HIDDEN else [name.replace("_", " "), value]
    return told


def _is_flat(value: Any) -> bool:
    """Whether `value` fits into a sentence."""
    parts = value if isinstance(value, list | tuple) else [value]
    return all(isinstance(part, str | int | float) for part in parts)
