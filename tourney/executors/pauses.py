"""Notices that this process did not run for a while: stopped, frozen, or starved of its core.

Time goes on for a bot's clock meanwhile, though the bot may have been stopped as well. A block in
which that happened and somebody was late proves nothing.
"""

import threading
import time

__all__ = ("PauseWatch",)

TICK_SECONDS = 0.05


class PauseWatch:
    """A thread that only looks at the clock; between two looks lies no more than a tick."""

    def __init__(self) -> None:
        """Begin to look."""
        self._longest = 0.0
        self._looked_at = time.monotonic()
        self._lock = threading.Lock()
        self._over = threading.Event()
        threading.Thread(target=self._look, daemon=True, name="pause watch").start()

    def _look(self) -> None:
        while not self._over.wait(TICK_SECONDS):
            self._note()

    def _note(self) -> float:
        with self._lock:
            now = time.monotonic()
            self._longest = max(self._longest, now - self._looked_at - TICK_SECONDS)
            self._looked_at = now
            return self._longest

    def longest(self) -> float:
        """Seconds of the longest pause since the last call."""
        # The thread may not have run yet since a pause that has just ended.
        longest = self._note()
        self._longest = 0.0
        return longest

    def close(self) -> None:
        """Look no more."""
        self._over.set()
