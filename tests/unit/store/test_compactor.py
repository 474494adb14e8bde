"""Merging segments: readers see every row once, whatever is interrupted where."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.unit.store.test_store import committed, create, tables
from tourney.errors import StoreError
from tourney.store import RunReader, RunWriter, compactor, journal, storage_at, writer

PLAYED = 40


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Merge early, so that a few commits exercise every size."""
    monkeypatch.setattr(compactor, "FAN_IN", 4)
    monkeypatch.setattr(compactor, "SEGMENT_BYTES", 100_000)


def segments(folder: Path, table: str = "matches") -> set[str]:
    return {path.stem for path in (folder / table).iterdir()}


def named(folder: Path) -> set[str]:
    return {commit.segment for commit in journal.read(storage_at(folder))}


def check_whole(folder: Path, groups: int) -> None:
    for table, rows in (("matches", 1), ("seats", 2)):
        numbers = RunReader(folder).scan(table).select("match").collect()["match"].to_list()
        assert sorted(numbers) == sorted([*range(2 * groups)] * rows)
    faults = RunReader(folder).scan("faults").select("match").collect()["match"].to_list()
    assert sorted(faults) == list(range(2 * groups))


def play(opened: RunWriter, groups: Iterator[int]) -> None:
    for group in groups:
        opened.commit((group,), tables(group, fault=True), float(group))


def test_segments_stay_few_and_every_row_is_there_once(tmp_path: Path) -> None:
    opened = create(tmp_path / "r")
    most = 0
    for group in range(PLAYED):
        play(opened, iter([group]))
        check_whole(tmp_path / "r", group + 1)
        most = max(most, len(named(tmp_path / "r")))
    assert most <= 8
    opened.finish()
    check_whole(tmp_path / "r", PLAYED)
    assert len(named(tmp_path / "r")) <= writer.FEW_SEGMENTS
    assert segments(tmp_path / "r") == segments(tmp_path / "r", "faults") == named(tmp_path / "r")


def test_the_counts_and_the_digest_are_those_of_an_unmerged_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    merged = create(tmp_path / "merged")
    play(merged, iter(range(PLAYED)))
    merged.finish()
    monkeypatch.setattr(compactor, "due", lambda commits: [])
    monkeypatch.setattr(writer, "FEW_SEGMENTS", 1000)
    plain = create(tmp_path / "plain")
    play(plain, reversed(range(PLAYED)))
    plain.finish()
    assert len(plain.commits) == PLAYED
    assert merged.info.digest == plain.info.digest
    merged.close()
    again = RunWriter.reopen(tmp_path / "merged")
    again.recount()
    assert again.info.counts == plain.info.counts
    assert again.info.seconds == PLAYED - 1
    assert again.groups() == [(0, PLAYED)]


def test_merged_rows_are_in_order(tmp_path: Path) -> None:
    opened = create(tmp_path / "r")
    for group in (3, 1, 2, 0):
        play(opened, iter([group]))
    assert committed(tmp_path / "r") == list(range(8))


def test_a_reader_that_began_before_a_merge_ends_well(tmp_path: Path) -> None:
    opened = create(tmp_path / "r")
    play(opened, iter(range(3)))
    before = RunReader(tmp_path / "r").scan("matches").select("match")
    play(opened, iter([3]))
    assert len(named(tmp_path / "r")) == 1
    assert before.collect()["match"].to_list() == list(range(6))


def test_merged_files_go_when_no_reader_can_want_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = create(tmp_path / "r")
    play(opened, iter(range(4)))
    assert len(segments(tmp_path / "r")) == 5
    monkeypatch.setattr(writer, "KEEP_SECONDS", 0.0)
    play(opened, iter([4]))
    assert segments(tmp_path / "r") == named(tmp_path / "r")


class Killed(BaseException):
    """The process is gone at this point: nothing may catch it."""


def durable_steps(monkeypatch: pytest.MonkeyPatch, allowed: float) -> Callable[[], int]:
    """Count what reaches the disk, and die before step number `allowed`."""
    steps = 0

    def guarded(real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **kwargs: Any) -> Any:
            nonlocal steps
            if steps >= allowed:
                raise Killed
            steps += 1
            return real(*args, **kwargs)

        return step

    monkeypatch.setattr(Path, "replace", guarded(Path.replace))
    monkeypatch.setattr(Path, "unlink", guarded(Path.unlink))
    monkeypatch.setattr(pl.LazyFrame, "sink_parquet", guarded(pl.LazyFrame.sink_parquet))
    return lambda: steps


def steps_of_a_merge(folder: Path) -> int:
    opened = create(folder)
    play(opened, iter(range(3)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "KEEP_SECONDS", 0.0)
        steps = durable_steps(patch, float("inf"))
        play(opened, iter([3]))
        return steps()


def test_a_kill_between_any_two_steps_loses_and_doubles_nothing(tmp_path: Path) -> None:
    total = steps_of_a_merge(tmp_path / "whole")
    assert total > 20, "a commit of three tables, a merge of three, a journal and the old files"
    outcomes = set()
    for allowed in range(total):
        folder = tmp_path / str(allowed)
        opened = create(folder)
        play(opened, iter(range(3)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(writer, "KEEP_SECONDS", 0.0)
            durable_steps(patch, allowed)
            with pytest.raises(Killed):
                play(opened, iter([3]))
        played = len(committed(folder)) // 2
        outcomes.add((played, len(named(folder))))
        check_whole(folder, played)
        opened.close()  # as the kernel does for a process that was killed
        again = RunWriter.reopen(folder)
        again.recount()
        assert again.info.counts.matches == 2 * played
        assert segments(folder) == named(folder), "what a crash left behind is swept"
        play(again, iter(range(played, 6)))
        check_whole(folder, 6)
    assert outcomes == {(3, 3), (4, 4), (4, 1)}


def test_a_full_disk_during_a_merge_is_said_and_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = create(tmp_path / "r")
    play(opened, iter(range(3)))

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(compactor, "merged", full)
        with pytest.raises(StoreError, match=r"cannot merge results .* No space left"):
            play(opened, iter([3]))
    check_whole(tmp_path / "r", 4)
    opened.close()
    again = RunWriter.reopen(tmp_path / "r")
    play(again, iter([4]))
    check_whole(tmp_path / "r", 5)
