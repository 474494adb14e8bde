"""Knockouts: bracket sizes, seeding, byes, equals and the final."""

import pytest

from tourney.errors import ConfigError
from tourney.schedule.draws import Stage
from tourney.schedule.knockout import Knockout, drafted


def seeds(count: int) -> list[str]:
    return [f"s{i}" for i in range(1, count + 1)]


def play(knockout: Knockout) -> list[Stage]:
    """Rounds in which the better seed wins."""
    stages: list[Stage] = []
    while (stage := knockout.draw(len(stages), ())) is not None:
        knockout.take(
            stage,
            [{bot: (-int(bot[1:]), 0) for bot in table.pairing} for table in stage.tables],
        )
        stages.append(stage)
    return stages


def shape(stages: list[Stage]) -> list[tuple[int, int]]:
    """Tables and byes of each round."""
    return [(len(stage.tables), len(stage.byes)) for stage in stages]


@pytest.mark.parametrize(
    ("bots", "seats", "advance", "rounds"),
    [
        (8, 2, None, [(4, 0), (2, 0), (1, 0)]),
        (2, 2, None, [(1, 0)]),
        # 7: three tables and the best waits; 4, 2.
        (7, 2, None, [(3, 1), (2, 0), (1, 0)]),
        # 16 at tables of four, two go on: 8, 4.
        (16, 4, 2, [(4, 0), (2, 0), (1, 0)]),
        # One goes on: 16 to 4, one final.
        (16, 4, 1, [(4, 0), (1, 0)]),
        # 12 to 3, and the best of the nine that went out makes it four.
        (12, 4, 1, [(3, 0), (1, 0)]),
        # 10 at tables of four: two tables and two byes leave 6; one table, two byes; 4.
        (10, 4, 2, [(2, 2), (1, 2), (1, 0)]),
        (3, 3, 2, [(1, 0)]),
    ],
)
def test_rounds_have_these_tables_and_byes_and_the_best_seed_wins(
    bots: int, seats: int, advance: int | None, rounds: list[tuple[int, int]]
) -> None:
    knockout = Knockout(seeds(bots), seats, advance, {})
    forecast = knockout.tables_left(0, ())
    stages = play(knockout)
    assert shape(stages) == rounds
    assert forecast == sum(tables for tables, _ in rounds)
    assert [stage.how for stage in stages] == [""] * (len(stages) - 1) + ["final"]
    places = knockout.places(())
    assert (places[0].bot, places[0].what) == ("s1", "won the final")
    assert len(places) == bots
    assert places[1].bot == "s2"
    assert knockout.tables_left(len(stages), ()) == 0


def test_the_draft_puts_the_best_seeds_apart() -> None:
    assert drafted(seeds(4), 2) == [("s1", "s4"), ("s2", "s3")]
    assert drafted(seeds(8), 2) == [("s1", "s4", "s5", "s8"), ("s2", "s3", "s6", "s7")]


def test_the_best_seeds_have_the_byes() -> None:
    stage = Knockout(seeds(10), 4, 2, {}).draw(0, ())
    assert stage is not None
    assert stage.byes == ("s1", "s2")


def test_equals_go_by_the_second_measure_and_then_by_seed() -> None:
    knockout = Knockout(["a", "b", "c", "d"], 2, None, {})
    stage = knockout.draw(0, ())
    assert stage is not None
    assert [table.pairing for table in stage.tables] == [("a", "d"), ("b", "c")]
    knockout.take(stage, [{"a": (5, 1), "d": (5, 2)}, {"b": (3, 3), "c": (3, 3)}])
    final = knockout.draw(1, ())
    assert final is not None
    assert [table.pairing for table in final.tables] == [("b", "d")]


def test_the_best_that_just_went_out_fills_the_final() -> None:
    """12 bots at four seats, one goes on: s5 lost, but took more than any other loser."""
    knockout = Knockout(seeds(12), 4, 1, {})
    stage = knockout.draw(0, ())
    assert stage is not None
    results = [
        {bot: (0 if bot != "s5" else 7, 0) for bot in table.pairing} for table in stage.tables
    ]
    for result, winner in zip(results, ("s1", "s2", "s3"), strict=True):
        result[winner] = (9, 0)
    knockout.take(stage, results)
    final = knockout.draw(1, ())
    assert final is not None
    assert final.how == "final"
    assert final.tables[0].pairing == ("s1", "s2", "s3", "s5")
    knockout.take(final, [{"s1": (1, 0), "s2": (2, 0), "s3": (3, 0), "s5": (4, 0)}])
    assert [place.bot for place in knockout.places(())][:4] == ["s5", "s3", "s2", "s1"]


def test_a_withdrawn_bot_does_not_wedge_a_round() -> None:
    knockout = Knockout(seeds(8), 2, None, {})
    stage = knockout.draw(0, ())
    assert stage is not None
    knockout.take(stage, [{bot: (-int(bot[1:]), 0) for bot in t.pairing} for t in stage.tables])
    # s1 won its table and is out all the same: three are left, one of them waits.
    second = knockout.draw(1, ("s1",))
    assert second is not None
    assert (len(second.tables), second.byes) == (1, ("s2",))
    assert knockout.places(("s1",))[-1].what == "withdrawn"
    assert Knockout(["a", "b"], 2, None, {}).draw(0, ("a", "b")) is None


def test_owners_never_meet_even_if_that_ends_it() -> None:
    owners = {"s1": "x", "s4": "x", "s2": "y"}
    knockout = Knockout(seeds(4), 2, None, owners)
    first = knockout.draw(0, ())
    assert first is not None
    for table in first.tables:
        assert set(table.pairing) != {"s1", "s4"}
    knockout.take(
        first, [{bot: (1 if bot in {"s1", "s4"} else 0, 0) for bot in t.pairing}
                for t in first.tables],
    )  # fmt: skip
    assert knockout.draw(1, ()) is None
    places = knockout.places(())
    assert [(one.bot, one.what) for one in places[:2]] == [
        ("s1", "not beaten"),
        ("s4", "not beaten"),
    ]


def test_one_must_go_on_and_one_out() -> None:
    with pytest.raises(ConfigError, match="advance = 3 at tables of 3"):
        Knockout(seeds(6), 3, 3, {})
    with pytest.raises(ConfigError, match="3 seats but only 2 bots"):
        Knockout(seeds(2), 3, None, {})
