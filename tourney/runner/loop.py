"""Carries out a run: the scheduler says what, an executor plays, the store keeps.

The runner decides nothing about matches and starts no bot. It owns the order of a commit and what
happens when somebody presses Ctrl-C.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

import polars as pl

from tourney.errors import WorkerLost
from tourney.executors.base import (
    BlockDone,
    BlockFailed,
    BlockResult,
    Executor,
    ExecutorEvent,
    WorkerGone,
    WorkerJoined,
    WorkerLeaving,
    WorkPlan,
)
from tourney.games.registry import make_game
from tourney.ratings import Report, sums
from tourney.runner.rounds import RoundKeeper
from tourney.runner.snapshots import Snapshots
from tourney.runner.standing import Ratings
from tourney.runner.stopping import StopCheck
from tourney.runner.withdrawal import FaultStreaks
from tourney.schedule.scheduler import Block, Scheduler
from tourney.store import Heartbeat, RunReader, RunWriter

__all__ = ("Progress", "Runner")

WAIT_SECONDS = 0.25
"""How long the runner sleeps for news before it looks at the clock and for a stop."""

COMMIT_BYTES = 16 << 20
"""Rows of this size are saved at once, however little time has passed: it bounds our memory."""

SNAPSHOT_SECONDS = 10.0
"""Derived files are written this often, and at the end."""

BEAT_SECONDS = 3.0
"""How often the run's folder is told that we live; far below `store.heartbeat.SILENT_SECONDS`."""

NO_WORKER_SECONDS = 120.0
"""A run with no worker at all for this long will not get one."""


class Progress(NamedTuple):
    """Where a run stands, for whoever shows it."""

    matches: int
    matches_total: int
    rate: float
    """Matches a second since this session began."""
    faults: int
    workers: int
    report: Report | None
    """The last leaderboard that was worked out, None before the first."""
    open_ended: bool = False
    """Whether a stopping rule will end the run, and not its schedule."""
    clock: str = ""
    """How bots share the clock, in words; empty before the first block."""

    @property
    def eta_seconds(self) -> float | None:
        """Seconds left at the present rate, if that can be told."""
        if self.open_ended:
            return None
        return (self.matches_total - self.matches) / self.rate if self.rate > 0 else None


class Runner:
    """One session of a run: from its start or resume to its end or stop."""

    def __init__(
        self,
        writer: RunWriter,
        executor: Executor,
        scheduler: Scheduler,
        commit_seconds: float,
        report: Callable[[Progress], None],
        withdraw_after: int = 0,
        stop_check: StopCheck | None = None,
        rounds: RoundKeeper | None = None,
    ) -> None:
        """Put the parts together.

        Args:
            writer: the run's folder.
            executor: where blocks are played; this closes it.
            scheduler: what is left to play.
            commit_seconds: longest time a finished block waits to be saved.
            report: called after each commit and now and then between.
            withdraw_after: faults in a row that take a bot out; 0 for never.
            stop_check: says after each commit whether enough is known.
            rounds: draws the next round when one is committed, if the format has such rounds.
        """
        self._rounds = rounds
        self._stop_check = stop_check
        self._stopped_by: str | None = None
        self._streaks = FaultStreaks(withdraw_after)
        if rounds is None:
            scheduler.withdrawn.update(writer.info.withdrawn)
        self._writer = writer
        self._executor = executor
        self._scheduler = scheduler
        self._commit_seconds = commit_seconds
        self._report = report
        self._pending: list[tuple[tuple[int, ...], BlockResult]] = []
        self._pending_bytes = 0
        self._workers: dict[str, str] = {}
        """Workers that can play, with their nodes."""
        info = writer.info
        game = make_game(info.game, info.rules).info
        self._ratings = Ratings(game.headline, info.stop, lower_is_better=game.lower_is_better)
        self._snapshots = Snapshots(writer)
        self._snapshot_at = -SNAPSHOT_SECONDS
        self._matches_before = writer.info.counts.matches
        self._seconds_before = writer.info.seconds
        self._began = self._committed_at = time.monotonic()
        self._has_played = False
        self._beat_at = -BEAT_SECONDS
        self._stop_now = False
        reader = RunReader(writer.folder)
        for commit in writer.commits:
            # Segment by segment: all rows of a long run need not fit in memory.
            self._ratings.add(sums(reader.rows("seats", [commit])))

    def stop(self) -> None:
        """Ask to stop: once lets blocks in play finish, twice ends at once. Signal-safe."""
        self._stop_now = self._scheduler.stopping
        self._scheduler.stopping = True

    def run(self, plan: WorkPlan, archives: Mapping[str, bytes], workers: int | None) -> bool:
        """Play until the schedule is done or a stop.

        Returns:
            whether every group is committed, or a stopping rule ended the run.

        Raises:
            WorkerLost: no worker can be had, or a block fails again and again.
            SandboxUnavailable: bots cannot be confined where they would run.
            StoreError: the disk refuses; what was committed stays.
        """
        self._beat()
        try:
            coming = self._executor.start(plan, archives, workers)
            self._writer.info.workers = coming
            self._writer.info.status = "running"
            self._writer.save_info()
            self._began = seen_worker = time.monotonic()
            while not self._scheduler.over and not self._stop_now:
                for event in self._executor.wait(WAIT_SECONDS):
                    self._handle(event)
                now = time.monotonic()
                if self._pending and now - self._committed_at >= self._commit_seconds:
                    self._commit()
                seen_worker = now if self._workers else seen_worker
                if now - seen_worker > NO_WORKER_SECONDS:
                    raise WorkerLost(f"no worker came up within {NO_WORKER_SECONDS:.0f} s")
                self._beat()
                self._rate()
                self._report(self._progress())
        finally:
            try:
                if self._pending:
                    self._commit()
            finally:
                self._executor.close()
        self._rate(last=True)
        self._report(self._progress())
        return self._scheduler.left == 0 or self._stopped_by is not None

    def _handle(self, event: ExecutorEvent) -> None:
        match event:
            case WorkerJoined(worker=worker, node=node):
                if not self._has_played:
                    # Play begins now: what the workers needed to come up is no match's time.
                    self._has_played, self._began = True, time.monotonic()
                self._workers[worker] = node
                self._submit(worker, self._scheduler.worker_joined(worker))
            case BlockDone():
                self._take(event)
            case BlockFailed(worker=worker, block_id=block_id, reason=reason, noisy=noisy):
                if noisy:
                    before = self._writer.info.noisy
                    self._writer.info.noisy = {**before, worker: before.get(worker, 0) + 1}
                self._submit(worker, self._or_lost(worker, block_id, reason))
            case WorkerLeaving(worker=worker):
                self._scheduler.worker_leaving(worker)
            case WorkerGone():
                self._lose(event)

    def _take(self, done: BlockDone) -> None:
        """Keep a block until the next commit, which is at once when it ends a round."""
        result = done.result
        groups, blocks = self._scheduler.block_done(
            done.worker, done.block_id, result.seconds, result.starting
        )
        self._submit(done.worker, blocks)
        if not groups:
            return
        info = self._writer.info
        info.at_once = max(info.at_once, result.at_once)
        self._pending.append((groups, result))
        self._pending_bytes += sum(int(rows.estimated_size()) for rows in result.tables.values())
        if self._rounds is None:
            self._withdraw(result.tables["seats"])
        elif self._scheduler.left == 0:
            self._next_round(self._rounds)
        if self._pending_bytes >= COMMIT_BYTES:
            self._commit()

    def _lose(self, gone: WorkerGone) -> None:
        self._workers.pop(gone.worker, None)
        try:
            given = self._scheduler.worker_lost(gone.worker, node_lost=gone.node_lost)
        except RuntimeError as error:
            raise WorkerLost(f"{error}, the last time because of: {gone.reason}") from error
        for other, block in given:
            self._executor.submit(other, block)

    def _withdraw(self, seats: pl.DataFrame) -> None:
        """Take out bots that fault again and again; later blocks leave them out."""
        info = self._writer.info
        for bot, reason in self._streaks.add(seats).items():
            if bot not in info.withdrawn:
                info.withdrawn = {**info.withdrawn, bot: reason}
                self._scheduler.withdrawn.add(bot)

    def _next_round(self, rounds: RoundKeeper) -> None:
        """Draw from what is committed: only that is the same for whoever goes on with the run."""
        self._commit()
        if self._stopped_by is None and rounds.next() is not None:
            for worker, block in self._scheduler.extend(rounds.schedule.drawn):
                self._executor.submit(worker, block)
        self._writer.save_info()

    def _or_lost(self, worker: str, block_id: int, reason: str) -> list[Block]:
        try:
            return self._scheduler.block_failed(worker, block_id)
        except RuntimeError as error:
            raise WorkerLost(f"{error}, the last time because of: {reason}") from error

    def _submit(self, worker: str, blocks: list[Block]) -> None:
        for block in blocks:
            self._executor.submit(worker, block)

    def _commit(self) -> None:
        """Save what came; only then does it count."""
        groups = [group for some, _ in self._pending for group in some]
        tables = {
            name: pl.concat([result.tables[name] for _, result in self._pending])
            for name in ("matches", "seats", "faults", "logs")
        }
        added = [result.sums for _, result in self._pending]
        self._pending.clear()
        self._pending_bytes = 0
        seconds = self._seconds_before + time.monotonic() - self._began
        self._writer.commit(groups, tables, seconds)
        self._committed_at = time.monotonic()
        for one in added:
            self._ratings.add(one)
        if self._rounds is not None:
            self._rounds.add(tables["seats"])
        if self._stop_check is not None:
            known = self._ratings.sums() if self._stop_check.waits else None
            sketches = () if known is None else known.sketches
            matches = self._writer.info.counts.matches
            self._stop_by_rule(self._stop_check.reason(sketches, matches, seconds))

    def _stop_by_rule(self, reason: str | None) -> None:
        """Let blocks in play finish and begin no more; who was here first has stopped the run."""
        if reason is not None and not self._scheduler.stopping:
            self._scheduler.stopping = True
            self._stopped_by = self._writer.info.reason = reason

    def _rate(self, *, last: bool = False) -> None:
        """Work the ratings out anew when it is time, and now and then keep them as files."""
        if not (self._ratings.is_due or last):
            return
        found = self._ratings.refit(last=last)
        known, moment = self._ratings.sums(), time.monotonic()
        if found is None or known is None:
            return
        seconds = self._writer.info.seconds
        self._snapshots.remember(found, known.matches, seconds)
        if last or moment - self._snapshot_at >= SNAPSHOT_SECONDS:
            self._snapshot_at = moment
            self._snapshots.write(found, known)

    def _beat(self) -> None:
        """Tell the folder that we live, for those who look from elsewhere."""
        moment = time.monotonic()
        if moment - self._beat_at < BEAT_SECONDS:
            return
        self._beat_at = moment
        self._writer.beat(
            Heartbeat(
                rate=self._progress().rate,
                nodes=Counter(self._workers.values()),
                blocks=self._scheduler.in_flight(),
            )
        )

    def _progress(self) -> Progress:
        counts = self._writer.info.counts
        elapsed = max(time.monotonic() - self._began, 1e-9)
        return Progress(
            matches=counts.matches,
            matches_total=self._writer.info.most_matches,
            rate=(counts.matches - self._matches_before) / elapsed,
            faults=counts.faults,
            workers=len(self._workers),
            report=self._ratings.report,
            open_ended=self._stop_check is not None,
            clock=self._writer.info.clock_text,
        )
