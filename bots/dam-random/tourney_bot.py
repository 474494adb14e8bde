"""The tourney SDK for bots in Python: one file, standard library only, Python 3.9 or newer.

Copy this file next to your bot. A whole bot is a class with one method:

    from tourney_bot import Act, Bot, run

    class First(Bot):
        def decide(self, act: Act) -> str:
            return act.legal[0]

    if __name__ == "__main__":
        run(First)

`run` speaks the protocol on standard input and output until the runner says `quit` or closes the
pipe. While it runs, `print` writes to standard error, which the runner keeps as the bot's log, so
a forgotten `print` can do no harm (before `run` is called it still can). An exception in your code
ends the process, and its traceback is the last thing in that log.
"""

from __future__ import annotations

import gc
import json
import os
import random
import sys
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ("PROTOCOL", "Act", "Bot", "Match", "Result", "Session", "run")

PROTOCOL = 1
"""The version of the protocol that this file speaks."""

_MAX_KNOWN_ACTIONS = 4096
_COLLECT_AFTER = 20_000
_decode = json.JSONDecoder().raw_decode


class Match:
    """One match that the bot takes part in. Several can be open at once."""

    __slots__ = ("id", "memory", "players", "random", "seat", "seed")

    def __init__(self, start: dict[str, Any]) -> None:
        self.id: str = start["match"]
        """Name of the match, unique in this process."""
        self.seat: int | None = start.get("seat")
        """The bot's seat, counted from 0. None only if the match was joined without a `start`."""
        self.players: list[str] = start.get("players", [])
        """A name for each seat."""
        self.seed: int = start.get("seed", 0)
        """The bot's own seed: the same bot gets the same seed when the match is played again."""
        self.random = random.Random(self.seed)  # noqa: RUF100, S311 - play, not secrecy
        """Draw all chance from here, and the same match gives the same answers again."""
        self.memory: dict[str, Any] = {}
        """Yours: whatever the bot wants to remember until the match ends."""


class Act:
    """One question: the seat must choose one of `legal`."""

    __slots__ = ("clock", "events", "legal", "match", "note", "phase", "turn", "view")

    def __init__(self, match: Match, message: dict[str, Any]) -> None:
        self.match = match
        self.phase: str = message["phase"]
        """What kind of decision this is, in the game's words."""
        self.view: dict[str, Any] = message["view"]
        """All that the seat may know now, complete in itself."""
        self.legal: list[str] = message["legal"]
        """Every legal action, at least one."""
        self.events: list[dict[str, Any]] = message.get("events", [])
        """What the seat has seen since its last message, oldest first."""
        self.turn: int = message.get("turn", 0)
        self.clock: dict[str, Any] = message.get("clock", {})
        """`move_ms` for this decision, and `bank_ms` (None where there is no bank)."""
        self.note = ""
        """Set it to have a remark of up to 500 characters kept with the move."""


class Result:
    """How a match ended; each list has an entry a seat."""

    __slots__ = ("outcome", "ranks", "reveal", "scores")

    def __init__(self, end: dict[str, Any]) -> None:
        self.scores: list[float] = end.get("scores", [])
        self.ranks: list[int] = end.get("ranks", [])
        """1 is best; equal seats share a rank."""
        self.outcome: list[str] = end.get("outcome", [])
        """`finished`, or the name of the seat's fault."""
        self.reveal: dict[str, Any] = end.get("reveal", {})
        """What the game shows everybody at the end."""


class Bot:
    """Base of every bot. Override `decide`; the other methods may stay as they are.

    One instance lives as long as the process and plays many matches, so what belongs to one match
    goes into `match.memory`, and what belongs to the bot into `self`.
    """

    batch = 1
    """How many messages one line may hold. Above 1 the bot may be asked about many matches at once
    (`decide_many`)."""
    name = ""
    version = ""

    game: str = ""
    """Name of the game, known from `hello` on, as are the next three."""
    rules: dict[str, Any] = {}  # noqa: RUF012 - replaced as a whole by `hello`, never written into
    """Every option of the game with its value."""
    limits: dict[str, Any] = {}  # noqa: RUF012
    """The limits that the runner enforces."""
    options: dict[str, Any] = {}  # noqa: RUF012
    """The bot's own options, from its entry in the tournament's config."""

    def hello(self) -> None:
        """Prepare to play: called once, within the start-up limit."""

    def start(self, match: Match) -> None:
        """Note that a match begins."""

    def decide(self, act: Act) -> str:
        """Choose one of `act.legal`."""
        raise NotImplementedError

    def decide_many(self, acts: Sequence[Act]) -> Sequence[str]:
        """Choose for many matches at once, in the order of `acts`."""
        return [self.decide(act) for act in acts]

    def end(self, match: Match, result: Result) -> None:
        """Note how a match ended."""


class Session:
    """The protocol without the pipes: a line in, a line out. `run` is what bots call."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.is_over = False
        self._matches: dict[str, Match] = {}
        self._answers: dict[str, bytes] = {}

    def answer(self, line: bytes) -> bytes:
        """What to send back for `line`, without the line's end; empty for nothing.

        A line that is not JSON, and a message of an unknown type, is passed over.
        """
        try:
            message, _ = _decode(str(line, "utf-8").lstrip())
        except ValueError as error:
            if line.strip():
                sys.stderr.write(f"tourney_bot: passed over a bad line: {error}\n")
            return b""
        if isinstance(message, dict):
            if message.get("type") == "act":
                act = self._act(message)
                return self._encode(act, self.bot.decide(act))
            return self._take(message)
        return self._answer_array(message) if isinstance(message, list) else b""

    def _answer_array(self, messages: list[dict[str, Any]]) -> bytes:
        acts = []
        for message in messages:
            if message.get("type") == "act":
                acts.append(self._act(message))
            else:
                self._take(message)
        if not acts:
            return b""
        actions = self.bot.decide_many(acts)
        if len(actions) != len(acts):
            raise ValueError(f"decide_many gave {len(actions)} actions for {len(acts)} questions")
        return b"[" + b",".join(map(self._encode, acts, actions)) + b"]"

    def _act(self, message: dict[str, Any]) -> Act:
        match = self._matches.get(message["match"])
        if match is None:
            match = self._matches[message["match"]] = Match({"match": message["match"]})
        return Act(match, message)

    def _take(self, message: dict[str, Any]) -> bytes:
        """Deal with everything but `act`; only `hello` has an answer."""
        kind = message.get("type")
        if kind == "start":
            match = self._matches[message["match"]] = Match(message)
            self.bot.start(match)
        elif kind == "end":
            ended = self._matches.pop(message["match"], None)
            if ended is not None:
                self.bot.end(ended, Result(message))
        elif kind == "hello":
            return self._ready(message)
        elif kind == "quit":
            self.is_over = True
        return b""

    def _ready(self, message: dict[str, Any]) -> bytes:
        if message.get("protocol") != PROTOCOL:
            raise SystemExit(
                f"tourney_bot speaks protocol {PROTOCOL}, not {message.get('protocol')}"
            )
        bot = self.bot
        bot.game = message.get("game", "")
        bot.rules = message.get("rules", {})
        bot.limits = message.get("limits", {})
        bot.options = message.get("options", {})
        bot.hello()
        ready: dict[str, Any] = {"type": "ready"}
        if bot.batch > 1:
            ready["batch"] = bot.batch
        if bot.name:
            ready["name"] = bot.name
        if bot.version:
            ready["version"] = bot.version
        return json.dumps(ready).encode()

    def _encode(self, act: Act, action: str) -> bytes:
        # Few actions make up nearly all answers, so each is written as JSON only once.
        known = self._answers.get(action) if isinstance(action, str) else None
        if known is not None and not act.note:
            return known
        if not isinstance(action, str):
            raise TypeError(f"the bot chose {action!r}; it must be one of the strings in act.legal")
        answer = {"action": action}
        if act.note:
            answer["note"] = act.note
            return json.dumps(answer).encode()
        data = json.dumps(answer).encode()
        if len(self._answers) < _MAX_KNOWN_ACTIONS:
            self._answers[action] = data
        return data


def run(bot_class: type[Bot]) -> None:
    """Play with a `bot_class` until the runner says `quit` or closes the pipe."""
    # The answers go to a private copy of standard output; descriptor 1 itself becomes the log, so
    # that neither `print` nor a library written in C can write between two answers.
    channel = os.dup(1)
    os.dup2(2, 1)
    sys.stdout.flush()
    sys.stdout = sys.stderr
    if bot_class.batch > 1:
        # An array is a thousand containers and no cycle: the collector would look at them in vain.
        gc.set_threshold(_COLLECT_AFTER)
    with open(0, "rb", buffering=1 << 18, closefd=False) as lines:
        _serve(Session(bot_class()), lines, channel)


def _serve(session: Session, lines: Iterable[bytes], channel: int) -> None:
    for line in lines:
        answer = session.answer(line)
        if answer:
            rest = answer + b"\n"
            try:
                while rest:
                    rest = rest[os.write(channel, rest) :]
            except BrokenPipeError:  # the runner is gone, and with it all reason to play on
                return
        elif session.is_over:
            return
