"""Start one bot with bubblewrap: what the guard is asked for, and what its refusal means.

Decides nothing about whether isolation works here; that is `tourney.sandbox.proving`.
"""

import os
import select
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from tourney.errors import SandboxUnavailable
from tourney.sandbox.base import ProcessLimits
from tourney.sandbox.flags import bwrap_arguments, process_limits
from tourney.sandbox.launcher import Guard, GuardLost, StartRefused, unavailable
from tourney.sandbox.metering import NamespaceMeter, host_pid
from tourney.sandbox.probe import explain
from tourney.sandbox.process import GuardedProcess, Pipes, open_pipes
from tourney.sandbox.programs import Program
from tourney.sandbox.seccomp import filter_bytes, native_architecture
from tourney.sandbox.slots import foreign_users, needs_own_user
from tourney.sandbox.tiers import Tier

__all__ = ("find_bwrap", "launch", "read_rest")


def launch(
    guard: Guard,
    tier: Tier,
    package: Path,
    program: Program,
    arguments: Sequence[str],
    limits: ProcessLimits,
    *,
    writable: bool,
) -> GuardedProcess:
    """Start `program` in `package` under `limits`.

    Raises:
        SandboxUnavailable: it did not start; never the bot's fault.
    """
    drop = how_to_drop(tier)
    flags = bwrap_arguments(package, limits, writable=writable, runtime=program.runtime, tier=tier)
    request: dict[str, Any] = {
        "kind": "bwrap",
        "bwrap": find_bwrap(),
        "command": [program.path, *arguments],
        "limits": process_limits(limits, tier),
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


def how_to_drop(tier: Tier) -> str:
    """Where the bot becomes a user of its own: `outside` the sandbox, `inside`, or nowhere.

    Raises:
        SandboxUnavailable: it would have to, and cannot.
    """
    own = needs_own_user()
    if tier.user_namespace:
        return "outside" if own else ""
    if not own:
        raise SandboxUnavailable(
            f"{tier.name} is for root of the machine or of a privileged container, which can "
            "become another user; run as root, or use the sandbox `bwrap`"
        )
    return "inside"


def find_bwrap() -> str:
    """Path of bubblewrap.

    Raises:
        SandboxUnavailable: it is not installed; says what to install.
    """
    found = shutil.which("bwrap")
    if found is None:
        raise SandboxUnavailable(
            "bubblewrap is not installed (no `bwrap` on PATH): apt-get install bubblewrap. "
            "PyPI's package `bubblewrap` is something else"
        )
    return found


def _ask(guard: Guard, request: dict[str, Any], pipes: Pipes, flags: bytes) -> tuple[int, int]:
    """Let the guard start bubblewrap; the bot's ends of the pipes are closed here afterwards."""
    try:
        try:
            with _memory_file(flags) as flags_fd, _memory_file(_filter()) as filter_fd:
                return guard.start(request, (*pipes.theirs, flags_fd, filter_fd))
        finally:
            pipes.close_theirs()
    except StartRefused as error:
        raise SandboxUnavailable(explain(str(error), read_rest(pipes.stderr))) from error
    except GuardLost as error:
        raise unavailable(error) from error
    except OSError as error:
        raise SandboxUnavailable(f"no memory file for a bot: {error.strerror}") from error


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


def read_rest(fd: int) -> str:
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
