"""Sketches against sums group by group; they add up whatever is cut, shuffled or renamed."""

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from tests.unit.ratings.simulated import Array, rows_of, simulate
from tourney.ratings import Matches, Sketch, add_sketches, arrange, rate, sketch, sketches
from tourney.ratings.spread import Model, meat

STRENGTHS = (0.6, 0.2, 0.0, -0.3, -0.5)


def direct(matches: Matches, t: Array, model: Model, *, by_match: bool) -> Array:
    """The spread by loops over groups, matches and seats."""
    total = np.zeros((len(t), len(t)))
    u = np.zeros(len(t))
    for match in range(matches.seating.shape[1]):
        if by_match or match in matches.starts:
            total += np.outer(u, u)
            u = np.zeros(len(t))
        seated, ranks = matches.seating[:, match], matches.ranks[:, match]
        winners = [bot for bot, rank in zip(seated, ranks, strict=True) if rank == min(ranks)]
        for bot, rank in zip(seated, ranks, strict=True):
            if model == "win":
                u[bot] += (bot in winners) / len(winners)
                u[bot] -= np.exp(t[bot]) / np.exp(t[seated]).sum()
                continue
            for other, other_rank in zip(seated, ranks, strict=True):
                if bot != other:
                    u[bot] += (rank < other_rank) + 0.5 * (rank == other_rank)
                    u[bot] -= expit(t[bot] - t[other])
    return total + np.outer(u, u)


@pytest.mark.parametrize("model", ["placement", "win"])
@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("by_match", [False, True])
def test_the_spread_of_a_sketch_is_the_direct_sum(model: Model, seats: int, by_match: bool) -> None:
    matches = simulate(seats, STRENGTHS, seats, 40, luck=1.0, ties=True)
    t = np.array([0.5, 0.1, -0.1, 0.2, -0.7])
    wanted = direct(matches, t, model, by_match=by_match)
    found = meat(sketch(matches), t, model, by_match=by_match)
    assert found.squares == pytest.approx(wanted, abs=1e-12 * np.abs(wanted).max())
    assert found.clusters == (40 * seats if by_match else 40)


def test_groups_of_different_sizes_have_the_direct_sum_too() -> None:
    lot = np.random.default_rng(5)
    whole = simulate(5, STRENGTHS, 3, 30, ties=True)
    kept = np.sort(lot.permutation(90)[:60])
    rows = rows_of(whole).filter(pl.col("match").is_in(kept))
    matches = arrange(rows, rotations=False)[3]
    assert len(set(matches.sizes.tolist())) > 1
    t = np.array([0.5, 0.1, -0.1, 0.2, -0.7])
    for model in ("placement", "win"):
        wanted = direct(matches, t, model, by_match=False)
        assert meat(sketch(matches), t, model).squares == pytest.approx(wanted, abs=1e-10)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(0, 20), max_size=3), data=st.data())
def test_shards_in_any_order_add_up_to_the_whole_bit_by_bit(
    seed: int, cuts: list[int], data: st.DataObject
) -> None:
    rows = rows_of(simulate(seed, STRENGTHS, 3, 20, ties=True))
    edges = [0, *sorted(cuts), 20]
    shards = [
        rows.filter(pl.col("group").is_between(low, high - 1))
        for low, high in itertools.pairwise(edges)
    ]
    parts = [sketches(shard.sample(fraction=1, shuffle=True, seed=seed)) for shard in shards]
    [whole] = sketches(rows)
    [added] = add_sketches(*data.draw(st.permutations(parts)))
    assert added.bots == whole.bots
    assert added.rows.equals(whole.rows)


def test_the_order_of_matches_does_not_change_a_rating_at_all() -> None:
    rows = rows_of(simulate(1, STRENGTHS, 3, 60, ties=True))
    ratings = [
        rate(*sketches(rows.sample(fraction=1, shuffle=True, seed=seed)))[0].win.ratings.tolist()
        for seed in range(4)
    ]
    assert all(other == ratings[0] for other in ratings)


def test_other_names_give_the_same_ratings() -> None:
    rows = rows_of(simulate(2, STRENGTHS, 4, 80, ties=True))
    names = {f"bot-{i:03d}": name for i, name in enumerate(("zoe", "ada", "mia", "bo", "kim"))}
    renamed = rows.with_columns(pl.col("bot").replace(names))
    before, after = (rate(*sketches(some))[0] for some in (rows, renamed))
    for model in ("placement", "win"):
        one, two = before.by(model), after.by(model)
        assert one.errors is not None
        assert two.errors is not None
        for place, bot in enumerate(before.bots):
            other = after.bots.index(names[bot])
            assert two.ratings[other] == pytest.approx(one.ratings[place], abs=1e-8)
            assert two.errors[other] == pytest.approx(one.errors[place], abs=1e-8)


def test_a_group_without_one_of_its_matches_does_not_count() -> None:
    rows = rows_of(simulate(3, STRENGTHS, 3, 12))
    broken = rows.filter(pl.col("match") != 7)
    [found], [wanted] = sketches(broken), sketches(rows.filter(pl.col("group") != 2))
    assert found.rows.equals(wanted.rows)
    assert found.groups == 11


def test_a_match_without_one_of_its_seats_spoils_its_group() -> None:
    rows = rows_of(simulate(3, STRENGTHS, 3, 12))
    broken = rows.filter(~((pl.col("match") == 7) & (pl.col("seat") == 1)))
    [found], [wanted] = sketches(broken), sketches(rows.filter(pl.col("group") != 2))
    assert found.rows.equals(wanted.rows)


def test_a_seat_at_fault_keeps_the_rank_it_was_booked() -> None:
    rows = rows_of(simulate(4, STRENGTHS, 3, 12))
    faulty = rows.with_columns(outcome=pl.lit("timeout"))
    assert sketches(faulty)[0].rows.equals(sketches(rows)[0].rows)


def test_table_sizes_are_kept_apart_and_no_rows_give_nothing() -> None:
    three = rows_of(simulate(5, STRENGTHS, 3, 8))
    two = rows_of(simulate(6, STRENGTHS, 2, 8)).with_columns(
        pl.col("group") + 100, pl.col("match") + 1000
    )
    found = sketches(pl.concat([three, two]))
    assert [(one.seats, one.groups) for one in found] == [(2, 8), (3, 8)]
    assert sketches(three.clear()) == ()
    with pytest.raises(ValueError, match="do not add up"):
        found[0].plus(found[1])


def test_strange_groups_are_refused() -> None:
    rows = rows_of(simulate(7, STRENGTHS, 2, 4))
    first = str(rows["bot"][0])
    twice = rows.with_columns(bot=pl.lit(first))
    with pytest.raises(ValueError, match="twice"):
        sketches(twice)
    mixed = rows.with_columns(
        bot=pl.when(pl.col("match") == 0).then(pl.col("bot") + "x").otherwise(pl.col("bot"))
    )
    with pytest.raises(ValueError, match="different bots"):
        sketches(mixed)


def test_large_tables_split_a_win_of_up_to_eight() -> None:
    ranks = np.array([[1] * 8 + [9, 10], [1] * 3 + [4] * 7], dtype=np.uint8).T
    matches = Matches(
        bots=tuple("abcdefghij"),
        groups=np.arange(2),
        starts=np.arange(2),
        seating=np.tile(np.arange(10)[:, None], 2),
        ranks=ranks,
    )
    found = sketch(matches)
    won = found.vector("win")[:, 0] / 840
    assert won == pytest.approx([1 / 8 + 1 / 3] * 3 + [1 / 8] * 5 + [0, 0])
    with pytest.raises(ValueError, match="share a first place"):
        sketch(dataclasses.replace(matches, ranks=np.ones_like(ranks)))


def test_many_bots_whose_pairings_have_no_small_number() -> None:
    strengths: Sequence[float] = [0.0] * 300
    few = simulate(8, strengths, 4, 50)
    found = sketch(few)
    assert found.groups == 50
    huge = simulate(9, [0.0] * 700, 7, 30)
    assert sketch(huge).groups == 30
    assert isinstance(found.among(found.bots), Sketch)
