"""Ratings while a run is played: spaced, equal to those of the rows, and kept as files."""

import itertools
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

from tests.unit.ratings.test_sums import seat_rows
from tests.unit.store.test_store import create, tables
from tests.unit.test_runner import FakeExecutor
from tourney.ratings import Report, Sums, outlook_of, report, sums
from tourney.reports import board_of, kept_report, report_of
from tourney.runner.loop import Progress, Runner
from tourney.runner.snapshots import HISTORY_POINTS, Snapshots, thinned
from tourney.runner.standing import REFIT_SECONDS, SHARE, UNADDED, Ratings
from tourney.schedule.scheduler import Scheduler
from tourney.store import RunReader, RunWriter
from tourney.store.derived import read_derived, write_derived

NAMES = ("ratings", "head_to_head", "seat_effects", "history")


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0
        self.a_look = 0.0
        """Seconds that pass between two looks."""

    def __call__(self) -> float:
        self.now += self.a_look
        return self.now


def ratings(clock: Clock) -> Ratings:
    return Ratings("win", {}, lower_is_better=True, clock=clock)


def block(number: int) -> Sums:
    return sums(tables(2 * number, 2 * number + 1)["seats"])


def test_ratings_are_worked_out_at_once_and_then_now_and_then() -> None:
    clock = Clock()
    live = ratings(clock)
    assert not live.is_due
    live.add(block(0))
    assert live.is_due
    assert live.report is None
    found = live.refit()
    assert found is not None
    assert [line.matches for line in found.standings] == [4, 4]
    live.add(block(1))
    assert not live.is_due
    clock.now += REFIT_SECONDS
    assert live.is_due
    live.refit()
    clock.now += 100 * REFIT_SECONDS
    # Nothing new, nothing to do.
    assert not live.is_due


def test_ratings_take_a_small_part_of_the_time_however_long_they_take() -> None:
    clock = Clock()
    live = ratings(clock)
    live.add(block(0))
    clock.a_look = 5.0
    begin = clock.now + clock.a_look
    live.refit()
    clock.a_look = 0.0
    live.add(block(1))
    clock.now = begin + 0.99 * SHARE * 5.0
    assert not live.is_due
    clock.now = begin + SHARE * 5.0
    assert live.is_due


def test_the_outlook_may_be_of_a_moment_ago_but_not_at_the_end() -> None:
    clock = Clock()
    live = ratings(clock)
    live.add(block(0))
    clock.a_look = 50.0
    first = live.refit()
    clock.a_look = 0.0
    for number in range(1, 30):
        live.add(block(number))
    clock.now += REFIT_SECONDS
    second, last = live.refit(), live.refit(last=True)
    assert first is not None
    assert second is not None
    assert last is not None
    assert second.standings == last.standings
    assert first.notes[0] == second.notes[0]
    # Sixty groups that all say the same tell the two bots apart.
    assert last.notes[0] == "every neighbour is told apart"


def test_sums_that_were_asked_for_between_are_still_new_to_the_leaderboard() -> None:
    clock = Clock()
    live = ratings(clock)
    live.add(block(0))
    live.refit()
    live.add(block(1))
    known = live.sums()
    assert known is not None
    assert known.matches == 8
    clock.now += REFIT_SECONDS
    assert live.is_due


def test_sums_that_wait_are_added_before_they_fill_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tourney.runner.standing.UNADDED", 8)
    assert UNADDED > 8
    live = ratings(Clock())
    for number in range(40):
        live.add(block(number))
        assert sum(one.size for one in live._fresh) <= 8
    known = live.sums()
    assert known is not None
    assert known.matches == 160


def play(folder: Path, groups: int, stop_at: int | None = None) -> tuple[RunWriter, list[Progress]]:
    writer = RunWriter.reopen(folder) if folder.exists() else create(folder)
    writer.recount()
    seen: list[Progress] = []
    runner = Runner(
        writer, FakeExecutor(), Scheduler(groups, writer.groups(), 0.5), 0.0, seen.append
    )
    if stop_at is not None:
        runner._report = lambda progress: runner.stop() if progress.matches >= stop_at else None
    plan: Any = None
    runner.run(plan, {}, None)
    return writer, seen


def of_rows(folder: Path) -> Report:
    reader = RunReader(folder)
    board, stop = board_of([reader]), reader.info.stop
    return report(board, stop, outlook_of(board, stop))


def assert_same(one: Report, other: Report) -> None:
    """Equal to the last digits: sums come in another order."""
    assert one.notes == other.notes
    for left, right in zip(one.standings, other.standings, strict=True):
        for name in left.__struct_fields__:
            mine, its = getattr(left, name), getattr(right, name)
            close = isinstance(its, float) and mine == pytest.approx(its, rel=1e-12)
            assert close or mine == its, name


def test_a_run_keeps_files_that_equal_what_its_rows_say(tmp_path: Path) -> None:
    writer, seen = play(tmp_path / "r", 30)
    writer.close()
    kept = kept_report(RunReader(tmp_path / "r"))
    assert kept is not None
    assert_same(kept, of_rows(tmp_path / "r"))
    assert seen[-1].report is not None
    assert_same(seen[-1].report, kept)
    folder = RunReader(tmp_path / "r").folder
    shapes = {name: read_derived(folder, name) for name in NAMES}
    assert all(frame is not None and frame.height for frame in shapes.values())


def test_a_resumed_run_goes_on_from_its_rows(tmp_path: Path) -> None:
    writer, _ = play(tmp_path / "r", 40, stop_at=20)
    writer.close()
    before = RunReader(tmp_path / "r").info.counts.matches
    assert 20 <= before < 80
    first = read_derived(RunReader(tmp_path / "r").folder, "history")
    assert first is not None
    writer, _ = play(tmp_path / "r", 40)
    writer.close()
    kept = kept_report(RunReader(tmp_path / "r"))
    assert kept is not None
    assert [line.matches for line in kept.standings] == [80, 80]
    assert_same(kept, of_rows(tmp_path / "r"))
    history = read_derived(RunReader(tmp_path / "r").folder, "history")
    assert history is not None
    # What was kept before the stop is still the beginning of the history.
    assert history["matches"].is_sorted()
    assert before in history["matches"].to_list()
    assert history["matches"].max() == 80


def test_what_was_kept_is_shown_only_while_it_is_all_there_is(tmp_path: Path) -> None:
    writer, _ = play(tmp_path / "r", 20, stop_at=4)
    reader = RunReader(tmp_path / "r")
    kept = kept_report(reader)
    assert kept is not None
    # The very same numbers, not only close ones: they are read and not made again.
    assert report_of(reader) == kept
    assert_same(report_of(reader, headline="placement"), of_rows(tmp_path / "r"))
    writer.commit([77], tables(77), 9.0)
    writer.close()
    later = RunReader(tmp_path / "r")
    assert kept_report(later) == kept
    found = report_of(later, hurried=True)
    assert found.standings[0].matches == kept.standings[0].matches + 2
    assert_same(found, of_rows(tmp_path / "r"))


def test_a_hurried_reader_of_a_long_run_is_content_with_what_was_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, _ = play(tmp_path / "r", 20, stop_at=4)
    writer.commit([77], tables(77), 9.0)
    writer.close()
    reader = RunReader(tmp_path / "r")
    monkeypatch.setattr("tourney.reports.kept.MANY", reader.info.counts.matches)
    assert report_of(reader, hurried=True) == kept_report(reader)
    assert report_of(reader) != kept_report(reader)


def test_what_another_version_kept_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, _ = play(tmp_path / "r", 10)
    writer.close()
    monkeypatch.setattr("tourney.reports.kept.__version__", "0.0.9")
    assert kept_report(RunReader(tmp_path / "r")) is None
    assert_same(report_of(RunReader(tmp_path / "r")), of_rows(tmp_path / "r"))


def test_derived_files_can_be_deleted_or_damaged(tmp_path: Path) -> None:
    writer, _ = play(tmp_path / "r", 20, stop_at=4)
    writer.close()
    for name in NAMES[1:]:
        (tmp_path / "r" / f"{name}.parquet").unlink()
    (tmp_path / "r" / "ratings.parquet").write_bytes(b"not parquet")
    assert kept_report(RunReader(tmp_path / "r")) is None
    writer, _ = play(tmp_path / "r", 20)
    writer.close()
    assert kept_report(RunReader(tmp_path / "r")) is not None
    other = pl.DataFrame({"bot": ["a"], "stars": [5]})
    write_derived(RunReader(tmp_path / "r").folder, "ratings", other)
    assert kept_report(RunReader(tmp_path / "r")) is None


def moments(snapshots: Snapshots) -> list[int]:
    return [point[0]["matches"] for point in snapshots._points]


def test_a_history_never_outgrows_its_bound_and_keeps_both_ends(tmp_path: Path) -> None:
    with_writer = create(tmp_path / "r")
    snapshots = Snapshots(with_writer)
    shown = report(board_of_rows(), {}, None)
    for number in range(1, 20_001):
        snapshots.remember(shown, 10 * number, number)
        assert len(snapshots._points) <= HISTORY_POINTS
    kept = moments(snapshots)
    assert kept[0] == 10
    assert kept[-1] == 200_000
    assert len(kept) > HISTORY_POINTS // 3
    gaps = [b - a for a, b in itertools.pairwise(kept)]
    # About evenly spaced: it is a picture of the whole run.
    assert max(gaps) < 4 * 200_000 / HISTORY_POINTS
    with_writer.close()


def board_of_rows() -> Any:
    from tourney.ratings import Board, sketches

    return Board(sketches(seat_rows(groups=5)))


def test_the_same_moment_is_one_point(tmp_path: Path) -> None:
    with_writer = create(tmp_path / "r")
    snapshots = Snapshots(with_writer)
    shown = report(board_of_rows(), {}, None)
    for matches in (10, 20, 20, 20):
        snapshots.remember(shown, matches, 1.0)
    assert moments(snapshots) == [10, 20]
    with_writer.close()


def test_thinning_keeps_the_first_and_the_last() -> None:
    points = [[{"matches": n}] for n in range(9)]
    assert [one[0]["matches"] for one in thinned(points)] == [0, 2, 4, 6, 8]
    assert [one[0]["matches"] for one in thinned(points[:8])] == [0, 2, 4, 6, 7]
    assert thinned(points[:1]) == points[:1]


def test_a_history_of_another_run_length_is_cut_to_what_is_committed(tmp_path: Path) -> None:
    writer, _ = play(tmp_path / "r", 10)
    folder = RunReader(tmp_path / "r").folder
    history = read_derived(folder, "history")
    assert history is not None
    late = history.tail(2).with_columns(matches=pl.lit(999, pl.Int64))
    write_derived(folder, "history", pl.concat([history, late]))
    assert 999 not in moments(Snapshots(writer))
    writer.close()


def test_a_line_of_the_file_is_a_line_of_the_leaderboard(tmp_path: Path) -> None:
    writer, _ = play(tmp_path / "r", 10)
    writer.close()
    kept = read_derived(RunReader(tmp_path / "r").folder, "ratings")
    assert kept is not None
    [first, *_] = of_rows(tmp_path / "r").standings
    assert kept.columns == list(msgspec.structs.asdict(first))
