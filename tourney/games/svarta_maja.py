"""Svarta Maja: beat what the seat before you attacks with, or pick it up; QS loses.

Rule ids are those of docs/rules/svarta-maja.md. An attack and a defence are asked for a card at a
time, in one fixed order, so that the lists of legal actions stay short and no two sequences of
actions mean the same.
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
from tourney.games.hands import Hand, arranged, clockwise, hand_events, replaced, without
from tourney.games.tricks import ACE_HIGH, beats, strengths

__all__ = ("QUEEN", "SvartaMaja", "SvartaMajaRules", "SvartaMajaState")

QUEEN = "QS"
"""The card nobody wants to be left with (SM-12)."""

PICKED_UP = ""
"""Stands for a beater where the defender picks the attacking card up."""

NOBODY = -1


class SvartaMajaRules(Rules, frozen=True, kw_only=True):
    """Every option of Svarta Maja; the defaults are the base game."""

    hand: Annotated[
        Literal[5, 6], msgspec.Meta(description="cards dealt and refilled to (SM-2)")
    ] = 5
    players: Annotated[
        Literal["2-6", "3-5"], msgspec.Meta(description="how many seats may play (SM-1)")
    ] = "2-6"
    idle_cap: Annotated[
        int,
        msgspec.Meta(
            ge=1, description="attacks in a row without a card leaving the game that end it (SM-17)"
        ),
    ] = 300
    attack_cap: Annotated[
        int, msgspec.Meta(ge=1, description="attacks in all that end the game (SM-17)")
    ] = 1000
    stock: Annotated[
        Literal["streams", "pile"],
        msgspec.Meta(
            description="one order of the stock for each seat, or one pile; same law either way"
        ),
    ] = "streams"


class SvartaMajaState(msgspec.Struct, frozen=True, gc=False):
    """One position."""

    phase: str
    """`lot`, `deal`, `trump`, `attack`, `draw` (a refill is on its way), `defend` or `over`."""
    seats: int
    dealer: Seat = 0
    hands: tuple[Hand, ...] = ()
    attacker: Seat = 0
    defender: Seat = 0
    attack: tuple[Card, ...] = ()
    """Cards of the attack, in the order they were laid: ascending."""
    beaters: tuple[Card, ...] = ()
    """The defender's answer to each card of `attack` so far: a card or `PICKED_UP`."""
    next_from: Seat = 0
    """Where the search for the next attacker begins once the defender has refilled (SM-15)."""
    drawer: Seat = 0
    """Who refills in phase `draw`."""
    stock: frozenset[Card] = frozenset()
    """Face-down cards of the stock."""
    trump_card: Card = ""
    trump_lies: bool = False
    """Whether the trump card still lies under the stock (SM-3)."""
    turned: tuple[Card, ...] = ()
    """Spades turned up and put back while looking for trumps (SM-3)."""
    shown: frozenset[Card] = frozenset()
    """Cards in hands that everybody has seen go there."""
    out: tuple[Card, ...] = ()
    """Cards that have left the game, in their order (SM-14)."""
    attacks: int = 0
    """Attacks made (SM-17)."""
    idle: int = 0
    """Attacks since a card last left the game (SM-17)."""
    loser: Seat = NOBODY


class SvartaMaja:
    """The game of Svarta Maja under one set of rules (docs/rules/svarta-maja.md)."""

    rules_type: ClassVar[type[Rules]] = SvartaMajaRules

    def __init__(self, rules: SvartaMajaRules) -> None:
        self.rules = rules
        least, most = (2, 6) if rules.players == "2-6" else (3, 5)
        self.info = GameInfo(
            name="svarta-maja",
            title="Svarta Maja",
            version=1,
            min_seats=least,
            max_seats=most,
            lower_is_better=True,
            lowest_score=0.0,
            highest_score=1.0,
            headline="placement",
            score_name="deals lost",
        )

    def start(self, seats: int) -> SvartaMajaState:
        """The state before the deal (SM-1)."""
        least, most = self.info.min_seats, self.info.max_seats
        if not least <= seats <= most:
            raise GameError(
                f"Svarta Maja with players = {self.rules.players!r} is for {least} to {most} "
                f"seats, not {seats}"
            )
        return SvartaMajaState(phase="lot", seats=seats)

    # --- what is needed next ---

    def turn(self, state: SvartaMajaState) -> Turn:
        """What happens next: a lot, the deal, trumps, an attack, a refill, a defence or the end."""
        phase = state.phase
        if phase == "attack":
            legal = self._attack_actions(state)
            return Decision(state.attacker, phase, legal, self._attack_fallback(state, legal))
        if phase == "defend":
            return self._defence(state)
        if phase == "draw":
            want = self.rules.hand - len(state.hands[state.drawer])
            label = "stock" if self.rules.stock == "pile" else f"stock/{state.drawer}"
            return Chance(state.stock, min(want, len(state.stock)), label)
        if phase == "lot":
            return Chance(tuple(str(seat) for seat in range(state.seats)), 1, "first")
        if phase == "deal":
            return Chance(PACK, state.seats * self.rules.hand, "deal")
        if phase == "trump":
            return Chance(state.stock.difference(state.turned), 1, "trump")
        return self._over(state)

    def _attack_actions(self, state: SvartaMajaState) -> tuple[Action, ...]:
        """SM-9: one suit, at most as many cards as the defender holds.

        Cards of one attack are laid in ascending order: a set of cards is one sequence of actions.
        """
        hand = state.hands[state.attacker]
        if not state.attack:
            return tuple(f"attack {card}" for card in hand)
        if len(state.attack) >= len(state.hands[state.defender]):
            return ("done",)
        strength, last = strengths(ACE_HIGH), state.attack[-1]
        more = [c for c in hand if suit_of(c) == suit_of(last) and strength[c] > strength[last]]
        return (*(f"attack {card}" for card in more), "done")

    def _attack_fallback(self, state: SvartaMajaState, legal: tuple[Action, ...]) -> Action:
        """The stand-in attacks with its weakest card alone."""
        if state.attack:
            return "done"
        strength = strengths(ACE_HIGH, suit_of(state.trump_card))
        return min(legal, key=lambda action: strength[action[-2:]])

    def _defence(self, state: SvartaMajaState) -> Decision:
        """SM-10, SM-13: the cards of the attack one after another, beaten or picked up."""
        card = state.attack[len(state.beaters)]
        able = self._beaters(state, card)
        pick_up = f"pick-up {card}"
        legal = (*(f"beat {card} {beater}" for beater in able), pick_up)
        strength = strengths(ACE_HIGH, suit_of(state.trump_card))
        weakest = min(able, key=strength.__getitem__, default=None)
        fallback = pick_up if weakest is None else f"beat {card} {weakest}"
        return Decision(state.defender, "defend", legal, fallback)

    def _beaters(self, state: SvartaMajaState, card: Card) -> list[Card]:
        """SM-11, SM-12: higher of the suit, or a trump on a plain card; QS takes no part."""
        if card == QUEEN:
            return []
        strength = strengths(ACE_HIGH, suit_of(state.trump_card))
        hand = state.hands[state.defender]
        return [own for own in hand if own != QUEEN and beats(own, card, strength)]

    # --- actions ---

    def act(self, state: SvartaMajaState, action: Action) -> Step[SvartaMajaState]:
        """Play `action`: `attack 9S`, `done`, `beat 9S KS` or `pick-up 9S`."""
        decision = self.turn(state)
        if not isinstance(decision, Decision):
            raise GameError(f"{action!r} in phase {state.phase!r}: nobody is to act")
        require_legal(action, decision)
        word, *cards = action.split()
        if word == "attack":
            return self._attack(state, cards[0])
        if word == "done":
            return self._done(state)
        return self._answer(state, cards[0], cards[1] if word == "beat" else PICKED_UP)

    def _attack(self, state: SvartaMajaState, card: Card) -> Step[SvartaMajaState]:
        """SM-9: one more card of the attack lies face up."""
        seat = state.attacker
        after = replace(
            state,
            hands=replaced(state.hands, seat, without(state.hands[seat], card)),
            attack=(*state.attack, card),
            shown=state.shown - {card},
        )
        return Step(after, (Event("attack", seat, {"card": card}),))

    def _done(self, state: SvartaMajaState) -> Step[SvartaMajaState]:
        """SM-9: the attack stands, and the attacker refills before the defence."""
        after = replace(state, attacks=state.attacks + 1, idle=state.idle + 1)
        return self._refill(after, state.attacker, (Event("done", state.attacker),))

    def _answer(self, state: SvartaMajaState, card: Card, beater: Card) -> Step[SvartaMajaState]:
        """SM-10: the answer to one card of the attack; the last one settles the attack."""
        seat = state.defender
        if beater == PICKED_UP:
            event = Event("pick-up", seat, {"card": card})
        else:
            event = Event("beat", seat, {"card": card, "with": beater})
        after = replace(
            state,
            hands=replaced(state.hands, seat, without(state.hands[seat], beater)),
            beaters=(*state.beaters, beater),
            shown=state.shown - {beater},
        )
        if len(after.beaters) < len(after.attack):
            return Step(after, (event,))
        return self._settle(after, event)

    def _settle(self, state: SvartaMajaState, event: Event) -> Step[SvartaMajaState]:
        """SM-14: beaten cards and beaters leave the game, the others go to the defender's hand."""
        seat = state.defender
        pairs = list(zip(state.attack, state.beaters, strict=True))
        beaten = tuple(c for pair in pairs if pair[1] != PICKED_UP for c in pair)
        taken = [card for card, beater in pairs if beater == PICKED_UP]
        after = replace(
            state,
            hands=replaced(state.hands, seat, arranged((*state.hands[seat], *taken))),
            attack=(),
            beaters=(),
            next_from=(seat + 1) % state.seats if taken else seat,
            shown=state.shown.union(taken),
            out=state.out + beaten,
            idle=0 if beaten else state.idle,
        )
        return self._refill(after, seat, (event,))

    def _refill(
        self, state: SvartaMajaState, seat: Seat, events: tuple[Event, ...]
    ) -> Step[SvartaMajaState]:
        """SM-9, SM-14: up to a full hand from the stock; its last card is the trump card (SM-3)."""
        if len(state.hands[seat]) < self.rules.hand:
            if state.stock:
                return Step(replace(state, phase="draw", drawer=seat), events)
            if state.trump_lies:
                card = state.trump_card
                state = replace(
                    state,
                    hands=replaced(state.hands, seat, arranged((*state.hands[seat], card))),
                    trump_lies=False,
                    shown=state.shown | {card},
                )
                events = (*events, Event("draw-trump", seat, {"card": card}))
        if state.attack:
            return Step(replace(state, phase="defend"), events)
        return self._next_attack(state, events)

    def _next_attack(
        self, state: SvartaMajaState, events: tuple[Event, ...]
    ) -> Step[SvartaMajaState]:
        """SM-15: who attacks next, unless the game is over (SM-16, SM-17)."""
        holding = [s for s in clockwise(state.next_from, state.seats) if state.hands[s]]
        rules = self.rules
        is_capped = state.idle >= rules.idle_cap or state.attacks >= rules.attack_cap
        if len(holding) > 1 and not is_capped:
            attacker, defender = holding[:2]
            after = replace(state, phase="attack", attacker=attacker, defender=defender)
            return Step(after, events)
        # A cap can find QS in the stock; then nobody has lost.
        loser = next((s for s in holding if QUEEN in state.hands[s]), NOBODY)
        over = replace(state, phase="over", loser=loser)
        return Step(over, (*events, Event("over", None, self._end(over))))

    # --- cards that come ---

    def drawn(self, state: SvartaMajaState, cards: Sequence[Card]) -> Step[SvartaMajaState]:
        """Take the lot's seat, the hands, the trump card or a refill."""
        if state.phase == "draw":
            return self._drew(state, tuple(cards))
        if state.phase == "trump":
            return self._turned(state, cards[0])
        if state.phase == "deal":
            return self._dealt(state, cards)
        first = int(cards[0])
        dealer = (first - 1) % state.seats
        return Step(
            replace(state, phase="deal", dealer=dealer, next_from=first),
            (Event("deal", None, {"dealer": dealer}),),
        )

    def _dealt(self, state: SvartaMajaState, cards: Sequence[Card]) -> Step[SvartaMajaState]:
        """SM-2: a hand each; the rest is the stock."""
        size = self.rules.hand
        hands = tuple(
            arranged(cards[seat * size : (seat + 1) * size]) for seat in range(state.seats)
        )
        stock = frozenset(PACK).difference(cards)
        after = replace(state, phase="trump", hands=hands, stock=stock)
        return Step(after, hand_events(hands))

    def _turned(self, state: SvartaMajaState, card: Card) -> Step[SvartaMajaState]:
        """SM-3: a spade goes back into the stock, any other makes trumps. SM-4: forehand begins.

        The stock has no order before it is drawn from, so a spade put back may come at any time.
        """
        if suit_of(card) == "S":
            after = replace(state, turned=(*state.turned, card))
            return Step(after, (Event("put-back", None, {"card": card}),))
        after = replace(state, trump_card=card, trump_lies=True, stock=state.stock - {card})
        return self._next_attack(after, (Event("trump", None, {"card": card}),))

    def _drew(self, state: SvartaMajaState, cards: tuple[Card, ...]) -> Step[SvartaMajaState]:
        """SM-9, SM-14: cards of the stock go to the hand, seen by that seat only."""
        seat = state.drawer
        after = replace(
            state,
            hands=replaced(state.hands, seat, arranged((*state.hands[seat], *cards))),
            stock=state.stock.difference(cards),
        )
        event = Event("draw", seat, {"count": len(cards)}, {"cards": arranged(cards)}, (seat,))
        return self._refill(after, seat, (event,))

    # --- the end, and who knows what ---

    def _end(self, state: SvartaMajaState) -> dict[str, Any]:
        loser = None if state.loser == NOBODY else state.loser
        return {"loser": loser, "capped": sum(map(bool, state.hands)) > 1}

    def _over(self, state: SvartaMajaState) -> Over:
        """SM-16: the loser has 1, everybody else 0; there is no winner."""
        scores = tuple(float(seat == state.loser) for seat in range(state.seats))
        return Over(scores, competition_ranks(scores), self._end(state))

    def view(self, state: SvartaMajaState, seat: Seat | None) -> dict[str, Any]:
        """What `seat` knows (SM-18); None sees every card."""
        to_act = state.defender if state.phase == "defend" else state.attacker
        owner = to_act if seat is None else seat
        view: dict[str, Any] = {
            "seat": owner,
            "dealer": state.dealer,
            "attacker": state.attacker,
            "defender": state.defender,
            "trump": suit_of(state.trump_card) if state.trump_card else None,
            "trump_card": state.trump_card if state.trump_lies else None,
            "turned": state.turned,
            "stock": len(state.stock) + state.trump_lies,
            "hand": state.hands[owner] if state.hands else (),
            "hand_sizes": [len(hand) for hand in state.hands],
            "known": [[c for c in hand if c in state.shown] for hand in state.hands],
            "attack": state.attack,
            "beaters": [card or None for card in state.beaters],
            "out": state.out,
            "attacks": state.attacks,
            "idle": state.idle,
        }
        if seat is None:
            view["hands"] = state.hands
            view["stock_cards"] = arranged(state.stock)
        return view
