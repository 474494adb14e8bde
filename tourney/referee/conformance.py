"""A bot against the protocol's fine print: the checks behind `tourney check`.

The bot plays real matches at every table size; the other seats are played from records of random
matches, so that no other program is needed and every run asks the same questions.
"""

import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from tourney.config.models import Limits
from tourney.deals import Deals, bot_seed, group_key
from tourney.errors import BotRefused, GameError, PackageError, PluginError
from tourney.games.base import Chance, Decision, Game, Over
from tourney.games.registry import make_game
from tourney.packages.archive import pack
from tourney.packages.cache import build_log, install
from tourney.packages.digest import package_digest
from tourney.packages.manifest import Manifest, load_manifest
from tourney.protocol.faults import Fault
from tourney.protocol.messages import PROTOCOL, Hello
from tourney.referee.match import Match
from tourney.referee.specs import BotSpec, MatchSpec
from tourney.referee.table import Table
from tourney.sandbox.base import ProcessLimits, Sandbox

__all__ = ("Finding", "State", "check_bot")

State = Literal["ok", "warning", "error"]
SECRET = b"tourney check"
SLOW_SHARE = 0.8
"""An answer that takes this share of the limit may be late on a busier machine."""

BUILD_LINES = 20
"""Shown of what a compiler said."""

ARRAY_MATCHES = 8
"""Matches at once for a bot that takes arrays, if it takes so many."""

NAME = "bot"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one check."""

    check: str
    state: State
    text: str
    evidence: tuple[str, ...] = ()


def check_bot(
    package: Path,
    sandbox: Sandbox,
    *,
    matches: int,
    limits: Limits,
    games: Sequence[str] = (),
    options: dict[str, Any] | None = None,
) -> Iterator[Finding]:
    """Check a package step by step; stops at the first step that makes later ones pointless.

    Args:
        package: a folder or an archive.
        sandbox: where it runs.
        matches: matches for each game and table size.
        limits: what the referee enforces.
        games: names of games; empty for all that the manifest names.
        options: handed to the bot in `hello`.

    Raises:
        SandboxUnavailable: bots cannot be confined here.
    """
    try:
        manifest = load_manifest(package)
    except PackageError as error:
        yield Finding(check="manifest", state="error", text=str(error))
        return
    text = f"{manifest.name} {manifest.version}".strip()
    yield Finding(check="manifest", state="ok", text=text)
    begin = time.monotonic()
    try:
        folder = install(pack(package), package_digest(package), sandbox)
    except (PackageError, BotRefused) as error:
        yield Finding(check="build", state="error", text=str(error))
        return
    text = f"ready in {time.monotonic() - begin:.1f} s"
    said = tuple(build_log(package_digest(package)).splitlines()[-BUILD_LINES:])
    yield Finding(check="build", state="ok", text=text, evidence=said)
    for name in games or manifest.games:
        try:
            game = make_game(name, {})
        except (PluginError, GameError) as error:
            yield Finding(check=name, state="warning", text=str(error))
            continue
        yield from _GameCheck(game, folder, manifest, sandbox, limits, options or {}).run(matches)


class _GameCheck:
    def __init__(
        self,
        game: Game[Any],
        folder: Path,
        manifest: Manifest,
        sandbox: Sandbox,
        limits: Limits,
        options: dict[str, Any],
    ) -> None:
        self._game = game
        self._limits = limits
        spec = BotSpec(
            name=NAME,
            folder=folder,
            command=manifest.run,
            options=options,
            limits=ProcessLimits(
                memory_mb=limits.memory_mb,
                tmp_mb=limits.tmp_mb,
                processes=limits.processes,
                cpu_seconds=limits.cpu_seconds or None,
            ),
        )
        hello = Hello(
            protocol=PROTOCOL,
            game=game.info.name,
            rules=msgspec.to_builtins(game.rules),
            limits=limits.model_dump(),
            options={},
        )
        self._table = Table(sandbox, {NAME: spec}, hello, limits)

    def run(self, matches: int) -> Iterator[Finding]:
        """Every check of this game."""
        name = self._game.info.name
        try:
            begin = time.monotonic()
            faults = self._table.handshake()
            took = (time.monotonic() - begin) * 1000
            if faults:
                yield _from_fault(f"{name}: handshake", faults[NAME])
                return
            text = f"{took:.0f} ms; the limit is {self._limits.start_ms} ms"
            yield Finding(check=f"{name}: handshake", state="ok", text=text)
            yield from self._plays(name, matches)
        finally:
            begin = time.monotonic()
            self._table.close()
        took = (time.monotonic() - begin) * 1000
        late = took > self._limits.grace_ms
        text = f"ended {took:.0f} ms after quit; the grace is {self._limits.grace_ms} ms"
        yield Finding(check=f"{name}: quit", state="warning" if late else "ok", text=text)

    def _plays(self, name: str, matches: int) -> Iterator[Finding]:
        played: list[Match] = []
        for seats in range(self._game.info.min_seats, self._game.info.max_seats + 1):
            for number in range(matches):
                match = self._match(seats, number)
                played += [one for one, _ in self._table.play([match])]
                if match.faults:
                    yield _from_fault(f"{name}: legal play", match.faults[match.live[0]][1])
                    return
        answers = sum(match.asked[match.live[0]] for match in played)
        text = f"{len(played)} matches, every table size, {answers} answers, all legal"
        yield Finding(check=f"{name}: legal play", state="ok", text=text)
        slowest = max(match.think_us_max[match.live[0]] for match in played) / 1000
        slow = slowest > SLOW_SHARE * self._limits.move_ms
        text = f"slowest answer {slowest:.1f} ms; the limit is {self._limits.move_ms} ms"
        yield Finding(check=f"{name}: speed", state="warning" if slow else "ok", text=text)
        repeats = self._repeats(name, played[0])
        yield repeats
        if self._table.batch(NAME) > 1:
            yield self._arrays(name, repeats.state == "ok")

    def _arrays(self, name: str, repeats: bool) -> Finding:
        """Matches at once, asked about in arrays: is each answer for its own match?"""
        check = f"{name}: arrays"
        seats, at_once = self._game.info.min_seats, min(self._table.batch(NAME), ARRAY_MATCHES)
        played = []
        for together in (False, True):
            # The same matches twice are another process's each time.
            self._table.restart()
            self._table.handshake()
            matches = [self._match(seats, number) for number in range(at_once)]
            for some in [matches] if together else [[match] for match in matches]:
                for match, _ in self._table.play(some):
                    if match.faults:
                        return _from_fault(check, match.faults[match.live[0]][1])
            played.append([match.actions for match in matches])
        text = f"{at_once} matches at once, asked about in arrays"
        if repeats and played[0] != played[1]:
            said = (
                "the answers are not those of one match at a time; are they in the array's order?"
            )
            return Finding(check=check, state="warning", text=f"{text}: {said}")
        return Finding(check=check, state="ok", text=text)

    def _repeats(self, name: str, first: Match) -> Finding:
        """Same match, same seed, another process: do the answers repeat?"""
        self._table.restart()
        seats = len(first.spec.seating)
        again = [one for one, _ in self._table.play([self._match(seats, first.spec.deal)])]
        same = again[0].actions == first.actions
        text = "same seed, same moves" if same else "same seed, other moves: use the match's seed"
        check = f"{name}: repeatable"
        return Finding(check=check, state="ok" if same else "warning", text=text)

    def _match(self, seats: int, number: int) -> Match:
        seat = number % seats
        key = group_key(SECRET, f"{seats}/{number}")
        seating = tuple(NAME if s == seat else f"other{s}" for s in range(seats))
        spec = MatchSpec(
            match=seats * 1000 + number,
            group=number,
            pairing=seating,
            deal=number,
            rotation=0,
            seating=seating,
        )
        return Match(
            spec,
            self._game,
            Deals(key),
            seeds=[bot_seed(SECRET, f"{seats}/{number}", s) for s in range(seats)],
            move_ms=self._limits.move_ms,
            bank_ms=self._limits.bank_ms,
            recorded=self._random_record(seats, Deals(key), number),
            live=(seat,),
        )

    def _random_record(self, seats: int, deals: Deals, number: int) -> list[str]:
        """A whole match of random legal actions on the same cards."""
        rng = random.Random(number)  # noqa: S311 - play, not secrecy
        actions: list[str] = []
        state = self._game.start(seats)
        while not isinstance(turn := self._game.turn(state), Over):
            if isinstance(turn, Chance):
                state = self._game.drawn(state, deals.draw(turn)).state
            elif isinstance(turn, Decision):
                actions.append(rng.choice(turn.legal))
                state = self._game.act(state, actions[-1]).state
        return actions


def _from_fault(check: str, fault: Fault) -> Finding:
    lines = [f"sent      {line[:300]}" for line in fault.last_sent[-1:]]
    lines += [f"received  {line[:300]}" for line in fault.last_received[-2:]]
    lines += [f"log       {line}" for line in fault.stderr_tail.splitlines()[-10:]]
    text = f"{fault.kind}: {fault.detail}"
    return Finding(check=check, state="error", text=text, evidence=tuple(lines))
