"""Leaks: two matches that a seat cannot tell apart must give it the same messages.

A match is played again in *another world*: cards that no event tells the seat about come as
others, and the other seats choose otherwise where the seat is told nothing of it. As long as the
events for the seat are the same, word for word, so must its view and its legal actions be. That
is at once the test that views leak nothing, that lists of actions leak nothing, and that the
events suffice to rebuild the view.

What events tell is a game's own statement of what is public; a `Witness` checks that one.
"""

from collections.abc import Sequence
from typing import Any

from tourney.games.base import Action, Chance, Decision, Event, Game, Over, Seat, Step
from tourney.games.cards import Card
from tourney.games.checks.playing import (
    CheckFailed,
    History,
    Lot,
    Moment,
    encoded,
    is_asked,
    tokens,
)

__all__ = ("check_another_world", "is_fresh", "pack_of")

RANDOM_TRIES = 3
"""Random actions tried for another seat before the one it really chose."""


def pack_of(history: History) -> frozenset[Card]:
    """The cards of the game: the largest set that a chance has offered."""
    pack: frozenset[Card] = frozenset()
    for moment in history.moments:
        if isinstance(moment.turn, Chance) and len(moment.turn.cards) > len(pack):
            pack = frozenset(moment.turn.cards)
    return pack


def is_fresh(turn: object, pack: frozenset[Card]) -> bool:
    """Whether the whole pack is offered: what was known of cards is known no longer."""
    return isinstance(turn, Chance) and len(turn.cards) == len(pack)


def check_another_world(game: Game[Any], history: History, seat: Seat, lot: Lot) -> int:
    """Play `history` again as `seat` cannot tell it from the original, up to some moment.

    Up to a moment, for at the end all may be shown, and then there is no other world.

    Returns:
        how many of its messages were compared in a world that really was another.

    Raises:
        CheckFailed: a view or a list of actions differs where the events do not.
    """
    world = _World(game, history.seats, seat, lot)
    moments = history.moments[: 1 + lot.below(len(history.moments))]
    for moment, told in zip(moments, _told(moments, seat, pack_of(history)), strict=True):
        turn = game.turn(world.state)
        if not _is_same_kind(turn, moment.turn):
            break
        world.compare(turn, moment)
        step = world.step(turn, moment, told)
        if step is None:
            break
        world.state = step.state
    return world.compared


def _told(moments: Sequence[Moment], seat: Seat, pack: frozenset[Card]) -> list[frozenset[Card]]:
    """For each moment, the cards that events tell `seat` of between two shuffles."""
    starts = [i for i, moment in enumerate(moments) if is_fresh(moment.turn, pack)]
    told: list[frozenset[Card]] = []
    for start, end in zip([0, *starts], [*starts, len(moments)], strict=True):
        seen = [event.seen_by(seat) for moment in moments[start:end] for event in moment.events]
        told += [pack.intersection(tokens(seen))] * (end - start)
    return told


def _is_same_kind(turn: object, original: Decision | Chance) -> bool:
    if isinstance(turn, Decision) and isinstance(original, Decision):
        return turn.seat == original.seat
    if isinstance(turn, Chance) and isinstance(original, Chance):
        return (turn.count, turn.label) == (original.count, original.label)
    return False


class _World:
    """The other match, as far as it has been played."""

    def __init__(self, game: Game[Any], seats: int, seat: Seat, lot: Lot) -> None:
        self.state = game.start(seats)
        self.compared = 0
        self._game = game
        self._seat = seat
        self._lot = lot
        self._names: dict[Card, Card] = {}
        """Which card has come in place of which."""

    def compare(self, turn: Any, moment: Moment) -> None:
        """The message that the seat gets now is the same in both worlds."""
        seat, original = self._seat, moment.turn
        if not isinstance(original, Decision):
            return
        if not is_asked(original, seat) and not is_asked(turn, seat):
            return
        if (turn.legal, turn.phase) != (original.legal, original.phase):
            raise CheckFailed(
                "leak",
                f"seat {seat} has the legal actions {', '.join(original.legal)}, but "
                f"{', '.join(turn.legal)} where others hold cards that it cannot see",
            )
        view, other = self._game.view(moment.state, seat), self._game.view(self.state, seat)
        if encoded(view) != encoded(other):
            keys = [key for key in view if encoded(view[key]) != encoded(other.get(key))]
            raise CheckFailed(
                "leak",
                f"the view of seat {seat} differs in {', '.join(keys)} by what no event told: "
                + "; ".join(f"{view[key]!r} or {other.get(key)!r}" for key in keys),
            )
        self.compared += encoded(moment.state) != encoded(self.state)

    def step(self, turn: Any, moment: Moment, told: frozenset[Card]) -> Step[Any] | None:
        """Go on so that the seat sees the same; None where that cannot be."""
        if isinstance(turn, Chance):
            cards = self._cards(turn, moment.answer, told)
            return None if cards is None else self._same(self._drawn(cards), moment, is_blind=True)
        if turn.seat == self._seat:
            step = self._game.act(self.state, moment.answer)
            return self._same(step, moment, is_blind=True)
        for action in self._candidates(turn.legal, moment.answer):
            step = self._game.act(self.state, action)
            if self._same(step, moment, is_blind=False) is not None:
                return step
        return None

    def _drawn(self, cards: Sequence[Card]) -> Step[Any]:
        return self._game.drawn(self.state, cards)

    def _cards(
        self, turn: Chance, original: Sequence[Card], told: frozenset[Card]
    ) -> list[Card] | None:
        """Cards in place of `original`: the same where the seat is told, else any that is not."""
        if all(card.isdigit() for card in turn.cards):
            return list(original)
        free = sorted(set(turn.cards) - told)
        cards = []
        for card in original:
            if card not in told:
                if not free:
                    return None
                self._names[card] = free.pop(self._lot.below(len(free)))
                cards.append(self._names[card])
            elif card in turn.cards:
                self._names[card] = card
                cards.append(card)
            else:
                return None
        return cards

    def _candidates(self, legal: Sequence[Action], original: Action) -> list[Action]:
        random = [self._lot.pick(legal) for _ in range(RANDOM_TRIES)]
        renamed = " ".join(self._names.get(word, word) for word in original.split())
        return [*random, *(action for action in (renamed, original) if action in legal)]

    def _same(self, step: Step[Any], moment: Moment, *, is_blind: bool) -> Step[Any] | None:
        """`step` if the seat cannot tell it from the original.

        A blind step is one that nobody but chance or the seat itself has chosen: then only cards
        can make a difference, and an event that differs names them, or it leaks.
        """
        seen = [event.seen_by(self._seat) for event in step.events]
        original = [event.seen_by(self._seat) for event in moment.events]
        if encoded(seen) == encoded(original):
            return step
        is_over = isinstance(self._game.turn(step.state), Over)
        if (
            is_blind
            and not is_over
            and _outline(step.events, seen) == _outline(moment.events, original)
        ):
            raise CheckFailed(
                "leak",
                f"seat {self._seat} is told {encoded(original).decode()} or "
                f"{encoded(seen).decode()}, depending on cards that are not named in it",
            )
        return None


def _outline(events: Sequence[Event], seen: Sequence[Any]) -> list[Any]:
    """Who did what, and the words in it; numbers and truths left out."""
    return [
        (event.kind, event.seat, sorted(tokens(list(told.values()))))
        for event, told in zip(events, seen, strict=True)
    ]
