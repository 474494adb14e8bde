"""Adaptive rounds: the pair worth most is seated, doubt moves on, balanced rounds stay."""

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from tourney.schedule.adaptive import Adaptive, adaptive_tables
from tourney.schedule.draws import Known, Stage

Array = npt.NDArray[np.float64]


def known(
    strengths: list[float],
    spread: Array,
    undecided: list[tuple[int, int]],
    *,
    by_wins: bool = True,
) -> Known:
    bots = tuple(f"b{i}" for i in range(len(strengths)))
    pairs = tuple((bots[i], bots[j]) for i, j in undecided)
    return Known(bots, np.array(strengths), spread, by_wins, pairs)


def tables(about: Known, seats: int, count: int, **owners: str) -> list[tuple[str, ...]]:
    return adaptive_tables(about, about.bots, seats, count, 10 * seats, owners)


def test_a_table_holds_the_pair_in_doubt() -> None:
    about = known([2.0, 0.1, 0.0, -2.0, -2.5], np.eye(5), [(1, 2)])
    assert tables(about, 2, 1) == [("b1", "b2")]
    assert {"b1", "b2"} < set(tables(about, 3, 1)[0])


def doubt_after(about: Known, table: tuple[int, ...]) -> float:
    """Total variance of the undecided differences after a little play of the table, by inverses.

    The information of a match about log-odds: diag(p) - p p^T for the winner of a table (a
    multinomial of one draw), a sum over pairs of p(1-p) x x^T for who finishes ahead of whom.
    """
    n = len(about.bots)
    told = np.zeros((n, n))
    if about.by_wins:
        share = np.exp(about.strengths[list(table)])
        share /= share.sum()
        told[np.ix_(table, table)] = np.diag(share) - np.outer(share, share)
    else:
        for i, j in combinations(table, 2):
            x = np.zeros(n)
            x[[i, j]] = 1, -1
            p = 1 / (1 + np.exp(about.strengths[j] - about.strengths[i]))
            told += p * (1 - p) * np.outer(x, x)
    after = np.linalg.inv(np.linalg.inv(about.covariance) + 1e-6 * told)
    place = {bot: i for i, bot in enumerate(about.bots)}
    contrasts = np.zeros((n, len(about.undecided)))
    for column, (one, two) in enumerate(about.undecided):
        contrasts[place[one], column], contrasts[place[two], column] = 1, -1
    return float(np.trace(contrasts.T @ after @ contrasts))


@pytest.mark.parametrize("by_wins", [True, False])
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_the_table_shrinks_the_doubt_most_of_all(seats: int, by_wins: bool) -> None:
    """Against every table there is: nearly always the best one, and never far from it."""
    lot = np.random.default_rng(1)
    shares = []
    for _ in range(40):
        root = lot.normal(0, 1, (7, 7))
        strengths = lot.normal(0, 1.5, 7).tolist()
        about = known(strengths, root @ root.T, [(0, 1), (1, 2), (4, 5)], by_wins=by_wins)
        now = float(sum(about.covariance[i, i] + about.covariance[j, j] - 2 * about.covariance[i, j]
                        for i, j in [(0, 1), (1, 2), (4, 5)]))  # fmt: skip
        gained = {t: now - doubt_after(about, t) for t in combinations(range(7), seats)}
        [table] = tables(about, seats, 1)
        places = tuple(int(bot[1:]) for bot in table)
        shares.append(gained[places] / max(gained.values()))
    assert min(shares) > 0.5
    assert np.median(shares) > 0.98


def test_weak_bots_in_doubt_are_not_seated_with_one_that_takes_it_all() -> None:
    """Where wins count, two that never win at a table say nothing about each other there."""
    about = known([3.0, 3.0, 3.0, 1.5, -2.0, -2.0], np.eye(6), [(0, 1), (1, 2), (4, 5)])
    assert tables(about, 3, 1) == [("b0", "b1", "b2")]


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
