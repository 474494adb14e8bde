"""Dam: seven face-down cards in a row, swapped left to right; the lowest sum wins.

Rule ids are those of docs/rules/dam.md. For each seat the state holds the rows as that seat knows
them, which gives the known prefix of a row (DAM-25), the cards everybody saw go there (DAM-26) and
the cards moved by a swap (DAM-V4) without a special case. Options are in `dam_rules`, the swap
question in `dam_swap`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from mypy_extensions import mypyc_attr

from tourney.errors import GameError
from tourney.games import dam_swap
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
from tourney.games.cards import PACK, Card
from tourney.games.dam_rows import put, replaced
from tourney.games.dam_rules import MIN_SEATS, DamRules, card_values, check_rules, check_seats
from tourney.games.dam_state import DamState

__all__ = ("Dam", "DamRules", "DamState")

MAX_REPLAYS = 10
"""A deal is dealt anew this often at the most under tie = replay; then it is shared."""

KEEP_THROW = ("keep", "throw")
KEEP = ("keep",)
THROW = ("throw",)
DRAW = ("draw",)
DRAW_TAKE = ("draw", "take")
TAKE_PASS = ("take", "pass")


@mypyc_attr(allow_interpreted_subclasses=True)
class Dam:
    """The game of Dam under one set of rules (docs/rules/dam.md)."""

    rules_type: ClassVar[type[Rules]] = DamRules
    pack: ClassVar[tuple[Card, ...]] = PACK

    def __init__(self, rules: DamRules) -> None:
        check_rules(rules)
        self.rules = rules
        self.row_len: int = rules.row_len
        self.chain_len = rules.chain_len
        self.values = card_values(rules)
        self._seats_of = [
            tuple(seat for seat in range(rules.max_players) if mask >> seat & 1)
            for mask in range(1 << rules.max_players)
        ]
        """The seats of every set of them, by its bits."""
        # What every decision needs of the rules, read once.
        self._asks = rules.ask != "off"
        self._asks_first = self._asks and rules.ask_object != "hand"
        self._asks_in_hand = self._asks and rules.ask_object == "hand"
        self._must_keep = rules.discard_take == "must_keep"
        seats = range(rules.max_players + 1)
        self._rounds = [n if rules.rounds == "seats" else rules.rounds for n in seats]
        self._streak_caps = [self._streak_cap(n) for n in seats]
        """Both by the number of seats; a cap of 0 is none."""
        ordered = sorted(self.values.values())
        deals = rules.max_players if rules.rounds == "seats" else rules.rounds
        least, most = sum(ordered[: self.row_len]), sum(ordered[-self.row_len :])
        by_sum = rules.match == "sum"
        self.info = GameInfo(
            name="dam",
            title="Dam",
            version=2,
            min_seats=MIN_SEATS,
            max_seats=rules.max_players,
            lower_is_better=by_sum,
            lowest_score=float(min(least, least * deals)) if by_sum else 0.0,
            highest_score=float(deals * most if by_sum else deals),
            headline="win",
            score_name="sum of rows" if by_sum else "deals won",
            worst_by_seats=self._worst_by_seats(most) if by_sum else {},
        )

    def _worst_by_seats(self, most: int) -> dict[int, float]:
        """Every deal at the highest sum of a row; a deal for each seat unless the rules say."""
        tables = range(MIN_SEATS, self.rules.max_players + 1)
        return {seats: float(self.n_rounds(seats) * most) for seats in tables}

    def start(self, seats: int) -> DamState:
        """The state before the first deal (DAM-2, DAM-6)."""
        check_seats(self.rules, seats)
        return DamState(phase="lot" if self.rules.first == "lot" else "deal", seats=seats)

    def turn(self, state: DamState) -> Turn:
        """What happens next: a lot, a deal, a draw, a decision or the end."""
        phase = state.phase
        if phase == "decide":
            legal, fallback = self._decide_actions(state)
            return Decision(state.to_act, phase, legal, fallback)
        if phase == "source":
            return Decision(state.to_act, phase, self._source_actions(state), "draw")
        if phase == "draw":
            return Chance(state.stock, 1, self._stock_label(state))
        if phase == "over":
            return self._over(state)
        return self._rare_turn(state, phase)

    def _rare_turn(self, state: DamState, phase: str) -> Turn:
        if phase == "deal":
            count = state.seats * (self.row_len + self.rules.side_cards)
            return Chance(self.pack, count, self._deal_label(state))
        if phase == "lot":
            return Chance(tuple(str(seat) for seat in range(state.seats)), 1, "first")
        if phase == "lap":
            return Decision(state.to_act, "source", TAKE_PASS, "pass")
        if phase == "tie":
            return Chance(state.discard, len(self._lowest(state)), f"decider/{state.round}")
        if phase == "ask":
            return dam_swap.ask_decision(state, self.rules.ask_object)
        return dam_swap.reply_decision(state)

    def _deal_label(self, state: DamState) -> str:
        again = f"/again{state.replays}" if state.replays else ""
        return f"deal/{state.round}{again}"

    def _stock_label(self, state: DamState) -> str:
        if self.rules.stock == "pile":
            return self._deal_label(state)
        again = f"/again{state.replays}" if state.replays else ""
        return f"stock/{state.round}/{state.to_act}{again}"

    def _source_actions(self, state: DamState) -> tuple[Action, ...]:
        """DAM-10, DAM-12 and the streak cap of DAM-19."""
        cap = self._streak_caps[state.seats]
        if not state.discard or (cap and state.streak >= cap):
            return DRAW
        return DRAW_TAKE

    def _streak_cap(self, seats: int) -> int:
        cap = self.rules.streak_cap
        if isinstance(cap, int):
            return cap
        return {"2n": 2 * seats, "n": seats, "none": 0}[cap]

    def _decide_actions(self, state: DamState) -> tuple[tuple[Action, ...], Action]:
        """DAM-13, DAM-16, DAM-18, and the stand-in's choice of DAM-28."""
        if state.keeps == self.chain_len:
            return THROW, "throw"
        if self._must_keep and state.origin == "discard":
            return KEEP, "keep"
        return KEEP_THROW, "throw"

    def act(self, state: DamState, action: Action) -> Step[DamState]:
        """Play `action` for the seat to decide."""
        self._require_legal(state, action)
        if action == "keep":
            return self._keep(state)
        if action == "throw":
            return self._throw(state)
        if action == "draw":
            after = state.copy()
            after.phase, after.streak = "draw", 0
            return Step(after)
        if action == "take":
            return self._take(state)
        if action == "pass":
            return self._end_turn(state, state.discard, ())
        back = "source" if self._asks_first else "decide"
        if state.phase == "ask":
            return dam_swap.ask(state, action, back)
        if state.phase == "answer":
            binding = self.rules.ask == "binding"
            return dam_swap.answer(state, action, binding=binding, back=back)
        return dam_swap.confirm(state, action, back)

    def _require_legal(self, state: DamState, action: Action) -> None:
        # Nearly all actions are of these two phases.
        if state.phase == "decide" and action in self._decide_actions(state)[0]:
            return
        if state.phase == "source" and action in self._source_actions(state):
            return
        decision = self.turn(state)
        if not isinstance(decision, Decision):
            raise GameError(f"{action!r} in phase {state.phase!r}: nobody is to act")
        require_legal(action, decision)

    def _take(self, state: DamState) -> Step[DamState]:
        """DAM-8, DAM-10: the top of the discard pile goes to the hand, seen by all."""
        card = state.discard[-1]
        after = state.copy()
        after.phase = "decide"
        after.discard = state.discard[:-1]
        after.hand = card
        after.hand_known = (1 << state.seats) - 1
        after.origin = "discard"
        after.streak = state.streak + 1
        return Step(after, (Event("take", state.to_act, {"card": card}),))

    def _keep(self, state: DamState) -> Step[DamState]:
        """DAM-14: the card in hand goes to the next slot, the card that lay there to the hand."""
        seat, slot, card, known = state.to_act, state.keeps, state.hand, state.hand_known
        row = state.rows[seat]
        seen, before = put(state.seen, seat, slot, card, known)
        after = state.copy()
        after.rows = replaced(state.rows, seat, replaced(row, slot, card))
        after.seen = seen
        after.hand = row[slot]
        after.hand_known = before | 1 << seat
        after.origin = "row"
        after.keeps = slot + 1
        event = Event("keep", seat, {"slot": slot + 1}, {"card": card}, self._seats_of[known])
        return Step(after, (event,))

    def _throw(self, state: DamState) -> Step[DamState]:
        """DAM-13: the card in hand goes to the discard pile, seen by all, and the turn ends."""
        thrown = Event("throw", state.to_act, {"card": state.hand})
        return self._end_turn(state, (*state.discard, state.hand), (thrown,))

    def _end_turn(
        self, state: DamState, discard: tuple[Card, ...], events: tuple[Event, ...]
    ) -> Step[DamState]:
        """The next seat begins, or the deal ends (DAM-20, DAM-21, DAM-V5)."""
        after = state.copy()
        after.phase = "ask" if self._asks_first else "source"
        after.to_act = (state.to_act + 1) % state.seats
        after.discard = discard
        after.hand, after.hand_known, after.origin = "", 0, ""
        after.keeps = 0
        after.turns = state.turns + 1
        after.asked = False
        if after.turns == self.rules.turn_cap:
            return self._score(after, events)
        if after.stock:
            return Step(after, events)
        lap = self._laps_left(state, after)
        if lap:
            return Step(replace(after, phase="lap", lap=lap), events)
        return self._score(after, events)

    def _laps_left(self, state: DamState, after: DamState) -> int:
        """DAM-V5: turns still to come, discard pile only, once the stock is empty."""
        if state.phase == "lap" or state.lap:
            return state.lap - 1
        if self.rules.end in {"complete_turn", "immediate"}:
            return 0
        if self.rules.end == "last_lap":
            return state.seats - 1
        return (state.starter - after.to_act) % state.seats

    def drawn(self, state: DamState, cards: Sequence[Card]) -> Step[DamState]:
        """Take the lot's seat, the dealt rows, the drawn stock card or the deciding cards."""
        if state.phase == "draw":
            return self._drew(state, cards[0])
        if state.phase == "lot":
            return Step(replace(state, phase="deal", starter=int(cards[0])))
        if state.phase == "tie":
            return self._decided(state, dict(zip(self._lowest(state), cards, strict=True)), ())
        return self._dealt(state, cards)

    def _drew(self, state: DamState, card: Card) -> Step[DamState]:
        """DAM-11: the stock card goes to the hand, seen by that seat only."""
        seat, stock = state.to_act, state.stock - {card}
        if self.rules.end == "immediate" and not stock:
            # DAM-V5: the last stock card is nobody's choice.
            thrown = Event("throw", seat, {"card": card})
            return self._end_turn(replace(state, stock=stock), (*state.discard, card), (thrown,))
        after = state.copy()
        after.phase = "ask" if self._asks_in_hand else "decide"
        after.stock = stock
        after.hand, after.hand_known, after.origin = card, 1 << seat, "stock"
        return Step(after, (Event("draw", seat, {}, {"card": card}, (seat,)),))

    def _dealt(self, state: DamState, cards: Sequence[Card]) -> Step[DamState]:
        """DAM-3 to DAM-5: seven cards each, known to nobody; the rest is the stock."""
        n, length = state.seats, self.row_len
        rows = [tuple(cards[s * length : (s + 1) * length]) for s in range(n)]
        side = tuple(cards[n * length :])
        if self.chain_len > length:
            rows = [(*row, card) for row, card in zip(rows, side, strict=True)]
            side = ()
        after = replace(
            state,
            phase="ask" if self._asks_first else "source",
            to_act=state.starter,
            rows=tuple(rows),
            seen=(((None,) * self.chain_len,) * n,) * n,
            side=side,
            stock=frozenset(self.pack).difference(cards),
            discard=(),
            streak=0,
            turns=0,
            lap=0,
        )
        return Step(after)

    def _sums(self, state: DamState) -> tuple[int, ...]:
        """DAM-31: the values of each row; an eighth slot only decides ties."""
        length = self.row_len
        return tuple(sum(self.values[card] for card in row[:length]) for row in state.rows)

    def _lowest(self, state: DamState) -> list[Seat]:
        sums = self._sums(state)
        return [seat for seat, total in enumerate(sums) if total == min(sums)]

    def _score(self, state: DamState, events: tuple[Event, ...]) -> Step[DamState]:
        """DAM-32 and DAM-V3: who won the deal."""
        lowest, tie = self._lowest(state), self.rules.tie
        if len(lowest) > 1 and tie == "replay" and state.replays < MAX_REPLAYS:
            shown = self._shown(state, (), {"replayed": True})
            again = replace(state, phase="deal", replays=state.replays + 1)
            return Step(again, (*events, shown))
        if state.side:
            # Turned up with the rows, whether it decides or not.
            return self._decided(state, dict(enumerate(state.side)), events)
        if len(lowest) > 1 and tie == "decider":
            if self.rules.decider == "draw":
                # A pile too small for a card each decides nothing.
                if len(state.discard) < len(lowest):
                    return self._close_deal(state, tuple(lowest), events, {})
                return Step(replace(state, phase="tie"), events)
            last = {seat: row[-1] for seat, row in enumerate(state.rows)}
            return self._decided(state, last, events)
        if len(lowest) > 1 and tie == "last_actor_loses":
            actor = (state.to_act - 1) % state.seats
            lowest = [seat for seat in lowest if seat != actor]
        return self._close_deal(state, tuple(lowest), events, {})

    def _decided(
        self, state: DamState, cards: dict[Seat, Card], events: tuple[Event, ...]
    ) -> Step[DamState]:
        """DAM-V3: among the tied the lower deciding card wins; level again, it is shared."""
        tied = self._lowest(state)
        best = min(self.values[cards[seat]] for seat in tied)
        winners = tuple(seat for seat in tied if self.values[cards[seat]] == best)
        shown = {"decider": [cards.get(seat) for seat in range(state.seats)]}
        return self._close_deal(state, winners, events, shown)

    def _close_deal(
        self,
        state: DamState,
        winners: tuple[Seat, ...],
        events: tuple[Event, ...],
        shown: dict[str, Any],
    ) -> Step[DamState]:
        """DAM-33, then the next deal with the next starter (DAM-41) or the end."""
        last = state.round == self.n_rounds(state.seats)
        after = replace(
            state,
            phase="over" if last else "deal",
            round=state.round if last else state.round + 1,
            starter=state.starter if last else (state.starter + 1) % state.seats,
            replays=0,
            sums=(*state.sums, self._sums(state)),
            winners=(*state.winners, winners),
        )
        return Step(after, (*events, self._shown(state, winners, shown)))

    def _shown(self, state: DamState, winners: tuple[Seat, ...], more: dict[str, Any]) -> Event:
        """DAM-33: all rows are turned up."""
        data = {"round": state.round, "rows": state.rows, "scores": self._sums(state)}
        return Event("round", None, {**data, "winners": winners, **more})

    def n_rounds(self, seats: int) -> int:
        """Deals in a match (DAM-40)."""
        return self._rounds[seats]

    def _over(self, state: DamState) -> Over:
        """DAM-40 and DAM-42: total, then round wins, then the lowest single deal, then shared.

        Where round wins are what counts, there is no total between them and the lowest deal.
        """
        seats = range(state.seats)
        totals = tuple(sum(deal[s] for deal in state.sums) for s in seats)
        wins = tuple(
            round(sum((1 / len(who) for who in state.winners if s in who), 0.0), 9) for s in seats
        )
        lowest = tuple(min(deal[s] for deal in state.sums) for s in seats)
        keys: list[tuple[float, ...]]
        if self.rules.match == "sum":
            keys = [(totals[s], -wins[s], lowest[s]) for s in seats]
            scores = tuple(float(total) for total in totals)
        else:
            keys = [(-wins[s], lowest[s]) for s in seats]
            scores = wins
        detail = {"rows": state.rows, "sums": state.sums, "totals": totals, "round_wins": wins}
        return Over(scores, competition_ranks(keys), detail)

    def view(self, state: DamState, seat: Seat | None) -> dict[str, Any]:
        """What `seat` knows (DAM-24 to DAM-27); None sees every card."""
        n, hand, keeps, sums = state.seats, state.hand, state.keeps, state.sums
        # No rows lie on the table before the first deal.
        seen = state.rows if seat is None or not state.seen else state.seen[seat]
        in_hand = hand != ""
        bits = -1 if seat is None else 1 << seat
        view = {
            "round": state.round,
            "rounds": self._rounds[n],
            "seat": state.to_act if seat is None else seat,
            "dealer": (state.starter - 1) % n,
            "stock": len(state.stock),
            "discard": state.discard,
            "rows": seen,
            "hand": hand if state.hand_known & bits else None,
            "from": state.origin if in_hand else None,
            "slot": keeps + 1 if in_hand and keeps < self.chain_len else None,
            "streak": state.streak,
            "totals": [sum(deal[s] for deal in sums) for s in range(n)] if sums else [0] * n,
        }
        if self._asks:
            view["request"] = state.request or None
        if seat is None and state.side:
            view["side"] = state.side
        return view
