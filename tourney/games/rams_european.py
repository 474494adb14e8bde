"""European rams: 32 cards, a widow, counters that go away with tricks, and general rams.

Rule ids EUR are those of docs/rules/rams-european.md, RAMS those of docs/rules/rams.md, whose way
of playing a trick holds here too.
"""

from collections.abc import Sequence
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
from tourney.games.cards import PACK_32, Card, suit_of
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
from tourney.games.rams_european_state import EuropeanRules, EuropeanState
from tourney.games.tricks import Strengths, ladder, strengths

__all__ = ("EuropeanRams", "EuropeanRules", "EuropeanState")

MIN_SEATS = 3
MAX_SEATS = 6
WIDOW_SEATS = 5
"""Most seats that leave five cards for a widow (EUR-2, EUR-4)."""

TRICKS = 5
PACKETS = (3, 2)
FLIGHT = 5
"""Counters that an active seat without a trick gets (EUR-10)."""

ORDERS = {"ace_high": "789TJQKA", "ecarte": "789TAJQK"}
"""Ranks from the weakest, in every suit (EUR-1)."""

NOBODY = -1


class EuropeanRams:
    """European rams under one set of rules (docs/rules/rams-european.md)."""

    rules_type: ClassVar[type[Rules]] = EuropeanRules

    def __init__(self, rules: EuropeanRules) -> None:
        self.rules = rules
        self.info = GameInfo(
            name="rams-european",
            title="European rams",
            version=1,
            min_seats=MIN_SEATS,
            max_seats=WIDOW_SEATS if rules.pass_only_after_widow else MAX_SEATS,
            lower_is_better=False,
            lowest_score=0.0,
            highest_score=1.0,
            headline="win",
            score_name="ramsar won",
        )

    def start(self, seats: int) -> EuropeanState:
        """The state before the first dealer is drawn (EUR-2, EUR-3)."""
        if self.rules.pass_only_after_widow and seats > WIDOW_SEATS:
            raise GameError(
                f"pass_only_after_widow = true does not go with seats = {seats}: there is a widow "
                f"only with {MIN_SEATS} to {WIDOW_SEATS} seats"
            )
        if not MIN_SEATS <= seats <= MAX_SEATS:
            raise GameError(f"European rams is for {MIN_SEATS} to {MAX_SEATS} seats, not {seats}")
        return EuropeanState(phase="lot", seats=seats, counters=(self.rules.counters,) * seats)

    def _strength(self, state: EuropeanState) -> Strengths:
        return strengths(ORDERS[self.rules.trump_order], suit_of(state.upcard))

    # --- what is needed next ---

    def turn(self, state: EuropeanState) -> Turn:
        """What happens next: a lot, a deal, a declaration, an exchange, a card or the end."""
        phase = state.phase
        if phase == "play":
            return self._play_turn(state)
        if phase == "declare":
            legal = self._declarations(state)
            fallback = "pass" if "pass" in legal else "play"
            return Decision(state.to_act, phase, legal, fallback)
        if phase == "exchange":
            hand = state.hands[state.dealer]
            legal = ("exchange", *(f"exchange {card}" for card in hand))
            return Decision(state.dealer, phase, legal, "exchange")
        if phase == "deal":
            n_hands = state.seats + (state.seats <= WIDOW_SEATS)
            return Chance(PACK_32, n_hands * sum(PACKETS) + 1, f"deal/{state.deal}")
        if phase == "lot":
            return Chance(tuple(str(seat) for seat in range(state.seats)), 1, "first")
        return self._over(state)

    def _declarations(self, state: EuropeanState) -> tuple[Action, ...]:
        """EUR-5; after a general nobody may pass or take the widow (EUR-6)."""
        if "general" in state.said:
            return ("play",)
        may_pass = not self.rules.pass_only_after_widow or "widow" in state.said
        return (
            *(("pass",) if may_pass else ()),
            "play",
            *(("widow",) if state.widow else ()),
            *(("general",) if self.rules.general else ()),
        )

    def _play_turn(self, state: EuropeanState) -> Decision:
        """EUR-9: any card on lead, else the ladder of RAMS-52 to RAMS-55."""
        hand, strength = state.hands[state.to_act], self._strength(state)
        laid = [play.card for play in state.trick]
        cards = ladder(hand, laid, strength) if laid else hand
        return play_decision(state.to_act, cards, strength)

    # --- actions ---

    def act(self, state: EuropeanState, action: Action) -> Step[EuropeanState]:
        """Play `action`: a declaration, `exchange`, `exchange 7S` or `play QH`."""
        decision = self.turn(state)
        if not isinstance(decision, Decision):
            raise GameError(f"{action!r} in phase {state.phase!r}: nobody is to act")
        require_legal(action, decision)
        if state.phase == "declare":
            return self._declare(state, action)
        if state.phase == "exchange":
            return self._exchange(state, tuple(action.split()[1:]))
        return self._play(state, action.split()[1])

    def _declare(self, state: EuropeanState, word: Action) -> Step[EuropeanState]:
        """EUR-5, EUR-6: `play`, `widow`, `pass` or `general`."""
        seat = state.to_act
        events: tuple[Event, ...] = (Event("declare", seat, {"says": word}),)
        after = replace(state, said=replaced(state.said, seat, word))
        if word == "widow":
            after = replace(
                after,
                hands=replaced(state.hands, seat, state.widow),
                thrown=replaced(state.thrown, seat, state.hands[seat]),
                widow=(),
            )
            events += (Event("hand", seat, {"count": TRICKS}, {"cards": state.widow}, (seat,)),)
        if seat == state.dealer:
            return self._declared(after, events)
        following = (seat + 1) % state.seats
        after = replace(after, to_act=following)
        if following == state.dealer and not self.active(after):
            return self._walk_over(after, state.dealer, events)  # EUR-7
        return Step(after, events)

    def active(self, state: EuropeanState) -> list[Seat]:
        """Seats that play this deal, from forehand on; under a general all of them (EUR-6)."""
        everybody = "general" in state.said
        return [
            seat
            for seat in clockwise((state.dealer + 1) % state.seats, state.seats)
            if everybody or state.said[seat] in ("play", "widow")
        ]

    def _declared(self, state: EuropeanState, events: tuple[Event, ...]) -> Step[EuropeanState]:
        """EUR-7 to EUR-9: a walk-over, the dealer's exchange, or play."""
        active = self.active(state)
        if len(active) == 1:
            return self._walk_over(state, active[0], events)
        if state.dealer in active and state.said[state.dealer] != "widow":
            return Step(replace(state, phase="exchange"), events)
        return Step(replace(state, phase="play", to_act=active[0]), events)

    def _walk_over(
        self, state: EuropeanState, seat: Seat, events: tuple[Event, ...]
    ) -> Step[EuropeanState]:
        """EUR-7: five tricks for the only seat that has not passed; nobody flies."""
        after = self._book(state, seat, TRICKS)
        return self._end_deal(after, (*events, Event("walkover", seat)))

    def _exchange(self, state: EuropeanState, cards: tuple[Card, ...]) -> Step[EuropeanState]:
        """EUR-8: the dealer may throw a card, unseen, and take the upturned trump."""
        dealer = state.dealer
        drawn = (state.upcard,) if cards else ()
        event = Event(
            "exchange", dealer, {"count": len(cards)}, {"thrown": cards, "drawn": drawn}, (dealer,)
        )
        hand = arranged((*without(state.hands[dealer], *cards), *drawn))
        after = replace(
            state,
            phase="play",
            to_act=self.active(state)[0],
            hands=replaced(state.hands, dealer, hand),
            thrown=replaced(state.thrown, dealer, cards),
            took_upcard=bool(cards),
        )
        return Step(after, (event,))

    def _play(self, state: EuropeanState, card: Card) -> Step[EuropeanState]:
        """EUR-9: a card to the trick; the last active seat's card ends it."""
        seat, active = state.to_act, self.active(state)
        trick = (*state.trick, Play(seat, card))
        event = Event("play", seat, {"card": card})
        following = active[(active.index(seat) + 1) % len(active)]
        after = replace(
            state,
            hands=replaced(state.hands, seat, without(state.hands[seat], card)),
            to_act=following,
            trick=trick,
        )
        return self._take(after, event) if len(trick) == len(active) else Step(after, (event,))

    def _take(self, state: EuropeanState, event: Event) -> Step[EuropeanState]:
        """EUR-10, RAMS-56: the trick is booked at once, and its winner leads the next."""
        seat = taker(state.trick, self._strength(state))
        events = (event, Event("trick", seat))
        played = (*state.played, state.trick)
        after = replace(state, to_act=seat, trick=(), played=played)
        after = self._book(after, seat, 1)
        if len(played) < TRICKS:
            return Step(after, events)
        return self._end_deal(_after_play(after, self.active(after)), events)

    # --- counters ---

    def _book(self, state: EuropeanState, seat: Seat, count: int) -> EuropeanState:
        """EUR-10: a counter goes with each trick; who has none left is home."""
        before = state.counters[seat]
        left = max(0, before - count)
        return replace(
            state,
            counters=replaced(state.counters, seat, left),
            tricks=replaced(state.tricks, seat, state.tricks[seat] + count),
            home=(*state.home, seat) if left == 0 < before else state.home,
        )

    def _end_deal(self, state: EuropeanState, events: tuple[Event, ...]) -> Step[EuropeanState]:
        """EUR-10: show the counters; then the next deal, one seat on, or the end."""
        score = Event("score", None, {"deal": state.deal, "counters": state.counters})
        winners = self._winners(state)
        if winners:
            over = replace(state, phase="over", winners=winners)
            return Step(over, (*events, score, Event("over", None, {"winners": winners})))
        after = replace(
            state, phase="deal", deal=state.deal + 1, dealer=(state.dealer + 1) % state.seats
        )
        return Step(after, (*events, score))

    def _winners(self, state: EuropeanState) -> tuple[Seat, ...]:
        """Who has won; nobody while the match goes on.

        EUR-10: a general made, else the first to get rid of the last counter, in the order of
        tricks; those whose last counters went to a failed general share. At the cap the fewest
        counters win.
        """
        for seat, word in enumerate(state.said):
            if word == "general" and state.tricks[seat] == TRICKS:
                return (seat,)
        if state.home:
            return state.home[:1]
        fewest = min(state.counters)
        if fewest > 0 and state.deal < self.rules.deal_cap:
            return ()
        return tuple(seat for seat, left in enumerate(state.counters) if left == fewest)

    def _over(self, state: EuropeanState) -> Over:
        """The winner has 1, several share it; behind them fewer counters are better."""
        won = [seat in state.winners for seat in range(state.seats)]
        share = round(1 / len(state.winners), 9)
        ranks = competition_ranks(
            [(not w, 0 if w else left) for w, left in zip(won, state.counters, strict=True)]
        )
        detail = {"counters": state.counters, "winners": state.winners, "deals": state.deal}
        return Over(tuple(share if w else 0.0 for w in won), ranks, detail)

    # --- cards that come ---

    def drawn(self, state: EuropeanState, cards: Sequence[Card]) -> Step[EuropeanState]:
        """Take the lot's seat or the dealt cards."""
        if state.phase == "lot":
            return Step(replace(state, phase="deal", dealer=int(cards[0])))
        return self._dealt(state, cards)

    def _dealt(self, state: EuropeanState, cards: Sequence[Card]) -> Step[EuropeanState]:
        """EUR-4: three cards and two to each seat from forehand and to the widow, then trumps."""
        n, forehand = state.seats, (state.dealer + 1) % state.seats
        packets = in_packets(cards, n + (n <= WIDOW_SEATS), PACKETS)
        hands = tuple(packets[(seat - forehand) % n] for seat in range(n))
        after = replace(
            state,
            phase="declare",
            to_act=forehand,
            hands=hands,
            widow=packets[n] if n <= WIDOW_SEATS else (),
            upcard=cards[-1],
            said=(None,) * n,
            thrown=((),) * n,
            took_upcard=False,
            trick=(),
            played=(),
            tricks=(0,) * n,
        )
        opened = {"deal": state.deal, "dealer": state.dealer, "upcard": cards[-1]}
        return Step(after, (Event("deal", None, opened), *hand_events(hands)))

    # --- who knows what ---

    def view(self, state: EuropeanState, seat: Seat | None) -> dict[str, Any]:
        """What `seat` knows, in the manner of RAMS-80 to RAMS-83; None sees every card."""
        owner = state.to_act if seat is None else seat
        takers = [s for s, word in enumerate(state.said) if word == "widow"]
        generals = [s for s, word in enumerate(state.said) if word == "general"]
        view: dict[str, Any] = {
            "deal": state.deal,
            "seat": owner,
            "dealer": state.dealer,
            "forehand": (state.dealer + 1) % state.seats,
            "trump": suit_of(state.upcard) if state.upcard else None,
            "upcard": state.upcard or None,
            "upcard_taken": state.took_upcard,
            "counters": state.counters,
            "hand": state.hands[owner] if state.hands else (),
            "thrown": state.thrown[owner] if state.thrown else (),
            "said": state.said,
            "widow": bool(state.widow),
            "widow_taker": takers[0] if takers else None,
            "general": generals[0] if generals else None,
            "tricks": state.tricks,
            "trick": shown(state.trick),
            "played": [shown(trick) for trick in state.played],
        }
        if seat is None:
            view["hands"] = state.hands
            view["all_thrown"] = state.thrown
            view["widow_cards"] = state.widow
        return view


def _after_play(state: EuropeanState, active: Sequence[Seat]) -> EuropeanState:
    """EUR-10: five counters for no trick; then a failed general is handed what it missed."""
    counters = [
        left + FLIGHT * (seat in active and not state.tricks[seat])
        for seat, left in enumerate(state.counters)
    ]
    for seat, word in enumerate(state.said):
        if word == "general":
            missed = TRICKS - state.tricks[seat]
            handed = [0 if s == seat else min(missed, left) for s, left in enumerate(counters)]
            counters = [left - given for left, given in zip(counters, handed, strict=True)]
            counters[seat] += sum(handed)
    return replace(state, counters=tuple(counters))
