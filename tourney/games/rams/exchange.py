"""Buying: knockers throw cards and draw new ones from the talon (RAMS-40 to RAMS-42)."""

from collections.abc import Sequence
from itertools import combinations

from msgspec.structs import replace

from tourney.games.base import Action, Chance, Decision, Event, Step
from tourney.games.cards import Card
from tourney.games.rams.knocks import active_from_forehand, after_speaking
from tourney.games.rams.options import HAND, RamsRules, strengths_of
from tourney.games.rams.state import RamsState, replaced

__all__ = ("draw_turn", "drew", "exchange_turn", "throw")


def exchange_turn(rules: RamsRules, state: RamsState) -> Decision:
    """RAMS-40 to RAMS-42: every set of cards that leaves five after the draw.

    The hand above five (the dealer's) goes without replacement; beyond that a buyer may take what
    is left in the talon (RAMS-41), which only options make less than wanted.
    """
    hand = state.deal.hands[state.to_act]
    excess = len(hand) - HAND
    most = min(len(hand), excess + len(state.deal.stock))
    legal = tuple(
        _action(cards) for count in range(excess, most + 1) for cards in combinations(hand, count)
    )
    return Decision(state.to_act, "exchange", legal, _fallback(rules, state, excess))


def _fallback(rules: RamsRules, state: RamsState, excess: int) -> Action:
    """RAMS-84: buy nothing; a dealer throws his lowest plain card, else his lowest trump."""
    hand = state.deal.hands[state.to_act]
    strength = strengths_of(rules, state.deal.trump)
    lowest = sorted(hand, key=strength.__getitem__)[:excess]
    return _action([card for card in hand if card in lowest])


def _action(cards: Sequence[Card]) -> Action:
    return " ".join(("exchange", *cards))


def throw(rules: RamsRules, state: RamsState, action: Action) -> Step[RamsState]:
    """RAMS-40: the cards go face down; they are dead, and only their owner has seen them."""
    seat, deal = state.to_act, state.deal
    cards = tuple(action.split()[1:])
    hand = tuple(card for card in deal.hands[seat] if card not in cards)
    deal = replace(
        deal,
        hands=replaced(deal.hands, seat, hand),
        thrown=replaced(deal.thrown, seat, deal.thrown[seat] + cards),
        exchanged=replaced(deal.exchanged, seat, len(cards)),
    )
    after = replace(state, deal=deal)
    if len(hand) < HAND:
        return Step(replace(after, phase="draw"))
    return _bought(rules, after, ())


def draw_turn(rules: RamsRules, state: RamsState) -> Chance:
    """RAMS-40, RAMS-42: as many as bring the hand to five, from the seat's order of the talon."""
    seat, deal = state.to_act, state.deal
    label = deal.pile if rules.stock == "pile" else f"stock/{deal.number}/{seat}"
    return Chance(deal.stock, HAND - len(deal.hands[seat]), label)


def drew(rules: RamsRules, state: RamsState, cards: Sequence[Card]) -> Step[RamsState]:
    """RAMS-40."""
    seat, deal, drawn = state.to_act, state.deal, tuple(cards)
    deal = replace(
        deal,
        hands=replaced(deal.hands, seat, deal.hands[seat] + drawn),
        stock=deal.stock.difference(drawn),
    )
    return _bought(rules, replace(state, deal=deal), drawn)


def _bought(rules: RamsRules, state: RamsState, drawn: tuple[Card, ...]) -> Step[RamsState]:
    """RAMS-40: the next buyer, or play begins with the nearest active seat (RAMS-35)."""
    seat, deal = state.to_act, state.deal
    count = deal.exchanged[seat] or 0
    thrown = deal.thrown[seat][len(deal.thrown[seat]) - count :]
    bought = Event("exchange", seat, {"count": count}, {"thrown": thrown, "drawn": drawn}, (seat,))
    if rules.exchange == "immediate":
        return after_speaking(rules, state, (bought,))
    buyers = active_from_forehand(state)
    place = buyers.index(seat) + 1
    if place < len(buyers):
        return Step(replace(state, phase="exchange", to_act=buyers[place]), (bought,))
    return Step(replace(state, phase="play", to_act=buyers[0]), (bought,))
