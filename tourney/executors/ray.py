"""Plays blocks with Ray actors, on this machine or a cluster."""

import contextlib
import os
import queue
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayError, RayTaskError

from tourney.errors import NodeNoisy, SandboxUnavailable, TourneyError, WorkerLost
from tourney.executors import cores
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
from tourney.executors.canary import late_after
from tourney.executors.cluster import Connection
from tourney.executors.pauses import PauseWatch
from tourney.executors.worker import TableWorker, collect_seldom
from tourney.schedule.scheduler import Block

__all__ = ("RayExecutor",)

CLOSE_SECONDS = 5.0
"""How long workers get to end their bots before they are killed."""

MAX_DEATHS = 20
"""Workers that may die in a row, without a block played, before we say that something is wrong."""

LOOK_SECONDS = 2.0
"""How often the cluster is asked for nodes that came, leave or went."""


class RayWorker(TableWorker):
    """A table worker as a Ray actor, on a core of its own where there is one."""

    def __init__(self, plan: WorkPlan, archives: Mapping[str, bytes]) -> None:
        """Take a core and prepare every bot."""
        self._slot = cores.CoreSlot()
        super().__init__(plan, archives, self._slot.claim())
        collect_seldom()
        self._watch = PauseWatch()
        self._bound = late_after(plan.limits.move_ms) / 1000

    def play(self, block: Block) -> BlockResult:
        """Play a block.

        Raises:
            SandboxUnavailable: a process could not be confined; nothing of the block counts.
            NodeNoisy: this machine is too busy for a fair clock, or was stopped while bots were
                asked; likewise.
        """
        core = self._slot.claim()
        if core is not None:
            # Another worker left it to us. Bots come to it as they are started anew.
            os.sched_setaffinity(0, {core})
        self._watch.longest()
        result = super().play(block)
        pause = self._watch.longest()
        if pause > self._bound and result.tables["faults"].height and not block.last_attempt:
            raise NodeNoisy(
                f"this machine stood still for {pause:.1f} s, and bots were late or gone after it"
            )
        return result

    def ready(self) -> tuple[str, str]:
        """Answer once the constructor has prepared everything: the node's id and name."""
        return ray.get_runtime_context().get_node_id(), socket.gethostname()

    def leave(self) -> None:
        """End every bot, and this process."""
        self.close()
        ray.actor.exit_actor()


@dataclass
class _Held:
    """What we know of a worker."""

    actor: Any
    node: str = ""
    """Its node's id, once it is ready."""
    blocks: int = 0
    leaving: bool = False


class RayExecutor:
    """One actor a core, on as many cores as there are."""

    def __init__(
        self, address: str = "local", least: int | None = None, most: int | None = None
    ) -> None:
        """Play at `address`: `local`, `auto` for a running cluster, or `ray://host:10001`.

        Args:
            address: where.
            least: workers to ask for even if the cluster has fewer cores yet: it may grow.
            most: workers at the most, however many cores come.
        """
        self._ray = Connection(address)
        self._least = least or 1
        self._most = most or sys.maxsize
        self._fixed: int | None = None
        self._actor_class: Any = None
        self._plan_ref: Any = None
        self._archives_ref: Any = None
        self._workers: dict[str, _Held] = {}
        self._arrived: queue.SimpleQueue[tuple[str, int | None, Future[Any]]] = queue.SimpleQueue()
        self._events: list[ExecutorEvent] = []
        self._count = 0
        self._deaths = 0
        self._looked_at = 0.0

    def start(self, plan: WorkPlan, archives: Mapping[str, bytes], workers: int | None) -> int:
        """Connect and begin to start actors.

        Raises:
            WorkerLost: Ray cannot be started or reached.
        """
        self._ray.open(workers or cores.usable())
        # One object for all: Ray brings it to a node once, for all workers there.
        self._plan_ref = ray.put(plan)
        self._archives_ref = ray.put(dict(archives))
        self._actor_class = ray.remote(num_cpus=1, max_restarts=0)(RayWorker)
        self._fixed = workers
        if self._ray.is_private:
            self._fixed = workers or int(ray.cluster_resources().get("CPU", 1))
        self._grow()
        return len(self._workers)

    def _grow(self) -> None:
        """Start actors for cores that have none."""
        staying = sum(not held.leaving for held in self._workers.values())
        for _ in range(self._wanted() - staying):
            self._start_actor()

    def _wanted(self) -> int:
        if self._fixed is not None:
            return self._fixed
        leaving = self._ray.leaving_nodes()
        cores = sum(
            int(node["Resources"].get("CPU", 0))
            for node in ray.nodes()
            if node["Alive"] and node["NodeID"] not in leaving
        )
        return min(max(cores, self._least), self._most)

    def _start_actor(self) -> None:
        name = f"w{self._count}"
        self._count += 1
        actor = self._actor_class.remote(self._plan_ref, self._archives_ref)
        self._workers[name] = _Held(actor)
        self._expect(actor.ready.remote(), name, None)

    def _expect(self, call: Any, worker: str, block_id: int | None) -> None:
        """Have the call's end queued: asking Ray about thousands of calls at a time is slow."""
        future: Future[Any] = call.future()
        future.add_done_callback(lambda done: self._arrived.put((worker, block_id, done)))

    def submit(self, worker: str, block: Block) -> None:
        """Queue a block at an actor; one that is gone tells so as an event."""
        held = self._workers.get(worker)
        if held is not None:
            held.blocks += 1
            self._expect(held.actor.play.remote(block), worker, block.id)

    def wait(self, seconds: float) -> list[ExecutorEvent]:
        """Events that came, after at most `seconds`.

        Raises:
            SandboxUnavailable: workers cannot confine bots.
            WorkerLost: workers keep dying, or the cluster is gone.
        """
        try:
            if time.monotonic() - self._looked_at >= LOOK_SECONDS:
                self._look_at_nodes()
            self._take_news(0.0 if self._events else seconds)
        except (RayError, ConnectionError) as error:
            raise WorkerLost(
                f"the connection to Ray at {self._ray.address!r} is lost: {error}\n"
                "what was saved is kept, --resume goes on"
            ) from error
        events, self._events = self._events, []
        return events

    def _take_news(self, seconds: float) -> None:
        for worker, block_id, done in self._news(seconds):
            if worker in self._workers:
                event = (
                    self._joined(worker, done)
                    if block_id is None
                    else self._played(worker, block_id, done)
                )
                self._events.append(event)
                self._retire_if_idle(worker)

    def _news(self, seconds: float) -> Iterator[tuple[str, int | None, Future[Any]]]:
        """Calls that ended: waits for the first, takes what else is there."""
        with contextlib.suppress(queue.Empty):
            yield self._arrived.get(timeout=seconds) if seconds else self._arrived.get_nowait()
            while True:
                yield self._arrived.get_nowait()

    def _look_at_nodes(self) -> None:
        """Use nodes that came; let workers on nodes that leave finish what they hold."""
        self._looked_at = time.monotonic()
        leaving = self._ray.leaving_nodes()
        for worker, held in list(self._workers.items()):
            if held.node in leaving and not held.leaving:
                held.leaving = True
                self._events.append(WorkerLeaving(worker))
                self._retire_if_idle(worker)
        self._grow()

    def _retire_if_idle(self, worker: str) -> None:
        """End a leaving worker that has played all it held."""
        held = self._workers.get(worker)
        if held is not None and held.leaving and not held.blocks:
            del self._workers[worker]
            held.actor.leave.remote()
            self._events.append(WorkerGone(worker, "its node is leaving", node_lost=True))

    def _joined(self, worker: str, done: Future[Any]) -> ExecutorEvent:
        try:
            node, host = done.result()
        except RayTaskError as error:
            raise _our_error(error) from error
        except RayActorError as error:
            cause = getattr(error, "cause", None) or error
            if isinstance(cause, RayTaskError):
                raise _our_error(cause) from error
            if "SandboxUnavailable" in str(error):
                raise SandboxUnavailable(str(error)) from error
            return self._gone(worker, error)
        self._workers[worker].node = node
        return WorkerJoined(worker, host)

    def _played(self, worker: str, block_id: int, done: Future[Any]) -> ExecutorEvent:
        self._workers[worker].blocks -= 1
        try:
            result: BlockResult = done.result()
        except RayTaskError as error:
            cause = _our_error(error)
            return BlockFailed(worker, block_id, str(cause), isinstance(cause, NodeNoisy))
        except RayError as error:
            return self._gone(worker, error)
        self._deaths = 0
        return BlockDone(worker, block_id, result)

    def _gone(self, worker: str, error: Exception) -> ExecutorEvent:
        """Replace a dead actor; its other calls fail with it and are not news."""
        held = self._workers.pop(worker)
        alive = {node["NodeID"] for node in ray.nodes() if node["Alive"]}
        node_lost = held.leaving or (bool(held.node) and held.node not in alive)
        self._deaths += not node_lost
        if self._deaths > MAX_DEATHS:
            raise WorkerLost(f"{self._deaths} workers died in a row, the last one of: {error}")
        self._grow()
        return WorkerGone(worker, str(error).splitlines()[0], node_lost)

    def close(self) -> None:
        """Let workers end their bots, then end them, and Ray where it is ours."""
        if ray.is_initialized():
            self._end_actors()
        self._ray.close()

    def _end_actors(self) -> None:
        with contextlib.suppress(RayError, GetTimeoutError):
            ray.get(
                [held.actor.close.remote() for held in self._workers.values()],
                timeout=CLOSE_SECONDS,
            )
        for held in self._workers.values():
            with contextlib.suppress(RayError, ValueError):
                ray.kill(held.actor)
        self._workers.clear()


def _our_error(error: RayTaskError) -> TourneyError:
    """The exception of ours inside Ray's, or a WorkerLost that says what it was."""
    cause = error.cause
    if isinstance(cause, TourneyError):
        return cause
    return WorkerLost(f"a worker failed: {type(cause).__name__}: {cause}")
