"""Rounds that are drawn: numbers, deals and sizes; nothing depends on arrival."""

from itertools import combinations

import msgspec
import pytest

from tourney.schedule.draws import Round
from tourney.schedule.rounds import Rounds, make_schedule
from tourney.schedule.terms import Format, Terms


def names(count: int) -> list[str]:
    return [f"bot-{i:02d}" for i in range(count)]


def play(rounds: Rounds, most: int = 100) -> None:
    """Let the first of a table win until the end."""
    while len(rounds.rounds) < most and (drawn := rounds.draw()) is not None:
        rounds.add(drawn)
        rounds.take(
            [{bot: (-place, 0) for place, bot in enumerate(t.pairing)} for t in drawn.tables]
        )


def test_group_numbers_run_on_and_each_table_plays_its_deals() -> None:
    rounds = Rounds(Terms(form="swiss", seats=(2,), deals=3, rounds=3), names(8))
    assert (rounds.groups, rounds.matches, rounds.drawn) == (36, 72, 0), "a forecast"
    play(rounds)
    assert (rounds.groups, rounds.matches, rounds.drawn) == (36, 72, 36)
    groups = [rounds.group(number) for number in range(36)]
    assert [group.number for group in groups] == list(range(36))
    assert len({(group.pairing, group.deal) for group in groups}) == 36
    # Deal by deal: a round that stops early has seen every table.
    assert len({group.pairing for group in groups[:4]}) == 4


def test_a_pairing_that_meets_again_plays_new_deals() -> None:
    rounds = Rounds(Terms(form="swiss", seats=(2,), deals=4, rounds=3), ["a", "b"])
    play(rounds)
    assert [rounds.group(number).deal for number in range(12)] == list(range(12))


def test_every_size_has_a_tournament_of_its_own_and_rounds_are_shared() -> None:
    rounds = Rounds(Terms(form="knockout", seats=(2, 4), deals=2), names(8))
    # At two seats 4, 2 and 1 tables, at four 2 and 1.
    assert (rounds.groups, rounds.matches) == (2 * 10, 2 * (7 * 2 + 3 * 4))
    play(rounds)
    shapes = [[len(stage.tables) for stage in one.stages] for one in rounds.rounds]
    assert shapes == [[4, 2], [2, 1], [1, 0]]
    assert (rounds.drawn, rounds.groups) == (20, 20)
    numbers = [
        number * rounds.seats + rotation
        for number in range(20)
        for rotation in range(rounds.group(number).seats)
    ]
    assert len(set(numbers)) == rounds.matches == 52
    assert [place.seats for place in rounds.places()] == [2] * 8 + [4] * 8


def test_a_round_survives_its_journal() -> None:
    rounds = Rounds(Terms(form="swiss", seats=(3,), deals=2), names(7))
    drawn = rounds.draw(streaks={"bot-01": 2})
    assert drawn is not None
    assert msgspec.json.decode(msgspec.json.encode(drawn), type=Round) == drawn


def test_going_on_from_recorded_rounds_draws_the_same_ones() -> None:
    terms = Terms(form="swiss", seats=(2,), deals=1, rounds=6)
    whole, part = Rounds(terms, names(9)), Rounds(terms, names(9))
    play(whole)
    for recorded in whole.rounds[:3]:
        part.add(recorded)
        part.take([{bot: (-n, 0) for n, bot in enumerate(t.pairing)} for t in recorded.tables])
    play(part)
    assert part.rounds == whole.rounds


def test_who_goes_out_shortens_the_forecast() -> None:
    rounds = Rounds(Terms(form="swiss", seats=(2,), deals=1, rounds=4), names(8))
    play(rounds, 1)
    drawn = rounds.draw(out=["bot-00", "bot-01"])
    assert drawn is not None
    rounds.add(drawn)
    assert rounds.groups == 4 + 3 * 3


@pytest.mark.parametrize(
    ("form", "is_drawn"),
    [("round-robin", False), ("balanced", False), ("swiss", True), ("knockout", True),
     ("adaptive", True)],
)  # fmt: skip
def test_a_format_is_fixed_or_drawn(form: Format, is_drawn: bool) -> None:
    schedule = make_schedule(Terms(form=form, seats=(2,), deals=1, rounds=1), names(6))
    assert isinstance(schedule, Rounds) == is_drawn


@pytest.mark.parametrize(("form", "count"), [("swiss", 8), ("knockout", None), ("adaptive", 8)])
def test_apart_holds_in_every_round(form: Format, count: int | None) -> None:
    field = names(12)
    owners = {bot: f"owner-{i % 5}" for i, bot in enumerate(field) if i < 10}
    terms = Terms(form=form, seats=(2, 3), deals=1, owners=owners, rounds=count)
    rounds = Rounds(terms, field)
    play(rounds)
    met = {pair for one in rounds.rounds for t in one.tables for pair in combinations(t.pairing, 2)}
    assert met
    for one, two in met:
        assert owners.get(one, one) != owners.get(two, two)
