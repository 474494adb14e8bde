"""What must hold at every step of a match: turns, actions, views, events, cards.

Each function raises CheckFailed and returns nothing. The states it is given are those of a match
in play; it never keeps or changes one.
"""

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

import msgspec

from tourney.errors import GameError
from tourney.games.base import Action, Chance, Decision, Event, Game, Over, Seat, Step, Turn
from tourney.games.cards import Card
from tourney.games.checks.playing import CheckFailed, encoded, tokens

__all__ = (
    "Witness",
    "check_cards",
    "check_illegal",
    "check_over",
    "check_secrets",
    "check_step",
    "check_turn",
    "check_views",
)

S = TypeVar("S", contravariant=True)


class Witness(Protocol[S]):
    """What somebody else than the game knows about where its cards are.

    A game passes the battery without one. With one, the battery also checks that each card is in
    exactly one place, and that no seat is told a card that it has never been able to see. It is
    written from the rules' text, not from the game's own view.
    """

    def places(self, state: S) -> Iterable[Card]:
        """The cards of every place, each place once; nothing between two deals."""
        ...

    def sees(self, state: S, seat: Seat) -> Iterable[Card]:
        """The cards that lie open to `seat` now."""
        ...

    def shows(self, action: Action) -> Iterable[Card]:
        """The cards that `action` lays open to everybody."""
        ...


def check_turn(turn: Turn, seats: int) -> None:
    """A turn is one that a referee can carry out."""
    if isinstance(turn, Decision):
        _check_decision(turn, seats)
    elif isinstance(turn, Chance):
        _check_chance(turn)


def _require_tuple(check: str, name: str, value: object) -> None:
    """The types of the contract hold: a list could change, and compiled code refuses it."""
    if not isinstance(value, tuple):
        kind = type(value).__name__
        raise CheckFailed(check, f"{name} is a {kind}, where the contract says a tuple")


def _check_decision(turn: Decision, seats: int) -> None:
    _require_tuple("legal", "`legal`", turn.legal)
    if not turn.legal:
        raise CheckFailed("legal", f"nothing is legal in phase {turn.phase!r}")
    if len(set(turn.legal)) != len(turn.legal):
        raise CheckFailed("legal", f"an action is listed twice: {', '.join(turn.legal)}")
    if turn.fallback not in turn.legal:
        raise CheckFailed("fallback", f"{turn.fallback!r} is not legal in phase {turn.phase!r}")
    if not 0 <= turn.seat < seats:
        raise CheckFailed("legal", f"seat {turn.seat} is to act at a table of {seats}")
    for action in turn.legal:
        if not action or action != " ".join(action.split()):
            raise CheckFailed("legal", f"{action!r} is not words with one space between them")


def _check_chance(turn: Chance) -> None:
    candidates = list(turn.cards)
    if len(set(candidates)) != len(candidates):
        raise CheckFailed("chance", f"{turn.label!r} offers a card twice")
    if not 0 < turn.count <= len(candidates):
        raise CheckFailed("chance", f"{turn.label!r} wants {turn.count} of {len(candidates)} cards")


def check_step(game: Game[Any], state: Any, before: bytes, step: Step[Any], seats: int) -> None:
    """The state that was played from is as it was, and the events can be sent.

    Args:
        game: the game.
        state: what was played from.
        before: its bytes before the step.
        step: what came of it.
        seats: seats at the table.
    """
    if encoded(state) != before:
        raise CheckFailed("state", "a step has changed the state it was played from")
    try:
        hash(step.state)
    except TypeError as error:
        raise CheckFailed("state", f"the state can be changed: {error}") from None
    if game.turn(step.state) != game.turn(step.state):
        raise CheckFailed("state", "the same state gives two different turns")
    _require_tuple("event", "`events` of a step", step.events)
    for event in step.events:
        _require_tuple("event", "`audience` of an event", event.audience)
        _check_event(event, seats)


def _check_event(event: Event, seats: int) -> None:
    _round_trip("event", event.seen_by(None))
    if event.private and not event.audience:
        raise CheckFailed("event", f"{event.kind!r} tells nobody its private part")
    for seat in (*event.audience, 0 if event.seat is None else event.seat):
        if not 0 <= seat < seats:
            raise CheckFailed("event", f"{event.kind!r} names seat {seat} at a table of {seats}")
    if {"seat", "event"} & {*event.data, *event.private}:
        raise CheckFailed("event", f"{event.kind!r} writes over its own `seat` or `event`")


def check_views(game: Game[Any], state: Any, seats: int) -> None:
    """Every view can be sent and comes back from JSON as it was."""
    for seat in (None, *range(seats)):
        _round_trip("view", game.view(state, seat))


def _round_trip(what: str, value: Any) -> None:
    try:
        line = msgspec.json.encode(value)
    except (TypeError, ValueError) as error:
        raise CheckFailed(what, f"cannot be written as JSON: {error}") from None
    if msgspec.json.encode(msgspec.json.decode(line)) != line:
        raise CheckFailed(what, f"does not come back from JSON as it was: {line.decode()}")


def check_illegal(game: Game[Any], state: Any, wrong: Iterable[Action]) -> None:
    """Actions that are not legal here are refused with a GameError."""
    turn = game.turn(state)
    legal = turn.legal if isinstance(turn, Decision) else ()
    for action in wrong:
        if action in legal:
            continue
        try:
            game.act(state, action)
        except GameError:
            continue
        raise CheckFailed("illegal", f"{action!r} was played although it is not legal")


def check_cards(state: Any, held: frozenset[Card], witness: Witness[Any] | None) -> None:
    """No card of the deal is lost; with a witness, each is in exactly one place.

    Args:
        state: a position in the deal.
        held: the cards that the state had when they had just been dealt.
        witness: who knows where the cards are.
    """
    lost = held.difference(tokens(state))
    if lost:
        raise CheckFailed("cards", f"no longer in the state: {' '.join(sorted(lost))}")
    if witness is None:
        return
    places = sorted(witness.places(state))
    if places != sorted(held):
        twice = sorted({card for card in places if places.count(card) > 1})
        gone = sorted(held.difference(places))
        raise CheckFailed("cards", f"twice: {' '.join(twice) or '-'}; gone: {' '.join(gone)}")


def check_secrets(seat: Seat, told: Any, known: frozenset[Card], pack: frozenset[Card]) -> None:
    """`told`, a view or an event for `seat`, names only cards that the seat has seen."""
    secret = pack.intersection(tokens(told)).difference(known)
    if secret:
        line = msgspec.json.encode(told).decode()
        raise CheckFailed(
            "secrets", f"seat {seat} is told {' '.join(sorted(secret))}, which it never saw: {line}"
        )


def check_over(game: Game[Any], over: Over, seats: int) -> None:
    """Scores are in bounds, ranks are ranks and never put a worse score above a better one."""
    info = game.info
    _require_tuple("scores", "`scores`", over.scores)
    _require_tuple("ranks", "`ranks`", over.ranks)
    if len(over.scores) != seats or len(over.ranks) != seats:
        raise CheckFailed("scores", f"{len(over.scores)} scores for {seats} seats")
    for score in over.scores:
        if not info.lowest_score <= score <= info.highest_score:
            raise CheckFailed(
                "scores", f"{score} is outside {info.lowest_score} to {info.highest_score}"
            )
    for rank in over.ranks:
        if rank != 1 + sum(other < rank for other in over.ranks):
            raise CheckFailed("ranks", f"{over.ranks}: ties share a rank and skip the next")
    sign = 1 if info.lower_is_better else -1
    places = list(zip(over.scores, over.ranks, strict=True))
    if any(sign * a < sign * b and rank > other for a, rank in places for b, other in places):
        raise CheckFailed("ranks", f"{over.ranks} put a worse score of {over.scores} first")
    _round_trip("reveal", over.detail)
