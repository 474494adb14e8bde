"""Svarte Petter: draw unseen cards from a neighbour and lay away pairs; the odd card loses.

Rule ids are those of docs/rules/svarte-petter.md. The fan that a card is drawn from is shuffled
before each draw (SP-9), so that no choice matters: the game is pure chance.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec.structs import replace

from tourney.errors import GameError
from tourney.games.base import (
    Action,
    Chance,
    Decision,
    Event,
    GameInfo,
    Over,
    Rules,
    Seat,
    Step,
    Turn,
    competition_ranks,
    require_legal,
)
from tourney.games.cards import PACK, Card, rank_of, suit_of
from tourney.games.hands import Hand, arranged, clockwise, hand_events, replaced, without

__all__ = ("SvartePetter", "SvartePetterRules", "SvartePetterState")

MIN_SEATS = 2
MAX_SEATS = 6

Pair = tuple[Card, Card]

REMOVED = {"JS": "JC", "QS": "QC"}
"""The card left out of the pack so that the other black one is odd (SP-1, SP-8)."""


class SvartePetterRules(Rules, frozen=True, kw_only=True):
    """Every option of Svarte Petter; the defaults are the base game."""

    pair: Annotated[
        Literal["rank_and_colour", "rank"],
        msgspec.Meta(description="which cards make a pair (SP-3); the odd card never pairs"),
    ] = "rank_and_colour"
    odd: Annotated[
        Literal["JS", "QS"],
        msgspec.Meta(description="the odd card; JC or QC is left out of the pack (SP-1, SP-8)"),
    ] = "JS"
    draw_from: Annotated[
        Literal["right", "left"], msgspec.Meta(description="the neighbour a seat draws from (SP-5)")
    ] = "right"
    draw_cap: Annotated[
        int, msgspec.Meta(ge=1, description="draws after which the game ends (SP-10)")
    ] = 2000


class SvartePetterState(msgspec.Struct, frozen=True, gc=False):
    """One position."""

    phase: str
    """`lot`, `deal`, `fan` (the fan is being shuffled), `draw` or `over`."""
    seats: int
    dealer: Seat = 0
    hands: tuple[Hand, ...] = ()
    to_act: Seat = 0
    source: Seat = 0
    """Whom `to_act` draws from."""
    fan: tuple[Card, ...] = ()
    """The source's cards in the order they are held out, in phase `draw`."""
    pairs: tuple[tuple[Pair, ...], ...] = ()
    """Pairs that each seat has laid away, face up, in their order."""
    draws: int = 0


class SvartePetter:
    """The game of Svarte Petter under one set of rules (docs/rules/svarte-petter.md)."""

    rules_type: ClassVar[type[Rules]] = SvartePetterRules

    def __init__(self, rules: SvartePetterRules) -> None:
        self.rules = rules
        self.pack = tuple(card for card in PACK if card != REMOVED[rules.odd])
        """The 51 cards in play (SP-1, SP-8)."""
        self.info = GameInfo(
            name="svarte-petter",
            title="Svarte Petter",
            version=1,
            min_seats=MIN_SEATS,
            max_seats=MAX_SEATS,
            lower_is_better=True,
            lowest_score=0.0,
            highest_score=1.0,
            headline="placement",
            score_name="deals lost",
        )

    def start(self, seats: int) -> SvartePetterState:
        """The state before the deal (SP-1)."""
        if not MIN_SEATS <= seats <= MAX_SEATS:
            raise GameError(f"Svarte Petter is for {MIN_SEATS} to {MAX_SEATS} seats, not {seats}")
        return SvartePetterState(phase="lot", seats=seats)

    # --- pairs ---

    def is_pair(self, one: Card, other: Card) -> bool:
        """SP-3: same rank and same colour, or same rank alone; the odd card never pairs."""
        if rank_of(one) != rank_of(other) or self.rules.odd in (one, other):
            return False
        return self.rules.pair == "rank" or _is_black(one) == _is_black(other)

    def pairs_in(self, hand: Sequence[Card]) -> Iterator[Pair]:
        """The pairs to lay away from `hand` (SP-4)."""
        left = list(hand)
        while left:
            card = left.pop(0)
            partner = next((other for other in left if self.is_pair(card, other)), None)
            if partner is not None:
                left.remove(partner)
                yield card, partner

    # --- what is needed next ---

    def turn(self, state: SvartePetterState) -> Turn:
        """What happens next: a lot, the deal, a shuffle of the fan, a draw or the end."""
        phase = state.phase
        if phase == "draw":
            legal = tuple(f"draw {place}" for place in range(1, len(state.fan) + 1))
            return Decision(state.to_act, phase, legal, legal[0])
        if phase == "fan":
            fan = state.hands[state.source]
            return Chance(fan, len(fan), f"fan/{state.draws + 1}")
        if phase == "lot":
            return Chance(tuple(str(seat) for seat in range(state.seats)), 1, "first")
        if phase == "deal":
            return Chance(self.pack, len(self.pack), "deal")
        return self._over(state)

    def act(self, state: SvartePetterState, action: Action) -> Step[SvartePetterState]:
        """Play `action`: `draw 3`, the third card of the fan (SP-5)."""
        decision = self.turn(state)
        if not isinstance(decision, Decision):
            raise GameError(f"{action!r} in phase {state.phase!r}: nobody is to act")
        require_legal(action, decision)
        place = int(action.split()[1])
        card = state.fan[place - 1]
        drawer, source = state.to_act, state.source
        event = Event(
            "draw", drawer, {"from": source, "place": place}, {"card": card}, (drawer, source)
        )
        hands = replaced(state.hands, source, without(state.hands[source], card))
        hands = replaced(hands, drawer, arranged((*hands[drawer], card)))
        after = replace(state, hands=hands, fan=(), draws=state.draws + 1)
        after, laid = self._lay_away(after, drawer)
        return self._next(after, (drawer + 1) % state.seats, (event, *laid))

    def _lay_away(
        self, state: SvartePetterState, seat: Seat
    ) -> tuple[SvartePetterState, tuple[Event, ...]]:
        """SP-4, SP-5: pairs leave the hand by themselves, face up."""
        pairs = tuple(self.pairs_in(state.hands[seat]))
        if not pairs:
            return state, ()
        gone = [card for pair in pairs for card in pair]
        after = replace(
            state,
            hands=replaced(state.hands, seat, without(state.hands[seat], *gone)),
            pairs=replaced(state.pairs, seat, state.pairs[seat] + pairs),
        )
        return after, tuple(Event("pair", seat, {"cards": pair}) for pair in pairs)

    def _next(
        self, state: SvartePetterState, first: Seat, events: tuple[Event, ...]
    ) -> Step[SvartePetterState]:
        """SP-5, SP-6: the next seat that has cards draws, unless the game is over (SP-7, SP-10)."""
        holding = [seat for seat in clockwise(first, state.seats) if state.hands[seat]]
        if len(holding) == 1 or state.draws >= self.rules.draw_cap:
            over = replace(state, phase="over")
            return Step(over, (*events, Event("over", None, self._end(over))))
        # In clockwise order from the drawer, its nearest neighbour to the right comes last.
        drawer = holding[0]
        source = holding[-1] if self.rules.draw_from == "right" else holding[1]
        after = replace(state, phase="fan", to_act=drawer, source=source)
        return Step(after, events)

    # --- cards that come ---

    def drawn(self, state: SvartePetterState, cards: Sequence[Card]) -> Step[SvartePetterState]:
        """Take the lot's seat, the deal or the shuffled fan."""
        if state.phase == "fan":
            return Step(replace(state, phase="draw", fan=tuple(cards)))
        if state.phase == "deal":
            return self._dealt(state, cards)
        dealer = (int(cards[0]) - 1) % state.seats
        return Step(
            replace(state, phase="deal", dealer=dealer), (Event("deal", None, {"dealer": dealer}),)
        )

    def _dealt(self, state: SvartePetterState, cards: Sequence[Card]) -> Step[SvartePetterState]:
        """SP-2: all cards one by one from forehand; SP-4: then everybody lays away pairs."""
        n, forehand = state.seats, (state.dealer + 1) % state.seats
        hands = tuple(arranged(cards[(seat - forehand) % n :: n]) for seat in range(n))
        after = replace(state, hands=hands, pairs=((),) * n)
        events = hand_events(hands)
        for seat in clockwise(forehand, n):
            after, laid = self._lay_away(after, seat)
            events += laid
        return self._next(after, forehand, events)

    # --- the end, and who knows what ---

    def _loser(self, state: SvartePetterState) -> Seat:
        """SP-7, SP-10: who holds the odd card."""
        return next(seat for seat, hand in enumerate(state.hands) if self.rules.odd in hand)

    def _end(self, state: SvartePetterState) -> dict[str, Any]:
        return {"loser": self._loser(state), "capped": sum(map(bool, state.hands)) > 1}

    def _over(self, state: SvartePetterState) -> Over:
        """SP-7: the loser has 1, everybody else 0."""
        loser = self._loser(state)
        scores = tuple(float(seat == loser) for seat in range(state.seats))
        return Over(scores, competition_ranks(scores), self._end(state))

    def view(self, state: SvartePetterState, seat: Seat | None) -> dict[str, Any]:
        """What `seat` knows (SP-9); None sees every card."""
        owner = state.to_act if seat is None else seat
        view: dict[str, Any] = {
            "seat": owner,
            "dealer": state.dealer,
            "to_act": state.to_act,
            "source": state.source,
            "hand": state.hands[owner] if state.hands else (),
            "hand_sizes": [len(hand) for hand in state.hands],
            "pairs": state.pairs,
            "draws": state.draws,
        }
        if seat is None:
            view["hands"] = state.hands
            view["fan"] = state.fan
        return view


def _is_black(card: Card) -> bool:
    return suit_of(card) in "CS"
