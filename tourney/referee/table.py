"""The poll loop: plays matches over the pipes of all bots of one worker, with the clocks.

Everything that must be decided is decided in `match` and `protocol`; this only reads, writes,
waits and ends processes. Every wait has a ceiling: a bot cannot hold the loop longer than its
own limits.
"""

import time
from collections.abc import Iterable, Iterator, Mapping

from tourney.config.models import Limits
from tourney.errors import BotRefused, TourneyError
from tourney.protocol.codec import (
    BadMessage,
    decode_answer,
    decode_answers,
    decode_ready,
    encode,
    encode_array,
)
from tourney.protocol.conversation import Problem
from tourney.protocol.faults import Fault, FaultKind
from tourney.protocol.messages import Hello
from tourney.referee.bots import NEVER, LiveBot
from tourney.referee.match import Match
from tourney.referee.processes import Processes
from tourney.referee.specs import BotSpec
from tourney.referee.verdicts import blame, ending, lateness, overuse, refusal
from tourney.sandbox.base import Sandbox

__all__ = ("MOST_AT_ONCE", "Table")

TICK_MS = 10
"""How often a thinking bot's clock and memory are looked at."""

SLOW_TICK_NS = 100_000_000
"""How often the memory of every bot is looked at: of those that answer sooner or do not think."""

MOST_AT_ONCE = 512
"""Matches in play at the same time where bots take arrays: a crash takes all of them along."""

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
        at_once: int = MOST_AT_ONCE,
    ) -> None:
        """Seat `bots`; processes are started when a match first needs them.

        Args:
            sandbox: how processes are confined.
            bots: by their name in the run.
            hello: the greeting; each bot's `options` are put in.
            limits: what the referee enforces.
            at_once: matches in play at the same time, at most, where all bots of them take arrays;
                a bot that does not has the clock to itself, one match at a time.
        """
        self._limits = limits
        self._most_at_once = at_once
        self._processes = Processes(sandbox, bots, hello, limits)
        self._live = self._processes.live
        self._active: dict[Match, int] = {}
        self._due: list[LiveBot] = []
        """Bots with a match that waits for them, in the order in which they are asked."""
        self._finished: list[tuple[Match, float]] = []
        self._last_tick_ns = self._last_slow_tick_ns = time.monotonic_ns()
        self.at_once = 1
        """Matches that may be in play at the same time, the most of any that were played."""

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
        self._due.clear()
        self._finished.clear()
        for bot in tuple(self._live.values()):
            self._processes.drop(bot)
            bot.end(0)

    def _play(self, source: Iterator[Match]) -> Iterator[tuple[Match, float]]:
        following = next(source, None)
        while following is not None or self._active:
            if following is not None and self._has_room(following):
                self._begin(following)
                following = None
            else:
                # There is no more room before a match is over.
                while not self._finished:
                    self._round()
            while self._finished:
                yield self._finished.pop()
            if following is None and self._has_room():
                following = next(source, None)
        for bot in tuple(self._live.values()):
            if bot.backlog:
                bot.flush()

    def _has_room(self, match: Match | None = None) -> bool:
        """Whether `match`, or any at all, may begin beside those in play.

        Matches share the pipes only where every bot of every one of them takes arrays.
        """
        active = len(self._active)
        if not active:
            return True
        room = self._room(next(iter(self._active)))
        return room > 1 and active < (room if match is None else self._room(match))

    def _room(self, match: Match) -> int:
        names = [match.seating[seat] for seat in match.live]
        batch = min(map(self.batch, names), default=1)
        return min(self._most_at_once, 2 * len(names) * batch) if batch > 1 else 1

    def handshake(self, names: Iterable[str] | None = None) -> dict[str, Fault]:
        """Have a process ready for each of `names`, or of all bots; returns who failed, and how.

        Nothing is charged for it in any match: a bot that failed is started once more when a match
        needs it.

        Raises:
            SandboxUnavailable: as `play`.
            BotRefused: a program does not exist inside the sandbox.
        """
        faults: dict[str, Fault] = {}
        for name in self._processes.bots if names is None else names:
            if name in self._live:
                continue
            bot = self._processes.start(name)
            self._await_ready(bot)
            if bot.last_fault is not None:
                faults[name] = bot.last_fault
        return faults

    def batch(self, name: str) -> int:
        """Messages that a line to the bot may hold, as it last said; 1 if it never did."""
        return self._processes.batch.get(name, 1)

    def restart(self) -> None:
        """End every process: the next match starts new ones, which remember nothing."""
        self._processes.end_all()

    def close(self) -> None:
        """End every process and the loop."""
        self._processes.close()

    def _begin(self, match: Match) -> None:
        self._active[match] = time.monotonic_ns()
        for seat in match.live:
            name = match.seating[seat]
            bot = self._live.get(name)
            if bot is None:
                bot = self._start(name, match, seat)
                if bot is None:
                    continue
            bot.joins(match, seat)
            if bot.closed:
                # It ended between two matches: this one it cannot play.
                self._crashed(bot)
                continue
            bot.queue(match.start_message(seat))
        self._go_on(match)

    def _start(self, name: str, match: Match, seat: int) -> LiveBot | None:
        try:
            return self._processes.start(name)
        except BotRefused as error:
            match.fault(seat, Fault(kind="start_failed", detail=str(error)))
            return None

    def _go_on(self, match: Match) -> None:
        """Have the pending decision asked for in the next round, or end the match."""
        if match not in self._active:
            return
        decision = match.pending
        if decision is None:
            self._finish(match)
            return
        bot = self._live[match.seating[decision.seat]]
        if not bot.waiting:
            self._due.append(bot)
        bot.waiting.append(match)

    def _finish(self, match: Match) -> None:
        seconds = (time.monotonic_ns() - self._active.pop(match)) / 1e9
        players = [bot for bot in self._live.values() if match in bot.playing]
        for bot in players:
            self._close_account(bot, match)
        self.at_once = max(self.at_once, self._room(match))
        end = match.end_message()
        for bot in players:
            bot.queue(end)
        self._finished.append((match, seconds))

    def _close_account(self, bot: LiveBot, match: Match) -> None:
        """The bot's part in a match ends: its log, and the CPU it burnt outside its turns."""
        idle_ms, limit = bot.idle_ms(match), self._limits.idle_cpu_ms
        if limit and idle_ms > limit and bot.playing[match] not in match.faults:
            text = f"{idle_ms:.0f} ms of CPU outside its own turns in this match"
            self._fault(bot, "cpu_limit", f"{text}; the limit is {limit} ms")
            return
        seat = bot.leaves(match)
        bot.drain_stderr()
        text, dropped = bot.take_log()
        if text:
            match.logs[seat] = (text, dropped)

    def _round(self) -> None:
        """Ask every bot that a match waits for, and go on when all of them have answered.

        In rounds, so that nothing depends on who answers first: what a bot is asked, and in which
        order, is the same however fast the others are.
        """
        asked, self._due = self._due, []
        for bot in asked:
            if not bot.ready:
                self._await_ready(bot)
            if not bot.dropped:
                self._ask(bot)
        thinking = False
        for bot in asked:
            # On one core the bot has often answered before the write came back.
            if bot.thinking:
                self._read(bot)
                thinking = thinking or bot.thinking
        if thinking:
            self._await_answers(asked)
        for bot in asked:
            if bot.line is not None:
                self._judge(bot, bot.line)

    def _set_clocks(self) -> None:
        """Say when the answers are due, for bots that did not answer at once: most do."""
        for bot in self._live.values():
            if bot.thinking and bot.deadline_ns == NEVER:
                allowed = [match.allowed_ms(bot.playing[match]) for match in bot.asked]
                bot.set_deadline(sum(allowed))

    def _await_ready(self, bot: LiveBot) -> None:
        self._set_clocks()
        while not (bot.ready or bot.dropped):
            self._wait()

    def _await_answers(self, bots: list[LiveBot]) -> None:
        self._set_clocks()
        while any(bot.thinking for bot in bots):
            self._wait()

    def _ask(self, bot: LiveBot) -> None:
        """Ask about the matches that wait for the bot, as many as a line may hold."""
        matches = bot.asked = bot.next_matches()
        if bot.waiting:
            self._due.append(bot)
        if bot.closed:
            self._crashed(bot)
            return
        if bot.has_unread():
            self._read(bot)
            if bot.dropped:
                return
        problem = bot.conversation.expect(len(matches))
        if problem is not None:
            self._fault(bot, problem.kind, problem.detail)
            return
        bot.thinking = True
        if len(matches) == 1:
            bot.ask(encode(matches[0].question()))
        else:
            bot.ask(encode_array([match.question() for match in matches]))
        bot.deadline_ns = NEVER
        if bot.backlog:
            self._processes.watch_writing(bot)

    def _wait(self) -> None:
        for bot, fd in self._processes.news(TICK_MS):
            if bot.dropped:
                continue
            if fd == bot.process.stdout:
                self._read(bot)
            elif fd == bot.process.stderr:
                if not bot.drain_stderr():
                    self._processes.forget(fd)
            else:
                self._write(bot)
        now = time.monotonic_ns()
        if now - self._last_tick_ns >= TICK_MS * 1_000_000:
            self._tick(now)

    def _write(self, bot: LiveBot) -> None:
        bot.flush()
        if bot.thinking:
            bot.set_deadline(bot.allowed_ms)
        if not bot.backlog:
            self._processes.forget(bot.process.stdin)

    def _read(self, bot: LiveBot) -> None:
        data = bot.read()
        if data is None:
            return
        if not data:
            bot.closed = True
            self._processes.forget(bot.process.stdout)
            if bot.thinking or not bot.ready:
                self._crashed(bot)
            return
        line = bot.conversation.feed(data)
        if line is None:
            if bot.conversation.unasked > UNASKED_MAX_BYTES:
                self._processes.forget(bot.process.stdout)
        elif isinstance(line, Problem):
            # Whatever is wrong before `ready` is a start that failed.
            self._fault(bot, line.kind if bot.ready else "start_failed", line.detail)
        elif bot.ready:
            now = time.monotonic_ns()
            bot.answered(line, now)
            # Bots that answer at once are never waited for: their memory is looked at from here.
            if now - self._last_tick_ns >= TICK_MS * 1_000_000:
                self._tick(now)
        else:
            self._became_ready(bot, line)

    def _became_ready(self, bot: LiveBot, line: bytes) -> None:
        try:
            bot.batch = decode_ready(line).batch
        except BadMessage as error:
            self._fault(bot, "start_failed", str(error))
            return
        self._processes.batch[bot.spec.name] = bot.batch
        bot.ready = True

    def _judge(self, bot: LiveBot, line: bytes) -> None:
        """Play the answers of a line, each in its match."""
        matches = bot.asked
        think_us = bot.took_us // len(matches)
        try:
            if len(matches) == 1:
                answers = [decode_answer(line)]
            else:
                answers = decode_answers(line, len(matches))
        except BadMessage as error:
            self._fault(bot, "bad_message", str(error))
            return
        bot.asked, bot.line = [], None
        for place in range(len(matches)):
            match, answer = matches[place], answers[place]
            if not match.answer(answer.action, think_us, answer.note):
                match.fault(bot.playing[match], bot.fault("illegal_action", refusal(match, answer)))
            self._go_on(match)
            if bot.dropped:
                # It had a fault at the end of that match; its other matches go on without it.
                for other in matches[place + 1 :]:
                    self._go_on(other)
                return

    def _tick(self, now: int) -> None:
        last, self._last_tick_ns = self._last_tick_ns, now
        slow = now - self._last_slow_tick_ns >= SLOW_TICK_NS
        if slow:
            self._last_slow_tick_ns = now
        for bot in tuple(self._live.values()):
            if bot.closed:
                continue
            thinking = bot.thinking or not bot.ready
            if thinking:
                bot.look()
            too_much = overuse(bot) if slow or (thinking and bot.asked_at_ns < last) else ""
            if too_much:
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
        self._processes.drop(bot)
        bot.drain_last_words()
        status = bot.end(CRASH_GRACE_MS)
        blame(bot, status)
        self._fault(bot, *ending(bot, status))

    def _fault(self, bot: LiveBot, kind: FaultKind, detail: str) -> None:
        """End a process that cannot be trusted with another question, and its part in matches."""
        # Out of the table before anything else, so that nobody asks it again.
        self._processes.drop(bot)
        bot.drain_last_words()
        blame(bot, bot.end(0))
        fault = bot.last_fault = bot.fault(kind, detail)
        affected = [*bot.asked, *bot.waiting]
        bot.asked = []
        bot.waiting.clear()
        text, dropped = bot.take_log()
        for match, seat in tuple(bot.playing.items()):
            match.fault(seat, fault)
            match.logs[seat] = (text, dropped)
        for match in affected:
            self._go_on(match)
