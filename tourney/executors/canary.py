"""A trivial program answers between matches, to tell a slow machine from a slow bot.

It does nothing but echo, so when it is late, the node is: bots' clocks there are not to be trusted,
and the block is played again rather than charged to anybody.
"""

import os
import select
import time
from pathlib import Path

from tourney.errors import NodeNoisy
from tourney.sandbox.base import BotProcess, ProcessLimits, Sandbox

__all__ = ("Canary", "late_after")

ASK_SECONDS = 0.25
"""How often it is asked while matches are played."""

LEAST_BOUND_MS = 100
"""A shorter answer never counts as late: that is an ordinary scheduling delay."""

GIVE_UP_SECONDS = 5.0
LINE = b"tweet\n"


def late_after(move_ms: int) -> float:
    """Milliseconds after which an answer is late that takes no work, with the bots' limit."""
    return max(LEAST_BOUND_MS, move_ms / 2)


class Canary:
    """One echoing process inside the sandbox."""

    def __init__(self, sandbox: Sandbox, folder: Path, move_ms: int) -> None:
        """Start it.

        Args:
            sandbox: where bots live too.
            folder: any folder that the bots' user can read.
            move_ms: the bots' limit; an answer later than half of it is late.

        Raises:
            SandboxUnavailable: it cannot be confined.
        """
        self._bound_ms = late_after(move_ms)
        self._sandbox = sandbox
        self._folder = folder
        self._process = self._start()
        self._asked = 0.0
        self.slowest_ms = 0.0

    def _start(self) -> BotProcess:
        return self._sandbox.start(self._folder, ["cat"], ProcessLimits(memory_mb=64, processes=8))

    def ask(self) -> None:
        """Ask if it is time to.

        Raises:
            NodeNoisy: it is late, or it was killed; the next time there is a new one.
            SandboxUnavailable: a new one cannot be confined.
        """
        begin = time.monotonic()
        if begin - self._asked < ASK_SECONDS:
            return
        answered = self._echoes()
        self._asked = time.monotonic()
        late_ms = (self._asked - begin) * 1000
        self.slowest_ms = max(self.slowest_ms, late_ms)
        if not answered:
            self._process.close(0)
            self._process = self._start()
        if not answered or late_ms > self._bound_ms:
            raise NodeNoisy(
                f"a program that only echoes {'took' if answered else 'gave no answer in'} "
                f"{late_ms:.0f} ms{' to answer' if answered else ''}; the bound is "
                f"{self._bound_ms:.0f} ms: this machine is too busy for a fair clock"
            )

    def _echoes(self) -> bool:
        poll = select.poll()
        poll.register(self._process.stdout, select.POLLIN)
        try:
            os.write(self._process.stdin, LINE)
            return bool(poll.poll(GIVE_UP_SECONDS * 1000) and os.read(self._process.stdout, 4096))
        except OSError:
            # Killed from outside: nobody's fault, and not an answer.
            return False

    def close(self) -> None:
        """End it."""
        self._process.close(0)
