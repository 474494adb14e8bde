"""A cluster that plays nothing: workers with block times from a distribution, in virtual time.

It drives the real scheduler, runner and store. The rows are a template's, renumbered, so that what
is measured is the driver's work and not the making of rows.
"""

import heapq
import pickle
import random
import time
from collections.abc import Mapping
from typing import Any

import polars as pl

from tourney import records
from tourney.executors.base import BlockDone, BlockResult, ExecutorEvent, WorkerJoined, WorkPlan
from tourney.ratings import sums
from tourney.schedule.scheduler import Block
from tourney.store import codec

__all__ = ("FakeCluster", "Template")

SEATS = 2
WORDS = ("keep", "throw", "draw", "take")
BOTS = ("a", "b", "c", "d", "e", "f")


class Template:
    """Rows of matches to be renumbered: `actions` words a match, microseconds for each."""

    def __init__(self, actions: int, most: int) -> None:
        """Make the rows of the largest block, `most` groups."""
        rng = random.Random(1)
        matches: list[dict[str, Any]] = []
        seats: list[dict[str, Any]] = []
        one, two = BOTS[:2]
        for number in range(most * SEATS):
            one, two = (two, one) if number % SEATS else rng.sample(BOTS, 2)
            pairing = "+".join(sorted((one, two)))
            scores = [rng.randrange(60), rng.randrange(60)]
            think = [rng.randrange(8, 30) for _ in range(actions)]
            matches.append(
                {"match": number, "group": number // SEATS, "pairing": pairing, "deal": number,
                 "rotation": number % SEATS, "seating": [one, two], "scores": scores,
                 "ranks": [1, 2], "outcomes": ["finished"] * 2, "notes": [],
                 "actions": rng.choices(WORDS, [60, 20, 12, 8], k=actions),
                 "decisions": actions, "seconds": rng.random(), "think_us": think}
            )  # fmt: skip
            seats += [
                {"match": number, "group": number // SEATS, "pairing": pairing, "seat": seat,
                 "bot": bot, "score": scores[seat], "rank": 1 + seat, "win": 1.0 - seat,
                 "outcome": "finished", "decisions": actions // 2,
                 "think_ms_total": sum(think[seat::2]) / 1000, "think_ms_max": 0.03}
                for seat, bot in enumerate((one, two))
            ]  # fmt: skip
        self._matches = codec.pack(records.frame("matches", matches))
        self._seats = records.frame("seats", seats)
        self._none = {name: records.frame(name, []) for name in ("faults", "logs")}

    def tables(self, groups: tuple[int, ...]) -> Mapping[str, pl.DataFrame]:
        """Rows for these groups, consecutive or not."""
        n = len(groups) * SEATS
        group = pl.Series("group", groups, pl.UInt64)
        number = (group * SEATS).repeat_by(SEATS).explode() + pl.Series(
            list(range(SEATS)) * len(groups), dtype=pl.UInt64
        )
        by_match = group.repeat_by(SEATS).explode()
        matches = self._matches.head(n).with_columns(number.alias("match"), by_match.alias("group"))
        seats = self._seats.head(n * SEATS).with_columns(
            number.repeat_by(SEATS).explode().alias("match"),
            by_match.repeat_by(SEATS).explode().alias("group"),
        )
        return {"matches": matches, "seats": seats, **self._none}


class FakeCluster:
    """Many workers, one virtual clock."""

    def __init__(
        self, workers: int, template: Template, seconds_a_group: float, *, wire: bool = False
    ) -> None:
        """Set up.

        Args:
            workers: how many join at once.
            template: what blocks give.
            seconds_a_group: median time; each block's is log-normal around it.
            wire: hand results over pickled, as they come from another machine.
        """
        self._names = [f"w{number}" for number in range(workers)]
        self._template = template
        self._seconds_a_group = seconds_a_group
        self._wire = wire
        self._rng = random.Random(2)
        self._free_at = dict.fromkeys(self._names, 0.0)
        self._coming: list[tuple[float, int, str, Block, float]] = []
        self.now = 0.0
        self.blocks = 0
        self.own_seconds = 0.0
        """CPU time that the making of results took, to be left out."""

    def start(self, plan: WorkPlan, archives: Mapping[str, bytes], workers: int | None) -> int:
        """All workers join at the first wait."""
        return len(self._names)

    def submit(self, worker: str, block: Block) -> None:
        """Queue a block behind the worker's others."""
        spread = self._rng.lognormvariate(0.0, 0.3)
        seconds = len(block.groups) * self._seconds_a_group * spread
        done = max(self.now, self._free_at[worker]) + seconds
        self._free_at[worker] = done
        heapq.heappush(self._coming, (done, block.id, worker, block, seconds))

    def wait(self, seconds: float) -> list[ExecutorEvent]:
        """The blocks that end within the next moment of virtual time."""
        if self._names:
            joined: list[ExecutorEvent] = [WorkerJoined(name) for name in self._names]
            self._names = []
            return joined
        events: list[ExecutorEvent] = []
        if self._coming:
            self.now = self._coming[0][0]
        # What a driver finds when it looks: all that came while it was busy with the last lot.
        while self._coming and self._coming[0][0] <= self.now + 0.005:
            done, block_id, worker, block, took = heapq.heappop(self._coming)
            self.now = max(self.now, done)
            begin = time.process_time()
            tables = self._template.tables(block.groups)
            result: Any = BlockResult(tables=tables, sums=sums(tables["seats"]), seconds=took)
            data = pickle.dumps(result) if self._wire else b""
            self.own_seconds += time.process_time() - begin
            events.append(BlockDone(worker, block_id, pickle.loads(data) if data else result))
            self.blocks += 1
        return events

    def close(self) -> None:
        """There is nothing to end."""
