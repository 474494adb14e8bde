"""The processes of a table's bots: started, listened to and ended. Judges nothing."""

import contextlib
import select
from collections.abc import Mapping

import msgspec

from tourney.config.models import Limits
from tourney.protocol.codec import encode
from tourney.protocol.messages import Hello, Quit
from tourney.referee.bots import LiveBot
from tourney.referee.specs import BotSpec
from tourney.sandbox.base import Sandbox

__all__ = ("Processes",)


class Processes:
    """One process a bot, and one poll over all their pipes."""

    def __init__(
        self, sandbox: Sandbox, bots: Mapping[str, BotSpec], hello: Hello, limits: Limits
    ) -> None:
        self.bots = bots
        self.live: dict[str, LiveBot] = {}
        """Those that run and are trusted, by the bot's name."""
        self.batch: dict[str, int] = {}
        """What each bot last said it takes in one line."""
        self._sandbox = sandbox
        self._hello = hello
        self._limits = limits
        self._by_fd: dict[int, LiveBot] = {}
        self._poll = select.epoll()

    def start(self, name: str) -> LiveBot:
        """Start a bot and greet it; its `ready` comes later.

        Raises:
            SandboxUnavailable: it could not be confined.
            BotRefused: its program does not exist inside the sandbox.
        """
        spec = self.bots[name]
        bot = LiveBot(spec, self._sandbox.start(spec.folder, spec.command, spec.limits))
        self.live[name] = bot
        for fd in (bot.process.stdout, bot.process.stderr):
            self._by_fd[fd] = bot
            self._poll.register(fd, select.EPOLLIN)
        bot.conversation.expect()
        bot.ask(encode(msgspec.structs.replace(self._hello, options=spec.options)))
        bot.set_deadline(self._limits.start_ms)
        return bot

    def news(self, wait_ms: float) -> list[tuple[LiveBot, int]]:
        """Bots with something to read, or with room to write, and the pipe; waits at most so long.

        A bot of the list may be dropped while the list is worked through.
        """
        ready = self._poll.poll(wait_ms / 1000)
        return [(self._by_fd[fd], fd) for fd, _ in ready if fd in self._by_fd]

    def watch_writing(self, bot: LiveBot) -> None:
        """Have `news` tell when its pipe takes more."""
        if bot.process.stdin not in self._by_fd:
            self._by_fd[bot.process.stdin] = bot
            self._poll.register(bot.process.stdin, select.EPOLLOUT)

    def forget(self, fd: int) -> None:
        """No more news of this pipe."""
        if self._by_fd.pop(fd, None) is not None:
            with contextlib.suppress(OSError, ValueError):
                self._poll.unregister(fd)

    def drop(self, bot: LiveBot) -> None:
        """A process is out of play from now on; to be ended by the caller."""
        bot.dropped, bot.thinking, bot.line = True, False, None
        self.live.pop(bot.spec.name, None)
        for fd in (bot.process.stdin, bot.process.stdout, bot.process.stderr):
            self.forget(fd)

    def end_all(self) -> None:
        """Tell every process to quit, and end those that do not."""
        bots = tuple(self.live.values())
        for bot in bots:
            if not bot.closed:
                bot.queue(Quit())
                bot.flush()
            self.drop(bot)
        # All were told before the first is waited for: they exit at the same time.
        for bot in bots:
            bot.end(self._limits.grace_ms)

    def close(self) -> None:
        """End every process and the poll."""
        self.end_all()
        self._poll.close()
