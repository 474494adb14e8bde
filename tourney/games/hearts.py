"""Hjärter (Hearts): avoid hearts and the queen of spades, or take them all.

Rule ids are those of docs/rules/hearts.md. The three cards to pass are asked for one at a time, in
the order of the hand, so that no two sequences of actions pass the same cards.
"""

from collections.abc import Sequence
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
from tourney.games.cards import PACK, Card, suit_of
from tourney.games.hands import (
    Hand,
    Play,
    Trick,
    arranged,
    hand_events,
    in_packets,
    play_decision,
    replaced,
    shown,
    taker,
    without,
)
from tourney.games.tricks import ACE_HIGH, follow_suit, strengths

__all__ = ("Hearts", "HeartsRules", "HeartsState", "deal_points", "penalty")

QUEEN = "QS"
FIRST_LEAD = "2C"
PASSED = 3
"""Cards that each seat passes (HJ-3)."""

ALL_PENALTIES = 26
"""Thirteen hearts and the queen (HJ-10)."""

LEFT_OUT: dict[int, tuple[Card, ...]] = {3: ("2D",), 4: (), 5: ("2D", "2S")}
"""Low cards removed so that the pack divides by the seats, never 2C, which leads (HJ-1, HJ-4)."""

STEPS = {"left": 1, "right": -1, "across": 2, "none": 0}
"""How many seats to the left the passed cards go (HJ-3)."""


def penalty(card: Card) -> int:
    """HJ-9: a heart counts 1, the queen of spades 13."""
    return 13 if card == QUEEN else int(suit_of(card) == "H")


class HeartsRules(Rules, frozen=True, kw_only=True):
    """Every option of Hjärter; the defaults are the base game."""

    limit: Annotated[
        int, msgspec.Meta(ge=1, description="penalty points that end the match (HJ-11)")
    ] = 100
    pass_cycle: Annotated[
        Literal["left-right-across-none", "left-across-right-none", "none"],
        msgspec.Meta(
            description="where cards are passed, deal after deal (HJ-3); across only with 4 seats"
        ),
    ] = "left-right-across-none"  # noqa: S105 - passing cards, no password
    queen_breaks: Annotated[
        bool, msgspec.Meta(description="whether QS thrown also allows hearts to be led (HJ-7)")
    ] = False


class HeartsState(msgspec.Struct, frozen=True, gc=False):
    """One position of a match; a tuple over seats has an entry a seat."""

    phase: str
    """`deal`, `pass`, `play` or `over`."""
    seats: int
    totals: tuple[int, ...]
    """Penalty points of the finished deals."""
    deal: int = 1
    """Running number, from 1."""
    to_act: Seat = 0
    hands: tuple[Hand, ...] = ()
    passed: tuple[tuple[Card, ...], ...] = ()
    """Cards chosen to pass; they stay in the hand until all seats have chosen."""
    trick: Trick = ()
    played: tuple[Trick, ...] = ()
    """Finished tricks of this deal."""
    taken: tuple[int, ...] = ()
    """Penalty points taken in this deal."""
    broken: bool = False
    """Whether hearts may be led (HJ-7)."""


class Hearts:
    """The game of Hjärter under one set of rules (docs/rules/hearts.md)."""

    rules_type: ClassVar[type[Rules]] = HeartsRules

    def __init__(self, rules: HeartsRules) -> None:
        self.rules = rules
        self.info = GameInfo(
            name="hearts",
            title="Hjärter",
            version=1,
            min_seats=min(LEFT_OUT),
            max_seats=max(LEFT_OUT),
            lower_is_better=True,
            lowest_score=0.0,
            highest_score=float(rules.limit - 1 + ALL_PENALTIES),
            headline="win",
            score_name="penalty points",
        )

    def start(self, seats: int) -> HeartsState:
        """The state before the first deal (HJ-1)."""
        if seats not in LEFT_OUT:
            raise GameError(f"Hjärter is for 3, 4 or 5 seats, not {seats}")
        return HeartsState(phase="deal", seats=seats, totals=(0,) * seats)

    def pack(self, seats: int) -> tuple[Card, ...]:
        """The cards in play (HJ-1)."""
        return tuple(card for card in PACK if card not in LEFT_OUT[seats])

    def direction(self, state: HeartsState) -> str:
        """HJ-3: where cards go in this deal; `across` is left out where no seat is opposite."""
        cycle = [
            word
            for word in self.rules.pass_cycle.split("-")
            if word != "across" or state.seats == 4
        ]
        return cycle[(state.deal - 1) % len(cycle)]

    # --- what is needed next ---

    def turn(self, state: HeartsState) -> Turn:
        """What happens next: a deal, a card to pass, a card to play or the end."""
        phase = state.phase
        if phase == "play":
            return play_decision(state.to_act, self.playable(state), strengths(ACE_HIGH))
        if phase == "pass":
            legal = tuple(f"pass {card}" for card in self._passable(state))
            return Decision(state.to_act, phase, legal, legal[0])
        if phase == "deal":
            pack = self.pack(state.seats)
            return Chance(pack, len(pack), f"deal/{state.deal}")
        return Over(
            tuple(float(total) for total in state.totals),
            competition_ranks(state.totals),
            {"totals": state.totals, "deals": state.deal},
        )

    def _passable(self, state: HeartsState) -> Hand:
        """HJ-3: cards after the last one chosen, with enough behind them to make three."""
        hand, chosen = state.hands[state.to_act], state.passed[state.to_act]
        start = hand.index(chosen[-1]) + 1 if chosen else 0
        return hand[start : len(hand) - (PASSED - 1 - len(chosen))]

    def playable(self, state: HeartsState) -> list[Card]:
        """The cards that the seat to act may play (HJ-4 to HJ-7)."""
        hand = state.hands[state.to_act]
        if state.trick:
            cards = follow_suit(hand, suit_of(state.trick[0].card))  # HJ-5
            if state.played:
                return cards
            return [card for card in cards if not penalty(card)] or cards  # HJ-6
        if not state.played:
            return [FIRST_LEAD]  # HJ-4
        if state.broken:
            return list(hand)
        return [card for card in hand if suit_of(card) != "H"] or list(hand)  # HJ-7

    # --- actions ---

    def act(self, state: HeartsState, action: Action) -> Step[HeartsState]:
        """Play `action`: `pass QS` or `play QS`."""
        decision = self.turn(state)
        if not isinstance(decision, Decision):
            raise GameError(f"{action!r} in phase {state.phase!r}: nobody is to act")
        require_legal(action, decision)
        word, card = action.split()
        return self._pass(state, card) if word == "pass" else self._play(state, card)

    def _pass(self, state: HeartsState, card: Card) -> Step[HeartsState]:
        """HJ-3: one more card to pass; only its owner sees it until all have chosen."""
        seat = state.to_act
        chosen = (*state.passed[seat], card)
        event = Event("pass", seat, {}, {"card": card}, (seat,))
        after = replace(
            state,
            passed=replaced(state.passed, seat, chosen),
            to_act=seat + (len(chosen) == PASSED),
        )
        if after.to_act < state.seats:
            return Step(after, (event,))
        return self._exchange(after, event)

    def _exchange(self, state: HeartsState, event: Event) -> Step[HeartsState]:
        """HJ-3, HJ-12: the cards change hands; giver and receiver know them."""
        n, step = state.seats, STEPS[self.direction(state)]
        hands, events = [], [event]
        for seat, hand in enumerate(state.hands):
            giver = (seat - step) % n
            cards = state.passed[giver]
            hands.append(arranged((*without(hand, *state.passed[seat]), *cards)))
            events.append(Event("receive", seat, {"from": giver}, {"cards": cards}, (seat, giver)))
        return Step(self._begin(replace(state, hands=tuple(hands))), tuple(events))

    def _begin(self, state: HeartsState) -> HeartsState:
        """HJ-4: the holder of the two of clubs is on lead."""
        leader = next(seat for seat, hand in enumerate(state.hands) if FIRST_LEAD in hand)
        return replace(state, phase="play", to_act=leader)

    def _play(self, state: HeartsState, card: Card) -> Step[HeartsState]:
        """HJ-5, HJ-7: a card to the trick; a heart in it breaks hearts."""
        seat = state.to_act
        trick = (*state.trick, Play(seat, card))
        breaks = suit_of(card) == "H" or (card == QUEEN and self.rules.queen_breaks)
        event = Event("play", seat, {"card": card})
        after = replace(
            state,
            hands=replaced(state.hands, seat, without(state.hands[seat], card)),
            to_act=(seat + 1) % state.seats,
            trick=trick,
            broken=state.broken or breaks,
        )
        return self._take(after, event) if len(trick) == state.seats else Step(after, (event,))

    def _take(self, state: HeartsState, event: Event) -> Step[HeartsState]:
        """HJ-8: the highest card of the suit led takes the trick and leads the next."""
        seat = taker(state.trick, strengths(ACE_HIGH))
        points = sum(penalty(play.card) for play in state.trick)
        events = (event, Event("trick", seat, {"points": points}))
        after = replace(
            state,
            to_act=seat,
            trick=(),
            played=(*state.played, state.trick),
            taken=replaced(state.taken, seat, state.taken[seat] + points),
        )
        return Step(after, events) if after.hands[seat] else self._score(after, events)

    def _score(self, state: HeartsState, events: tuple[Event, ...]) -> Step[HeartsState]:
        """HJ-10, HJ-11: book the deal, then deal again or end."""
        points = deal_points(state.taken)
        totals = tuple(total + more for total, more in zip(state.totals, points, strict=True))
        ends = max(totals) >= self.rules.limit
        after = replace(
            state, phase="over" if ends else "deal", deal=state.deal + (not ends), totals=totals
        )
        score = Event("score", None, {"deal": state.deal, "points": points, "totals": totals})
        return Step(after, (*events, score))

    # --- cards that come ---

    def drawn(self, state: HeartsState, cards: Sequence[Card]) -> Step[HeartsState]:
        """HJ-2: the whole pack, the same number of cards to each seat."""
        n = state.seats
        hands = tuple(in_packets(cards, n, (len(cards) // n,)))
        direction = self.direction(state)
        after = replace(
            state,
            phase="pass",
            to_act=0,
            hands=hands,
            passed=((),) * n,
            trick=(),
            played=(),
            taken=(0,) * n,
            broken=False,
        )
        if direction == "none":
            after = self._begin(after)
        opened = Event("deal", None, {"deal": state.deal, "direction": direction})
        return Step(after, (opened, *hand_events(hands)))

    # --- who knows what ---

    def view(self, state: HeartsState, seat: Seat | None) -> dict[str, Any]:
        """What `seat` knows (HJ-12); None sees every card."""
        owner = state.to_act % state.seats if seat is None else seat
        step = STEPS[self.direction(state)]
        giver = (owner - step) % state.seats
        has_passed = bool(state.passed) and state.phase != "pass" and step != 0
        view: dict[str, Any] = {
            "deal": state.deal,
            "seat": owner,
            "limit": self.rules.limit,
            "totals": state.totals,
            "direction": self.direction(state),
            "hand": state.hands[owner] if state.hands else (),
            "passed_to": (owner + step) % state.seats if step else None,
            "passed": state.passed[owner] if state.passed else (),
            "received_from": giver if step else None,
            "received": state.passed[giver] if has_passed else (),
            "trick": shown(state.trick),
            "played": [shown(trick) for trick in state.played],
            "taken": state.taken,
            "broken": state.broken,
        }
        if seat is None:
            view["hands"] = state.hands
            view["all_passed"] = state.passed
        return view


def deal_points(taken: Sequence[int]) -> tuple[int, ...]:
    """HJ-9, HJ-10: what each seat took; all 26 count for the others instead."""
    if ALL_PENALTIES in taken:
        return tuple(0 if points else ALL_PENALTIES for points in taken)
    return tuple(taken)
