"""The sandbox for programs that nobody has to trust: bubblewrap, a system-call filter, limits.

Works for an ordinary user and for root, who gives every bot a user of its own: a bot never runs
as the kernel's user 0, whatever it is called inside. Refuses to start anything until a real
launch has shown that the isolation works here.
"""

import os
import select
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from tourney.errors import SandboxUnavailable
from tourney.sandbox.base import BotProcess, ProcessLimits
from tourney.sandbox.flags import bwrap_arguments, process_limits
from tourney.sandbox.launcher import Guard, GuardLost, StartRefused, shared_guard, unavailable
from tourney.sandbox.metering import NamespaceMeter, host_pid
from tourney.sandbox.probe import explain, read_probe
from tourney.sandbox.process import GuardedProcess, Pipes, open_pipes
from tourney.sandbox.programs import Program, find_inside, reachable
from tourney.sandbox.seccomp import filter_bytes, native_architecture
from tourney.sandbox.slots import foreign_users, needs_own_user

__all__ = ("BwrapSandbox",)

PROBE_WAIT_S = 5.0
"""For the first launch of a process; it takes 10 ms."""

PROBE_COMMAND = ("/bin/cat", "/proc/self/status", "-")

_checked: dict[int, bool] = {}
"""For each process that passed `check`: whether its guard has a pid namespace of its own."""

_check_lock = threading.Lock()


class BwrapSandbox:
    """Isolation by bubblewrap; `tourney.sandboxes` knows it as `bwrap`."""

    name = "bwrap"

    def check(self) -> None:
        """Launch a probe for real, once in the life of this process.

        Raises:
            SandboxUnavailable: with the cause found and the exact fix.
        """
        with _check_lock:
            if os.getpid() not in _checked:
                _checked[os.getpid()] = _find_guard_kind()

    def start(
        self,
        package: Path,
        command: Sequence[str],
        limits: ProcessLimits,
        *,
        writable: bool = False,
    ) -> BotProcess:
        """Start `command` in `package`; see `Sandbox.start`.

        Raises:
            SandboxUnavailable: the sandbox itself did not start; never the bot's fault.
            BotRefused: the program does not exist inside.
        """
        self.check()
        program = find_inside(package, command[0], _bot_uid())
        _require_reachable(package)
        try:
            guard = shared_guard(namespaced=_checked[os.getpid()])
        except GuardLost as error:
            raise unavailable(error) from error
        return _launch(guard, package, program, command[1:], limits, writable=writable)

    def require(self, package: Path, program: str) -> None:
        """See that `program` of the bot in `package` exists inside.

        Raises:
            BotRefused: it does not; says what to install.
        """
        find_inside(package, program, _bot_uid())


def _bot_uid() -> int:
    """A user as powerless as the bot's: root's bots get private ones, which own nothing."""
    return -1 if needs_own_user() else os.getuid()


def _require_reachable(package: Path) -> None:
    try:
        blocked = reachable(package, _bot_uid())
    except OSError as error:
        raise SandboxUnavailable(f"the bot's folder {package} cannot be used: {error}") from error
    if blocked is not None:
        raise SandboxUnavailable(
            f"the bot's folder {package} is below {blocked}, which a bot's user cannot enter; set "
            "TOURNEY_CACHE to a folder that every user can reach"
        )


def _launch(
    guard: Guard,
    package: Path,
    program: Program,
    arguments: Sequence[str],
    limits: ProcessLimits,
    *,
    writable: bool,
) -> GuardedProcess:
    drop = needs_own_user()
    flags = bwrap_arguments(package, limits, writable=writable, runtime=program.runtime)
    request: dict[str, Any] = {
        "kind": "bwrap",
        "bwrap": _bwrap(),
        "command": [program.path, *arguments],
        "limits": process_limits(limits),
        "drop": drop,
        "used": sorted(foreign_users()) if drop else [],
        "owned": str(package) if writable else None,
    }
    try:
        pipes = open_pipes()
    except OSError as error:
        raise SandboxUnavailable(f"no pipes for a bot: {error.strerror}") from error
    try:
        bot, pidfd = _ask(guard, request, pipes, flags)
    except BaseException:
        pipes.close_ours()
        raise
    meter = NamespaceMeter(host_pid(pidfd), limits.memory_mb)
    return GuardedProcess(guard, bot, pidfd, pipes, meter)


def _ask(guard: Guard, request: dict[str, Any], pipes: Pipes, flags: bytes) -> tuple[int, int]:
    """Let the guard start bubblewrap; the bot's ends of the pipes are closed here afterwards."""
    try:
        try:
            with _memory_file(flags) as flags_fd, _memory_file(_filter()) as filter_fd:
                return guard.start(request, (*pipes.theirs, flags_fd, filter_fd))
        finally:
            pipes.close_theirs()
    except StartRefused as error:
        raise SandboxUnavailable(explain(str(error), _read_rest(pipes.stderr))) from error
    except GuardLost as error:
        raise unavailable(error) from error
    except OSError as error:
        raise SandboxUnavailable(f"no memory file for a bot: {error.strerror}") from error


def _bwrap() -> str:
    found = shutil.which("bwrap")
    if found is None:
        raise SandboxUnavailable(
            "bubblewrap is not installed (no `bwrap` on PATH): apt-get install bubblewrap. "
            "PyPI's package `bubblewrap` is something else"
        )
    return found


@cache
def _filter() -> bytes:
    return filter_bytes(native_architecture())


@contextmanager
def _memory_file(content: bytes) -> Iterator[int]:
    fd = os.memfd_create("tourney", os.MFD_CLOEXEC)
    try:
        os.write(fd, content)
        os.lseek(fd, 0, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)


def _read_rest(fd: int) -> str:
    """What is left in a pipe whose writers are gone or dying."""
    data = b""
    deadline = time.monotonic() + 1.0
    with suppress(OSError):
        while len(data) < 16384 and select.select([fd], [], [], deadline - time.monotonic())[0]:
            piece = os.read(fd, 4096)
            if not piece:
                break
            data += piece
    return data.decode(errors="replace")


def _find_guard_kind() -> bool:
    """Probe with a guard in a namespace of its own, then with a plain one; the first that works.

    Some systems let bubblewrap make namespaces but not us (an AppArmor profile for its path).

    Raises:
        SandboxUnavailable: neither works; says why the plain one does not.
    """
    problem = SandboxUnavailable("no probe ran")
    for namespaced in (True, False):
        try:
            guard = shared_guard(namespaced=namespaced)
        except GuardLost as error:
            problem = unavailable(error)
            continue
        try:
            _probe(guard)
        except SandboxUnavailable as error:
            guard.stop()
            problem = error
        else:
            return namespaced
    raise problem


def _probe(guard: Guard) -> None:
    """Start a program that shows its own status, and look whether it is as it should be."""
    package = Path("/usr")
    bot = _launch(
        guard,
        package,
        Program(PROBE_COMMAND[0]),
        PROBE_COMMAND[1:],
        ProcessLimits(),
        writable=False,
    )
    try:
        # It has shown its status and now waits for input, which ends when we close it.
        ready = select.select([bot.stdout], [], [], PROBE_WAIT_S)[0]
        shown = os.read(bot.stdout, 16384).decode(errors="replace") if ready else ""
        memory_mb = bot.memory_mb()
        said = "" if shown else _read_rest(bot.stderr)
    finally:
        status = bot.close(grace_ms=int(PROBE_WAIT_S * 1000))
    if status.code != 0 or not status.reported:
        raise SandboxUnavailable(explain(f"the probe {status.in_words()}", said))
    read_probe(shown)
    if memory_mb <= 0:
        raise SandboxUnavailable(
            "the sandbox starts but its memory cannot be metered: /proc hides other users' "
            "processes; mount it without hidepid, or give this process CAP_SYS_PTRACE"
        )
