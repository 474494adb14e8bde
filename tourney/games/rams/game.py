"""The game of Rams: the parts of a deal, called by the phase of the state."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from mypy_extensions import mypyc_attr

from tourney.errors import GameError
from tourney.games.base import Action, Decision, GameInfo, Seat, Step, Turn, require_legal
from tourney.games.cards import Card
from tourney.games.rams import dealing, exchange, knocks, offers, play, scoring
from tourney.games.rams.options import (
    HAND,
    MAX_SEATS,
    MIN_SEATS,
    RamsRules,
    check_rules,
    check_seats,
)
from tourney.games.rams.state import RamsState, fresh_deal
from tourney.games.rams.view import seen

__all__ = ("Rams",)

TURNS: Mapping[str, Callable[[RamsRules, RamsState], Turn]] = {
    "lot": dealing.lot_turn,
    "deal": dealing.deal_turn,
    "offer": offers.offer_turn,
    "vote": offers.vote_turn,
    "redeal": offers.redeal_turn,
    "swing": offers.swing_turn,
    "knock": knocks.knock_turn,
    "exchange": exchange.exchange_turn,
    "draw": exchange.draw_turn,
    "play": play.play_turn,
    "over": scoring.match_over,
}

ACTS: Mapping[str, Callable[[RamsRules, RamsState, Action], Step[RamsState]]] = {
    "offer": offers.make_offer,
    "vote": offers.vote,
    "knock": knocks.speak,
    "exchange": exchange.throw,
    "play": play.lay,
}

DRAWN: Mapping[str, Callable[[RamsRules, RamsState, Sequence[Card]], Step[RamsState]]] = {
    "lot": dealing.lot_drawn,
    "deal": dealing.dealt,
    "redeal": offers.redealt,
    "swing": offers.swung,
    "draw": exchange.drew,
}


@mypyc_attr(allow_interpreted_subclasses=True)
class Rams:
    """The game of Rams under one set of rules (docs/rules/rams.md)."""

    rules_type: ClassVar[type[RamsRules]] = RamsRules

    def __init__(self, rules: RamsRules) -> None:
        check_rules(rules)
        self.rules = rules
        by_wins = rules.match == "rams_wins"
        # A seat that has not won yet stands on one point or more, and five tricks end below zero.
        deepest = 1 - HAND if rules.floor == "none" else 0
        self.info = GameInfo(
            name="rams",
            title="Rams",
            version=1,
            min_seats=MIN_SEATS,
            max_seats=MAX_SEATS,
            lower_is_better=not by_wins,
            lowest_score=0.0 if by_wins else float(rules.ramsar * deepest),
            highest_score=float(rules.ramsar * (1 if by_wins else rules.cap)),
            headline="win",
            score_name="ramsar won" if by_wins else "end-of-rams points",
        )

    def start(self, seats: int) -> RamsState:
        """The state before the first dealer is drawn (RAMS-2 to RAMS-4)."""
        check_seats(self.rules, seats)
        points, none = (self.rules.start,) * seats, (0,) * seats
        return RamsState(
            phase="lot",
            seats=seats,
            points=points,
            flights=none,
            flights_before=none,
            passed_last=(False,) * seats,
            wins=none,
            deal=fresh_deal(1, 0, points),
        )

    def turn(self, state: RamsState) -> Turn:
        """What happens next: a lot, cards, a decision or the end."""
        return TURNS[state.phase](self.rules, state)

    def act(self, state: RamsState, action: Action) -> Step[RamsState]:
        """Play `action` for the seat to decide."""
        decision = self.turn(state)
        if not isinstance(decision, Decision):
            raise GameError(f"{action!r} in phase {state.phase!r}: nobody is to act")
        require_legal(action, decision)
        return ACTS[state.phase](self.rules, state, action)

    def drawn(self, state: RamsState, cards: Sequence[Card]) -> Step[RamsState]:
        """Go on with the lot's seat, the dealt cards, the turned card or the bought ones."""
        return DRAWN[state.phase](self.rules, state, cards)

    def view(self, state: RamsState, seat: Seat | None) -> dict[str, Any]:
        """What `seat` knows (RAMS-80 to RAMS-83); None sees every hand."""
        return seen(self.rules, state, seat)
