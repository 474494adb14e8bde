"""Ratings, errors and orders against laws that hold exactly, and against repeated tournaments."""

import itertools
import math

import numpy as np
import polars as pl
import pytest
from scipy.special import expit

from tests.unit.ratings.simulated import rows_of, simulate
from tourney.ratings import ELO, Matches, rate, sketch, sketches, standings
from tourney.ratings.fits import expected_wins, fit_pairs, fit_winners
from tourney.ratings.order import (
    differences_se,
    holm,
    letters,
    quasi_variances,
    rank_ranges,
    significant,
    superiority,
)
from tourney.ratings.parts import bounds, tables
from tourney.ratings.spread import Model, covariance, meat

EIGHT = tuple(np.linspace(0.4, -0.4, 8).tolist())


def test_at_tables_of_two_wins_and_placement_are_the_same_rating() -> None:
    [table] = rate(sketch(simulate(1, EIGHT, 2, 300, ties=True)))
    assert table.win.ratings == pytest.approx(table.placement.ratings, abs=1e-7)
    assert table.win.errors == pytest.approx(table.placement.errors, abs=1e-7)


@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
def test_pairs_of_one_match_overlap_by_k_plus_one_thirds(seats: int) -> None:
    """For equal bots the spread of a match is (k+1)/3 times what independent pairs would have."""
    table = rate(sketch(simulate(2, [0.0] * 8, seats, 6000)))[0]
    [sums] = table.sketches
    zero = np.zeros(8)
    ahead = np.zeros((8, 8))
    for i, j in itertools.permutations(range(seats), 2):
        np.add.at(ahead, (sums.pairings[i], sums.pairings[j]), sums.ahead(i, j))
    met = ahead + ahead.T
    naive = np.diag((met / 4).sum(axis=1)) - met / 4
    true = meat(sums, zero, "placement", by_match=True).squares
    ratio = np.trace(true) / np.trace(naive)
    assert ratio == pytest.approx((seats + 1) / 3, rel=0.03)


@pytest.mark.parametrize("seats", [3, 5])
def test_the_law_holds_exactly_over_all_orders(seats: int) -> None:
    ranks = np.array(list(itertools.permutations(range(seats))), dtype=float)
    beaten = seats - 1 - ranks[:, 0]
    naive = (seats - 1) / 4
    assert float(np.var(beaten)) / naive == pytest.approx((seats + 1) / 3)


@pytest.mark.parametrize("model", ["placement", "win"])
def test_strengths_are_found_again(model: Model) -> None:
    true = np.array(EIGHT)
    [table] = rate(sketch(simulate(3, EIGHT, 4, 20_000)))
    found = table.by(model)
    assert found.errors is not None
    off = (found.ratings - 1500 - ELO * (true - true.mean())) / found.errors
    assert float(np.abs(off).max()) < 4


def test_twins_in_random_circular_orders_are_not_told_apart() -> None:
    [table] = rate(sketch(simulate(4, [0.3, 0.3, 0.0, -0.2, -0.4], 4, 5000, luck=1.0)))
    for found in (table.win, table.placement):
        assert found.spread is not None
        z = (found.strengths[0] - found.strengths[1]) / differences_se(found.spread)[0, 1]
        assert abs(z) < 3


def coverage(model: Model, seats: int, luck: float, groups: int, tournaments: int) -> float:
    """How often the 95 % interval of a difference holds the truth that endless play finds."""
    strengths = [0.5, 0.3, 0.1, -0.1, -0.3, -0.5]
    [truth] = rate(sketch(simulate(10**6, strengths, seats, 60_000, luck=luck)))
    wanted = truth.by(model).strengths
    hits = trials = 0
    for seed in range(tournaments):
        found = rate(sketch(simulate(seed, strengths, seats, groups, luck=luck)))[0].by(model)
        assert found.spread is not None
        error = differences_se(found.spread)
        upper = np.triu_indices(6, 1)
        gap = (found.strengths[:, None] - found.strengths[None, :])[upper]
        true = (wanted[:, None] - wanted[None, :])[upper]
        hits += int((np.abs(gap - true) < 1.96 * error[upper]).sum())
        trials += len(gap)
    return hits / trials


@pytest.mark.parametrize(
    ("model", "seats", "luck"),
    [
        ("placement", 2, 0.0),
        ("placement", 4, 0.0),
        ("placement", 4, 2.0),
        ("win", 4, 0.0),
        ("win", 3, 2.0),
    ],
)
def test_intervals_hold_the_truth_in_93_to_97_percent_of_400_tournaments(
    model: Model, seats: int, luck: float
) -> None:
    assert 0.93 <= coverage(model, seats, luck, 200, 400) <= 0.97


def test_a_shared_deal_makes_match_by_match_intervals_wrong() -> None:
    """What clusters are for: with luck in the deal, errors that count matches mislead."""
    [table] = rate(sketch(simulate(5, [0.0] * 6, 4, 2000, luck=3.0)))
    [sums] = table.sketches
    fit = table.placement.fit
    spreads = []
    for by_match in (True, False):
        found = covariance(
            fit.information, meat(sums, fit.strengths, "placement", by_match=by_match)
        )
        assert found is not None
        spreads.append(float(np.trace(found)))
    # The luck of a seat visits every bot in turn and so cancels inside a group.
    assert spreads[1] < 0.6 * spreads[0]


@pytest.mark.parametrize(("seats", "luck"), [(2, 0.0), (4, 2.0)])
def test_among_equal_bots_hardly_any_table_has_a_difference(seats: int, luck: float) -> None:
    called = 0
    for seed in range(200):
        [table] = rate(sketch(simulate(seed, [0.0] * 6, seats, 100, luck=luck)))
        superior = table.win.superiority
        assert superior is not None
        called += bool(significant(superior).any())
    # Three standard errors of a proportion of 0.05 in 200.
    assert called / 200 <= 0.05 + 0.046


def test_bots_that_never_met_are_in_tables_of_their_own() -> None:
    one = rows_of(simulate(6, EIGHT[:3], 2, 50))
    two = rows_of(simulate(7, EIGHT[:4], 2, 60)).with_columns(
        pl.col("bot") + "x", pl.col("group") + 100, pl.col("match") + 1000
    )
    found = rate(*sketches(pl.concat([one, two])))
    assert [len(table.bots) for table in found] == [4, 3]
    assert all(np.mean(table.win.ratings) == pytest.approx(1500) for table in found)
    lines = standings(found)
    assert [line.table for line in lines] == [1] * 4 + [2] * 3
    assert [line.table_groups for line in lines] == [60] * 4 + [50] * 3


def test_tables_are_the_linked_sets() -> None:
    met = np.zeros((4, 4))
    met[0, 1] = met[1, 0] = met[2, 3] = met[3, 2] = 1
    labels = tables(met)
    assert labels[0] == labels[1] != labels[2] == labels[3]


def test_one_way_parts_are_floors_and_ceilings() -> None:
    ahead = np.full((5, 5), 5.0)
    np.fill_diagonal(ahead, 0)
    ahead[1:, 0] = 0
    ahead[4, :] = 0
    strengths = fit_pairs(ahead).strengths
    assert bounds(ahead, strengths) == ["≥", "", "", "", "≤"]
    assert np.isfinite(strengths).all()
    chain = np.array([[0, 3, 0], [0, 0, 3], [0, 0, 0]], dtype=float)
    assert bounds(chain, fit_pairs(chain).strengths) == ["≥", "", "≤"]
    aside = np.zeros((4, 4))
    aside[0, 1] = aside[1, 0] = aside[2, 0] = aside[2, 3] = 4
    assert bounds(aside, fit_pairs(aside).strengths) == ["", "", "≥", "?"]


def test_a_floor_has_no_interval_but_a_number() -> None:
    seating = np.tile(np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1]]), 10)
    lot = np.random.default_rng(1)
    # The first bot always wins; the others share what is left.
    other = lot.random(30) < 0.5
    place = np.array([np.ones(30), 2 + other, 3 - other])
    matches = Matches(
        bots=("a", "b", "c"),
        groups=np.arange(10),
        starts=np.arange(10) * 3,
        seating=seating,
        ranks=np.take_along_axis(place, seating, axis=0).astype(np.uint8),
    )
    first, *rest = standings(rate(sketch(matches)), headline="placement")
    assert (first.bot, first.bound) == ("a", "≥")
    assert first.rating_low is None
    assert first.rating_high is None
    assert math.isfinite(first.rating)
    assert [line.bound for line in rest] == ["", ""]
    assert all(line.rating_low is not None for line in rest)


def test_one_group_has_ratings_and_no_errors() -> None:
    lines = standings(rate(sketch(simulate(8, EIGHT[:2], 2, 1))))
    assert {line.rating_se for line in lines} == {None}
    assert {(line.rank_best, line.rank_worst) for line in lines} == {(1, 2)}
    assert {line.letters for line in lines} == {"a"}


def test_an_anchor_moves_every_rating_and_no_difference() -> None:
    sums = sketch(simulate(9, EIGHT, 3, 300))
    [mean], [anchored] = rate(sums), rate(sums, anchor="bot-004")
    shift = anchored.win.ratings - mean.win.ratings
    assert shift == pytest.approx(np.full(8, shift[0]), abs=1e-8)
    assert anchored.win.ratings[4] == pytest.approx(1500)
    assert anchored.win.errors is not None
    assert anchored.win.errors[4] == pytest.approx(0, abs=1e-6)
    one, two = mean.win.spread, anchored.win.spread
    assert one is not None
    assert two is not None
    assert differences_se(one) == pytest.approx(differences_se(two), abs=1e-9)
    with pytest.raises(ValueError, match="no bot called"):
        rate(sums, anchor="nobody")


def test_nothing_to_rate_is_refused() -> None:
    with pytest.raises(ValueError, match="no whole group"):
        rate()


def test_table_sizes_are_pooled_with_their_pairs_weighed() -> None:
    three, two = simulate(10, EIGHT, 3, 400), simulate(11, EIGHT, 2, 400)
    [pooled] = rate(sketch(two), sketch(three))
    ahead = np.zeros((8, 8))
    for sums, weight in ((sketch(two), 1.0), (sketch(three), 3 / 4)):
        for i, j in itertools.permutations(range(sums.seats), 2):
            np.add.at(ahead, (sums.pairings[i], sums.pairings[j]), weight * sums.ahead(i, j))
    assert pooled.placement.fit.strengths == pytest.approx(fit_pairs(ahead).strengths, abs=1e-9)
    assert pooled.placement.groups == 800


def test_winners_of_all_equal_chances_and_their_prior() -> None:
    pairings = np.array([[0], [1], [2]])
    assert expected_wins(pairings, np.zeros(3)) == pytest.approx(np.full((3, 1), 1 / 3))
    fit = fit_winners([(pairings, np.array([60.0]))], np.array([30.0, 20.0, 10.0]), prior=0)
    assert np.exp(fit.strengths) / np.exp(fit.strengths).sum() == pytest.approx(
        [1 / 2, 1 / 3, 1 / 6]
    )
    assert fit.log_likelihood == pytest.approx(
        30 * math.log(1 / 2) + 20 * math.log(1 / 3) + 10 * math.log(1 / 6)
    )


def test_without_a_prior_a_bot_that_never_lost_is_refused() -> None:
    with pytest.raises(ValueError, match="no finite optimum"):
        fit_pairs(np.array([[0.0, 3.0], [0.0, 0.0]]), prior=0)


def test_holm_by_hand() -> None:
    # 0.01 <= 0.05/4, 0.015 <= 0.05/3, 0.03 > 0.05/2: the rest stands, whatever it is.
    assert holm(np.array([0.03, 0.01, 0.04, 0.015])).tolist() == [False, True, False, True]


def test_ranks_letters_and_superiority_of_a_small_table() -> None:
    strengths = np.array([1.0, 0.9, 0.5, 0.0])
    errors = np.full((4, 4), 0.15)
    superior = superiority(strengths, errors, 10**6)
    assert superior + superior.T == pytest.approx(np.ones((4, 4)))
    better = significant(superior)
    # 0.5 is 3.3 and 2.7 errors below the first two: p = 0.0009 and 0.0077, both under Holm's steps.
    assert rank_ranges(better) == [(1, 2), (1, 2), (3, 3), (4, 4)]
    told = np.zeros((4, 4), dtype=bool)
    told[0, 2] = told[0, 3] = told[1, 3] = True
    assert rank_ranges(told) == [(1, 2), (1, 3), (2, 4), (3, 4)]
    assert letters(told, [0, 1, 2, 3]) == ["a", "ab", "bc", "c"]
    assert letters(np.zeros((30, 30), dtype=bool), list(range(30))) == ["a"] * 30
    all_told = np.triu(np.ones((28, 28), dtype=bool), 1)
    assert letters(all_told, list(range(28)))[25:] == ["z", "a1", "b1"]


def test_superiority_without_any_spread_is_certain() -> None:
    found = superiority(np.array([1.0, 0.0, 0.0]), np.zeros((3, 3)), 5)
    assert found.tolist() == [[0.5, 1.0, 1.0], [0.0, 0.5, 0.5], [0.0, 0.5, 0.5]]


def test_quasi_variances_of_independent_ratings_are_their_variances() -> None:
    assert quasi_variances(np.diag([1.0, 2.0, 3.0, 4.0])) == pytest.approx([1, 2, 3, 4], rel=1e-6)
    assert quasi_variances(np.zeros((3, 3))) is None
    assert quasi_variances(np.ones((1, 1))) is None


def test_lines_say_where_the_two_orders_differ() -> None:
    # The gambler wins often and is last often; the plodder is always second.
    lot = np.random.default_rng(12)
    ranks, seating = [], []
    for _ in range(400):
        gambler = lot.random() < 0.45
        order = {0: 1 if gambler else 3, 1: 2, 2: 3 if gambler else 1}
        for turn in range(3):
            seated = [(seat + turn) % 3 for seat in range(3)]
            seating.append(seated)
            ranks.append([order[bot] for bot in seated])
    matches = Matches(
        bots=("gambler", "plodder", "third"),
        groups=np.arange(400),
        starts=np.arange(400) * 3,
        seating=np.array(seating).T,
        ranks=np.array(ranks).T.astype(np.uint8),
    )
    by_wins = standings(rate(sketch(matches)))
    by_place = standings(rate(sketch(matches)), headline="placement")
    plodder = next(line for line in by_wins if line.bot == "plodder")
    assert plodder.win_rank == 3
    assert plodder.placement_rank == 2
    assert plodder.orders_differ
    assert [line.bot for line in by_place][1] == "plodder"
    assert expit((by_wins[0].rating - by_wins[1].rating) / ELO) > 0.5
