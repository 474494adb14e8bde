"""The runner with a fake executor: commits exactly once, stops cleanly, gives up with a reason."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.store.test_store import create, tables
from tourney.errors import WorkerLost
from tourney.executors.base import (
    BlockDone,
    BlockFailed,
    BlockResult,
    ExecutorEvent,
    WorkerGone,
    WorkerJoined,
    WorkerLeaving,
    WorkPlan,
)
from tourney.ratings import sums
from tourney.runner import loop
from tourney.runner.loop import Runner
from tourney.schedule.scheduler import IN_FLIGHT, Block, Scheduler
from tourney.store import RunReader
from tourney.store.heartbeat import seconds_since


class FakeExecutor:
    """A script of workers: `fails` blocks fail, workers in `dies_after` die after n blocks."""

    def __init__(self, fails: int = 0, dies_after: Mapping[str, int] | None = None) -> None:
        self.fails = fails
        self.lives = dict(dies_after or {})
        self.events: list[ExecutorEvent] = []
        self.queue: list[tuple[str, Block]] = []
        self.submitted: list[Block] = []
        self.closed = False

    def start(self, plan: WorkPlan, archives: Mapping[str, bytes], workers: int | None) -> int:
        self.events += [WorkerJoined("w0"), WorkerJoined("w1")]
        return 2

    def submit(self, worker: str, block: Block) -> None:
        self.queue.append((worker, block))
        self.submitted.append(block)

    def wait(self, seconds: float) -> list[ExecutorEvent]:
        if not self.events and self.queue:
            worker, block = self.queue.pop(0)
            self.events.append(self.outcome(worker, block))
        events, self.events = self.events, []
        return events

    def outcome(self, worker: str, block: Block) -> ExecutorEvent:
        if self.fails:
            self.fails -= 1
            return BlockFailed(worker, block.id, "the machine hiccuped")
        if worker in self.lives:
            self.lives[worker] -= 1
            if self.lives[worker] < 0:
                self.queue = [(w, b) for w, b in self.queue if w != worker]
                return WorkerGone(worker, "killed")
        played = tables(*block.groups)
        result = BlockResult(tables=played, sums=sums(played["seats"]), seconds=0.1)
        return BlockDone(worker, block.id, result)

    def close(self) -> None:
        self.closed = True


def run(folder: Path, executor: FakeExecutor, groups: int = 30, stop_at: int | None = None) -> bool:
    writer = create(folder) if not folder.exists() else None
    if writer is None:
        from tourney.store import RunWriter

        writer = RunWriter.reopen(folder)
        writer.recount()
    scheduler = Scheduler(groups, writer.groups(), 0.5)
    runner = Runner(writer, executor, scheduler, 0.0, lambda _: None)
    if stop_at is not None:
        runner._report = lambda progress: runner.stop() if progress.matches >= stop_at else None
    plan: Any = None
    with closing(writer):
        return runner.run(plan, {}, None)


def committed(folder: Path) -> list[int]:
    return RunReader(folder).scan("matches").select("group").collect()["group"].to_list()


def test_every_group_is_committed_once(tmp_path: Path) -> None:
    executor = FakeExecutor()
    assert run(tmp_path / "r", executor)
    assert sorted(committed(tmp_path / "r")) == sorted([*range(30), *range(30)])
    assert executor.closed


@pytest.mark.parametrize("executor", [FakeExecutor(fails=2), FakeExecutor(dies_after={"w1": 2})])
def test_lost_and_failed_blocks_are_played_again(tmp_path: Path, executor: FakeExecutor) -> None:
    assert run(tmp_path / "r", executor)
    assert sorted(committed(tmp_path / "r")) == sorted([*range(30), *range(30)])
    assert any(block.attempt == 2 for block in executor.submitted)


def test_a_stop_keeps_what_was_played_and_a_resume_plays_the_rest(tmp_path: Path) -> None:
    assert not run(tmp_path / "r", FakeExecutor(), stop_at=20)
    first = set(committed(tmp_path / "r"))
    assert 10 <= len(first) < 30
    again = FakeExecutor()
    assert run(tmp_path / "r", again)
    assert sorted(committed(tmp_path / "r")) == sorted([*range(30), *range(30)])
    replayed = {group for block in again.submitted for group in block.groups}
    assert not replayed & first


def test_the_folder_is_told_that_the_driver_lives(tmp_path: Path) -> None:
    assert run(tmp_path / "r", FakeExecutor())
    pulse = RunReader(tmp_path / "r").heartbeat
    assert pulse is not None
    assert seconds_since(pulse.at) < 60


def test_the_heartbeat_counts_workers_by_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "BEAT_SECONDS", 0.0)

    class TwoNodes(FakeExecutor):
        def start(self, *_: Any) -> int:
            self.events += [WorkerJoined("w0", "left"), WorkerJoined("w1", "right"),
                            WorkerJoined("w2", "right"), WorkerGone("w0", "node died")]  # fmt: skip
            return 3

    assert run(tmp_path / "r", TwoNodes())
    pulse = RunReader(tmp_path / "r").heartbeat
    assert pulse is not None
    assert (pulse.nodes, pulse.workers) == ({"right": 2}, 2)


def test_what_workers_need_to_come_up_is_no_time_of_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(loop, "time", SimpleNamespace(monotonic=lambda: clock.now))

    class Slow(FakeExecutor):
        def start(self, *_: Any) -> int:
            return 2

        def wait(self, seconds: float) -> list[ExecutorEvent]:
            if clock.now < 100:
                clock.now = 100.0
                self.events.append(WorkerJoined("w0"))
            else:
                clock.now = 107.0
            return super().wait(seconds)

    assert run(tmp_path / "r", Slow())
    assert RunReader(tmp_path / "r").info.seconds == 7.0


def test_a_leaving_worker_gets_no_new_block(tmp_path: Path) -> None:
    class Drained(FakeExecutor):
        def start(self, *_: Any) -> int:
            self.events += [WorkerJoined("w0"), WorkerLeaving("w0"), WorkerJoined("w1")]
            return 2

        def submit(self, worker: str, block: Block) -> None:
            super().submit(worker, block)
            self.workers = [*getattr(self, "workers", []), worker]

    executor = Drained()
    assert run(tmp_path / "r", executor)
    assert executor.workers.count("w0") == IN_FLIGHT
    assert sorted(committed(tmp_path / "r")) == sorted([*range(30), *range(30)])


def test_rows_are_saved_before_they_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "COMMIT_BYTES", 1)
    writer = create(tmp_path / "r")
    plan: Any = None
    Runner(writer, FakeExecutor(), Scheduler(8, (), 0.05), 1e9, lambda _: None).run(plan, {}, 2)
    assert len(writer.commits) == 8, "each block at once, though no time has passed"


def test_a_block_that_never_works_ends_the_run_with_the_reason(tmp_path: Path) -> None:
    executor = FakeExecutor(fails=100)
    with pytest.raises(WorkerLost, match="the machine hiccuped"):
        run(tmp_path / "r", executor)
    assert executor.closed
