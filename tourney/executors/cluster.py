"""Connecting to Ray: to a cluster, or to a private one of this run, whose daemons die with it."""

import contextlib
import importlib.util
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import ray
import ray._private.state
import ray._private.worker
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from tourney.errors import WorkerLost
from tourney.executors import reaper

__all__ = ("Connection", "on_every_node")

SHORT_FOLDER = "/tmp"  # noqa: S108 - a folder made by mkdtemp inside it
"""A socket's path has at most 107 characters, and Ray needs most of them."""

REAP_SECONDS = 5.0
"""How long what a private Ray left behind may take to end."""

NODE_SECONDS = 60.0
"""How long a node may take to answer; most of it is Ray starting a process there."""

CONNECT_SECONDS = 5.0

CLIENT = "ray://"
"""What the address of a Ray Client server begins with."""

NO_ENTRY = (
    "this cluster wants its token: set RAY_AUTH_MODE=token, with the head's token in "
    "~/.ray/auth_token or RAY_AUTH_TOKEN"
)

T = TypeVar("T")

AUTH = frozenset({"RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"})
"""Variables by which a user says what token Ray wants."""

REFUSALS = (RayError, RuntimeError, ValueError, OSError, ImportError)
"""What Ray raises when it cannot be had."""


class Connection:
    """This process as Ray's driver."""

    def __init__(self, address: str) -> None:
        """Connect later to `address`: `local`, `auto`, `HOST:PORT` or `ray://HOST:PORT`."""
        self.address = address
        self.is_private = address == "local"
        self._drain_call: Any = None
        self._draining: set[str] = set()
        self._reaper: subprocess.Popen[bytes] | None = None

    def open(self, cpus: int) -> None:
        """Connect.

        Args:
            cpus: how many a private Ray has.

        Raises:
            WorkerLost: Ray cannot be started or reached.
        """
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if self.is_private:
            # Short and of our own: Ray's sockets have long names, and its sessions pile up.
            folder = tempfile.mkdtemp(prefix="tourney-ray-", dir=SHORT_FOLDER)
            self._start_reaper(folder)
            if not AUTH & os.environ.keys():
                # Ray would keep one for all in the user's home, readable for everybody.
                os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
            options |= {
                "_temp_dir": folder,
                "address": "local",
                "include_dashboard": False,
                "num_cpus": cpus,
                "_system_config": {"enable_worker_prestart": False},
            }
        else:
            _require_port(self.address)
            options["address"] = self.address
        # Ray tells of a dead worker in paragraphs on our standard output, where results go; we
        # say it ourselves. `log_to_driver` does not cover these.
        ray._private.worker._worker_logs_enabled = False
        try:
            with _own_handlers():
                ray.init(**options)
        except REFUSALS as error:
            raise _unreachable(self.address, error) from error

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

    def leaving_nodes(self) -> set[str]:
        """Nodes that are being drained; for a client as they were when it last asked."""
        if self.is_private:
            return set()
        if not self.address.startswith(CLIENT):
            return set(_draining_nodes())
        # A client is outside of the cluster: a task looks for it, and nobody waits for that.
        if self._drain_call is not None:
            if not ray.wait([self._drain_call], timeout=0)[0]:
                return self._draining
            with contextlib.suppress(RayError):
                self._draining = set(ray.get(self._drain_call))
        look = ray.remote(num_cpus=0, max_retries=0)(_draining_nodes)
        self._drain_call = look.remote()
        return self._draining

    def close(self) -> None:
        """Disconnect, and end Ray where it is ours."""
        if ray.is_initialized():
            ray.shutdown()
        if self._reaper is not None:
            os.environ.pop(reaper.TOKEN_VARIABLE, None)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._reaper.communicate(timeout=REAP_SECONDS)
            self._reaper = None


def _draining_nodes() -> list[str]:
    """Nodes that are about to go. Ray has no public way to ask."""
    return list(ray._private.state.state.get_draining_nodes())


@contextlib.contextmanager
def _own_handlers() -> Iterator[None]:
    """Ray's own handlers of SIGTERM would abort us; a run that is told to end ends in order."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in before.items():
                if handler is not None:
                    signal.signal(number, handler)


def _require_port(address: str) -> None:
    """Refuse an address where nothing listens: Ray itself would try for a minute.

    Raises:
        WorkerLost: nothing does.
    """
    host, _, port = address.removeprefix(CLIENT).rpartition(":")
    if not host:
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except (OSError, ValueError) as error:
        raise _unreachable(address, error) from error


def _unreachable(address: str, error: BaseException) -> WorkerLost:
    """What to tell when Ray cannot be had: what it says, and what to do."""
    said = [str(error)]
    cause: BaseException | None = error
    while cause is not None:
        said.append(f"{type(cause).__name__} {cause}")
        cause = cause.__cause__ or cause.__context__
    if address.startswith(CLIENT) and importlib.util.find_spec("grpc") is None:
        return WorkerLost(
            f"cannot reach Ray at {address!r}: Ray Client is not installed here\n"
            "pip install 'tourney[cluster]', or drive the run from the cluster's network with "
            "--address HOST:6379"
        )
    advice = "start it with `ray start --head`, or leave --address out to play on this machine"
    if any(word in text for text in said for word in ("AuthenticationError", "UNAUTHENTICATED")):
        advice = NO_ENTRY
    elif address.startswith(CLIENT) and any("timeout" in text for text in said):
        # Its server does not say why it keeps silent.
        advice = f"either no Ray Client server listens there, or {NO_ENTRY}"
    return WorkerLost(f"cannot reach Ray at {address!r}: {said[0]}\n{advice}")


def on_every_node(address: str, task: Callable[[], T]) -> dict[str, T | str]:
    """Call `task` once on each node of a cluster.

    Returns:
        What it returned, or why it did not, by the node's name and address.

    Raises:
        WorkerLost: there is no cluster at `address`.
    """
    _require_port(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except REFUSALS as error:
        raise _unreachable(address, error) from error
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
