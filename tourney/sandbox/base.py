"""The contract of a sandbox: start a bot's program under limits, meter it, end it for certain.

The referee's poll loop owns the pipes and the clock; a sandbox owns the process. Nothing here
reads a message or judges a bot.
"""

import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tourney.packages.limits import ProcessLimits

__all__ = ("BotProcess", "ExitStatus", "ProcessLimits", "Sandbox")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitStatus:
    """How a process ended and what it had used."""

    code: int | None
    """Exit code, None when a signal ended it or the end is unknown."""
    signal: int | None
    """Number of the signal that ended it, if one did."""
    killed_by_us: bool
    """We stopped it while it was still running."""
    cpu_ms: float
    """CPU time of all its processes that are accounted for, milliseconds."""
    peak_memory_mb: float
    """Highest memory seen by a poll, or of one of its processes, mebibytes."""
    reported: bool = True
    """The sandbox saw the program itself end. False before the bot's first message means that the
    program never ran (a wrong `#!` line, a sandbox that failed late); after it, nothing: a bot can
    suppress the report, so every end is then its own."""
    lost: bool = False
    """Our own guard died and took the bot along: a failure of the platform, never the bot's."""

    def in_words(self) -> str:
        """How it ended: `exited with code 3`, `killed by SIGSEGV`, `stopped by the runner`."""
        if self.lost:
            return "lost together with the runner's guard process"
        if self.killed_by_us:
            return "stopped by the runner"
        if self.signal is not None:
            name = f"signal {self.signal}"
            with suppress(ValueError):
                name = signal.Signals(self.signal).name
            return f"killed by {name}"
        if self.code is not None:
            return f"exited with code {self.code}"
        return "ended in an unknown way"


class BotProcess(Protocol):
    """A running bot. Its three pipes are non-blocking file descriptors of ours."""

    stdin: int
    stdout: int
    stderr: int

    def cpu_ns(self) -> int:
        """CPU time used so far by the bot's main process, all threads, nanoseconds."""
        ...

    def starved_ns(self) -> int:
        """Time that its main process was ready to run while no core was free, nanoseconds."""
        ...

    def memory_mb(self) -> float:
        """Memory of all its processes now plus its files in /tmp, mebibytes."""
        ...

    def n_processes(self) -> int:
        """Number of its processes at the last `memory_mb`, the sandbox's own left out."""
        ...

    def tmp_files(self) -> int:
        """Number of files in its private /tmp (0 where it has none)."""
        ...

    def kill(self) -> None:
        """SIGKILL everything the bot started; returns at once; may be called again."""
        ...

    def close(self, grace_ms: int = 200) -> ExitStatus:
        """End the process for certain: close stdin, wait `grace_ms`, kill, reap, close the pipes.

        Never blocks longer than the grace plus two seconds; leaves no process and no zombie.
        """
        ...


class Sandbox(Protocol):
    """A way to run programs that nobody has to trust."""

    @property
    def name(self) -> str:
        """As recorded in the run: `bwrap`, `none`."""
        ...

    def check(self) -> None:
        """Launch a probe for real.

        Raises:
            SandboxUnavailable: with the cause found and the exact fix.
        """
        ...

    def require(self, package: Path, program: str) -> None:
        """See that a program is there before a run begins.

        Args:
            package: folder with the bot's files.
            program: as in `start`.

        Raises:
            BotRefused: it does not exist inside; says what to install.
        """
        ...

    def start(
        self,
        package: Path,
        command: Sequence[str],
        limits: ProcessLimits,
        *,
        writable: bool = False,
    ) -> BotProcess:
        """Start `command` in `package`, which the program sees read-only as its folder.

        Args:
            package: folder with the bot's files, readable by the bot's user.
            command: program and arguments; the program is looked up in the sandbox's PATH,
                or relative to the package when it has a slash.
            limits: what the process may use.
            writable: let the program write into the folder (builds only).

        Raises:
            SandboxUnavailable: the sandbox itself did not start; never the bot's fault.
            BotRefused: the program does not exist inside.
        """
        ...
