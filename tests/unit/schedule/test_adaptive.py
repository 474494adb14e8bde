"""Adaptive rounds: the pair worth most is seated, doubt moves on, balanced rounds stay."""

from itertools import combinations

import numpy as np

from tourney.schedule.adaptive import Adaptive, adaptive_tables
from tourney.schedule.draws import Known, Stage


def known(strengths: list[float], spread: np.ndarray, undecided: list[tuple[int, int]]) -> Known:
    bots = tuple(f"b{i}" for i in range(len(strengths)))
    pairs = tuple((bots[i], bots[j]) for i, j in undecided)
    return Known(bots, np.array(strengths), spread, pairs)


def tables(about: Known, seats: int, count: int, **owners: str) -> list[tuple[str, ...]]:
    return adaptive_tables(about, about.bots, seats, count, 10 * seats, owners)


def test_a_table_holds_the_pair_in_doubt() -> None:
    about = known([2.0, 0.1, 0.0, -2.0, -2.5], np.eye(5), [(1, 2)])
    assert tables(about, 2, 1) == [("b1", "b2")]
    assert {"b1", "b2"} < set(tables(about, 3, 1)[0])


def test_the_pair_is_worth_the_most_of_all() -> None:
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

    best = min(combinations(range(6), 2), key=doubt)
    about = known(strengths.tolist(), spread, undecided)
    assert tables(about, 2, 1) == [tuple(f"b{i}" for i in best)]


def test_the_second_table_is_about_the_other_pair() -> None:
    """Two pairs in like doubt: once the first is as good as played, the other is worth more."""
    about = known([0.1, 0.0, -3.0, -3.1], np.eye(4), [(0, 1), (2, 3)])
    assert {*tables(about, 2, 2)} == {("b0", "b1"), ("b2", "b3")}


def test_owners_are_kept_apart() -> None:
    about = known([0.1, 0.0, -0.1, -0.2], np.eye(4), [(0, 1), (1, 2)])
    for table in tables(about, 2, 6, b0="x", b1="x"):
        assert table != ("b0", "b1")


def test_nothing_in_doubt_or_an_unknown_bot_gives_no_table() -> None:
    about = known([0.0, 0.0, 0.0], np.eye(3), [])
    assert tables(about, 2, 1) == []
    open_pair = known([0.0, 0.0, 0.0], np.eye(3), [(0, 1)])
    assert adaptive_tables(open_pair, ["b0", "b1", "new"], 2, 1, 10, {}) == []


def test_the_first_two_rounds_and_every_fifth_are_balanced() -> None:
    bots = [f"b{i}" for i in range(8)]
    about = known([0.1 * i for i in range(8)], np.eye(8), [(3, 4)])
    adaptive = Adaptive(bots, 4, 31, 5, {})
    stages: list[Stage] = []
    while (stage := adaptive.draw(len(stages), (), about)) is not None:
        adaptive.take(stage, [])
        stages.append(stage)
    balanced = [number for number, stage in enumerate(stages) if stage.how == "balanced"]
    assert balanced == [0, 1, 5, 10, 15, 20, 25, 30]
    for end in range(1, 32):
        assert sum(number < end for number in balanced) >= end / 5, "never below 20 %"
    for number in balanced:
        seated = [bot for table in stages[number].tables for bot in table.pairing]
        assert sorted(seated) == bots
    for stage in stages:
        assert len(stage.tables) == 2
        if stage.how == "adaptive":
            assert {"b3", "b4"} <= set(stage.tables[0].pairing)


def test_who_was_withdrawn_is_drawn_no_more() -> None:
    bots = [f"b{i}" for i in range(8)]
    about = known([0.1 * i for i in range(8)], np.eye(8), [(3, 4), (5, 6)])
    adaptive = Adaptive(bots, 4, 10, 5, {})
    for number in (0, 3):
        stage = adaptive.draw(number, ("b3",), about)
        assert stage is not None
        assert len(stage.tables) == 1
        assert "b3" not in stage.tables[0].pairing
