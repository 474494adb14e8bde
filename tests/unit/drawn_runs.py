"""Runs of real configs by invented players: any number of workers, any order, any death."""

import hashlib
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tourney import records
from tourney.config.load import config_from
from tourney.executors.base import (
    BlockDone,
    BlockResult,
    ExecutorEvent,
    WorkerJoined,
    WorkPlan,
)
from tourney.games.base import competition_ranks
from tourney.protocol.faults import FINISHED
from tourney.ratings import sums
from tourney.runner import Runner, StopCheck, open_run, prepare
from tourney.schedule.formats import fixed_schedule
from tourney.schedule.groups import Group
from tourney.schedule.scheduler import Block
from tourney.store import RunReader, codec

ROOT = Path(__file__).parents[2]

STRENGTH = 0.35
"""How much each bot is ahead of the next in the config, in units of luck."""


class Killed(Exception):
    """The driver dies here."""


def config(bots: int, stop: Mapping[str, Any] | None = None, **tournament: Any) -> dict[str, Any]:
    entries = [{"path": str(ROOT / "bots/dam-random"), "name": f"bot-{i:02d}"} for i in range(bots)]
    return {
        "tournament": {"name": "t", "game": "dam", "seed": 1, **tournament},
        "run": {"withdraw_after": 4, "block_seconds": 0.2},
        "bot": entries,
        **({"stop": stop} if stop else {}),
    }


class Players:
    """An executor whose workers answer in random order; `dies_after` blocks the driver dies."""

    def __init__(
        self, workers: int, dies_after: int | None = None, broken: frozenset[str] = frozenset()
    ) -> None:
        self._workers, self.dies_after, self._broken = workers, dies_after, broken
        self._luck = random.Random(workers)
        self._queue: list[tuple[str, Block]] = []
        self._events: list[ExecutorEvent] = []
        self._plan: WorkPlan | None = None

    def start(self, plan: WorkPlan, archives: Mapping[str, bytes], workers: int | None) -> int:
        self._plan = plan
        self._events += [WorkerJoined(f"w{i}") for i in range(self._workers)]
        return self._workers

    def submit(self, worker: str, block: Block) -> None:
        self._queue.append((worker, block))

    def wait(self, seconds: float) -> list[ExecutorEvent]:
        if not self._events and self._queue:
            if self.dies_after is not None:
                self.dies_after -= 1
                if self.dies_after < 0:
                    raise Killed
            worker, block = self._queue.pop(self._luck.randrange(len(self._queue)))
            seconds = self._luck.uniform(0.001, 0.2) * len(block.groups)
            self._events.append(BlockDone(worker, block.id, self._play(block, seconds)))
        events, self._events = self._events, []
        return events

    def close(self) -> None:
        pass

    def _play(self, block: Block, seconds: float) -> BlockResult:
        plan = self._plan
        assert plan is not None
        groups: tuple[Group, ...] = block.drawn
        if not plan.terms.is_drawn:
            schedule = fixed_schedule(plan.terms, [bot.name for bot in plan.bots])
            groups = tuple(schedule.group(number) for number in block.groups)
        matches, seats = [], []
        for group in groups:
            for match, own in _rows(group, plan.terms.stride, self._broken):
                matches.append(match)
                seats += own
        tables = {
            "matches": codec.pack(records.frame("matches", matches)),
            "seats": records.frame("seats", seats),
            "faults": records.frame("faults", []),
            "logs": records.frame("logs", []),
        }
        return BlockResult(tables=tables, sums=sums(tables["seats"]), seconds=seconds)


def _rows(
    group: Group, stride: int, broken: frozenset[str]
) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    for rotation in range(group.seats):
        seating = group.seating(rotation)
        text = f"{'+'.join(group.pairing)}#{group.deal}/{rotation}"
        luck = random.Random(hashlib.sha256(text.encode()).digest())
        took = [luck.gauss(-STRENGTH * int(bot[-2:]), 1) for bot in seating]
        out = [bot in broken for bot in seating]
        ranks = competition_ranks([(o, -round(t, 1)) for o, t in zip(out, took, strict=True)])
        outcomes = ["crash" if o else FINISHED for o in out]
        common = {
            "match": group.number * stride + rotation, "group": group.number,
            "pairing": "+".join(group.pairing),
        }  # fmt: skip
        match = {
            **common, "deal": group.deal, "rotation": rotation, "seating": seating,
            "scores": [float(rank) for rank in ranks], "ranks": ranks, "outcomes": outcomes,
            "actions": ["draw"], "notes": [], "decisions": 1, "seconds": 0.1, "think_us": [1],
        }  # fmt: skip
        firsts = ranks.count(1)
        yield match, [
            {**common, "seat": seat, "bot": bot, "score": float(ranks[seat]), "rank": ranks[seat],
             "win": 1 / firsts if ranks[seat] == 1 else 0.0, "outcome": outcomes[seat],
             "decisions": 1, "think_ms_total": 1.0, "think_ms_max": 1.0}
            for seat, bot in enumerate(seating)
        ]  # fmt: skip


def play(folder: Path, data: Mapping[str, Any], executor: Players) -> bool:
    """One session of a run, begun or gone on with; whether it ended the run."""
    prepared = prepare(config_from(dict(data)))
    opened = open_run(prepared, folder.parent, folder, resume=True)
    try:
        stop = StopCheck(prepared.loaded.config.stop) if "stop" in data else None
        # Who is to die saves every block, so that there is something to go on from.
        commit_seconds = 1e9 if executor.dies_after is None else 0.0
        runner = Runner(
            opened.writer, executor, opened.scheduler, commit_seconds, lambda _: None, 4, stop,
            opened.rounds,
        )  # fmt: skip
        done = opened.scheduler.left == 0 or runner.run(opened.plan, prepared.archives, None)
        if done:
            opened.writer.finish()
        return done
    finally:
        opened.writer.close()


def played(folder: Path, data: Mapping[str, Any], workers: int = 1, **how: Any) -> RunReader:
    assert play(folder, data, Players(workers, **how))
    return RunReader(folder)
