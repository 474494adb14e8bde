"""Rounds from results: Swiss, knockout and tables chosen to separate neighbours."""

import numpy as np
import pytest

from tourney.errors import ConfigError
from tourney.schedule.rounds import (
    adaptive_table,
    apart,
    knockout_tables,
    survivors,
    swiss_tables,
)


def test_swiss_seats_like_with_like_and_avoids_who_met() -> None:
    points = {"a": 3.0, "b": 3.0, "c": 1.0, "d": 1.0}
    assert swiss_tables(points, set(), {}, 2) == ([("a", "b"), ("c", "d")], [])
    met = {frozenset("ab"), frozenset("cd")}
    assert swiss_tables(points, met, {}, 2) == ([("a", "c"), ("b", "d")], [])


def test_a_swiss_bye_goes_to_the_lowest_who_had_none() -> None:
    points = {"a": 2.0, "b": 1.0, "c": 0.0}
    assert swiss_tables(points, set(), {}, 2)[1] == ["c"]
    assert swiss_tables(points, set(), {"c": 1}, 2)[1] == ["b"]


def test_a_swiss_of_eight_finds_the_best_without_a_repeat() -> None:
    strength = {f"bot-{i}": 8 - i for i in range(8)}
    points = dict.fromkeys(strength, 0.0)
    met: set[frozenset[str]] = set()
    for _ in range(3):
        tables, resting = swiss_tables(points, met, {}, 2)
        assert not resting
        for one, two in tables:
            assert frozenset((one, two)) not in met
            met.add(frozenset((one, two)))
            points[max((one, two), key=strength.__getitem__)] += 1
    assert points["bot-0"] == 3
    assert sum(own == 3 for own in points.values()) == 1


def test_swiss_tables_of_three_share_as_few_old_pairs_as_they_can() -> None:
    points = dict.fromkeys("abcdef", 0.0)
    tables, _ = swiss_tables(points, {frozenset("ab"), frozenset("ac")}, {}, 3)
    assert "a" in tables[0]
    assert not {"b", "c"} & set(tables[0])


def test_knockout_seeds_are_spread_and_the_best_have_the_byes() -> None:
    assert knockout_tables(list("abcd"), 2) == ([("a", "d"), ("b", "c")], [])
    tables, byes = knockout_tables([f"s{i}" for i in range(1, 10)], 2)
    assert byes == ["s1"]
    assert tables[0] == ("s2", "s9")
    four, _ = knockout_tables([f"s{i}" for i in range(1, 9)], 4)
    assert four == [("s1", "s4", "s5", "s8"), ("s2", "s3", "s6", "s7")]


def test_a_knockout_of_seven_ends_with_the_strongest() -> None:
    seeded = [f"s{i}" for i in range(7)]
    rounds = 0
    while len(seeded) > 1:
        tables, byes = knockout_tables(seeded, 2)
        results = [{bot: -float(bot[1:]) for bot in table} for table in tables]
        seeded = survivors(results, byes, seeded, 1)
        rounds += 1
    assert (seeded, rounds) == (["s0"], 3)


def test_equals_in_a_knockout_go_by_seed_and_nobody_cannot_go_out() -> None:
    assert survivors([{"b": 1.0, "a": 1.0}], [], ["a", "b"], 1) == ["a"]
    for keep in (0, 2):
        with pytest.raises(ConfigError, match="cannot go on"):
            survivors([{"a": 1.0, "b": 0.0}], [], ["a", "b"], keep)


def test_too_few_bots_are_refused() -> None:
    with pytest.raises(ConfigError, match="3 seats but only 2 bots"):
        knockout_tables(["a", "b"], 3)
    with pytest.raises(ConfigError, match="3 seats but only 2 bots"):
        swiss_tables({"a": 0.0, "b": 0.0}, set(), {}, 3)


def test_tables_with_one_owner_twice_are_left_out() -> None:
    tables = [("a", "b"), ("a", "c"), ("b", "c")]
    assert apart(tables, {"a": "x", "b": "x"}) == [("a", "c"), ("b", "c")]
    assert apart(tables, {}) == tables


def test_an_adaptive_table_holds_the_pair_in_doubt() -> None:
    strengths = np.array([2.0, 0.1, 0.0, -2.0, -2.5])
    table = adaptive_table(strengths, np.eye(5), [(1, 2)], 2)
    assert table == (1, 2)
    three = adaptive_table(strengths, np.eye(5), [(1, 2)], 3)
    assert set(table) < set(three)


def test_the_adaptive_pair_is_worth_the_most_of_all() -> None:
    lot = np.random.default_rng(1)
    strengths = lot.normal(0, 1, 6)
    root = lot.normal(0, 1, (6, 6))
    spread = root @ root.T
    undecided = [(0, 1), (3, 4)]

    def doubt(pair: tuple[int, int]) -> float:
        """Total variance of the undecided differences after one more match of the pair."""
        x = np.zeros(6)
        x[list(pair)] = 1, -1
        p = 1 / (1 + np.exp(-(strengths @ x)))
        after = np.linalg.inv(np.linalg.inv(spread) + 1e-6 * p * (1 - p) * np.outer(x, x))
        contrasts = np.zeros((6, 2))
        for column, (one, two) in enumerate(undecided):
            contrasts[one, column], contrasts[two, column] = 1, -1
        return float(np.trace(contrasts.T @ after @ contrasts))

    best = min(((i, j) for i in range(6) for j in range(i + 1, 6)), key=doubt)
    assert adaptive_table(strengths, spread, undecided, 2) == best


def test_nothing_in_doubt_needs_no_table() -> None:
    with pytest.raises(ConfigError, match="open pairs"):
        adaptive_table(np.zeros(4), np.eye(4), [], 2)
