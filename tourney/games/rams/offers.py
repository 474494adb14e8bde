"""Forehand's offer: better cards or another trump, and the vote on it (RAMS-20 to RAMS-26)."""

from collections.abc import Sequence

from msgspec.structs import replace

from tourney.games.base import Action, Chance, Decision, Event, Seat, Step
from tourney.games.cards import Card
from tourney.games.rams.dealing import hands_shown, in_packets
from tourney.games.rams.options import HAND, RamsRules
from tourney.games.rams.state import RamsState, clockwise, replaced

__all__ = (
    "is_accepted",
    "make_offer",
    "offer_turn",
    "redeal_turn",
    "redealt",
    "swing_turn",
    "swung",
    "vote",
    "vote_turn",
)

VOTE = ("accept", "reject")


def offer_turn(rules: RamsRules, state: RamsState) -> Decision:
    """RAMS-20: stand, or offer what the talon can serve (RAMS-41)."""
    stock = len(state.deal.stock)
    legal = ["stand"]
    if rules.better_from == "reshuffle" or stock >= HAND * state.seats:
        legal.append("better")
    if stock:
        legal.append("swing")
    return Decision(state.to_act, "offer", tuple(legal), "stand")


def make_offer(rules: RamsRules, state: RamsState, action: Action) -> Step[RamsState]:
    """RAMS-20, RAMS-22: an offer goes to the vote, standing to the pass round."""
    events = (Event("offer", state.to_act, {"offer": action}),)
    if action == "stand":
        return Step(replace(state, phase="knock"), events)
    deal = replace(
        state.deal,
        n_offers=state.deal.n_offers + 1,
        offer=action,
        votes=(None,) * state.seats,
    )
    if action == "swing" and not rules.swing_needs_vote:
        return Step(replace(state, phase="swing", deal=deal), events)
    after = replace(state, phase="vote", deal=deal)
    return Step(replace(after, to_act=_voters(rules, after)[0]), events)


def vote_turn(_rules: RamsRules, state: RamsState) -> Decision:
    """RAMS-21."""
    return Decision(state.to_act, "vote", VOTE, "reject")


def vote(rules: RamsRules, state: RamsState, action: Action) -> Step[RamsState]:
    """RAMS-21: the next voter, or the offer takes effect or has failed."""
    seat, deal = state.to_act, state.deal
    events = (Event("vote", seat, {"vote": action}),)
    after = replace(state, deal=replace(deal, votes=replaced(deal.votes, seat, action == "accept")))
    accepted = is_accepted(rules, after)
    if accepted is None:
        return Step(replace(after, to_act=(seat + 1) % state.seats), events)
    if accepted:
        return Step(replace(after, phase="redeal" if deal.offer == "better" else "swing"), events)
    return Step(_offer_done(rules, after), events)


def is_accepted(rules: RamsRules, state: RamsState) -> bool | None:
    """RAMS-21: whether the offer takes effect; None while votes can still change that."""
    votes = state.deal.votes
    yes, no, voters = votes.count(True), votes.count(False), len(_voters(rules, state))
    if rules.offers == "majority":
        if 2 * yes > voters:
            return True
        return False if 2 * no >= voters else None
    if rules.offers == "individual" and state.deal.offer == "better":
        return yes > 0 if yes + no == voters else None
    if no:
        return False
    return True if yes == voters else None


def _voters(rules: RamsRules, state: RamsState) -> tuple[Seat, ...]:
    """RAMS-21: clockwise from forehand's left, the dealer last."""
    if rules.offers == "dealer_only":
        return (state.deal.dealer,)
    return tuple(clockwise(state.forehand, state.seats))[1:]


def _offer_done(rules: RamsRules, state: RamsState) -> RamsState:
    """RAMS-23, RAMS-26: forehand speaks again, to offer if that is left and else to knock."""
    more = state.deal.n_offers < rules.offers_per_deal
    return replace(state, phase="offer" if more else "knock", to_act=state.forehand)


def _changing(rules: RamsRules, state: RamsState) -> tuple[Seat, ...]:
    """Who gets better cards: everybody, or those who wanted to (RAMS-21)."""
    seats = clockwise(state.forehand, state.seats)
    if rules.offers != "individual":
        return tuple(seats)
    return tuple(seat for seat in seats if seat == state.forehand or state.deal.votes[seat])


def redeal_turn(rules: RamsRules, state: RamsState) -> Chance:
    """RAMS-24: the hands go back into the talon, or new ones come from what is left of it."""
    deal, seats = state.deal, _changing(rules, state)
    cards = deal.stock
    label = _shuffle(state)
    if rules.better_from == "reshuffle":
        cards = cards.union(*(deal.hands[seat] for seat in seats)) - {deal.upcard}
    elif rules.stock == "pile":
        label = deal.pile
    return Chance(cards, HAND * len(seats), label)


def redealt(rules: RamsRules, state: RamsState, cards: Sequence[Card]) -> Step[RamsState]:
    """RAMS-24: five new cards each, three and two from forehand; the trump card stays."""
    deal, seats = state.deal, _changing(rules, state)
    reshuffled = rules.better_from == "reshuffle"
    stock = frozenset(redeal_turn(rules, state).cards).difference(cards)
    hands, thrown = list(deal.hands), list(deal.thrown)
    for seat, hand in in_packets(cards, seats).items():
        kept = (deal.upcard,) if seat == deal.dealer else ()
        if not reshuffled:
            thrown[seat] += tuple(card for card in hands[seat] if card not in kept)
        hands[seat] = hand + kept
    deal = replace(
        deal,
        hands=tuple(hands),
        thrown=tuple(thrown),
        stock=stock,
        pile=_shuffle(state) if reshuffled else deal.pile,
    )
    after = _offer_done(rules, replace(state, deal=deal))
    return Step(after, (Event("redeal", None, {"seats": seats}), *hands_shown(after, seats)))


def _shuffle(state: RamsState) -> str:
    return f"better/{state.deal.number}/{state.deal.n_offers}"


def swing_turn(rules: RamsRules, state: RamsState) -> Chance:
    """RAMS-25: the top card of the talon."""
    deal = state.deal
    return Chance(deal.stock, 1, deal.pile if rules.stock == "pile" else f"swing/{deal.number}")


def swung(rules: RamsRules, state: RamsState, cards: Sequence[Card]) -> Step[RamsState]:
    """RAMS-25: it is the new trump card and the dealer's; the old one goes out of play."""
    deal, (card,) = state.deal, cards
    hand = deal.hands[deal.dealer]
    if rules.old_upcard == "out":
        hand = hand[:-1]
    deal = replace(
        deal,
        hands=replaced(deal.hands, deal.dealer, (*hand, card)),
        stock=deal.stock - {card},
        upcard=card,
        old_upcards=(*deal.old_upcards, deal.upcard),
    )
    swing = Event("swing", state.forehand, {"card": card})
    return Step(_offer_done(rules, replace(state, deal=deal)), (swing,))
