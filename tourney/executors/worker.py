"""One worker: prepares bots on its node, plays blocks, gives rows back. Knows nothing of Ray."""

import gc
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from tourney import plugins, records
from tourney.deals import Deals, bot_seed, group_key
from tourney.errors import BotRefused, NodeNoisy
from tourney.executors.base import BlockResult, WorkPlan
from tourney.executors.canary import Canary
from tourney.games.registry import make_game
from tourney.packages.cache import install
from tourney.packages.manifest import load_manifest
from tourney.protocol.faults import Fault
from tourney.protocol.messages import PROTOCOL, Hello
from tourney.ratings import sums
from tourney.referee.match import Match
from tourney.referee.replay import group_id, match_id
from tourney.referee.rows import Rows, add_rows, add_unplayed
from tourney.referee.specs import BotSpec, MatchSpec
from tourney.referee.table import MOST_AT_ONCE, Table
from tourney.sandbox.base import ProcessLimits, Sandbox
from tourney.schedule.formats import fixed_schedule
from tourney.schedule.groups import Group
from tourney.schedule.scheduler import Block
from tourney.store import codec

__all__ = ("TableWorker", "collect_seldom")

COLLECT_AFTER = 20_000
"""New containers between two looks for cycles, in a process that only plays (Python's own: 700)."""


def collect_seldom() -> None:
    """Spare a process that only plays most of the garbage collector's work.

    A match's values hold no cycles, and hundreds of matches in play are looked at in vain.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)


class TableWorker:
    """Plays blocks of one run. Its bots' processes live on from match to match."""

    def __init__(
        self, plan: WorkPlan, archives: Mapping[str, bytes], core: int | None = None
    ) -> None:
        """Prepare every bot.

        Args:
            plan: the run.
            archives: packed packages by digest; a bot without one is not prepared.
            core: pin this process and its bots to one CPU core: in turn-based play one of them
                runs at a time, and a round trip is cheaper on one core.

        Raises:
            SandboxUnavailable: bots cannot be confined on this node.
            BotRefused: a bot cannot be built or its program is missing here.
        """
        if core is not None:
            os.sched_setaffinity(0, {core})
        self._plan = plan
        self._bear_noise = False
        """Whether a late canary is only noted: a block is not given back for ever."""
        self._game = make_game(plan.game, plan.rules)
        names = [bot.name for bot in plan.bots]
        self._schedule = None if plan.terms.is_drawn else fixed_schedule(plan.terms, names)
        sandbox: Sandbox = plugins.load("sandboxes", plan.sandbox)()
        sandbox.check()
        limits = ProcessLimits(
            memory_mb=plan.limits.memory_mb,
            tmp_mb=plan.limits.tmp_mb,
            processes=plan.limits.processes,
            cpu_seconds=plan.limits.cpu_seconds or None,
        )
        specs = {}
        for bot in plan.bots:
            if bot.digest not in archives:
                continue
            folder = install(archives[bot.digest], bot.digest, sandbox)
            specs[bot.name] = BotSpec(
                name=bot.name,
                folder=folder,
                command=load_manifest(folder).run,
                options=bot.options,
                limits=limits,
                log_bytes=plan.limits.stderr_kb * 1024,
            )
        hello = Hello(
            protocol=PROTOCOL,
            game=plan.game,
            rules=msgspec.to_builtins(self._game.rules),
            limits=plan.limits.model_dump(),
            options={},
        )
        # A process a match leaves no room for a second match.
        most = 1 if plan.restart == "match" else MOST_AT_ONCE
        self._table = Table(sandbox, specs, hello, plan.limits, most)
        any_folder = next(iter(specs.values())).folder
        self._canary = Canary(sandbox, any_folder, plan.limits.move_ms)

    def handshake(self) -> dict[str, Fault]:
        """Start every bot once; returns the faults of those that are not ready in time."""
        return self._table.handshake()

    def play(self, block: Block) -> BlockResult:
        """Play every match of the block's groups.

        Rotation by rotation over all groups, with new processes for each rotation: no process
        ever meets the same deal twice, so none can play from memory of the other seats' cards.

        Raises:
            SandboxUnavailable: a process could not be confined; nothing of the block counts.
            NodeNoisy: this machine is too busy for a fair clock; likewise.
        """
        begin = time.monotonic()
        out = frozenset(block.withdrawn)
        self._bear_noise = block.last_attempt
        rows: Rows = {"matches": [], "seats": [], "faults": [], "logs": []}
        everything = self._groups(block)
        groups = [group for group in everything if not out.intersection(group.pairing)]
        for group in everything:
            if out.intersection(group.pairing):
                add_unplayed(rows, self._specs(group), out)
        keys = {group.number: self._key(group) for group in groups}
        deals = {number: Deals(key) for number, key in keys.items()}
        starting = 0.0
        for rotation in range(max((group.seats for group in groups), default=0)):
            those = [group for group in groups if rotation < group.seats]
            starting += self._start_bots(those, anew=self._wants_new_processes(block, rotation))
            for match, seconds in self._table.play(self._matches(those, deals, rotation)):
                add_rows(rows, match, seconds)
        tables = {table: records.frame(table, kept) for table, kept in rows.items()}
        # Packed and added up here, where there are many cores, not where all rows come together.
        tables["matches"] = codec.pack(tables["matches"])
        added = sums(tables["seats"])
        return BlockResult(
            tables=tables,
            sums=added,
            seconds=time.monotonic() - begin,
            starting=starting,
            at_once=self._table.at_once,
        )

    def _wants_new_processes(self, block: Block, rotation: int) -> bool:
        if rotation:
            return self._plan.restart == "deal"
        return block.attempt > 1 or self._plan.restart == "block"

    def _start_bots(self, groups: Sequence[Group], *, anew: bool) -> float:
        """Have all bots of the groups ready, with new processes or those there are.

        Returns:
            the seconds it took.
        """
        begin = time.monotonic()
        if anew:
            self._table.restart()
        if self._plan.restart != "match":
            # A bot without a program is told so in its matches.
            with suppress(BotRefused):
                self._table.handshake(sorted({bot for group in groups for bot in group.pairing}))
        return time.monotonic() - begin

    def _groups(self, block: Block) -> Sequence[Group]:
        """What a block holds: said by it, or by the schedule that everybody knows."""
        if self._schedule is None:
            return block.drawn
        return [self._schedule.group(number) for number in block.groups]

    def play_one(self, seating: tuple[str, ...]) -> tuple[Match, bytes]:
        """Play deal 0 once with the bots seated as given; returns the match and its group key."""
        group = Group(0, seating, 0, seating)
        key = self._key(group)
        [(match, _)] = self._table.play(self._matches([group], {0: Deals(key)}, 0))
        return match, key

    def play_again(self, row: Mapping[str, Any], seat: int) -> Match:
        """Play one seat of a recorded match anew, the other seats as recorded.

        Args:
            row: the match, as in `records.MATCHES`.
            seat: where the bot sits that is asked again.
        """
        pairing = tuple(row["pairing"].split("+"))
        group = Group(row["group"], pairing, row["deal"], ())
        spec = MatchSpec(
            match=row["match"],
            group=row["group"],
            pairing=pairing,
            deal=row["deal"],
            rotation=row["rotation"],
            seating=tuple(row["seating"]),
        )
        match = self._match(spec, Deals(self._key(group)), recorded=row["actions"], live=(seat,))
        for _ in self._table.play([match]):
            pass
        return match

    def _key(self, group: Group) -> bytes:
        return group_key(self._plan.secret, group_id(group.pairing, group.deal))

    def _matches(
        self, groups: list[Group], deals: Mapping[int, Deals], rotation: int
    ) -> Iterator[Match]:
        for group in groups:
            self._listen()
            if self._plan.restart == "match":
                self._table.restart()
            yield self._match(self._specs(group)[rotation], deals[group.number])

    def _match(
        self,
        spec: MatchSpec,
        deals: Deals,
        *,
        recorded: Sequence[str] = (),
        live: Sequence[int] | None = None,
    ) -> Match:
        """A match under this run's plan; a match played again gets the seeds it had before."""
        plan = self._plan
        wire_id = match_id(group_id(spec.pairing, spec.deal), spec.rotation)
        return Match(
            spec,
            self._game,
            deals,
            seeds=[bot_seed(plan.secret, wire_id, seat) for seat in range(len(spec.seating))],
            names=plan.names,
            move_ms=plan.limits.move_ms,
            bank_ms=plan.limits.bank_ms,
            recorded=recorded,
            live=live,
        )

    def _specs(self, group: Group) -> list[MatchSpec]:
        return [
            MatchSpec(
                match=group.number * self._plan.terms.stride + rotation,
                group=group.number,
                pairing=group.pairing,
                deal=group.deal,
                rotation=rotation,
                seating=group.seating(rotation),
            )
            for rotation in range(group.seats)
        ]

    def _listen(self) -> None:
        try:
            self._canary.ask()
        except NodeNoisy:
            if not self._bear_noise:
                raise

    def close(self) -> None:
        """End every bot."""
        self._canary.close()
        self._table.close()
