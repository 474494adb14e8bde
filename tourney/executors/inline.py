"""Plays blocks in this process, one after another: for tests and for a machine without Ray."""

from collections import deque
from collections.abc import Mapping

from tourney.errors import NodeNoisy, TourneyError
from tourney.executors.base import (
    BlockDone,
    BlockFailed,
    ExecutorEvent,
    WorkerJoined,
    WorkPlan,
)
from tourney.executors.worker import TableWorker
from tourney.schedule.scheduler import Block

__all__ = ("InlineExecutor",)


class InlineExecutor:
    """One worker, here."""

    def __init__(self, address: str = "local") -> None:
        self.address = address
        self._worker: TableWorker | None = None
        self._queue: deque[Block] = deque()
        self._news: deque[ExecutorEvent] = deque()

    def start(self, plan: WorkPlan, archives: Mapping[str, bytes], workers: int | None) -> int:
        """Prepare the one worker; `workers` is not used."""
        del workers
        self._worker = TableWorker(plan, archives)
        self._news.append(WorkerJoined("inline"))
        return 1

    def submit(self, worker: str, block: Block) -> None:
        """Queue a block."""
        del worker
        self._queue.append(block)

    def wait(self, seconds: float) -> list[ExecutorEvent]:
        """News that came, or the next block, played now however long it takes."""
        del seconds
        if not self._news and self._queue:
            self._news.append(self._play(self._queue.popleft()))
        events = list(self._news)
        self._news.clear()
        return events

    def _play(self, block: Block) -> ExecutorEvent:
        assert self._worker is not None, "submit before start"
        try:
            return BlockDone("inline", block.id, self._worker.play(block))
        except TourneyError as error:
            return BlockFailed("inline", block.id, str(error), isinstance(error, NodeNoisy))

    def close(self) -> None:
        """End the bots."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None
