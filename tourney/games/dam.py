"""Dam: seven face-down cards in a row, swapped left to right; the lowest sum wins.

Rule ids are those of docs/rules/dam.md. Each card on the table carries the set of seats that know
it (`Known`, a bit a seat), which gives the known prefix of a row (DAM-25), the cards everybody saw
go there (DAM-26) and the cards moved by a swap without a special case.
"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec

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
from tourney.games.cards import PACK, RANKS, Card

__all__ = ("Dam", "DamRules", "DamState", "card_value")

MIN_SEATS = 2
MAX_SEATS = 6
"""DAM-2: "about six" is read as six."""

VALUES: dict[Card, int] = {
    card: {"Q": 0, "K": 0 if card == "KH" else 13}.get(card[0], RANKS.index(card[0]) + 1)
    for card in PACK
}
"""DAM-30: ace 1, pips at face value, jack 11, queens 0, king of hearts 0, other kings 13."""

Known = int
"""Which seats know a card: bit s is set when seat s does."""

KEEP_THROW = ("keep", "throw")
KEEP = ("keep",)
THROW = ("throw",)
DRAW = ("draw",)
DRAW_TAKE = ("draw", "take")


def card_value(card: Card) -> int:
    """Points of `card` in the base game (DAM-30)."""
    return VALUES[card]


class DamRules(Rules, frozen=True, kw_only=True):
    """Every option of Dam; the defaults are the base game."""

    rounds: Annotated[
        int | Literal["seats"],
        msgspec.Meta(description="deals in a match (DAM-40); seats = one that each seat begins"),
    ] = "seats"
    first: Annotated[
        Literal["lot", "seat0"], msgspec.Meta(description="who begins the first deal (DAM-6)")
    ] = "lot"
    discard_take: Annotated[
        Literal["must_keep", "free"],
        msgspec.Meta(description="whether a taken discard must be kept (DAM-18)"),
    ] = "must_keep"
    streak_cap: Annotated[
        int | Literal["2n", "n"],
        msgspec.Meta(description="turns in a row that may begin with a take (DAM-19)"),
    ] = "2n"
    match: Annotated[
        Literal["sum", "round_wins"], msgspec.Meta(description="what decides a match (DAM-40)")
    ] = "sum"
    stock: Annotated[
        Literal["streams", "pile"],
        msgspec.Meta(
            description="one order of the stock for each seat, or one pile; same law either way"
        ),
    ] = "streams"


class DamState(msgspec.Struct, frozen=True, gc=False):
    """One position of a match."""

    phase: str
    """`lot`, `deal`, `source`, `draw` (a stock card is on its way), `decide` or `over`."""
    seats: int
    round: int
    """The deal being played, from 1."""
    starter: Seat
    to_act: Seat
    rows: tuple[tuple[Card, ...], ...]
    known: tuple[tuple[Known, ...], ...]
    """Who knows the card in each slot; same shape as `rows`."""
    stock: frozenset[Card]
    discard: tuple[Card, ...]
    """Oldest first."""
    hand: Card
    """The card under decision, empty in other phases."""
    hand_known: Known
    origin: str
    """Where `hand` came from: `stock`, `discard`, `row`."""
    keeps: int
    """Cards kept so far this turn."""
    streak: int
    """Turns in a row, over the table, begun with a take (DAM-19)."""
    sums: tuple[tuple[int, ...], ...]
    """Row sums of each finished deal, a tuple of seats each."""


class Dam:
    """The game of Dam under one set of rules (docs/rules/dam.md)."""

    rules_type: ClassVar[type[Rules]] = DamRules

    def __init__(self, rules: DamRules) -> None:
        self.rules = rules
        self.row_len = 7
        if isinstance(rules.rounds, int) and rules.rounds < 1:
            raise GameError(f"rounds = {rules.rounds}: a match has at least one deal")
        if isinstance(rules.streak_cap, int) and rules.streak_cap < 1:
            raise GameError(f"streak_cap = {rules.streak_cap}: the cap is at least 1 (DAM-19)")
        ordered = sorted(VALUES.values())
        most_deals = MAX_SEATS if rules.rounds == "seats" else rules.rounds
        by_sum = rules.match == "sum"
        self.info = GameInfo(
            name="dam",
            title="Dam",
            version=1,
            min_seats=MIN_SEATS,
            max_seats=MAX_SEATS,
            lower_is_better=by_sum,
            lowest_score=float(sum(ordered[: self.row_len])) if by_sum else 0.0,
            highest_score=float(most_deals * (sum(ordered[-self.row_len :]) if by_sum else 1)),
            score_name="sum of rows" if by_sum else "deals won",
        )

    def start(self, seats: int) -> DamState:
        """The state before the first deal (DAM-2, DAM-6)."""
        if not self.info.min_seats <= seats <= self.info.max_seats:
            raise GameError(
                f"Dam is for {self.info.min_seats} to {self.info.max_seats} seats, not {seats}"
            )
        return DamState(
            phase="lot" if self.rules.first == "lot" else "deal",
            seats=seats,
            round=1,
            starter=0,
            to_act=0,
            rows=(),
            known=(),
            stock=frozenset(),
            discard=(),
            hand="",
            hand_known=0,
            origin="",
            keeps=0,
            streak=0,
            sums=(),
        )

    def turn(self, state: DamState) -> Turn:
        """What happens next: a lot, a deal, a draw, a decision or the end."""
        phase = state.phase
        if phase == "decide":
            legal, fallback = self._decide_actions(state)
            return Decision(state.to_act, phase, legal, fallback)
        if phase == "source":
            return Decision(state.to_act, phase, self._source_actions(state), "draw")
        if phase == "draw":
            pile = self.rules.stock == "pile"
            name = f"deal/{state.round}" if pile else f"stock/{state.round}/{state.to_act}"
            return Chance(state.stock, 1, name)
        if phase == "deal":
            return Chance(PACK, state.seats * self.row_len, f"deal/{state.round}")
        if phase == "lot":
            return Chance(tuple(str(seat) for seat in range(state.seats)), 1, "first")
        return self._over(state)

    def _source_actions(self, state: DamState) -> tuple[Action, ...]:
        """DAM-10, DAM-12 and the streak cap of DAM-19."""
        if not state.discard or state.streak >= self._streak_cap(state.seats):
            return DRAW
        return DRAW_TAKE

    def _streak_cap(self, seats: int) -> int:
        cap = self.rules.streak_cap
        if isinstance(cap, int):
            return cap
        return 2 * seats if cap == "2n" else seats

    def _decide_actions(self, state: DamState) -> tuple[tuple[Action, ...], Action]:
        """DAM-13, DAM-16, DAM-18, and the stand-in's choice of DAM-28."""
        if state.keeps == self.row_len:
            return THROW, "throw"
        if state.origin == "discard" and self.rules.discard_take == "must_keep":
            return KEEP, "keep"
        return KEEP_THROW, "throw"

    def act(self, state: DamState, action: Action) -> Step[DamState]:
        """Play `action`: `draw`, `take`, `keep` or `throw`."""
        decision = self.turn(state)
        if not isinstance(decision, Decision):
            raise GameError(f"{action!r} in phase {state.phase!r}: nobody is to act")
        require_legal(action, decision)
        if action == "keep":
            return self._keep(state)
        if action == "throw":
            return self._throw(state)
        if action == "draw":
            return Step(msgspec.structs.replace(state, phase="draw", streak=0))
        return self._take(state)

    def _take(self, state: DamState) -> Step[DamState]:
        """DAM-8, DAM-10: the top of the discard pile goes to the hand, seen by all."""
        card = state.discard[-1]
        after = msgspec.structs.replace(
            state,
            phase="decide",
            discard=state.discard[:-1],
            hand=card,
            hand_known=(1 << state.seats) - 1,
            origin="discard",
            keeps=0,
            streak=state.streak + 1,
        )
        return Step(after, (Event("take", state.to_act, {"card": card}),))

    def _keep(self, state: DamState) -> Step[DamState]:
        """DAM-14: the card in hand goes to the next slot, the card that lay there to the hand."""
        seat, slot = state.to_act, state.keeps
        row, row_known = state.rows[seat], state.known[seat]
        after = msgspec.structs.replace(
            state,
            rows=_replaced(state.rows, seat, _replaced(row, slot, state.hand)),
            known=_replaced(state.known, seat, _replaced(row_known, slot, state.hand_known)),
            hand=row[slot],
            hand_known=row_known[slot] | 1 << seat,
            origin="row",
            keeps=slot + 1,
        )
        knowers = tuple(s for s in range(state.seats) if state.hand_known >> s & 1)
        event = Event("keep", seat, {"slot": slot + 1}, {"card": state.hand}, knowers)
        return Step(after, (event,))

    def _throw(self, state: DamState) -> Step[DamState]:
        """DAM-13: the card in hand goes to the discard pile and the turn ends (DAM-20, DAM-21)."""
        thrown = Event("throw", state.to_act, {"card": state.hand})
        after = msgspec.structs.replace(
            state,
            phase="source",
            to_act=(state.to_act + 1) % state.seats,
            discard=(*state.discard, state.hand),
            hand="",
            hand_known=0,
            origin="",
            keeps=0,
        )
        if after.stock:
            return Step(after, (thrown,))
        return self._score(after, thrown)

    def _score(self, state: DamState, thrown: Event) -> Step[DamState]:
        """DAM-31 to DAM-33, then the next deal with the next starter (DAM-41) or the end."""
        sums = tuple(sum(VALUES[card] for card in row) for row in state.rows)
        shown = Event("round", None, {"round": state.round, "rows": state.rows, "sums": sums})
        last = state.round == self.n_rounds(state.seats)
        after = msgspec.structs.replace(
            state,
            phase="over" if last else "deal",
            round=state.round if last else state.round + 1,
            starter=state.starter if last else (state.starter + 1) % state.seats,
            sums=(*state.sums, sums),
        )
        return Step(after, (thrown, shown))

    def n_rounds(self, seats: int) -> int:
        """Deals in a match (DAM-40)."""
        return seats if self.rules.rounds == "seats" else self.rules.rounds

    def drawn(self, state: DamState, cards: Sequence[Card]) -> Step[DamState]:
        """Take the lot's seat, the dealt rows or the drawn stock card."""
        if state.phase == "draw":
            return self._drew(state, cards[0])
        if state.phase == "lot":
            return Step(msgspec.structs.replace(state, phase="deal", starter=int(cards[0])))
        return self._dealt(state, cards)

    def _drew(self, state: DamState, card: Card) -> Step[DamState]:
        """DAM-11: the stock card goes to the hand, seen by that seat only."""
        seat = state.to_act
        after = msgspec.structs.replace(
            state,
            phase="decide",
            stock=state.stock - {card},
            hand=card,
            hand_known=1 << seat,
            origin="stock",
            keeps=0,
        )
        return Step(after, (Event("draw", seat, {}, {"card": card}, (seat,)),))

    def _dealt(self, state: DamState, cards: Sequence[Card]) -> Step[DamState]:
        """DAM-3 to DAM-5: seven cards each, known to nobody; the rest is the stock."""
        n, length = state.seats, self.row_len
        after = msgspec.structs.replace(
            state,
            phase="source",
            to_act=state.starter,
            rows=tuple(tuple(cards[s * length : (s + 1) * length]) for s in range(n)),
            known=((0,) * length,) * n,
            stock=frozenset(PACK).difference(cards),
            discard=(),
            streak=0,
        )
        return Step(after)

    def _over(self, state: DamState) -> Over:
        """DAM-40 and DAM-42: total, then round wins, then the lowest single deal, then shared."""
        n = state.seats
        totals = tuple(sum(deal[s] for deal in state.sums) for s in range(n))
        wins = [0.0] * n
        for deal in state.sums:
            best = [s for s in range(n) if deal[s] == min(deal)]
            for s in best:
                wins[s] += 1 / len(best)
        lowest = tuple(min(deal[s] for deal in state.sums) for s in range(n))
        rounded = tuple(round(win, 9) for win in wins)
        keys: list[tuple[float, float, float]]
        if self.rules.match == "sum":
            keys = [(totals[s], -rounded[s], lowest[s]) for s in range(n)]
            scores = tuple(float(total) for total in totals)
        else:
            keys = [(-rounded[s], totals[s], lowest[s]) for s in range(n)]
            scores = rounded
        detail = {"rows": state.rows, "sums": state.sums, "totals": totals, "round_wins": rounded}
        return Over(scores, competition_ranks(keys), detail)

    def view(self, state: DamState, seat: Seat | None) -> dict[str, Any]:
        """What `seat` knows (DAM-24 to DAM-27); None sees every card."""
        bits = -1 if seat is None else 1 << seat
        deciding = state.phase == "decide"
        sees_hand = deciding and state.hand_known & bits
        return {
            "round": state.round,
            "rounds": self.n_rounds(state.seats),
            "seat": state.to_act if seat is None else seat,
            "dealer": (state.starter - 1) % state.seats,
            "stock": len(state.stock),
            "discard": state.discard,
            "rows": [
                [card if bits & who else None for card, who in zip(row, known, strict=True)]
                if seat is not None
                else list(row)
                for row, known in zip(state.rows, state.known, strict=True)
            ],
            "hand": state.hand if sees_hand else None,
            "from": state.origin if deciding else None,
            "slot": state.keeps + 1 if deciding and state.keeps < self.row_len else None,
            "streak": state.streak,
            "totals": [sum(deal[s] for deal in state.sums) for s in range(state.seats)],
        }


def _replaced(items: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    return (*items[:index], value, *items[index + 1 :])
