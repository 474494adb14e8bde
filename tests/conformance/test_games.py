"""The battery over every registered game, and over games that are wrong on purpose.

A check that has never failed is no check: each of the broken games below breaks one promise, and
the battery must name it.
"""

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from typing import Any

import msgspec
import pytest

from tests.property.witnesses import SHORT, WITNESSES
from tourney.errors import GameError
from tourney.games.base import Chance, Decision, Event, Over, Step, Turn
from tourney.games.checks import (
    POLICIES,
    CheckFailed,
    cases_of,
    check_match,
    check_rules,
    option_sets,
    seat_counts,
)
from tourney.games.dam import Dam, DamRules, DamState
from tourney.games.hearts import Hearts, HeartsRules, HeartsState
from tourney.games.registry import game_names, make_game, rules_type_of


@pytest.mark.parametrize("name", game_names())
def test_the_base_game_passes_at_every_table_with_every_policy(name: str) -> None:
    fixed = SHORT.get(name, {})
    base = len(seat_counts(make_game(name, fixed))) * len(POLICIES)
    reports = [
        case.run(WITNESSES.get(name))
        for case in itertools.islice(cases_of(name, fixed=fixed, seed=1), base)
    ]
    assert sum(report.actions for report in reports) > base
    assert sum(report.worlds for report in reports) > base, "hardly any leak was looked for"


@pytest.mark.parametrize("name", game_names())
def test_every_value_of_every_option_is_in_the_spread(name: str) -> None:
    """Literals and truths, each in some accepted set; numbers are sampled."""
    fields = msgspec.structs.fields(rules_type_of(name))
    sets = option_sets(name, {})
    for field in fields:
        tried = {options[field.name] for options in sets if field.name in options}
        kind = msgspec.inspect.type_info(field.type)
        kind = kind.type if isinstance(kind, msgspec.inspect.Metadata) else kind
        if isinstance(kind, msgspec.inspect.LiteralType):
            assert tried >= set(kind.values) - {field.default}, field.name
        elif isinstance(kind, msgspec.inspect.BoolType):
            assert tried == {not field.default}, field.name
        else:
            assert tried, field.name


def test_every_game_of_ours_has_a_witness() -> None:
    points = entry_points(group="tourney.games")
    assert set(WITNESSES) == {p.name for p in points if p.value.startswith("tourney.")}


# --- games that are wrong on purpose ---


class ShowsRows(Dam):
    """The view shows cards that nobody has looked at."""

    def view(self, state: DamState, seat: int | None) -> dict[str, Any]:
        return {**super().view(state, seat), "rows": state.rows}


class CountsHands(Hearts):
    """The view tells how many points the others hold, without a card's name."""

    def view(self, state: HeartsState, seat: int | None) -> dict[str, Any]:
        hearts = [sum(card[1] == "H" for card in hand) for hand in state.hands]
        return {**super().view(state, seat), "hearts": hearts}


class ListsByNeighbour(Dam):
    """The order of the legal actions says something of the neighbour's first card."""

    def turn(self, state: DamState) -> Turn:
        turn = super().turn(state)
        if isinstance(turn, Decision) and len(turn.legal) == 2 and len(state.rows[0]) == 7:
            high = state.rows[(turn.seat + 1) % state.seats][0][0] in "89TJQK"
            return msgspec.structs.replace(turn, legal=turn.legal[:: -1 if high else 1])
        return turn


class TellsTheSum(Dam):
    """An event for all counts cards that it does not name."""

    def drawn(self, state: DamState, cards: Sequence[str]) -> Step[DamState]:
        step = super().drawn(state, cards)
        if step.state.phase != "source":
            return step
        event = Event("dealt", None, {"sums": self._sums(step.state)})
        return Step(step.state, (*step.events, event))


class DrawsOpenly(Dam):
    """An event for all names the card that was drawn."""

    def drawn(self, state: DamState, cards: Sequence[str]) -> Step[DamState]:
        step = super().drawn(state, cards)
        events = tuple(
            Event(event.kind, event.seat, {**event.data, **event.private}) for event in step.events
        )
        return Step(step.state, events)


class LosesCards(Dam):
    """Of the discard pile only the top is kept."""

    def _throw(self, state: DamState) -> Step[DamState]:
        step = super()._throw(state)
        after = step.state
        return Step(dataclasses.replace(after, discard=after.discard[-1:]), step.events)


class CopiesCards(Dam):
    """A thrown card lies on the discard pile twice."""

    def _throw(self, state: DamState) -> Step[DamState]:
        step = super()._throw(state)
        discard = (*state.discard, state.hand, state.hand)
        return Step(dataclasses.replace(step.state, discard=discard), step.events)


class NeverEnds(Dam):
    """The streak cap is not looked at (DAM-19)."""

    def _streak_cap(self, seats: int) -> int:
        return 0


class OutOfBounds(Dam):
    def _over(self, state: DamState) -> Over:
        over = super()._over(state)
        return Over(tuple(score - 500 for score in over.scores), over.ranks)


class WrongWayRound(Dam):
    def _over(self, state: DamState) -> Over:
        over = super()._over(state)
        return Over(over.scores, tuple(3 - rank for rank in over.ranks))


class GapsInRanks(Dam):
    def _over(self, state: DamState) -> Over:
        over = super()._over(state)
        return Over(over.scores, tuple(2 * rank for rank in over.ranks))


class TakesAnything(Dam):
    def act(self, state: DamState, action: str) -> Step[DamState]:
        try:
            return super().act(state, action)
        except GameError:
            return Step(state)


class Forgets(Dam):
    """The stand-in's choice is not legal."""

    def turn(self, state: DamState) -> Turn:
        turn = super().turn(state)
        if isinstance(turn, Decision):
            return msgspec.structs.replace(turn, fallback="sleep")
        return turn


class Stammers(Dam):
    def turn(self, state: DamState) -> Turn:
        turn = super().turn(state)
        if isinstance(turn, Decision):
            return msgspec.structs.replace(turn, legal=turn.legal * 2)
        return turn


class ListsActions(Dam):
    """A list is no tuple: it could change under whoever holds it."""

    def turn(self, state: DamState) -> Turn:
        turn = super().turn(state)
        if isinstance(turn, Decision):
            return msgspec.structs.replace(turn, legal=list(turn.legal))
        return turn


class AsksForTooMuch(Dam):
    def turn(self, state: DamState) -> Turn:
        turn = super().turn(state)
        return Chance(turn.cards, 99, turn.label) if isinstance(turn, Chance) else turn


class SendsSets(Dam):
    """A set has no JSON that comes back as it was."""

    def view(self, state: DamState, seat: int | None) -> dict[str, Any]:
        return {**super().view(state, seat), "odds": 1j}


class Dreams(Dam):
    """The same actions do not lead to the same end: the game keeps a memory of its own."""

    dreams = 0

    def _throw(self, state: DamState) -> Step[DamState]:
        self.dreams += 1
        step = super()._throw(state)
        return Step(step.state, (*step.events, Event("dream", None, {"number": self.dreams})))


class Stumbles(Dam):
    def _end_turn(
        self, state: DamState, discard: tuple[str, ...], events: tuple[Event, ...]
    ) -> Step[DamState]:
        raise KeyError("stock")


RULES = DamRules(rounds=1)
BROKEN: list[tuple[Callable[[], Any], str, str]] = [
    (lambda: ShowsRows(RULES), "leak", "rows"),
    (lambda: ShowsRows(RULES), "secrets", "which it never saw"),
    (lambda: CountsHands(HeartsRules(limit=1)), "leak", "differs in hearts"),
    (lambda: ListsByNeighbour(RULES), "leak", "legal actions"),
    (lambda: TellsTheSum(RULES), "leak", "sums"),
    (lambda: DrawsOpenly(RULES), "secrets", "which it never saw"),
    (lambda: LosesCards(RULES), "cards", "no longer in the state"),
    (lambda: CopiesCards(RULES), "cards", "twice"),
    (lambda: NeverEnds(RULES), "length", "not over after 2000"),
    (lambda: OutOfBounds(RULES), "scores", "outside"),
    (lambda: WrongWayRound(RULES), "ranks", "worse score"),
    (lambda: GapsInRanks(RULES), "ranks", "share a rank"),
    (lambda: TakesAnything(RULES), "illegal", "not legal"),
    (lambda: Forgets(RULES), "fallback", "sleep"),
    (lambda: Stammers(RULES), "legal", "twice"),
    (lambda: ListsActions(RULES), "legal", "is a list, where the contract says a tuple"),
    (lambda: AsksForTooMuch(RULES), "chance", "wants 99"),
    (lambda: SendsSets(RULES), "view", "cannot be written as JSON"),
    (lambda: Dreams(RULES), "replay", "other events"),
    (lambda: Stumbles(RULES), "raises", "KeyError"),
]


@pytest.mark.parametrize(
    ("make", "check", "words"), BROKEN, ids=[f"{check}: {words}" for _, check, words in BROKEN]
)
def test_a_broken_game_is_caught_and_named(make: Callable[[], Any], check: str, words: str) -> None:
    """By the check that is meant, with some policy; `secrets` takes a witness."""
    found = set()
    for policy, seed in itertools.product(POLICIES, range(3)):
        game = make()
        witness = WITNESSES[game.info.name] if check in {"secrets", "cards"} else None
        seats = max(2, game.info.min_seats)
        try:
            check_match(game, seats, policy, seed, witness=witness, max_actions=2000)
        except CheckFailed as failed:
            if failed.check == check and words in failed.reason:
                return
            found.add(str(failed)[:200])
    pytest.fail(f"not caught as {check!r}; found {found or 'nothing'}")


def test_rules_that_change_on_the_way_through_json_are_caught() -> None:
    class Turned(DamRules, frozen=True, kw_only=True):
        def __eq__(self, other: object) -> bool:
            return self is other

        __hash__ = None  # type: ignore[assignment]

    game: Any = Dam(Turned())
    with pytest.raises(CheckFailed, match="rules: do not come back"):
        check_rules(game, Turned)


def test_a_seat_count_that_is_not_refused_is_caught() -> None:
    class Crowded(Dam):
        def start(self, seats: int) -> DamState:
            return DamState(phase="lot", seats=seats)

    game: Any = Crowded(RULES)
    with pytest.raises(CheckFailed, match="seats: 0 seats are not refused"):
        check_rules(game, DamRules)
