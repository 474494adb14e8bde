"""A live bot: its process, its conversation, its pipes and its log. Judges nothing.

The table loop decides when to read and how long to wait; this module does the reading.
"""

import fcntl
import os
import struct
import termios
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tourney.protocol.codec import encode, shown
from tourney.protocol.conversation import Conversation
from tourney.protocol.faults import Fault, FaultKind
from tourney.protocol.messages import ToBot
from tourney.referee.match import Match
from tourney.sandbox.base import BotProcess, ExitStatus, ProcessLimits

__all__ = ("BotSpec", "LiveBot")

READ_BYTES = 1 << 16
"""One read empties a pipe of the usual size."""

LAST_WORDS_READS = 32

STDERR_TAIL_BYTES = 4_096
"""Kept of a bot's log as evidence."""


class BotSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A bot that is ready to be started on this machine."""

    name: str
    folder: Path
    """The unpacked and built package."""
    command: Sequence[str]
    options: Mapping[str, Any]
    limits: ProcessLimits
    log_bytes: int = 64 * 1024
    """Kept of its standard error a match."""


class LiveBot:
    """One process of one bot."""

    def __init__(self, spec: BotSpec, process: BotProcess) -> None:
        self.spec = spec
        self.process = process
        self.conversation = Conversation()
        self.ready = False
        self.closed = False
        """Whether its output has ended."""
        self.asked: Match | None = None
        """The match it is thinking about."""
        self.waiting: deque[Match] = deque()
        """Matches that want to ask it next."""
        self.playing: dict[Match, int] = {}
        """Matches it takes part in, with its seat."""
        self.cpu_at_start: dict[Match, int] = {}
        """Its CPU time, nanoseconds, when each of them began."""
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

    @property
    def backlog(self) -> bool:
        """Whether bytes wait for the bot to read."""
        return bool(self._outbox)

    def queue(self, message: ToBot) -> None:
        """Put a message that needs no answer into the next write."""
        line = encode(message)
        self.conversation.sent(line)
        self._outbox += line

    def ask(self, message: ToBot) -> None:
        """Write a question, and what was queued before it, at once as far as the pipe takes it."""
        line = encode(message)
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
        count: bytes = fcntl.ioctl(self.process.stdout, termios.FIONREAD, b"\0\0\0\0")
        return bool(struct.unpack("i", count)[0])

    def read(self) -> bytes | None:
        """Bytes of its output, empty at the end of it, None if there are none now."""
        try:
            return os.read(self.process.stdout, READ_BYTES)
        except BlockingIOError:
            return None

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
