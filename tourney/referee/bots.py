"""A live bot: its process, its conversation, its pipes and its log. Judges nothing.

The table loop decides when to read and how long to wait; this module does the reading.
"""

import fcntl
import os
import struct
import termios
import time
from collections import deque

from tourney.protocol.codec import encode, shown
from tourney.protocol.conversation import Conversation
from tourney.protocol.faults import Fault, FaultKind
from tourney.protocol.messages import ToBot
from tourney.referee.match import Match
from tourney.referee.specs import BotSpec
from tourney.sandbox.base import BotProcess, ExitStatus

__all__ = ("NEVER", "LiveBot")

READ_BYTES = 1 << 16
"""One read empties a pipe of the usual size."""

CEILING_FACTOR = 4
CEILING_EXTRA_MS = 1_000
"""A bot that a busy machine gave no core is waited for, up to this bound."""

NOTHING = bytes(struct.calcsize("i"))
"""What the kernel says of an empty pipe: a C int."""

NEVER = 1 << 62
"""A deadline that is not set, monotonic nanoseconds."""

LAST_WORDS_READS = 32

STDERR_TAIL_BYTES = 4_096
"""Kept of a bot's log as evidence."""


class LiveBot:
    """One process of one bot."""

    def __init__(self, spec: BotSpec, process: BotProcess) -> None:
        self.spec = spec
        self.process = process
        self.conversation = Conversation()
        self.ready = False
        self.closed = False
        """Whether its output has ended."""
        self.batch = 1
        """Questions that a line may hold; above 1 the bot takes arrays."""
        self.dropped = False
        """Whether it is out of the table."""
        self.asked: list[Match] = []
        """The matches of the last line it was asked."""
        self.thinking = False
        """Whether the answer to it is due."""
        self.line: bytes | None = None
        """The answer, until it is judged."""
        self.took_us = 0
        """Microseconds from question to answer."""
        self.waiting: deque[Match] = deque()
        """Matches that want to ask it next."""
        self.playing: dict[Match, int] = {}
        """Matches it takes part in, with its seat."""
        self._accounts: dict[Match, tuple[int, int]] = {}
        """CPU time and time to answer, nanoseconds, when each of them began."""
        self._thought_ns = 0
        """Time from its questions to its answers, summed."""
        self.allowed_ms = 0.0
        """Time for the answer that is due."""
        self.deadline_ns = 0
        self.ceiling_ns = 0
        self.last_fault: Fault | None = None
        self.peak_memory_mb = 0.0
        self._first_look: tuple[int, int] | None = None
        """CPU time and time without a core, nanoseconds, at the first look at this question."""
        self.asked_at_ns = 0
        """When the last byte of the question was written, monotonic nanoseconds."""
        self._log = bytearray()
        self._log_dropped = 0
        self._log_read = 0
        self._outbox = bytearray()
        self._stderr: deque[bytes] = deque()
        self._stderr_kept = 0
        self._exit: ExitStatus | None = None
        self._unread = bytearray(NOTHING)

    @property
    def backlog(self) -> bool:
        """Whether bytes wait for the bot to read."""
        return bool(self._outbox)

    def queue(self, message: ToBot) -> None:
        """Put a message that needs no answer into the next write."""
        line = encode(message)
        self.conversation.sent(line)
        self._outbox += line

    def ask(self, line: bytes) -> None:
        """Write a line that is to be answered, and what was queued before it.

        At once as far as the pipe takes it; the rest is the backlog.
        """
        self.conversation.sent(line)
        self._first_look = None
        if self._outbox:
            self._outbox += line
            self.flush()
            return
        # Before the write: on one core the bot may run, and answer, before the call returns.
        self.asked_at_ns = time.monotonic_ns()
        try:
            written = os.write(self.process.stdin, line)
        except BlockingIOError:
            written = 0
        except BrokenPipeError:
            # The end of its output tells that it died; the question is moot.
            written = len(line)
        if written < len(line):
            self._outbox += line[written:]

    def flush(self) -> None:
        """Write what waits, as far as the pipe takes it; the bot's time starts at the last byte."""
        self.asked_at_ns = time.monotonic_ns()
        try:
            written = os.write(self.process.stdin, self._outbox)
            del self._outbox[:written]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._outbox.clear()

    def has_unread(self) -> bool:
        """Whether its output holds bytes nobody asked for."""
        # Into a buffer of ours: half the time of having one made.
        fcntl.ioctl(self.process.stdout, termios.FIONREAD, self._unread)
        return self._unread != NOTHING

    def read(self) -> bytes | None:
        """Bytes of its output, empty at the end of it, None if there are none now."""
        try:
            return os.read(self.process.stdout, READ_BYTES)
        except BlockingIOError:
            return None

    def joins(self, match: Match, seat: int) -> None:
        """Its part in a match begins."""
        self.playing[match] = seat
        self._accounts[match] = self.process.cpu_ns(), self._thought_ns

    def idle_ms(self, match: Match) -> float:
        """Milliseconds of CPU that it used outside its turns since the match began.

        Worker and bots share a core, so a bot cannot use more CPU than wall time in its turns.
        """
        cpu, thought = self._accounts[match]
        return (self.process.cpu_ns() - cpu - (self._thought_ns - thought)) / 1e6

    def leaves(self, match: Match) -> int:
        """Its part in a match is over; returns its seat."""
        del self._accounts[match]
        return self.playing.pop(match)

    def set_deadline(self, allowed_ms: float) -> None:
        """The answer is due in so many milliseconds after the last byte of the question."""
        self.allowed_ms = allowed_ms
        self.deadline_ns = self.asked_at_ns + int(allowed_ms * 1e6)
        ceiling_ms = allowed_ms * CEILING_FACTOR + CEILING_EXTRA_MS
        self.ceiling_ns = self.asked_at_ns + int(ceiling_ms * 1e6)

    def next_matches(self) -> list[Match]:
        """Take as many of the matches that wait as a line may hold."""
        count = min(len(self.waiting), self.batch)
        return [self.waiting.popleft() for _ in range(count)]

    def answered(self, line: bytes, now_ns: int) -> None:
        """The answer is in."""
        took_ns = now_ns - self.asked_at_ns
        self.thinking, self.line, self.took_us = False, line, took_ns // 1000
        self._thought_ns += took_ns

    def drain_stderr(self) -> bool:
        """Take what it logged, as much as is kept of it. False once the log is closed."""
        try:
            data = os.read(self.process.stderr, READ_BYTES)
        except BlockingIOError:
            return True
        if data:
            self._keep_log(data)
        return bool(data)

    def drain_last_words(self) -> None:
        """Take all that a dying process logged; bounded, for it may still be writing."""
        if self._exit is not None:
            return
        for _ in range(LAST_WORDS_READS):
            before = self._log_read
            if not self.drain_stderr() or self._log_read == before:
                return

    def _keep_log(self, data: bytes) -> None:
        self._log_read += len(data)
        room = max(0, self.spec.log_bytes - len(self._log))
        self._log += data[:room]
        self._log_dropped += max(0, len(data) - room)
        self._stderr.append(data[-STDERR_TAIL_BYTES:])
        self._stderr_kept += len(self._stderr[-1])
        while self._stderr_kept - len(self._stderr[0]) >= STDERR_TAIL_BYTES:
            self._stderr_kept -= len(self._stderr.popleft())

    def take_log(self) -> tuple[str, int]:
        """What it logged since the last call, cut at the limit, and the bytes not kept."""
        taken = shown(bytes(self._log), len(self._log)), self._log_dropped
        self._log.clear()
        self._log_dropped = 0
        return taken

    def log_tail(self) -> str:
        """The end of what it logged in its whole life."""
        return shown(b"".join(self._stderr)[-STDERR_TAIL_BYTES:], STDERR_TAIL_BYTES)

    def sample_memory(self) -> float:
        """Memory now, mebibytes; remembers the peak."""
        now = self.process.memory_mb()
        self.peak_memory_mb = max(self.peak_memory_mb, now)
        return now

    def look(self) -> None:
        """Remember where its meters stood soon after the question, once a question.

        Most answers come before the first look, and then cost no reading at all.
        """
        if self._first_look is None:
            self._first_look = self.process.cpu_ns(), self.process.starved_ns()

    def used_ms(self) -> tuple[float, float]:
        """Milliseconds of CPU, and of waiting for a core, since the first look."""
        if self._first_look is None:
            return 0.0, 0.0
        cpu, starved = self._first_look
        return (self.process.cpu_ns() - cpu) / 1e6, (self.process.starved_ns() - starved) / 1e6

    def end(self, grace_ms: int) -> ExitStatus:
        """End the process for certain."""
        if self._exit is None:
            self._exit = self.process.close(grace_ms)
        return self._exit

    def fault(self, kind: FaultKind, detail: str) -> Fault:
        """A fault with this process's evidence as it is now."""
        status = self._exit
        return Fault(
            kind=kind,
            detail=detail,
            last_sent=self.conversation.last_sent(),
            last_received=self.conversation.last_received(),
            exit_status="" if status is None else status.in_words(),
            cpu_ms=status.cpu_ms if status is not None else self.process.cpu_ns() / 1e6,
            memory_mb=max(self.peak_memory_mb, status.peak_memory_mb if status else 0.0),
            stderr_tail=self.log_tail(),
        )
