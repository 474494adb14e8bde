"""The first dealer and the deal (RAMS-4, RAMS-10, RAMS-11)."""

from collections.abc import Sequence

from msgspec.structs import replace

from tourney.games.base import Chance, Event, Seat, Step
from tourney.games.cards import Card
from tourney.games.rams.options import HAND, RamsRules, pack
from tourney.games.rams.state import RamsState, clockwise, fresh_deal

__all__ = ("deal_turn", "dealt", "hands_shown", "in_packets", "lot_drawn", "lot_turn")

FIRST_PACKET = 3


def lot_turn(_rules: RamsRules, state: RamsState) -> Chance:
    """RAMS-4: the first dealer of the match is drawn by lot."""
    return Chance(tuple(str(seat) for seat in range(state.seats)), 1, "first")


def lot_drawn(_rules: RamsRules, state: RamsState, cards: Sequence[Card]) -> Step[RamsState]:
    """RAMS-4."""
    deal = fresh_deal(1, int(cards[0]), state.points)
    return Step(replace(state, phase="deal", deal=deal))


def deal_turn(rules: RamsRules, state: RamsState) -> Chance:
    """RAMS-10: five cards each and the trump card, from a fresh shuffle."""
    return Chance(pack(rules), HAND * state.seats + 1, f"deal/{state.deal.number}")


def dealt(rules: RamsRules, state: RamsState, cards: Sequence[Card]) -> Step[RamsState]:
    """RAMS-10, RAMS-11: three cards each, the trump card to the dealer, two cards each."""
    n, deal, forehand = state.seats, state.deal, state.forehand
    turned = FIRST_PACKET * n
    upcard = cards[turned]
    order = tuple(clockwise(forehand, n))
    packets = in_packets([*cards[:turned], *cards[turned + 1 :]], order)
    packets[deal.dealer] += (upcard,)
    deal = replace(
        deal,
        hands=tuple(packets[seat] for seat in range(n)),
        stock=frozenset(pack(rules)).difference(cards),
        pile=f"deal/{deal.number}",
        upcard=upcard,
    )
    phase = "knock" if rules.offers == "off" else "offer"
    after = replace(state, phase=phase, to_act=forehand, deal=deal)
    shown = Event("deal", None, {"dealer": deal.dealer, "upcard": upcard})
    return Step(after, (shown, *hands_shown(after, order)))


def in_packets(cards: Sequence[Card], order: Sequence[Seat]) -> dict[Seat, tuple[Card, ...]]:
    """RAMS-10, RAMS-24: five cards to each seat of `order`, three at a time and then two."""
    second = FIRST_PACKET * len(order)
    size = HAND - FIRST_PACKET
    return {
        seat: (
            *cards[FIRST_PACKET * place : FIRST_PACKET * (place + 1)],
            *cards[second + size * place : second + size * (place + 1)],
        )
        for place, seat in enumerate(order)
    }


def hands_shown(state: RamsState, order: Sequence[Seat]) -> tuple[Event, ...]:
    """Each seat of `order` sees its own new hand (RAMS-81)."""
    hands = state.deal.hands
    return tuple(Event("hand", seat, {}, {"cards": hands[seat]}, (seat,)) for seat in order)
