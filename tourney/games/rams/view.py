"""What a seat may know (RAMS-80 to RAMS-83): the only way from a state to a bot."""

from typing import Any

from tourney.games.base import Seat
from tourney.games.rams.options import RamsRules
from tourney.games.rams.play import trumps_are_forced
from tourney.games.rams.state import Play, RamsState

__all__ = ("seen",)


def seen(rules: RamsRules, state: RamsState, seat: Seat | None) -> dict[str, Any]:
    """The public part (RAMS-80) and the seat's own cards (RAMS-81); None sees every hand.

    `upcard` is the card as it was turned up, and stays so when the dealer may have thrown it
    (RAMS-82).
    """
    deal = state.deal
    owner = state.to_act if seat is None else seat
    view = {
        "ramsar": rules.ramsar,
        "rams": state.rams,
        "deal": state.n_deals,
        "seat": owner,
        "dealer": deal.dealer,
        "forehand": state.forehand,
        "trump": deal.trump,
        "upcard": deal.upcard,
        "stock": len(deal.stock),
        "points": state.points,
        "flights": state.flights,
        "wins": state.wins,
        "passed_last": state.passed_last,
        "offer": deal.offer or None,
        "votes": deal.votes,
        "hand": deal.hands[owner],
        "thrown": deal.thrown[owner],
        "active": deal.active,
        "exchanged": deal.exchanged,
        "tricks": deal.tricks,
        "trick": _shown(deal.trick),
        "played": [_shown(trick) for trick in deal.played],
        "out": deal.old_upcards,
        "forced_trump": trumps_are_forced(rules, state),
    }
    if seat is None:
        view["hands"] = deal.hands
        view["thrown"] = deal.thrown
    return view


def _shown(trick: tuple[Play, ...]) -> list[dict[str, Any]]:
    return [{"seat": play.seat, "card": play.card} for play in trick]
