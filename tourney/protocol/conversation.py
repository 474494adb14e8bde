"""One process's side of the protocol: bytes in, lines and problems out.

Told what arrived and what was asked, it says what an answer is and what is not. It touches no
pipe and no clock, so it is tested and fuzzed without a process.
"""

from collections import deque
from typing import NamedTuple

from tourney.protocol.codec import ARRAY_MAX_BYTES, LINE_MAX_BYTES, shown
from tourney.protocol.faults import FaultKind

__all__ = ("Conversation", "Problem")

KEPT_LINES = 6
"""Lines kept each way as evidence."""

BLANK = b"\r\n \t"


class Problem(NamedTuple):
    """Output that breaks the protocol."""

    kind: FaultKind
    detail: str


class Conversation:
    """What was said between the runner and one bot process."""

    def __init__(self) -> None:
        self.awaiting = False
        """Whether a line is due from the bot."""
        self.unasked = 0
        """Bytes that came while no line was due."""
        self._most_bytes = LINE_MAX_BYTES
        """Length that the line due may have."""
        self._buffer = b""
        self._sent: deque[bytes] = deque(maxlen=KEPT_LINES)
        self._received: deque[bytes] = deque(maxlen=KEPT_LINES)

    def sent(self, line: bytes) -> None:
        """Remember a line that goes to the bot."""
        self._sent.append(line)

    def expect(self, questions: int = 1) -> Problem | None:
        """A line of questions goes out: one line is due.

        A problem if the bot spoke out of turn before.
        """
        if self.unasked:
            return self._spoke_unasked()
        self._most_bytes = LINE_MAX_BYTES if questions == 1 else ARRAY_MAX_BYTES
        self.awaiting = True
        return None

    def feed(self, data: bytes) -> bytes | Problem | None:
        """Take bytes from the bot.

        Returns:
            the line that was due, without its newline; a problem; or None while it is unfinished.
        """
        if not self.awaiting:
            self._unasked(data)
            return None
        # Blank lines are forgiven: they say nothing that could be taken for an answer.
        data = self._buffer + data if self._buffer else data.lstrip(BLANK)
        end = data.find(b"\n")
        if end < 0:
            self._buffer = data
            return self._too_long(data) if len(data) > self._most_bytes else None
        line, rest = data[:end], data[end + 1 :]
        self._buffer = b""
        self.awaiting = False
        self._received.append(line)
        if len(line) > self._most_bytes:
            return self._too_long(line)
        if rest and self._unasked(rest):
            return self._spoke_unasked()
        return line

    def _unasked(self, data: bytes) -> bool:
        if not data.strip(BLANK):
            return False
        self.unasked += len(data)
        self._received.append(data)
        return True

    def unfinished(self) -> str:
        """The start of a line whose end never came, for a fault's evidence."""
        return shown(self._buffer, 200)

    def last_sent(self) -> tuple[str, ...]:
        """The last lines to the bot, oldest first."""
        return tuple(shown(line) for line in self._sent)

    def last_received(self) -> tuple[str, ...]:
        """The last lines from the bot, oldest first, an unfinished one included."""
        lines = [*self._received, self._buffer] if self._buffer else self._received
        return tuple(shown(line) for line in lines)

    def _too_long(self, data: bytes) -> Problem:
        self._received.append(data)
        self._buffer = b""
        return Problem(
            "output_limit", f"a line of {len(data)} bytes or more; the limit is {self._most_bytes}"
        )

    def _spoke_unasked(self) -> Problem:
        return Problem(
            "bad_message", f"{self.unasked} bytes more than the one line that was asked for"
        )
