"""Plays blocks with Ray actors, on this machine or a cluster. The only importer of ray.

Without an address a private Ray of this run is started; its daemons die with this process.
"""

import contextlib
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from tourney.errors import NodeNoisy, SandboxUnavailable, TourneyError, WorkerLost
from tourney.executors import reaper
from tourney.executors.base import (
    BlockDone,
    BlockFailed,
    BlockResult,
    ExecutorEvent,
    WorkerGone,
    WorkerJoined,
    WorkPlan,
)
from tourney.executors.worker import TableWorker
from tourney.schedule.scheduler import Block

__all__ = ("RayExecutor", "on_every_node")

CLOSE_SECONDS = 5.0
"""How long workers get to end their bots before they are killed."""

NODE_SECONDS = 60.0
"""How long a node may take to answer; most of it is Ray starting a process there."""

CONNECT_SECONDS = 5.0

T = TypeVar("T")

MAX_REPLACEMENTS = 20
"""Workers that may die in one run before we say that something is wrong."""


class RayWorker(TableWorker):
    """A table worker as a Ray actor."""

    def ready(self) -> bool:
        """Answer once the constructor has prepared everything."""
        return True


class RayExecutor:
    """One actor a core."""

    def __init__(self, address: str = "local") -> None:
        """Play at `address`: `local`, `auto` for a running cluster, or `ray://host:10001`."""
        self.address = address
        self._plan_ref: Any = None
        self._archives_ref: Any = None
        self._actors: dict[str, Any] = {}
        self._starting: dict[Any, str] = {}
        self._playing: dict[Any, tuple[str, int]] = {}
        self._count = 0
        self._replaced = 0
        self._cores: list[int] | None = None
        self._reaper: subprocess.Popen[bytes] | None = None

    def start(self, plan: WorkPlan, archives: Mapping[str, bytes], workers: int | None) -> int:
        """Connect and begin to start actors.

        Raises:
            WorkerLost: Ray cannot be started or reached.
        """
        self._connect(workers)
        self._plan_ref = ray.put(plan)
        self._archives_ref = ray.put(dict(archives))
        total = int(ray.cluster_resources().get("CPU", 1))
        wanted = workers or total
        if self.address == "local":
            self._cores = sorted(os.sched_getaffinity(0))
        for _ in range(wanted):
            self._start_actor()
        return wanted

    def _connect(self, workers: int | None) -> None:
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if self.address == "local":
            self._start_reaper()
            options |= {
                "address": "local",
                "include_dashboard": False,
                "num_cpus": workers or os.cpu_count() or 1,
                "_system_config": {"enable_worker_prestart": False},
            }
        else:
            options["address"] = self.address
        try:
            ray.init(**options)
        except (RayError, ConnectionError, RuntimeError, ValueError, OSError) as error:
            raise WorkerLost(
                f"cannot reach Ray at {self.address!r}: {error}\n"
                "start it with `ray start --head`, or leave --address out to play on this machine"
            ) from error

    def _start_reaper(self) -> None:
        """Ray's processes inherit a token, by which they are found even if we are killed."""
        token = secrets.token_hex(16)
        self._reaper = subprocess.Popen(
            [sys.executable, "-I", "-S", reaper.__file__, token],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        os.environ[reaper.TOKEN_VARIABLE] = token

    def _start_actor(self) -> None:
        name = f"w{self._count}"
        core = None
        if self._cores is not None:
            core = self._cores[self._count % len(self._cores)]
        self._count += 1
        actor = ray.remote(num_cpus=1, max_restarts=0)(RayWorker).remote(
            self._plan_ref, self._archives_ref, core
        )
        self._actors[name] = actor
        self._starting[actor.ready.remote()] = name

    def submit(self, worker: str, block: Block) -> None:
        """Queue a block at an actor; one that is gone tells so as an event."""
        actor = self._actors.get(worker)
        if actor is not None:
            self._playing[actor.play.remote(block)] = (worker, block.id)

    def wait(self, seconds: float) -> list[ExecutorEvent]:
        """Events that came, after at most `seconds`.

        Raises:
            SandboxUnavailable: workers cannot confine bots.
            WorkerLost: workers keep dying.
        """
        refs = [*self._starting, *self._playing]
        if not refs:
            return []
        ready, _ = ray.wait(refs, num_returns=1, timeout=seconds)
        if ready:
            more, _ = ray.wait(refs, num_returns=len(refs), timeout=0)
            ready = more or ready
        events: list[ExecutorEvent] = []
        for ref in ready:
            event = self._joined(ref) if ref in self._starting else self._played(ref)
            if event is not None:
                events.append(event)
        return events

    def _joined(self, ref: Any) -> ExecutorEvent | None:
        worker = self._starting.pop(ref)
        try:
            ray.get(ref)
        except RayTaskError as error:
            raise _our_error(error) from error
        except RayActorError as error:
            cause = getattr(error, "cause", None) or error
            if isinstance(cause, RayTaskError):
                raise _our_error(cause) from error
            if "SandboxUnavailable" in str(error):
                raise SandboxUnavailable(str(error)) from error
            return self._gone(worker, error)
        return WorkerJoined(worker)

    def _played(self, ref: Any) -> ExecutorEvent | None:
        if ref not in self._playing:
            return None
        worker, block_id = self._playing.pop(ref)
        try:
            result: BlockResult = ray.get(ref)
        except RayTaskError as error:
            cause = _our_error(error)
            return BlockFailed(worker, block_id, str(cause), isinstance(cause, NodeNoisy))
        except RayError as error:
            return self._gone(worker, error)
        return BlockDone(worker, block_id, result)

    def _gone(self, worker: str, error: Exception) -> ExecutorEvent | None:
        """Replace a dead actor; its other calls fail with it and are not news."""
        if self._actors.pop(worker, None) is None:
            return None
        self._playing = {ref: at for ref, at in self._playing.items() if at[0] != worker}
        self._replaced += 1
        if self._replaced > MAX_REPLACEMENTS:
            raise WorkerLost(f"{self._replaced} workers died, the last one of: {error}")
        self._start_actor()
        return WorkerGone(worker, str(error).splitlines()[0])

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
                [actor.close.remote() for actor in self._actors.values()], timeout=CLOSE_SECONDS
            )
        for actor in self._actors.values():
            with contextlib.suppress(RayError, ValueError):
                ray.kill(actor)
        self._actors.clear()


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
