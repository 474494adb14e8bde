"""Leaderboard and head to head against plain loops over the rows."""

import csv
import io
import itertools
import json
import math
import random
import statistics
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tourney.ratings import (
    PairStanding,
    Standing,
    head_to_head,
    leaderboard,
    merge,
    sketches,
    tally,
    to_csv,
    to_json,
)
from tourney.records import frame

Rows = list[dict[str, Any]]
BOTS = ("ada", "bo", "cleo", "dan")


def rows_of(seed: int, *, groups: int, seats: int, fault_rate: float = 0.1) -> Rows:
    """Seat rows of `groups` rotation groups with ties, faults and luck shared by a group."""
    lot = random.Random(seed)
    rows: Rows = []
    for group in range(groups):
        pairing = lot.sample(BOTS, seats)
        luck = [lot.randrange(30) for _ in range(seats)]
        for rotation in range(seats):
            scores = [float(luck[(s + rotation) % seats] + lot.randrange(8)) for s in range(seats)]
            ranks = [1 + sum(other < score for other in scores) for score in scores]
            for seat, (score, rank) in enumerate(zip(scores, ranks, strict=True)):
                asked = lot.randrange(1, 5)
                rows.append(
                    {
                        "match": group * seats + rotation,
                        "group": group,
                        "pairing": "+".join(pairing),
                        "seat": seat,
                        "bot": pairing[(seat + rotation) % seats],
                        "score": score,
                        "rank": rank,
                        "win": 1 / ranks.count(1) if rank == 1 else 0.0,
                        "outcome": "timeout" if lot.random() < fault_rate else "finished",
                        "decisions": asked,
                        "think_ms_total": asked * 0.5,
                        "think_ms_max": float(lot.randrange(1, 9)),
                    }
                )
    return rows


def seats_of(rows: Rows) -> pl.LazyFrame:
    return frame("seats", rows).lazy()


def clustered(rows: Rows, field: str) -> tuple[float, float | None]:
    """Mean and clustered error by loops: the sandwich of a ratio, residual by residual."""
    groups: dict[int, list[float]] = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row[field])
    total = sum(len(values) for values in groups.values())
    mean = sum(map(sum, groups.values())) / total
    if len(groups) == 1:
        return mean, None
    residuals = [sum(value - mean for value in values) for values in groups.values()]
    factor = len(groups) / (len(groups) - 1)
    return mean, math.sqrt(factor * sum(r * r for r in residuals)) / total


@pytest.mark.parametrize(("seats", "groups"), [(2, 40), (3, 25), (4, 1)])
def test_standings_equal_loops_over_the_rows(seats: int, groups: int) -> None:
    rows = rows_of(seats, groups=groups, seats=seats)
    lines = leaderboard(tally(seats_of(rows)), lower_is_better=True)
    assert {line.bot for line in lines} == {row["bot"] for row in rows}
    for line in lines:
        own = [row for row in rows if row["bot"] == line.bot]
        mean, error = clustered(own, "score")
        won, won_error = clustered(own, "win")
        assert line.mean_score == pytest.approx(mean)
        assert line.score_se == (None if error is None else pytest.approx(error))
        assert line.win_share == pytest.approx(won)
        assert line.win_se == (None if won_error is None else pytest.approx(won_error, abs=1e-9))
        assert line.matches == len(own)
        assert line.groups == len({row["group"] for row in own})
        assert line.faults == sum(row["outcome"] != "finished" for row in own)
        assert line.ms_mean == 0.5
        assert line.ms_max == max(row["think_ms_max"] for row in own)


def test_the_best_is_first_and_ties_share_a_rank() -> None:
    rows = rows_of(5, groups=60, seats=4)
    lines = leaderboard(tally(seats_of(rows)), lower_is_better=True)
    shares = [line.win_share for line in lines]
    assert shares == sorted(shares, reverse=True)
    assert [line.rank for line in lines] == [1, 2, 3, 4]
    draw = [dict(row, score=1.0, win=0.5, rank=1) for row in rows_of(1, groups=3, seats=2)]
    assert {line.rank for line in leaderboard(tally(seats_of(draw)), lower_is_better=True)} == {1}


@pytest.mark.parametrize("lower", [True, False])
def test_equal_win_shares_are_ordered_by_the_score_in_the_games_sense(lower: bool) -> None:
    rows = [
        dict(row, win=0.5, score=float(row["bot"] == "ada"))
        for row in rows_of(1, groups=9, seats=4)
    ]
    lines = leaderboard(tally(seats_of(rows)), lower_is_better=lower)
    assert (lines[-1].bot == "ada") is lower
    assert (lines[0].bot == "ada") is not lower


def test_a_seat_without_a_decision_has_no_thinking_time() -> None:
    rows = [dict(row, decisions=0) for row in rows_of(1, groups=2, seats=2)]
    line = leaderboard(tally(seats_of(rows)), lower_is_better=True)[0]
    assert line.ms_mean is None
    assert line.ms_max is None


def test_no_rows_give_no_standings() -> None:
    assert leaderboard(tally(seats_of([])), lower_is_better=True) == []
    assert head_to_head(sketches(seats_of([]))) == []
    assert json.loads(to_json([])) == []
    assert to_csv([]) == ""


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(0, 12), max_size=3), data=st.data())
def test_merged_shards_are_the_whole_bit_by_bit(
    seed: int, cuts: list[int], data: st.DataObject
) -> None:
    rows = rows_of(seed, groups=12, seats=3)
    edges = [0, *sorted(cuts), 12]
    shards = [
        [row for row in rows if low <= row["group"] < high]
        for low, high in itertools.pairwise(edges)
    ]
    parts = [tally(seats_of(data.draw(st.permutations(shard)))) for shard in shards]
    whole = tally(seats_of(rows))
    merged = merge(*data.draw(st.permutations(parts)))
    assert merged.equals(whole)
    assert leaderboard(merged, lower_is_better=True) == leaderboard(whole, lower_is_better=True)


def test_merging_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to merge"):
        merge()


def test_every_number_is_finite_or_none() -> None:
    for groups in (1, 2, 5):
        rows = rows_of(groups, groups=groups, seats=3, fault_rate=1.0)
        pairs: list[PairStanding] = head_to_head(sketches(seats_of(rows)))
        lines: list[Standing] = leaderboard(tally(seats_of(rows)), lower_is_better=True)
        for line in [*json.loads(to_json(lines)), *json.loads(to_json(pairs))]:
            for value in line.values():
                assert value is None or isinstance(value, str) or math.isfinite(value)


def test_head_to_head_equals_loops_over_the_matches() -> None:
    rows = rows_of(8, groups=50, seats=3)
    by_match: dict[int, Rows] = {}
    for row in rows:
        by_match.setdefault(row["match"], []).append(row)
    pairs = head_to_head(sketches(seats_of(rows)))
    assert [(pair.bot, pair.opponent) for pair in pairs] == [
        (bot, other) for bot in BOTS for other in BOTS if bot != other
    ]
    for pair in pairs:
        met: Rows = []
        for table in by_match.values():
            ranks = {row["bot"]: row["rank"] for row in table}
            if pair.bot in ranks and pair.opponent in ranks:
                mine, other = ranks[pair.bot], ranks[pair.opponent]
                ahead = 1.0 if mine < other else 0.5 if mine == other else 0.0
                met.append({"group": table[0]["group"], "ahead": ahead})
        mean, error = clustered(met, "ahead")
        assert pair.ahead == pytest.approx(mean)
        assert pair.ahead_se == pytest.approx(error)
        assert pair.matches == len(met)
        assert pair.groups == len({row["group"] for row in met})


def test_both_sides_of_a_pair_add_up_to_one() -> None:
    pairs = {
        (p.bot, p.opponent): p
        for p in head_to_head(sketches(seats_of(rows_of(9, groups=30, seats=4))))
    }
    for (bot, other), pair in pairs.items():
        back = pairs[other, bot]
        assert pair.ahead + back.ahead == pytest.approx(1)
        assert pair.ahead_se == pytest.approx(back.ahead_se)


def test_json_and_csv_carry_the_same_values_best_first() -> None:
    lines = leaderboard(tally(seats_of(rows_of(3, groups=1, seats=4))), lower_is_better=True)
    from_json = json.loads(to_json(lines))
    from_csv = list(csv.DictReader(io.StringIO(to_csv(lines))))
    assert [row["bot"] for row in from_json] == [line.bot for line in lines]
    for left, right in zip(from_json, from_csv, strict=True):
        assert left.keys() == right.keys()
        assert {name: "" if v is None else str(v) for name, v in left.items()} == right


def test_win_shares_of_a_match_sum_to_one_over_the_table() -> None:
    lines = leaderboard(tally(seats_of(rows_of(4, groups=30, seats=4))), lower_is_better=True)
    assert statistics.fmean(line.win_share for line in lines) == pytest.approx(1 / 4)
