"""The poll loop: plays matches over the pipes of all bots of one worker, with the clocks.

Everything that must be decided is decided in `match` and `protocol`; this only reads, writes,
waits and ends processes. Every wait has a ceiling: a bot cannot hold the loop longer than its
own limits.
"""

import contextlib
import select
import time
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from tourney.config.models import Limits
from tourney.errors import BotRefused, TourneyError
from tourney.protocol.codec import BadMessage, decode_answer, decode_ready
from tourney.protocol.conversation import Problem
from tourney.protocol.faults import Fault, FaultKind
from tourney.protocol.messages import Hello, Quit
from tourney.referee.bots import BotSpec, LiveBot
from tourney.referee.match import Match
from tourney.referee.verdicts import blame, ending, lateness, overuse
from tourney.sandbox.base import Sandbox

__all__ = ("Table",)

TICK_MS = 10
"""How often a thinking bot's clock and memory are looked at; bots that answer sooner never are."""

SLOW_TICK_NS = 250_000_000
"""How often the memory of every bot is looked at, thinking or not."""

CEILING_FACTOR = 4
CEILING_EXTRA_MS = 1_000
"""A bot that a busy machine gave no core is waited for, up to this bound."""

UNASKED_MAX_BYTES = 1 << 20
"""After this much output that nobody asked for we stop reading; the pipe then holds the bot."""

CRASH_GRACE_MS = 50
"""A process that closed its output is about to exit: its own exit code is worth this wait."""


class Table:
    """The bots of one worker and the matches they are in. Not thread-safe."""

    def __init__(
        self,
        sandbox: Sandbox,
        bots: Mapping[str, BotSpec],
        hello: Hello,
        limits: Limits,
        in_flight: int = 1,
    ) -> None:
        """Seat `bots`; processes are started when a match first needs them.

        Args:
            sandbox: how processes are confined.
            bots: by their name in the run.
            hello: the greeting; each bot's `options` are put in.
            limits: what the referee enforces.
            in_flight: matches at the same time; 1 gives thinking bots a fair clock.
        """
        self._sandbox = sandbox
        self._bots = bots
        self._hello = hello
        self._limits = limits
        self._in_flight = in_flight
        self._live: dict[str, LiveBot] = {}
        self._by_fd: dict[int, LiveBot] = {}
        self._poll = select.epoll()
        self._active: dict[Match, int] = {}
        self._finished: list[tuple[Match, float]] = []
        self._last_tick_ns = self._last_slow_tick_ns = time.monotonic_ns()

    def play(self, matches: Iterable[Match]) -> Iterator[tuple[Match, float]]:
        """Play `matches`; yields each with its wall time in seconds when it is over.

        Raises:
            SandboxUnavailable: a process could not be confined, or was lost with its guard;
                nothing is charged to its bot, and the matches in play are given up.
        """
        try:
            yield from self._play(iter(matches))
        except TourneyError:
            self._give_up()
            raise

    def _give_up(self) -> None:
        """Forget the matches in play and end their bots: none may go on when they are played anew.

        The rest of the bots are ended as well: those of a lost guard are dead, unnoticed.
        """
        self._active.clear()
        self._finished.clear()
        for bot in tuple(self._live.values()):
            self._drop(bot)
            bot.end(0)

    def _play(self, source: Iterator[Match]) -> Iterator[tuple[Match, float]]:
        more = True
        while more or self._active:
            while more and len(self._active) < self._in_flight:
                match = next(source, None)
                more = match is not None
                if match is not None:
                    self._begin(match)
            if self._active:
                self._wait()
            while self._finished:
                yield self._finished.pop()
        for bot in tuple(self._live.values()):
            if bot.backlog:
                bot.flush()

    def handshake(self) -> dict[str, Fault]:
        """Start every bot and wait for its `ready`; returns the faults of those that fail.

        Raises:
            SandboxUnavailable: as `play`.
            BotRefused: a program does not exist inside the sandbox.
        """
        faults: dict[str, Fault] = {}
        for name in self._bots:
            bot = self._start(name)
            while not bot.ready and bot.last_fault is None:
                self._wait()
            if bot.last_fault is not None:
                faults[name] = bot.last_fault
        return faults

    def restart(self) -> None:
        """End every process: the next match starts new ones, which remember nothing."""
        bots = tuple(self._live.values())
        for bot in bots:
            if not bot.closed:
                bot.queue(Quit())
                bot.flush()
            self._drop(bot)
        # All were told before the first is waited for: they exit at the same time.
        for bot in bots:
            bot.end(self._limits.grace_ms)

    def close(self) -> None:
        """End every process and the loop."""
        self.restart()
        self._poll.close()

    def _begin(self, match: Match) -> None:
        self._active[match] = time.monotonic_ns()
        for seat in match.live:
            name = match.spec.seating[seat]
            bot = self._live.get(name)
            if bot is None or bot.closed:
                bot = self._revive(name, match, seat)
                if bot is None:
                    continue
            bot.playing[match] = seat
            bot.cpu_at_start[match] = bot.process.cpu_ns()
            bot.queue(match.start_message(seat))
        self._go_on(match)

    def _revive(self, name: str, match: Match, seat: int) -> LiveBot | None:
        dead = self._live.get(name)
        if dead is not None:
            self._drop(dead)
            dead.end(0)
        try:
            return self._start(name)
        except BotRefused as error:
            match.fault(seat, Fault(kind="start_failed", detail=str(error)))
            return None

    def _go_on(self, match: Match) -> None:
        """Ask for the pending decision, or end the match."""
        if match not in self._active:
            return
        decision = match.pending
        if decision is None:
            self._finish(match)
            return
        bot = self._live[match.spec.seating[decision.seat]]
        bot.waiting.append(match)
        self._ask(bot)

    def _finish(self, match: Match) -> None:
        seconds = (time.monotonic_ns() - self._active.pop(match)) / 1e9
        players = [bot for bot in self._live.values() if match in bot.playing]
        for bot in players:
            self._close_account(bot, match)
        end = match.end_message()
        for bot in players:
            bot.queue(end)
        self._finished.append((match, seconds))

    def _close_account(self, bot: LiveBot, match: Match) -> None:
        """The bot's part in a match ends: its log, and the CPU it burnt outside its turns.

        Worker and bots share a core, so a bot cannot use more CPU than wall time in its turns.
        """
        seat = bot.playing.pop(match)
        bot.drain_stderr()
        text, dropped = bot.take_log()
        if text:
            match.logs[seat] = (text, dropped)
        cpu_ms = (bot.process.cpu_ns() - bot.cpu_at_start.pop(match)) / 1e6
        idle_ms, limit = cpu_ms - match.think_us_total[seat] / 1000, self._limits.idle_cpu_ms
        if limit and idle_ms > limit and seat not in match.faults:
            self._drop(bot)
            blame(bot, bot.end(0))
            text = f"{idle_ms:.0f} ms of CPU outside its own turns in this match"
            match.fault(seat, bot.fault("cpu_limit", f"{text}; the limit is {limit} ms"))

    def _start(self, name: str) -> LiveBot:
        spec = self._bots[name]
        process = self._sandbox.start(spec.folder, spec.command, spec.limits)
        bot = LiveBot(spec, process)
        self._live[name] = bot
        for fd in (process.stdout, process.stderr):
            self._by_fd[fd] = bot
            self._poll.register(fd, select.EPOLLIN)
        bot.conversation.expect()
        bot.ask(msgspec.structs.replace(self._hello, options=spec.options))
        self._set_deadline(bot, self._limits.start_ms)
        return bot

    def _set_deadline(self, bot: LiveBot, allowed_ms: float) -> None:
        bot.allowed_ms = allowed_ms
        bot.deadline_ns = bot.asked_at_ns + int(allowed_ms * 1e6)
        ceiling_ms = allowed_ms * CEILING_FACTOR + CEILING_EXTRA_MS
        bot.ceiling_ns = bot.asked_at_ns + int(ceiling_ms * 1e6)

    def _ask(self, bot: LiveBot) -> None:
        if not bot.ready or bot.asked is not None or not bot.waiting:
            return
        match = bot.waiting.popleft()
        bot.asked = match
        if bot.closed:
            self._crashed(bot)
            return
        if bot.has_unread():
            self._read(bot)
            if self._live.get(bot.spec.name) is not bot:
                return
        problem = bot.conversation.expect()
        if problem is not None:
            self._fault(bot, problem.kind, problem.detail)
            return
        bot.ask(match.question())
        self._set_deadline(bot, match.allowed_ms(bot.playing[match]))
        if bot.backlog:
            self._poll_writing(bot)

    def _poll_writing(self, bot: LiveBot) -> None:
        if bot.process.stdin not in self._by_fd:
            self._by_fd[bot.process.stdin] = bot
            self._poll.register(bot.process.stdin, select.EPOLLOUT)

    def _wait(self) -> None:
        for fd, _ in self._poll.poll(TICK_MS / 1000):
            bot = self._by_fd.get(fd)
            if bot is None:
                continue
            if fd == bot.process.stdout:
                self._read(bot)
            elif fd == bot.process.stderr:
                if not bot.drain_stderr():
                    self._unregister(fd)
            else:
                self._write(bot)
        now = time.monotonic_ns()
        if now - self._last_tick_ns >= TICK_MS * 1_000_000:
            self._last_tick_ns = now
            self._tick(now)

    def _write(self, bot: LiveBot) -> None:
        bot.flush()
        if bot.ready and bot.asked is not None:
            self._set_deadline(bot, bot.allowed_ms)
        if not bot.backlog:
            self._unregister(bot.process.stdin)

    def _read(self, bot: LiveBot) -> None:
        data = bot.read()
        if data is None:
            return
        if not data:
            bot.closed = True
            self._unregister(bot.process.stdout)
            if bot.asked is not None or not bot.ready:
                self._crashed(bot)
            return
        line = bot.conversation.feed(data)
        if line is None:
            if bot.conversation.unasked > UNASKED_MAX_BYTES:
                self._unregister(bot.process.stdout)
        elif isinstance(line, Problem):
            self._fault(bot, line.kind, line.detail)
        elif bot.ready:
            self._answered(bot, line)
        else:
            self._became_ready(bot, line)

    def _became_ready(self, bot: LiveBot, line: bytes) -> None:
        try:
            decode_ready(line)
        except BadMessage as error:
            self._fault(bot, "start_failed", str(error))
            return
        bot.ready = True
        self._ask(bot)

    def _answered(self, bot: LiveBot, line: bytes) -> None:
        match = bot.asked
        assert match is not None, "a line without a question"
        think_us = (time.monotonic_ns() - bot.asked_at_ns) // 1000
        try:
            answer = decode_answer(line)
        except BadMessage as error:
            self._fault(bot, "bad_message", str(error))
            return
        bot.asked = None
        if not match.answer(answer.action, think_us, answer.note):
            decision = match.pending
            assert decision is not None, "an answer without a decision"
            legal = ", ".join(decision.legal)
            fault = bot.fault(
                "illegal_action",
                f"{answer.action[:100]!r} in phase {decision.phase!r}; legal: {legal[:500]}",
            )
            match.fault(bot.playing[match], fault)
        self._go_on(match)
        self._ask(bot)

    def _tick(self, now: int) -> None:
        slow = now - self._last_slow_tick_ns >= SLOW_TICK_NS
        if slow:
            self._last_slow_tick_ns = now
        for bot in tuple(self._live.values()):
            thinking = bot.asked is not None or not bot.ready
            if bot.closed or not (thinking or slow):
                continue
            if thinking:
                bot.look()
            if too_much := overuse(bot):
                self._fault(bot, "memory_limit", too_much)
            elif thinking and now >= bot.deadline_ns:
                self._late(bot, now)

    def _late(self, bot: LiveBot, now: int) -> None:
        """The wall clock is over; the machine's own lateness is not charged."""
        text = lateness(bot, now)
        if text:
            self._fault(bot, "timeout" if bot.ready else "start_failed", text)

    def _crashed(self, bot: LiveBot) -> None:
        """Its output ended: name what ended the process."""
        self._drop(bot)
        bot.drain_last_words()
        status = bot.end(CRASH_GRACE_MS)
        blame(bot, status)
        self._fault(bot, *ending(bot, status))

    def _fault(self, bot: LiveBot, kind: FaultKind, detail: str) -> None:
        """End a process that cannot be trusted with another question, and its part in matches."""
        # Out of the table before anything else, so that nobody asks it again.
        self._drop(bot)
        bot.drain_last_words()
        blame(bot, bot.end(0))
        fault = bot.last_fault = bot.fault(kind, detail)
        affected = [bot.asked, *bot.waiting] if bot.asked is not None else [*bot.waiting]
        text, dropped = bot.take_log()
        for match, seat in tuple(bot.playing.items()):
            match.fault(seat, fault)
            match.logs[seat] = (text, dropped)
        for match in affected:
            self._go_on(match)

    def _drop(self, bot: LiveBot) -> None:
        self._live.pop(bot.spec.name, None)
        for fd in (bot.process.stdin, bot.process.stdout, bot.process.stderr):
            self._unregister(fd)

    def _unregister(self, fd: int) -> None:
        if self._by_fd.pop(fd, None) is not None:
            with contextlib.suppress(OSError, ValueError):
                self._poll.unregister(fd)
