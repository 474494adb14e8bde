"""The contract of an executor: workers join, get blocks, and every block comes back as an event."""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec
import polars as pl

from tourney.config.models import Limits
from tourney.ratings.sums import Sums
from tourney.schedule.scheduler import Block
from tourney.schedule.terms import Terms

__all__ = (
    "BlockDone",
    "BlockFailed",
    "BlockResult",
    "Executor",
    "ExecutorEvent",
    "PlannedBot",
    "WorkPlan",
    "WorkerGone",
    "WorkerJoined",
    "WorkerLeaving",
)


class PlannedBot(msgspec.Struct, frozen=True, kw_only=True):
    """An entrant as a worker needs it."""

    name: str
    digest: str
    """Of its package; the archive travels apart, once a node."""
    options: Mapping[str, Any]


class WorkPlan(msgspec.Struct, frozen=True, kw_only=True):
    """All that a worker must know to play any block of a run."""

    game: str
    rules: Mapping[str, Any]
    terms: Terms
    bots: tuple[PlannedBot, ...]
    limits: Limits
    names: bool
    secret: bytes
    sandbox: str
    restart: str


class BlockResult(msgspec.Struct, frozen=True, kw_only=True):
    """What playing a block gave."""

    tables: Mapping[str, pl.DataFrame]
    """A frame of each table of records."""
    sums: Sums
    """What its seats add to the leaderboard."""
    seconds: float
    """Wall time of the block."""
    starting: float = 0.0
    """Seconds of it that went into starting and ending bots' processes."""
    at_once: int = 1
    """Matches that the worker may have in play at the same time."""


class WorkerJoined(msgspec.Struct, frozen=True):
    """A worker is ready to play."""

    worker: str
    node: str = ""
    """Where it is, for people."""


class WorkerLeaving(msgspec.Struct, frozen=True):
    """A worker's node will go: it finishes what it holds and gets nothing more."""

    worker: str


class BlockDone(msgspec.Struct, frozen=True):
    """A block was played to its end."""

    worker: str
    block_id: int
    result: BlockResult


class BlockFailed(msgspec.Struct, frozen=True):
    """Our side failed in a block; the worker lives on."""

    worker: str
    block_id: int
    reason: str
    noisy: bool = False
    """Whether the node was too busy for a fair clock."""


class WorkerGone(msgspec.Struct, frozen=True):
    """A worker died, with all it held."""

    worker: str
    reason: str
    node_lost: bool = False
    """Whether it went with its node, which says nothing about the block it played."""


ExecutorEvent = WorkerJoined | BlockDone | BlockFailed | WorkerLeaving | WorkerGone


class Executor(Protocol):
    """Plays blocks somewhere."""

    def start(self, plan: WorkPlan, archives: Mapping[str, bytes], workers: int | None) -> int:
        """Begin to start workers; they join as events.

        Args:
            plan: what is played.
            archives: packed bot packages by digest.
            workers: how many, or None for one a core.

        Returns:
            how many workers are coming.

        Raises:
            WorkerLost: the cluster cannot be reached.
            SandboxUnavailable: bots cannot be confined here.
        """
        ...

    def submit(self, worker: str, block: Block) -> None:
        """Queue a block at a worker."""
        ...

    def wait(self, seconds: float) -> list[ExecutorEvent]:
        """Events that came, after at most `seconds`."""
        ...

    def close(self) -> None:
        """End all workers and what we started; bounded in time."""
        ...
