"""The sums of blocks add up to those of the run, and give its leaderboard to the last digit."""

import itertools
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

from tests.unit.ratings.simulated import rows_of, simulate
from tourney.protocol.faults import FINISHED
from tourney.ratings import (
    Board,
    Report,
    Sums,
    add_sums,
    arrange,
    board_of_sums,
    effects_of,
    facts_of,
    from_facts,
    head_to_head,
    outlook_of,
    rate,
    report,
    seat_effects,
    sketches,
    standings,
    sums,
)

STRENGTHS = (0.4, 0.1, 0.0, -0.2, -0.3)


def seat_rows(groups: int = 60, seats: int = 3, seed: int = 1) -> pl.DataFrame:
    """Rows of the table `seats` as far as sums look at them."""
    rows = rows_of(simulate(seed, STRENGTHS, seats, groups, luck=0.5))
    first = pl.col("rank") == pl.col("rank").min().over("match")
    return rows.with_columns(
        score=(pl.col("rank") * 3 + pl.col("match") % 5).cast(pl.Float64),
        win=pl.when(first).then(1 / first.sum().over("match")).otherwise(0.0),
        outcome=pl.lit(FINISHED),
        decisions=pl.lit(4, pl.UInt32),
        think_ms_total=pl.lit(2.0, pl.Float32),
        think_ms_max=(pl.col("match") % 7).cast(pl.Float32),
    )


def blocks(rows: pl.DataFrame, edges: Sequence[int]) -> list[Sums]:
    """The sums of groups between one edge and the next."""
    pairs = itertools.pairwise([0, *edges, int(rows["group"].max()) + 1])  # type: ignore[arg-type]
    return [sums(rows.filter(pl.col("group").is_between(a, b - 1))) for a, b in pairs]


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_sums_of_blocks_equal_the_sums_of_all_rows(seats: int) -> None:
    rows = seat_rows(seats=seats)
    whole = sums(rows)
    parts = blocks(rows, (1, 5, 6, 40))
    for order in (parts, parts[::-1], [parts[2], parts[4], parts[0], parts[3], parts[1]]):
        total = add_sums(order)
        assert total is not None
        assert total.matches == whole.matches == 60 * seats
        for one, other in zip(total.sketches, whole.sketches, strict=True):
            assert one.bots == other.bots
            assert one.rows.equals(other.rows)
        for mine, its in zip(total.seats, whole.seats, strict=True):
            np.testing.assert_allclose(mine.win, its.win, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(mine.ahead, its.ahead, rtol=1e-12, atol=1e-12)
            assert mine.points is not None
            assert its.points is not None
            np.testing.assert_allclose(mine.points, its.points, rtol=1e-12, atol=1e-10)


def test_the_leaderboard_of_added_blocks_is_that_of_the_rows() -> None:
    rows = seat_rows(groups=80)
    total = add_sums(blocks(rows, range(7, 80, 7)))
    assert total is not None
    lines = board_of_sums(total, headline="win", lower_is_better=True).lines
    direct = standings(rate(*sketches(rows)))
    for line, own in zip(lines, direct, strict=True):
        assert line.bot == own.bot
        assert line.rating == pytest.approx(own.rating, rel=1e-12)
        assert line.rating_se == pytest.approx(own.rating_se, rel=1e-12)
        assert line.letters == own.letters
        mine = rows.filter(pl.col("bot") == line.bot)
        assert line.win_share == pytest.approx(mine["win"].mean(), rel=1e-12)
        assert line.mean_score == pytest.approx(mine["score"].mean(), rel=1e-12)
        assert line.ms_max == mine["think_ms_max"].max()
        assert line.matches == mine.height


def test_nothing_adds_up_to_nothing() -> None:
    assert add_sums([]) is None


def test_effects_of_added_seats_are_those_of_all_matches() -> None:
    rows = seat_rows()
    total = add_sums(blocks(rows, (20, 21)))
    assert total is not None
    [matches], [own] = arrange(rows).values(), total.seats
    for one, other in zip(effects_of(own), seat_effects(matches), strict=True):
        for name in one.__struct_fields__:
            assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-12)


def test_pairs_of_runs_with_two_table_sizes_are_added() -> None:
    two, three = seat_rows(seats=2), seat_rows(seats=3, seed=2)
    both = add_sums([sums(two), sums(three)])
    assert both is not None
    assert [one.seats for one in both.sketches] == [2, 3]
    met = {(p.bot, p.opponent): p for p in head_to_head(both.sketches)}
    alone = [head_to_head(one.sketches) for one in (sums(two), sums(three))]
    for pair, found in met.items():
        parts = [p for lines in alone for p in lines if (p.bot, p.opponent) == pair]
        assert found.matches == sum(p.matches for p in parts)
        assert found.groups == sum(p.groups for p in parts)
        assert found.ahead * found.matches == pytest.approx(sum(p.ahead * p.matches for p in parts))


def test_superiority_is_over_the_next_in_the_order() -> None:
    board = Board(sketches(seat_rows(groups=200)))
    [table] = board.tables
    superior = table.win.superiority
    assert superior is not None
    for line, after in itertools.pairwise(board.lines):
        one, other = table.bots.index(line.bot), table.bots.index(after.bot)
        assert line.superiority == superior[one, other] >= 0.5
    assert board.lines[-1].superiority is None


def test_a_run_that_waited_for_knowledge_shows_intervals_of_the_sequence() -> None:
    board = Board(sketches(seat_rows(groups=300)))
    once, waited = (
        report(board, stop, outlook_of(board, stop))
        for stop in ({"max_matches": 900}, {"pairs": "separated"})
    )
    assert (once.every_look, waited.every_look) == (False, True)
    for line, wider in zip(once.standings, waited.standings, strict=True):
        assert line.rating == wider.rating
        assert line.rating_high is not None
        assert wider.rating_high is not None
        assert wider.rating_high > line.rating_high


def test_a_report_comes_back_from_its_lines_and_facts() -> None:
    board = Board(sketches(seat_rows()), headline="placement")
    found = report(board, {}, outlook_of(board, {}))
    assert found.notes
    lines = [{n: getattr(line, n) for n in line.__struct_fields__} for line in found.standings]
    assert from_facts(lines, facts_of(found)) == found
    for facts in ({}, {"headline": "beauty"}):
        with pytest.raises(ValueError, match="not a leaderboard"):
            from_facts(lines, facts)


def test_a_board_of_nothing_has_no_lines_and_says_nothing() -> None:
    empty = report(Board(()), {}, None)
    assert empty == Report(headline="win", every_look=False, standings=(), notes=())
