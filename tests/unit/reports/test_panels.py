"""Panels: each says what the functions of the ratings say, and finds what was planted."""

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.unit.dashboard.synthetic import make_run
from tests.unit.ratings.simulated import rows_of, simulate
from tests.unit.ratings.test_sums import seat_rows
from tourney.ratings import Matches, Sums, arrange, sums
from tourney.reports import PANELS, Evidence, PanelName, panel
from tourney.reports.panels import Cycles, Gain, HeadToHead, Neighbours, OutlookPanel, Seats, Ties
from tourney.store import RunReader


class Made(Evidence):
    """Evidence of made-up matches."""

    def __init__(self, rows: pl.DataFrame) -> None:
        super().__init__(())
        self._rows = rows

    @cached_property
    def sums(self) -> Sums | None:
        return sums(self._rows)

    @cached_property
    def arranged(self) -> dict[int, Matches]:
        return dict(arrange(self._rows))


@pytest.mark.parametrize("name", PANELS)
def test_a_run_without_a_match_has_panels_that_say_so(tmp_path: Path, name: PanelName) -> None:
    make_run(tmp_path / "r", play=0, finish=False)
    found: Any = panel(Evidence([RunReader(tmp_path / "r")]), name)
    assert found.lines == ()
    assert isinstance(found, PANELS[name][0])


def test_head_to_head_agrees_with_counting(tmp_path: Path) -> None:
    rows = seat_rows(groups=120)
    found = panel(Made(rows), "head-to-head")
    assert isinstance(found, HeadToHead)
    for line in found.lines:
        ours = rows.filter(pl.col("bot") == line.bot).select("match", mine="rank")
        both = ours.join(rows.filter(pl.col("bot") == line.opponent), on="match")
        ahead = (both["mine"] < both["rank"]).mean()
        assert line.ahead == pytest.approx(ahead)
        assert line.matches == both.height
        back = next(o for o in found.lines if (o.bot, o.opponent) == (line.opponent, line.bot))
        assert line.expected is not None
        assert back.expected is not None
        assert line.z is not None
        assert back.z is not None
        assert line.expected + back.expected == pytest.approx(1)
        assert line.z == -back.z
        assert line.superiority is not None
        assert (line.superiority > 0.5) == (line.ahead > 0.5)


def circle(groups: int) -> pl.DataFrame:
    """Three bots at tables of two, each of which beats the next four times in five."""
    lot = np.random.default_rng(5)
    rows = []
    for group in range(groups):
        first = group % 3
        second = (first + 1) % 3
        for rotation in range(2):
            won = lot.random() < 0.8
            for place, bot in enumerate((first, second)):
                rank = 1 if (place == 0) == won else 2
                rows.append(
                    {
                        "match": 2 * group + rotation,
                        "group": group,
                        "seat": (place + rotation) % 2,
                        "bot": "abc"[bot],
                        "rank": rank,
                        "score": float(rank),
                        "win": float(rank == 1),
                        "outcome": "finished",
                        "decisions": 1,
                        "think_ms_total": 1.0,
                        "think_ms_max": 1.0,
                    }
                )
    return pl.DataFrame(rows).with_columns(pl.col("rank").cast(pl.UInt8))


def test_a_circle_is_found_and_only_where_it_is_certain() -> None:
    found = panel(Made(circle(600)), "cycles")
    assert isinstance(found, Cycles)
    assert [one.bots for one in found.lines[0].cycles] == [("a", "b", "c")]
    assert found.note.startswith("Three bots beat each other in a circle")
    met = panel(Made(circle(600)), "head-to-head")
    assert isinstance(met, HeadToHead)
    assert all(line.odd for line in met.lines)
    assert met.note.startswith("3 pairs differ")
    straight = panel(Made(seat_rows(groups=200)), "cycles")
    assert isinstance(straight, Cycles)
    assert straight.lines[0].cycles == ()
    assert "one order fits" in straight.note


def test_a_seat_that_wins_more_is_named() -> None:
    matches = simulate(2, (0.0, 0.0, 0.0, 0.0), 3, 400)
    even = rows_of(matches)
    # Whoever sits in seat 0 comes first in every second group.
    lucky = (pl.col("group") % 2 == 0) & (pl.col("seat") == 0)
    pushed = even.with_columns(rank=pl.when(lucky).then(pl.lit(0, pl.UInt8)).otherwise("rank"))
    ranked = pushed.with_columns(pl.col("rank").rank("min").over("match").cast(pl.UInt8))
    first = pl.col("rank") == 1
    full = ranked.with_columns(
        win=pl.when(first).then(1 / first.sum().over("match")).otherwise(0.0),
        outcome=pl.lit("finished"),
        decisions=pl.lit(1),
        think_ms_total=pl.lit(1.0),
        think_ms_max=pl.lit(1.0),
    )
    found = panel(Made(full), "seats")
    assert isinstance(found, Seats)
    assert found.note.startswith("Seat 0 takes 6")
    assert found.lines[0].win_share == pytest.approx(full.filter(seat=0)["win"].mean())
    # Its rating is above the others' by far more than chance, and ratings of seats sum to zero.
    assert found.lines[0].rating_se is not None
    assert found.lines[0].rating > 10 * found.lines[0].rating_se
    assert sum(line.rating for line in found.lines) == pytest.approx(0, abs=1e-6)
    fair = panel(Made(seat_rows(groups=300)), "seats")
    assert isinstance(fair, Seats)
    assert fair.note.startswith("Wins are spread evenly")


def test_the_first_groups_are_whole_groups() -> None:
    matches = simulate(4, (0.0, 0.1, 0.2, 0.3), 3, 20)
    part = matches.first(7)
    assert part.seating.tolist() == matches.seating[:, :21].tolist()
    assert part.group_of.tolist() == [group for group in range(7) for _ in range(3)]
    assert part.scores is not None
    assert part.scores.shape == (3, 21)
    assert matches.first(20) is matches


def test_neighbours_need_three_seats() -> None:
    two = panel(Made(seat_rows(seats=2)), "neighbours")
    assert isinstance(two, Neighbours)
    assert two.lines == ()
    three = panel(Made(seat_rows(seats=3)), "neighbours")
    assert isinstance(three, Neighbours)
    assert {line.bot for line in three.lines} == {f"bot-{i:03d}" for i in range(5)}


def test_ties_are_counted() -> None:
    matches = simulate(4, (0.0, 0.0, 0.0), 3, 100, ties=True)
    firsts = (matches.ranks == matches.ranks.min(axis=0)).sum(axis=0)
    found = panel(Made(rows_of(matches)), "ties")
    assert isinstance(found, Ties)
    assert found.lines[0].first == pytest.approx((firsts > 1).mean())
    assert f"{100 * (firsts > 1).mean():.1f} % of matches of 3" in found.note


def test_gain_and_outlook_are_those_of_the_leaderboard(tmp_path: Path) -> None:
    make_run(tmp_path / "r", deals=20)
    evidence = Evidence([RunReader(tmp_path / "r")])
    gain, look = panel(evidence, "gain"), panel(evidence, "outlook")
    assert isinstance(gain, Gain)
    assert isinstance(look, OutlookPanel)
    assert evidence.board.gain in gain.lines
    assert [line.bot for line in look.lines] == [line.bot for line in evidence.board.lines][:-1]
    assert {one.model for one in gain.lines} == {"win", "placement"}
