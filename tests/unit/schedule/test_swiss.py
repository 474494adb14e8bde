"""Swiss rounds: like points meet, nobody twice, byes go round; against FIDE's simple cases."""

from collections import Counter
from itertools import combinations

import pytest

from tourney.errors import ConfigError
from tourney.schedule.draws import Stage
from tourney.schedule.swiss import Swiss, rounds_to_find_the_best, swiss_tables


def names(count: int) -> list[str]:
    return [f"bot-{i:02d}" for i in range(count)]


def play(swiss: Swiss, bots: list[str], rounds: int) -> list[Stage]:
    """Rounds in which the bot that comes first in `bots` wins."""
    stages = []
    for number in range(rounds):
        stage = swiss.draw(number, ())
        assert stage is not None
        results = [{bot: (-bots.index(bot), 0) for bot in table.pairing} for table in stage.tables]
        swiss.take(stage, results)
        stages.append(stage)
    return stages


def meetings(stages: list[Stage]) -> Counter[frozenset[str]]:
    return Counter(
        frozenset(pair)
        for stage in stages
        for table in stage.tables
        for pair in combinations(table.pairing, 2)
    )


def test_like_points_meet_and_those_who_met_do_not() -> None:
    points = {"a": 6, "b": 6, "c": 2, "d": 2}
    assert swiss_tables(list("abcd"), points, {}, {}, 2, {}) == ([("a", "b"), ("c", "d")], [])
    met = {frozenset("ab"): 1, frozenset("cd"): 1}
    assert swiss_tables(list("abcd"), points, met, {}, 2, {})[0] == [("a", "c"), ("b", "d")]


def test_a_dead_end_below_changes_the_lowest_tables_only() -> None:
    """e and f have met: the last pair cannot be, so c-d is undone and a-b stands."""
    met = {frozenset("ef"): 1}
    tables, _ = swiss_tables(list("abcdef"), dict.fromkeys("abcdef", 0), met, {}, 2, {})
    assert tables == [("a", "b"), ("c", "e"), ("d", "f")]


@pytest.mark.parametrize(
    ("bots", "seats", "rounds"), [(8, 2, 7), (16, 2, 6), (50, 4, 8), (9, 3, 4)]
)
def test_nobody_meets_the_same_bot_twice_while_that_can_be(
    bots: int, seats: int, rounds: int
) -> None:
    """8 in 7 rounds and 9 at tables of three in 4 are the most there can be: everybody met."""
    field = names(bots)
    stages = play(Swiss(field, seats, rounds, {}), field, rounds)
    met = meetings(stages)
    assert max(met.values()) == 1
    if seats == 3:
        assert len(met) == 36


def test_a_round_of_even_points_keeps_to_its_score_groups() -> None:
    """16 at two seats: after each of four rounds every score group is even, so nobody leaves it."""
    field = names(16)
    swiss = Swiss(field, 2, 4, {})
    points = dict.fromkeys(field, 0)
    for number in range(4):
        stage = swiss.draw(number, ())
        assert stage is not None
        for table in stage.tables:
            one, two = table.pairing
            assert points[one] == points[two]
            points[min(one, two, key=field.index)] += 1
        swiss.take(
            stage, [{bot: (-field.index(bot), 0) for bot in t.pairing} for t in stage.tables]
        )
    # 1, 4, 6, 4 and 1 bots with 4 to 0 wins, the best one alone at the top.
    assert sorted(Counter(points.values()).items()) == [(0, 1), (1, 4), (2, 6), (3, 4), (4, 1)]
    assert points["bot-00"] == 4
    assert swiss.places(())[0].bot == "bot-00"
    assert swiss.places(())[0].what == "4 points"


def test_byes_go_round_and_are_worth_what_a_table_gives_on_average() -> None:
    field = names(7)
    swiss = Swiss(field, 2, 7, {})
    stages = play(swiss, field, 7)
    byes = Counter(bot for stage in stages for bot in stage.byes)
    assert byes == dict.fromkeys(field, 1), "each of seven has one bye in seven rounds"
    points = {place.bot: float(place.what.split()[0]) for place in swiss.places(())}
    # Each round three points are shared at tables and half a one comes from a bye.
    assert sum(points.values()) == 7 * 3.5


def test_the_first_bye_goes_to_the_lowest() -> None:
    points = {"a": 4, "b": 2, "c": 0}
    assert swiss_tables(list("abc"), points, {}, {}, 2, {})[1] == ["c"]
    assert swiss_tables(list("abc"), points, {}, {"c": 1}, 2, {})[1] == ["b"]


def test_equals_share_what_they_would_take_together() -> None:
    swiss = Swiss(list("abc"), 3, 1, {})
    stage = swiss.draw(0, ())
    assert stage is not None
    swiss.take(stage, [{"a": (5, 1), "b": (5, 1), "c": (5, 0)}])
    assert [(one.bot, one.what) for one in swiss.places(())] == [
        ("a", "1.5 points"), ("b", "1.5 points"), ("c", "0 points"),
    ]  # fmt: skip


def test_when_everybody_met_everybody_rounds_go_on_with_few_repeats() -> None:
    field = names(6)
    stages = play(Swiss(field, 2, 10, {}), field, 10)
    assert max(meetings(stages).values()) <= 3


def test_owners_are_kept_apart_even_where_repeats_are_the_price() -> None:
    field = names(6)
    owners = dict(zip(field, ("x", "x", "x", "y", "y", "y"), strict=True))
    for stage in play(Swiss(field, 2, 6, owners), field, 6):
        assert len(stage.tables) == 3
        for table in stage.tables:
            assert len({owners[bot] for bot in table.pairing}) == 2


def test_who_was_withdrawn_is_drawn_no_more_and_too_few_end_it() -> None:
    swiss = Swiss(list("abcd"), 2, 5, {})
    stage = swiss.draw(0, ("b",))
    assert stage is not None
    seated = {bot for table in stage.tables for bot in table.pairing}
    assert len(seated) == 2
    assert "b" not in seated | set(stage.byes)
    assert swiss.draw(0, ("b", "c", "d")) is None
    assert swiss.tables_left(2, ("b",)) == 3


def test_rounds_until_one_bot_at_most_has_won_all() -> None:
    assert [rounds_to_find_the_best(n, 2) for n in (2, 3, 8, 9, 16)] == [1, 2, 3, 4, 4]
    assert [rounds_to_find_the_best(n, 4) for n in (4, 5, 16, 50)] == [1, 2, 2, 3]


def test_too_few_bots_are_refused() -> None:
    with pytest.raises(ConfigError, match="3 seats but only 2 bots"):
        Swiss(["a", "b"], 3, 1, {})
