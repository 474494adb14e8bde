"""Norrlandsknack: knock to promise a trick of the pot, and pay for it when none comes.

Rule ids NOR are those of docs/rules/norrlandsknack.md, RAMS those of docs/rules/rams.md, whose way
of buying and of playing a trick holds here too.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, ClassVar

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
from tourney.games.cards import PACK, Card, suit_of
from tourney.games.hands import (
    Play,
    arranged,
    clockwise,
    hand_events,
    in_packets,
    play_decision,
    replaced,
    shown,
    taker,
    without,
)
from tourney.games.norrlandsknack_state import KnackRules, KnackState
from tourney.games.tricks import ACE_HIGH, Strengths, ladder, strengths

__all__ = ("KnackRules", "KnackState", "Norrlandsknack")

MIN_SEATS = 3
MAX_SEATS = 5
STAKE = 5
"""Units with which the dealer opens a pot (NOR-3)."""
TRICKS = 5


class Norrlandsknack:
    """Norrlandsknack under one set of rules (docs/rules/norrlandsknack.md)."""

    rules_type: ClassVar[type[Rules]] = KnackRules

    def __init__(self, rules: KnackRules) -> None:
        self.rules = rules
        pots = MAX_SEATS if rules.pots == "seats" else rules.pots
        most_paid, most_won = self._extremes()
        self.info = GameInfo(
            name="norrlandsknack",
            title="Norrlandsknack",
            version=1,
            min_seats=MIN_SEATS,
            max_seats=MAX_SEATS,
            lower_is_better=False,
            lowest_score=float(-pots * most_paid),
            highest_score=float(pots * most_won),
            headline="placement",
            score_name="unit balance",
        )

    def _extremes(self) -> tuple[int, int]:
        """The most that one seat can pay into a pot and win from it (NOR-3, NOR-9, NOR-10)."""
        paid, won, pot = STAKE, 0, STAKE
        for _ in range(self.rules.deal_cap):
            paid += self._bete(pot)
            won += pot
            pot = TRICKS - 1 + (MAX_SEATS - 1) * self._bete(pot)
        return paid, won + pot

    def _bete(self, pot: int) -> int:
        """NOR-9: what a knocker without a trick pays."""
        return pot if self.rules.bete_cap == "none" else min(pot, self.rules.bete_cap)

    def start(self, seats: int) -> KnackState:
        """The state before the first dealer is drawn (NOR-1)."""
        if not MIN_SEATS <= seats <= MAX_SEATS:
            raise GameError(f"Norrlandsknack is for {MIN_SEATS} to {MAX_SEATS} seats, not {seats}")
        return KnackState(phase="lot", seats=seats, balance=(0,) * seats)

    def n_pots(self, seats: int) -> int:
        """Pots in a match (NOR-10)."""
        return seats if self.rules.pots == "seats" else self.rules.pots

    def _strength(self, state: KnackState) -> Strengths:
        return strengths(ACE_HIGH, suit_of(state.upcard))

    # --- what is needed next ---

    def turn(self, state: KnackState) -> Turn:
        """What happens next: a lot, cards, a knock, an exchange, a card to play or the end."""
        phase = state.phase
        if phase == "play":
            return self._play_turn(state)
        if phase == "knock":
            legal = self._knocks(state)
            return Decision(state.to_act, phase, legal, legal[0])
        if phase == "exchange":
            return self._exchange_turn(state)
        if phase == "draw":
            missing = TRICKS - len(state.hands[state.to_act])
            pile = self.rules.stock == "pile"
            label = f"deal/{state.deal}" if pile else f"stock/{state.deal}/{state.to_act}"
            return Chance(state.stock, missing, label)
        if phase == "deal":
            return Chance(PACK, state.seats * TRICKS + 1, f"deal/{state.deal}")
        if phase == "lot":
            return Chance(tuple(str(seat) for seat in range(state.seats)), 1, "first")
        return self._over(state)

    def _knocks(self, state: KnackState) -> tuple[Action, ...]:
        """NOR-4 to NOR-6: nobody passes in the first deal of a pot, nobody lurks later."""
        if state.pot_deal > 1:
            return ("pass", "knock")
        if state.to_act == state.dealer and state.redeals >= self.rules.redeal_cap:
            return ("knock",)
        return ("lurk", "knock")

    def _exchange_turn(self, state: KnackState) -> Decision:
        """NOR-7, RAMS-40 to RAMS-42: any cards; the dealer, who holds six, at least one."""
        hand = state.hands[state.to_act]
        excess = len(hand) - TRICKS
        sets = (c for count in range(excess, len(hand) + 1) for c in combinations(hand, count))
        legal = tuple(" ".join(("exchange", *cards)) for cards in sets)
        lowest = sorted(hand, key=self._strength(state).__getitem__)[:excess]
        return Decision(state.to_act, "exchange", legal, " ".join(("exchange", *lowest)))

    def _play_turn(self, state: KnackState) -> Decision:
        """NOR-8: the trump ace must be led (RAMS-50); a follower is bound by RAMS-52 to RAMS-55."""
        hand, strength = state.hands[state.to_act], self._strength(state)
        ace = "A" + suit_of(state.upcard)
        cards: Sequence[Card]
        if state.trick:
            cards = ladder(hand, [play.card for play in state.trick], strength)
        else:
            cards = (ace,) if ace in hand else hand
        return play_decision(state.to_act, cards, strength)

    # --- actions ---

    def act(self, state: KnackState, action: Action) -> Step[KnackState]:
        """Play `action`: `knock`, `lurk`, `pass`, `exchange 7S QD` or `play QH`."""
        decision = self.turn(state)
        if not isinstance(decision, Decision):
            raise GameError(f"{action!r} in phase {state.phase!r}: nobody is to act")
        require_legal(action, decision)
        word, *cards = action.split()
        if word == "exchange":
            return self._throw(state, tuple(cards))
        if word == "play":
            return self._play(state, cards[0])
        return self._speak(state, word)

    def _speak(self, state: KnackState, word: str) -> Step[KnackState]:
        """NOR-4 to NOR-6; walk-overs of later deals as in RAMS-33 and RAMS-34."""
        seat = state.to_act
        events = (Event(word, seat),)
        after = replace(state, said=replaced(state.said, seat, word))
        if state.pot_deal == 1 and word == "knock":
            said = tuple(other or "lurk" for other in after.said)
            return Step(self._buy(replace(after, said=said)), events)
        following = (seat + 1) % state.seats
        active = self.active(after)
        if seat != state.dealer:
            if state.pot_deal > 1 and following == state.dealer and not active:
                return self._walk_over(after, following, events)
            return Step(replace(after, to_act=following), events)
        if state.pot_deal == 1:
            return self._redeal(after, events)
        if len(active) == 1:
            return self._walk_over(after, active[0], events)
        return Step(self._buy(after), events)

    def active(self, state: KnackState) -> list[Seat]:
        """Seats that take part, from forehand on (NOR-8)."""
        order = clockwise((state.dealer + 1) % state.seats, state.seats)
        return [seat for seat in order if state.said[seat] in ("knock", "lurk")]

    def _redeal(self, state: KnackState, events: tuple[Event, ...]) -> Step[KnackState]:
        """NOR-6: nobody knocked, the same dealer deals again."""
        after = replace(state, phase="deal", deal=state.deal + 1, redeals=state.redeals + 1)
        return Step(after, (*events, Event("redeal", None, {"redeals": after.redeals})))

    def _walk_over(
        self, state: KnackState, seat: Seat, events: tuple[Event, ...]
    ) -> Step[KnackState]:
        """RAMS-33, RAMS-34: the only seat that has not passed is credited five tricks."""
        after = replace(state, tricks=replaced(state.tricks, seat, TRICKS))
        return self._end_deal(after, (*events, Event("walkover", seat)))

    def _buy(self, state: KnackState) -> KnackState:
        return replace(state, phase="exchange", to_act=self.active(state)[0])

    def _throw(self, state: KnackState, cards: tuple[Card, ...]) -> Step[KnackState]:
        """NOR-7: cards go face down and are dead; what is missing to five comes from the stock."""
        seat = state.to_act
        hand = without(state.hands[seat], *cards)
        after = replace(
            state,
            phase="draw",
            hands=replaced(state.hands, seat, hand),
            thrown=replaced(state.thrown, seat, cards),
            exchanged=replaced(state.exchanged, seat, len(cards)),
        )
        return Step(after) if len(hand) < TRICKS else self._bought(after, ())

    def _bought(self, state: KnackState, drawn: tuple[Card, ...]) -> Step[KnackState]:
        """NOR-7, NOR-8: the next buyer, or play begins."""
        seat, active = state.to_act, self.active(state)
        event = Event(
            "exchange",
            seat,
            {"count": state.exchanged[seat]},
            {"thrown": state.thrown[seat], "drawn": drawn},
            (seat,),
        )
        following = (*active, active[0])[active.index(seat) + 1]
        phase = "play" if following == active[0] else "exchange"
        return Step(replace(state, phase=phase, to_act=following), (event,))

    def _play(self, state: KnackState, card: Card) -> Step[KnackState]:
        """NOR-8, RAMS-56: a card to the trick; the winner of the trick leads the next."""
        seat, active = state.to_act, self.active(state)
        trick = (*state.trick, Play(seat, card))
        events: tuple[Event, ...] = (Event("play", seat, {"card": card}),)
        hands = replaced(state.hands, seat, without(state.hands[seat], card))
        if len(trick) < len(active):
            following = active[(active.index(seat) + 1) % len(active)]
            after = replace(state, hands=hands, to_act=following, trick=trick)
            return Step(after, events)
        seat = taker(trick, self._strength(state))
        after = replace(
            state,
            hands=hands,
            to_act=seat,
            trick=(),
            played=(*state.played, trick),
            tricks=replaced(state.tricks, seat, state.tricks[seat] + 1),
        )
        events += (Event("trick", seat),)
        return Step(after, events) if hands[seat] else self._end_deal(after, events)

    # --- the pot ---

    def _end_deal(self, state: KnackState, events: tuple[Event, ...]) -> Step[KnackState]:
        """NOR-3, NOR-9: tricks are paid from the pot, then knockers without one pay into it."""
        share = state.pot // TRICKS
        betes = [
            self._bete(state.pot) if word == "knock" and not taken else 0
            for word, taken in zip(state.said, state.tricks, strict=True)
        ]
        after = replace(
            state,
            balance=tuple(
                balance + share * taken - bete
                for balance, taken, bete in zip(state.balance, state.tricks, betes, strict=True)
            ),
            pot=state.pot - share * TRICKS + sum(betes),
        )
        score = {"pot": after.pot, "tricks": state.tricks, "betes": betes}
        return self._next_deal(after, (*events, Event("score", None, score)))

    def _next_deal(self, state: KnackState, events: tuple[Event, ...]) -> Step[KnackState]:
        """NOR-10: the pot goes on while something is in it, up to the cap on its deals."""
        goes_on = state.pot > 0 and state.pot_deal < self.rules.deal_cap
        after = replace(
            state,
            phase="deal",
            deal=state.deal + 1,
            dealer=(state.dealer + 1) % state.seats,
            pot_deal=state.pot_deal + 1,
            redeals=0,
        )
        if goes_on:
            return Step(after, events)
        if state.pot:
            events = (*events, Event("split", None, {"units": state.pot}))
        after = replace(
            after, split=state.split + state.pot, pot=0, pot_number=state.pot_number + 1, pot_deal=1
        )
        if state.pot_number < self.n_pots(state.seats):
            return Step(self._opened(after), events)
        over = replace(state, phase="over", split=after.split, pot=0)
        return Step(over, events)

    def _opened(self, state: KnackState) -> KnackState:
        """NOR-3: the dealer opens the pot."""
        balance = replaced(state.balance, state.dealer, state.balance[state.dealer] - STAKE)
        return replace(state, balance=balance, pot=STAKE)

    def balances(self, state: KnackState) -> tuple[float, ...]:
        """What each seat has won or lost, its share of split pots included (NOR-10)."""
        share = state.split / state.seats
        return tuple(round(balance + share, 9) for balance in state.balance)

    def _over(self, state: KnackState) -> Over:
        """NOR-10: the highest balance wins."""
        balances = self.balances(state)
        ranks = competition_ranks([-balance for balance in state.balance])
        return Over(balances, ranks, {"balances": balances, "deals": state.deal})

    # --- cards that come ---

    def drawn(self, state: KnackState, cards: Sequence[Card]) -> Step[KnackState]:
        """Take the lot's seat, the dealt cards or those bought."""
        if state.phase == "lot":
            after = replace(state, phase="deal", dealer=int(cards[0]))
            return Step(self._opened(after))
        if state.phase == "deal":
            return self._dealt(state, cards)
        seat, drawn = state.to_act, arranged(cards)
        after = replace(
            state,
            hands=replaced(state.hands, seat, arranged((*state.hands[seat], *drawn))),
            stock=state.stock.difference(drawn),
        )
        return self._bought(after, drawn)

    def _dealt(self, state: KnackState, cards: Sequence[Card]) -> Step[KnackState]:
        """NOR-2: five cards to each seat from forehand; the next is trumps and the dealer's."""
        n, forehand, upcard = state.seats, (state.dealer + 1) % state.seats, cards[-1]
        packets = in_packets(cards, n, (TRICKS,))
        packets[-1] = arranged((*packets[-1], upcard))
        hands = tuple(packets[(seat - forehand) % n] for seat in range(n))
        after = replace(
            state,
            phase="knock",
            to_act=forehand,
            hands=hands,
            upcard=upcard,
            stock=frozenset(PACK).difference(cards),
            said=(None,) * n,
            thrown=((),) * n,
            exchanged=(None,) * n,
            trick=(),
            played=(),
            tricks=(0,) * n,
        )
        table = {"deal": state.deal, "dealer": state.dealer, "pot": state.pot, "upcard": upcard}
        return Step(after, (Event("deal", None, table), *hand_events(hands)))

    # --- who knows what ---

    def view(self, state: KnackState, seat: Seat | None) -> dict[str, Any]:
        """What `seat` knows (NOR-11, RAMS-80 to RAMS-83); None sees every card."""
        owner = state.to_act if seat is None else seat
        view: dict[str, Any] = {
            "pots": self.n_pots(state.seats),
            "pot_number": state.pot_number,
            "pot_deal": state.pot_deal,
            "redeals": state.redeals,
            "deal": state.deal,
            "seat": owner,
            "dealer": state.dealer,
            "forehand": (state.dealer + 1) % state.seats,
            "trump": suit_of(state.upcard) if state.upcard else None,
            "upcard": state.upcard or None,
            "stock": len(state.stock),
            "pot": state.pot,
            "balances": self.balances(state),
            "hand": state.hands[owner] if state.hands else (),
            "thrown": state.thrown[owner] if state.thrown else (),
            "said": state.said,
            "exchanged": state.exchanged,
            "tricks": state.tricks,
            "trick": shown(state.trick),
            "played": [shown(trick) for trick in state.played],
        }
        if seat is None:
            view["hands"] = state.hands
            view["all_thrown"] = state.thrown
        return view
