"""Plays blocks with Ray actors, on this machine or a cluster. The only importer of ray.

Without an address a private Ray of this run is started; its daemons die with this process.
"""

import contextlib
import os
import queue
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

import ray
import ray._private.state
import ray._private.worker
from ray.exceptions import GetTimeoutError, RayActorError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from tourney.errors import NodeNoisy, SandboxUnavailable, TourneyError, WorkerLost
from tourney.executors import cores, reaper
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
from tourney.executors.pauses import PauseWatch
from tourney.executors.worker import TableWorker
from tourney.schedule.scheduler import Block

__all__ = ("RayExecutor", "on_every_node")

SHORT_FOLDER = "/tmp"  # noqa: S108 - a folder made by mkdtemp inside it
"""A socket's path has at most 107 characters, and Ray needs most of them."""

CLOSE_SECONDS = 5.0
"""How long workers get to end their bots before they are killed."""

NODE_SECONDS = 60.0
"""How long a node may take to answer; most of it is Ray starting a process there."""

CONNECT_SECONDS = 5.0

T = TypeVar("T")

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
        self.address = address
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
        self._reaper: subprocess.Popen[bytes] | None = None

    def start(self, plan: WorkPlan, archives: Mapping[str, bytes], workers: int | None) -> int:
        """Connect and begin to start actors.

        Raises:
            WorkerLost: Ray cannot be started or reached.
        """
        self._connect(workers)
        # One object for all: Ray brings it to a node once, for all workers there.
        self._plan_ref = ray.put(plan)
        self._archives_ref = ray.put(dict(archives))
        self._actor_class = ray.remote(num_cpus=1, max_restarts=0)(RayWorker)
        self._fixed = workers
        if self.address == "local":
            self._fixed = workers or int(ray.cluster_resources().get("CPU", 1))
        self._grow()
        return len(self._workers)

    def _connect(self, workers: int | None) -> None:
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if self.address == "local":
            # Short and of our own: Ray's sockets have long names, and its sessions pile up.
            folder = tempfile.mkdtemp(prefix="tourney-ray-", dir=SHORT_FOLDER)
            self._start_reaper(folder)
            options |= {
                "_temp_dir": folder,
                "address": "local",
                "include_dashboard": False,
                "num_cpus": workers or cores.usable(),
                "_system_config": {"enable_worker_prestart": False},
            }
        else:
            options["address"] = self.address
        # Ray tells of a dead worker in paragraphs on our standard output, where results go; we
        # say it ourselves. `log_to_driver` does not cover these.
        ray._private.worker._worker_logs_enabled = False
        try:
            ray.init(**options)
        except (RayError, ConnectionError, RuntimeError, ValueError, OSError) as error:
            raise WorkerLost(
                f"cannot reach Ray at {self.address!r}: {error}\n"
                "start it with `ray start --head`, or leave --address out to play on this machine"
            ) from error

    def _start_reaper(self, folder: str) -> None:
        """Ray's processes inherit a token, by which they are found even if we are killed.

        `folder` holds Ray's session; it goes with them.
        """
        token = secrets.token_hex(16)
        self._reaper = subprocess.Popen(
            [sys.executable, "-I", "-S", reaper.__file__, token, folder],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        os.environ[reaper.TOKEN_VARIABLE] = token

    def _grow(self) -> None:
        """Start actors for cores that have none."""
        staying = sum(not held.leaving for held in self._workers.values())
        for _ in range(self._wanted() - staying):
            self._start_actor()

    def _wanted(self) -> int:
        if self._fixed is not None:
            return self._fixed
        leaving = self._leaving_nodes()
        cores = sum(
            int(node["Resources"].get("CPU", 0))
            for node in ray.nodes()
            if node["Alive"] and node["NodeID"] not in leaving
        )
        return min(max(cores, self._least), self._most)

    def _leaving_nodes(self) -> set[str]:
        """Nodes that are being drained. Ray has no public way to ask; a client cannot at all."""
        if self.address == "local" or self.address.startswith("ray://"):
            return set()
        return set(ray._private.state.state.get_draining_nodes())

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
            WorkerLost: workers keep dying.
        """
        if time.monotonic() - self._looked_at >= LOOK_SECONDS:
            self._look_at_nodes()
        for worker, block_id, done in self._news(0.0 if self._events else seconds):
            if worker in self._workers:
                event = (
                    self._joined(worker, done)
                    if block_id is None
                    else self._played(worker, block_id, done)
                )
                self._events.append(event)
                self._retire_if_idle(worker)
        events, self._events = self._events, []
        return events

    def _news(self, seconds: float) -> Iterator[tuple[str, int | None, Future[Any]]]:
        """Calls that ended: waits for the first, takes what else is there."""
        with contextlib.suppress(queue.Empty):
            yield self._arrived.get(timeout=seconds) if seconds else self._arrived.get_nowait()
            while True:
                yield self._arrived.get_nowait()

    def _look_at_nodes(self) -> None:
        """Use nodes that came; let workers on nodes that leave finish what they hold."""
        self._looked_at = time.monotonic()
        leaving = self._leaving_nodes()
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
            held.actor.close.remote()
            held.actor.__ray_terminate__.remote()
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
            ray.shutdown()
        if self._reaper is not None:
            os.environ.pop(reaper.TOKEN_VARIABLE, None)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._reaper.communicate(timeout=CLOSE_SECONDS)
            self._reaper = None

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


def on_every_node(address: str, task: Callable[[], T]) -> dict[str, T | str]:
    """Call `task` once on each node of a cluster.

    Returns:
        What it returned, or why it did not, by the node's name and address.

    Raises:
        WorkerLost: there is no cluster at `address`.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        if host:
            # Ray itself would try for a minute.
            socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (RayError, ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise WorkerLost(
            f"cannot reach Ray at {address!r}: {error}\nstart it with `ray start --head`"
        ) from error
    try:
        # Ray takes functions only, not what can be called like one.
        remote = ray.remote(num_cpus=0, max_retries=0)(lambda: task())
        calls = {}
        for node in ray.nodes():
            if node["Alive"]:
                only_there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
                name = f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']})"
                # Two nodes of one machine, as tests have them, share name and address.
                name = name if name not in calls else f"{name} {node['NodeID'][:6]}"
                calls[name] = remote.options(scheduling_strategy=only_there).remote()
        ray.wait(list(calls.values()), num_returns=len(calls), timeout=NODE_SECONDS)
        return {name: _answer(call) for name, call in calls.items()}
    finally:
        ray.shutdown()


def _answer(call: Any) -> Any:
    try:
        return ray.get(call, timeout=0.1)
    except RayTaskError as error:
        return f"{type(error.cause).__name__}: {error.cause}"
    except RayError as error:
        return str(error).splitlines()[0] or type(error).__name__
