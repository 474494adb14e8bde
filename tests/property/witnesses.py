"""Where the cards of our games are and who can see them, read off the rules' text.

Written from the paragraphs on information (DAM-24 to DAM-27, RAMS-80 to RAMS-82, NOR-11, SM-18,
SP-9, HJ-12), not from any view: a view that says too much is what these are to catch.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from tourney.games.checks import Witness

SHORT: Mapping[str, Mapping[str, Any]] = {
    "dam": {"rounds": 1},
    "hearts": {"limit": 30},
    "norrlandsknack": {"pots": 1},
    "rams": {"ramsar": 1},
}
"""Options that make a match short; what they fix is varied by the slow tests."""


def cards_in(*groups: Any) -> Iterable[str]:
    """Cards of nested tuples, of plays on the table too; empty texts are no cards."""
    for group in groups:
        if isinstance(group, str):
            if group:
                yield group
        elif hasattr(group, "card"):
            yield group.card
        elif isinstance(group, tuple | list | frozenset):
            yield from cards_in(*group)


class Seen:
    """Shared by all: the words that lay a card open."""

    open_words = frozenset({"play"})

    def shows(self, action: str) -> Iterable[str]:
        word, *cards = action.split()
        return cards if word in self.open_words else ()


class DamCards(Seen):
    """A row is looked at by nobody; thrown cards lie open, a taken one is seen on its way."""

    def places(self, state: Any) -> Iterable[str]:
        return cards_in(state.rows, state.side, state.stock, state.discard, state.hand)

    def sees(self, state: Any, seat: int) -> Iterable[str]:
        yield from state.discard
        if state.to_act == seat or state.origin == "discard":
            yield from cards_in(state.hand)
        if state.phase in {"deal", "over"}:  # DAM-33: all rows and deciding cards are turned up
            yield from cards_in(state.rows, state.side)


class RamsCards(Seen):
    def places(self, state: Any) -> Iterable[str]:
        deal = state.deal
        out = [card for card in deal.old_upcards if card not in cards_in(deal.hands, deal.thrown)]
        played = cards_in(deal.trick, deal.played)
        yield from (card for card in out if card not in list(played))
        yield from cards_in(deal.hands, deal.thrown, deal.stock, deal.trick, deal.played)

    def sees(self, state: Any, seat: int) -> Iterable[str]:
        deal = state.deal
        yield from cards_in(deal.hands[seat], deal.thrown[seat], deal.upcard, deal.old_upcards)
        yield from cards_in(deal.trick, deal.played)


class KnackCards(Seen):
    def places(self, state: Any) -> Iterable[str]:
        return cards_in(state.hands, state.thrown, state.stock, state.trick, state.played)

    def sees(self, state: Any, seat: int) -> Iterable[str]:
        if state.hands:
            yield from cards_in(state.hands[seat], state.thrown[seat], state.upcard)
            yield from cards_in(state.trick, state.played)


class EuropeanCards(KnackCards):
    """The widow lies face down; the turned card lies beside it until the dealer takes it."""

    def places(self, state: Any) -> Iterable[str]:
        yield from cards_in(state.hands, state.thrown, state.widow, state.trick, state.played)
        if not state.took_upcard:
            yield state.upcard


class MajaCards(Seen):
    open_words = frozenset({"attack", "beat", "pick-up"})

    def places(self, state: Any) -> Iterable[str]:
        yield from cards_in(state.hands, state.attack, state.beaters, state.out, state.stock)
        if state.trump_lies:
            yield state.trump_card

    def sees(self, state: Any, seat: int) -> Iterable[str]:
        yield from cards_in(state.attack, state.beaters, state.out, state.trump_card, state.turned)
        yield from cards_in(state.hands[seat] if state.hands else ())


class PetterCards(Seen):
    """A fan is held out face down: who draws from it sees a card only once it is drawn."""

    open_words = frozenset()

    def places(self, state: Any) -> Iterable[str]:
        return cards_in(state.hands, state.pairs)

    def sees(self, state: Any, seat: int) -> Iterable[str]:
        return cards_in(state.hands[seat] if state.hands else (), state.pairs)


class HeartsCards(Seen):
    """Cards chosen to pass stay in the hand until all have chosen; then the receiver has them."""

    def places(self, state: Any) -> Iterable[str]:
        return cards_in(state.hands, state.trick, state.played)

    def sees(self, state: Any, seat: int) -> Iterable[str]:
        yield from cards_in(state.hands[seat] if state.hands else (), state.trick, state.played)


WITNESSES: Mapping[str, Witness[Any]] = {
    "dam": DamCards(),
    "hearts": HeartsCards(),
    "norrlandsknack": KnackCards(),
    "rams": RamsCards(),
    "rams-european": EuropeanCards(),
    "svarta-maja": MajaCards(),
    "svarte-petter": PetterCards(),
}
