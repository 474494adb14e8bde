"""No sandbox: a plain process, for bots that you wrote yourself, asked for by name.

Limits what a plain process can be limited in, meters and ends it like the real thing, protects
nothing: the program can do all that you can.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tourney.errors import BotRefused, SandboxUnavailable
from tourney.sandbox.base import BotProcess, ProcessLimits
from tourney.sandbox.flags import environment, process_limits
from tourney.sandbox.launcher import Guard, GuardLost, StartRefused, unavailable
from tourney.sandbox.metering import TreeMeter, host_pid
from tourney.sandbox.process import GuardedProcess, open_pipes
from tourney.sandbox.programs import SEARCH_PATH, Program, find_plain

__all__ = ("NoSandbox",)

KEPT_LIMITS = ("RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_DATA", "RLIMIT_CORE", "RLIMIT_CPU")
"""The number of processes is left out: without a namespace it would count all of the user's."""


class NoSandbox:
    """A plain process; `tourney.sandboxes` knows it as `none`."""

    name = "none"

    def check(self) -> None:
        """See that processes can be watched and ended here at all.

        Raises:
            SandboxUnavailable: this is not Linux 5.3 or later.
        """
        if not hasattr(os, "pidfd_open"):
            raise SandboxUnavailable(
                "bots need Linux, even without a sandbox; use a virtual machine (Lima, WSL2)"
            )

    def start(
        self,
        package: Path,
        command: Sequence[str],
        limits: ProcessLimits,
        *,
        writable: bool = False,  # noqa: ARG002 - nothing keeps a plain process from writing
    ) -> BotProcess:
        """Start `command` in `package`; see `Sandbox.start`. Nothing makes the folder read-only.

        Raises:
            SandboxUnavailable: the process could not be started at all.
            BotRefused: the program does not exist.
        """
        self.check()
        program = find_plain(package, command[0])
        kept = {
            name: value for name, value in process_limits(limits).items() if name in KEPT_LIMITS
        }
        request: dict[str, Any] = {
            "kind": "plain",
            "command": [_absolute(package, program), *command[1:]],
            "cwd": str(package),
            "env": environment(os.environ.get("PATH", ":".join(SEARCH_PATH))),
            "limits": kept,
        }
        return _launch(request, command[0])

    def require(self, package: Path, program: str) -> None:
        """See that `program` of the bot in `package` exists.

        Raises:
            BotRefused: it does not; says what to install.
        """
        find_plain(package, program)


def _absolute(package: Path, program: Program) -> str:
    return str(package / program.path) if "/" in program.path else program.path


def _launch(request: dict[str, Any], program: str) -> GuardedProcess:
    # A guard for each bot: all that descends from the guard is then the bot's, and can be ended
    # even when it left its session.
    try:
        guard = Guard(namespaced=False)
    except GuardLost as error:
        raise unavailable(error) from error
    try:
        pipes = open_pipes()
        try:
            bot, pidfd = guard.start(request, pipes.theirs)
        except BaseException:
            pipes.close_ours()
            raise
        finally:
            pipes.close_theirs()
    except StartRefused as error:
        guard.stop()
        raise BotRefused(f"cannot run `{program}`: {error}") from error
    except GuardLost as error:
        guard.stop()
        raise unavailable(error) from error
    except BaseException:
        guard.stop()
        raise
    return GuardedProcess(guard, bot, pidfd, pipes, TreeMeter(host_pid(pidfd)), after=guard.stop)
