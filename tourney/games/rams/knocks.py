"""The pass round: who goes in, who must, and deals without play (RAMS-30 to RAMS-35)."""

from msgspec.structs import replace

from tourney.games.base import Action, Decision, Event, Seat, Step
from tourney.games.rams.options import HAND, RamsRules
from tourney.games.rams.scoring import book_tricks, end_deal
from tourney.games.rams.state import RamsState, clockwise, replaced

__all__ = ("active_from_forehand", "after_speaking", "knock_turn", "must_knock", "speak")

PASS_KNOCK = ("pass", "knock")
KNOCK = ("knock",)


def knock_turn(rules: RamsRules, state: RamsState) -> Decision:
    """RAMS-30 to RAMS-32."""
    if must_knock(rules, state):
        return Decision(state.to_act, "knock", KNOCK, "knock")
    return Decision(state.to_act, "knock", PASS_KNOCK, "pass")


def must_knock(rules: RamsRules, state: RamsState) -> bool:
    """RAMS-31, RAMS-32 and the options of RAMS-26 and RAMS-34 that force a knock."""
    seat, deal = state.to_act, state.deal
    points = state.points[seat]
    if points == 1 or (points == 2 and state.passed_last[seat]):
        return True
    if seat == state.forehand and rules.offerer_must_knock and deal.n_offers:
        return True
    return seat == deal.dealer and rules.lone == "dealer_must_play" and deal.active.count(True) == 1


def speak(rules: RamsRules, state: RamsState, action: Action) -> Step[RamsState]:
    """RAMS-30: a pass or a knock; by option the knocker buys at once (RAMS-40)."""
    seat, deal = state.to_act, state.deal
    knocks = action == "knock"
    spoken = (Event(action, seat),)
    after = replace(state, deal=replace(deal, active=replaced(deal.active, seat, knocks)))
    if knocks and rules.exchange == "immediate":
        return Step(replace(after, phase="exchange"), spoken)
    return after_speaking(rules, after, spoken)


def after_speaking(
    rules: RamsRules, state: RamsState, events: tuple[Event, ...]
) -> Step[RamsState]:
    """The next seat speaks, or the round is over."""
    seat, deal = state.to_act, state.deal
    if seat != deal.dealer:
        following = (seat + 1) % state.seats
        if following == deal.dealer and True not in deal.active:
            return _walk_over(rules, state, deal.dealer, events)  # RAMS-33
        return Step(replace(state, phase="knock", to_act=following), events)
    active = active_from_forehand(state)
    if len(active) == 1:
        return _walk_over(rules, state, active[0], events)  # RAMS-34
    phase = "play" if rules.exchange == "immediate" else "exchange"
    return Step(replace(state, phase=phase, to_act=active[0]), events)


def active_from_forehand(state: RamsState) -> tuple[Seat, ...]:
    """RAMS-35, RAMS-40: the seats that play, clockwise from the dealer's left."""
    active = state.deal.active
    return tuple(seat for seat in clockwise(state.forehand, state.seats) if active[seat])


def _walk_over(
    rules: RamsRules, state: RamsState, seat: Seat, events: tuple[Event, ...]
) -> Step[RamsState]:
    """RAMS-33, RAMS-34: five tricks to `seat` without play; nobody flies."""
    after = book_tricks(rules, state, seat, HAND)
    return end_deal(rules, after, (*events, Event("walkover", seat)))
