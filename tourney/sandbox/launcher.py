"""Our end of the guard: start one, ask it to start and end bots, notice when it is lost.

A launcher is any process of ours that runs bots. It may ask from any thread: bots belong to the
guard, so a thread that ends takes none with it. No bot's bytes pass through here.
"""

import atexit
import json
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tourney.errors import SandboxUnavailable

__all__ = ("Guard", "GuardLost", "StartRefused", "shared_guard", "stop_guards")

READY_WAIT_S = 10.0
"""A guard is a Python interpreter without site-packages: 20 ms, more on a crowded machine."""

REPLY_WAIT_S = 8.0
"""The guard's own waits for one request add up to less (`START_WAIT_S`, `END_WAIT_S`)."""

STOP_WAIT_S = 3.0

MAX_REPLY_BYTES = 64 * 1024

_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from tourney.sandbox.guard import main; main()"
)


class GuardLost(Exception):
    """The guard died or hangs; every bot of it is dead or dying."""


class StartRefused(Exception):
    """The guard could not start a program."""

    def __init__(self, text: str, *, missing: bool) -> None:
        super().__init__(text)
        self.missing = missing
        """The program's file does not exist."""


class Guard:
    """One guard process of this process.

    Args:
        namespaced: make it process 1 of a pid namespace of its own, so that the kernel ends its
            bots with it.

    Raises:
        GuardLost: it did not come up, which for `namespaced` usually means that this kernel or
            container does not let us make the namespace.
    """

    def __init__(self, *, namespaced: bool) -> None:
        self.namespaced = namespaced
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        launcher = os.pidfd_open(os.getpid())
        try:
            self._process = subprocess.Popen(
                self._command(theirs.fileno(), launcher),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL if namespaced else None,
                cwd="/",
                pass_fds=(theirs.fileno(), launcher),
                # Ctrl-C at the terminal is for us; we end the bots in order.
                start_new_session=True,
            )
        except OSError as error:
            self._socket.close()
            raise GuardLost(str(error)) from error
        finally:
            os.close(launcher)
            theirs.close()
        try:
            self._receive(READY_WAIT_S)
        except GuardLost:
            self.stop()
            raise

    def _command(self, control: int, launcher: int) -> list[str]:
        root = Path(__file__).parents[2]
        command = [sys.executable, "-I", "-S", "-c", _PROGRAM, str(root), str(control)]
        command.append(str(launcher))
        if not self.namespaced:
            return command
        user = [] if os.geteuid() == 0 else ["--user", "--map-current-user"]
        # Bubblewrap looks its child up in /proc by number, so /proc must count as the guard does.
        # Mounts made later on the host still have to appear: slave, not private.
        mounts = ["--mount-proc", "--propagation", "slave"]
        return ["unshare", *user, "--pid", "--fork", "--kill-child", *mounts, "--", *command]

    @property
    def is_ours(self) -> bool:
        """Whether this process started it and it still runs; not so after a fork."""
        return self._owner == os.getpid() and self._process.poll() is None

    def start(self, request: dict[str, Any], fds: Sequence[int]) -> tuple[int, int]:
        """Start a program; return its number at the guard and a pidfd of its first process.

        Raises:
            StartRefused: it did not start.
            GuardLost: the guard is gone.
        """
        cpus = sorted(os.sched_getaffinity(0))
        reply, received = self._ask({"op": "start", "cpus": cpus, **request}, fds)
        if "error" in reply:
            raise StartRefused(reply["error"], missing=reply["missing"])
        return reply["bot"], received[0]

    def end(self, bot: int) -> dict[str, Any]:
        """Kill and reap a bot, and return how it ended.

        Raises:
            GuardLost: the guard is gone, and the bot with it.
        """
        return self._ask({"op": "end", "bot": bot}, ())[0]

    def stop(self) -> None:
        """End the guard and with it every bot; returns within `STOP_WAIT_S` and a second."""
        self._socket.close()
        if self._owner != os.getpid():
            return
        try:
            self._process.wait(STOP_WAIT_S)
        except subprocess.TimeoutExpired:
            self._kill()

    def _kill(self) -> None:
        self._process.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)

    def _ask(self, request: dict[str, Any], fds: Sequence[int]) -> tuple[dict[str, Any], list[int]]:
        with self._lock:
            try:
                socket.send_fds(self._socket, [json.dumps(request).encode()], fds)
                return self._receive(REPLY_WAIT_S)
            except OSError as error:
                raise GuardLost(str(error)) from error
            except BaseException:
                # No reply, or we were interrupted: the next one could be taken for this one's.
                self._kill()
                raise

    def _receive(self, wait_s: float) -> tuple[dict[str, Any], list[int]]:
        if not select.select([self._socket], [], [], wait_s)[0]:
            raise GuardLost(f"the guard did not answer in {wait_s:.0f} s")
        data, fds, _, _ = socket.recv_fds(self._socket, MAX_REPLY_BYTES, 1, socket.MSG_CMSG_CLOEXEC)
        if not data:
            raise GuardLost("the guard ended")
        return json.loads(data), list(fds)


_shared: dict[bool, Guard] = {}
_shared_lock = threading.Lock()


def shared_guard(*, namespaced: bool) -> Guard:
    """This process's guard of that kind, started when there is none or it was lost.

    Raises:
        GuardLost: it does not come up.
    """
    with _shared_lock:
        guard = _shared.get(namespaced)
        if guard is None or not guard.is_ours:
            if guard is not None:
                guard.stop()
            guard = _shared[namespaced] = Guard(namespaced=namespaced)
        return guard


def stop_guards() -> None:
    """End this process's shared guards, and with them every bot still running.

    Done by itself when the interpreter exits; the next start makes a new guard.
    """
    with _shared_lock:
        for guard in _shared.values():
            guard.stop()
        _shared.clear()


def _forget_after_fork() -> None:
    """A forked child must not use its parent's guard, nor a lock that a lost thread held."""
    global _shared_lock
    _shared_lock = threading.Lock()
    for guard in _shared.values():
        guard.stop()
    _shared.clear()


atexit.register(stop_guards)
os.register_at_fork(after_in_child=_forget_after_fork)


def unavailable(error: GuardLost) -> SandboxUnavailable:
    """A lost guard in the words of the contract."""
    return SandboxUnavailable(
        f"the process that guards bots cannot run ({error}); bots of this process are stopped"
    )
