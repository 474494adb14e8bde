"""Five tricks: what may be played, and who takes them (RAMS-50 to RAMS-58)."""

from msgspec.structs import replace

from tourney.games.base import Action, Decision, Event, Step
from tourney.games.cards import PACK, Card
from tourney.games.rams.options import HAND, RamsRules, strengths_of
from tourney.games.rams.scoring import book_flights, book_tricks, end_deal
from tourney.games.rams.state import Play, RamsState, replaced
from tourney.games.tricks import ladder, winner

__all__ = ("lay", "legal_cards", "must_lead_trump", "play_turn", "trumps_are_forced")

PLAY = {card: f"play {card}" for card in PACK}


def play_turn(rules: RamsRules, state: RamsState) -> Decision:
    """RAMS-50 to RAMS-55; the stand-in plays the lowest card, plain before trump (RAMS-84)."""
    cards = legal_cards(rules, state)
    strength = strengths_of(rules, state.deal.trump)
    lowest = cards[0] if len(cards) == 1 else min(cards, key=strength.__getitem__)
    return Decision(state.to_act, "play", tuple([PLAY[card] for card in cards]), PLAY[lowest])


def legal_cards(rules: RamsRules, state: RamsState) -> list[Card]:
    """The cards that the seat to act may play, in the order of its hand."""
    deal = state.deal
    hand = deal.hands[state.to_act]
    if not deal.trick:
        return _leads(rules, state, hand)
    return ladder(
        hand,
        [play.card for play in deal.trick],
        strengths_of(rules, deal.trump),
        may_discard_beaten_trumps=rules.undertrump == "free",
        overtakes_in_trumped_suit=rules.overtake_in_suit_when_trumped,
    )


def _leads(rules: RamsRules, state: RamsState, hand: tuple[Card, ...]) -> list[Card]:
    """The trump ace if held (RAMS-50), else a trump under tvångsmaning (RAMS-51), else any.

    A trump led has no other effect than on what the others must follow with (RAMS-57).
    """
    trump = state.deal.trump
    ace = "A" + trump
    if ace in hand:
        return [ace]
    if must_lead_trump(rules, state):
        return [card for card in hand if card[1] == trump] or list(hand)
    return list(hand)


def must_lead_trump(rules: RamsRules, state: RamsState) -> bool:
    """RAMS-51: whether tvångsmaning binds the seat to act, should it lead."""
    if not trumps_are_forced(rules, state):
        return False
    return rules.maning != "opponents" or _maning_points(rules, state)[state.to_act] != 1


def trumps_are_forced(rules: RamsRules, state: RamsState) -> bool:
    """RAMS-51: whether tvångsmaning holds for the next lead."""
    if rules.maning == "off" or (rules.maning == "first_lead" and state.deal.played):
        return False
    return 1 in _maning_points(rules, state)


def _maning_points(rules: RamsRules, state: RamsState) -> tuple[int, ...]:
    return state.deal.points_before if rules.maning_when == "start" else state.points


def lay(rules: RamsRules, state: RamsState, action: Action) -> Step[RamsState]:
    """Play a card; the last active seat's card ends the trick."""
    seat, deal = state.to_act, state.deal
    card = action[5:]
    hand = tuple([held for held in deal.hands[seat] if held != card])
    trick = (*deal.trick, Play(seat, card))
    deal = replace(deal, hands=replaced(deal.hands, seat, hand), trick=trick)
    laid = Event("play", seat, {"card": card})
    active = deal.active
    if len(trick) == active.count(True):
        return _trick_taken(rules, replace(state, deal=deal), laid)
    following = (seat + 1) % state.seats
    while not active[following]:
        following = (following + 1) % state.seats
    return Step(replace(state, to_act=following, deal=deal), (laid,))


def _trick_taken(rules: RamsRules, state: RamsState, laid: Event) -> Step[RamsState]:
    """RAMS-56, RAMS-60: the winner leads next; all five are played in any case (RAMS-58)."""
    deal = state.deal
    strength = strengths_of(rules, deal.trump)
    seat = deal.trick[winner([play.card for play in deal.trick], strength)].seat
    deal = replace(deal, trick=(), played=(*deal.played, deal.trick))
    after = book_tricks(rules, replace(state, to_act=seat, deal=deal), seat, 1)
    events = (laid, Event("trick", seat))
    if len(deal.played) < HAND:
        return Step(after, events)
    return end_deal(rules, book_flights(rules, after), events)
