"""A running bot as the referee sees it: three pipes, meters, and an end that is certain."""

import os
import select
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tourney.sandbox.base import ExitStatus
from tourney.sandbox.launcher import Guard, GuardLost
from tourney.sandbox.metering import Meter, cpu_clock, cpu_ns, starved_ns

__all__ = ("GuardedProcess", "Pipes", "open_pipes")

KILL_WAIT_S = 1.0
"""From SIGKILL to the end of the process; beyond it the guard waits once more."""

SIGNAL_CODES = 128
"""Bubblewrap, like a shell, reports an end by signal N as exit code 128 + N."""

_LOST: dict[str, Any] = {
    "code": None,
    "signal": None,
    "cpu_ms": 0.0,
    "peak_kb": 0,
    "reported": False,
    "lost": True,
}


@dataclass(frozen=True, slots=True)
class Pipes:
    """A bot's three pipes: our ends, non-blocking, and the three that the bot gets."""

    stdin: int
    stdout: int
    stderr: int
    theirs: tuple[int, int, int]

    def close_theirs(self) -> None:
        """Close the bot's ends here, so that we see when it closes them."""
        for fd in self.theirs:
            os.close(fd)

    def close_ours(self) -> None:
        """Close our ends."""
        for fd in (self.stdin, self.stdout, self.stderr):
            os.close(fd)


def open_pipes() -> Pipes:
    """Make the pipes of one bot.

    Raises:
        OSError: no descriptors are left.
    """
    made: list[int] = []
    try:
        for _ in range(3):
            made += os.pipe2(os.O_CLOEXEC)
    except OSError:
        for fd in made:
            os.close(fd)
        raise
    in_read, in_write, out_read, out_write, err_read, err_write = made
    for fd in (in_write, out_read, err_read):
        os.set_blocking(fd, False)
    return Pipes(in_write, out_read, err_read, (in_read, out_write, err_write))


class GuardedProcess:
    """A bot started by a guard.

    Args:
        guard: who started it.
        bot: its number there.
        pidfd: of its first process; ours to close.
        pipes: its pipes; our ends are ours to close.
        meter: reads what it uses; ours to close.
        after: called once when all is over.
    """

    def __init__(
        self,
        guard: Guard,
        bot: int,
        pidfd: int,
        pipes: Pipes,
        meter: Meter,
        *,
        after: Callable[[], None] | None = None,
    ) -> None:
        self.stdin = pipes.stdin
        self.stdout = pipes.stdout
        self.stderr = pipes.stderr
        self._guard = guard
        self._bot = bot
        self._pidfd = pidfd
        self._meter = meter
        self._after = after
        self._clock: int | None = None
        self._cpu_ns = 0
        self._peak_mb = 0.0
        self._killed = False
        self._status: ExitStatus | None = None

    def main_pid(self) -> int | None:
        """Pid of the bot's main process as we see it, None while it has not started."""
        return self._meter.main_pid()

    def cpu_ns(self) -> int:
        """CPU time used so far by the bot's main process, all threads, nanoseconds."""
        if self._clock is None:
            pid = self._meter.main_pid()
            if pid is None:
                return self._cpu_ns
            self._clock = cpu_clock(pid)
        # Never less than before, should the pid be gone or, at worst, another's by now.
        self._cpu_ns = max(self._cpu_ns, cpu_ns(self._clock) or 0)
        return self._cpu_ns

    def starved_ns(self) -> int:
        """Time that its main process was ready to run while no core was free, nanoseconds."""
        pid = None if self._status is not None else self._meter.main_pid()
        return 0 if pid is None else starved_ns(pid)

    def memory_mb(self) -> float:
        """Memory of all its processes now plus its files in /tmp, mebibytes."""
        if self._status is not None:
            return 0.0
        memory = self._meter.memory_mb()
        self._peak_mb = max(self._peak_mb, memory)
        return memory

    def n_processes(self) -> int:
        """Number of its processes at the last `memory_mb`, the sandbox's own left out."""
        return self._meter.n_processes()

    def tmp_files(self) -> int:
        """Number of files in its private /tmp, 0 where it has none."""
        return 0 if self._status is not None else self._meter.tmp_files()

    def kill(self) -> None:
        """SIGKILL everything the bot started; returns at once; may be called again."""
        if self._status is not None or self._is_over(0.0):
            return
        self._killed = True
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def close(self, grace_ms: int = 200) -> ExitStatus:
        """End the process for certain: close stdin, wait `grace_ms`, kill, reap, close the pipes.

        Never blocks longer than the grace plus two seconds in ordinary weather; leaves no process
        and no zombie. Again called, it returns the same status.
        """
        if self._status is not None:
            return self._status
        self.cpu_ns()
        self._close_fd("stdin")
        if not self._is_over(grace_ms / 1000):
            self.kill()
            self._is_over(KILL_WAIT_S)
        try:
            report = self._guard.end(self._bot)
        except GuardLost:
            report = _LOST
        finally:
            self._close_fd("stdout")
            self._close_fd("stderr")
            self._meter.close()
            os.close(self._pidfd)
        self._status = self._as_status(report)
        if self._after is not None:
            self._after()
        return self._status

    def _is_over(self, wait_s: float) -> bool:
        poller = select.poll()
        poller.register(self._pidfd, select.POLLIN)
        return bool(poller.poll(wait_s * 1000))

    def _close_fd(self, name: str) -> None:
        fd = getattr(self, name)
        if fd >= 0:
            setattr(self, name, -1)
            os.close(fd)

    def _as_status(self, report: dict[str, Any]) -> ExitStatus:
        code: int | None = report["code"]
        number: int | None = report["signal"]
        if code is not None and code - SIGNAL_CODES in signal.valid_signals():
            number = code - SIGNAL_CODES
            code = None
        # Our SIGKILL may come just after its own end; then its own end counts.
        killed = self._killed and (code is None and number in (None, signal.SIGKILL))
        return ExitStatus(
            code=code,
            signal=signal.SIGKILL if killed else number,
            killed_by_us=killed,
            cpu_ms=max(report["cpu_ms"], self._cpu_ns / 1e6),
            peak_memory_mb=max(self._peak_mb, report["peak_kb"] / 1024),
            reported=report["reported"],
            lost=report.get("lost", False),
        )
