"""Bots that fault again and again leave the run; others do not suffer for it."""

from pathlib import Path
from typing import Any

import polars as pl

from tests.unit.store.test_store import create
from tourney import records
from tourney.executors.base import BlockDone, BlockResult
from tourney.ratings import sums
from tourney.referee.rows import Rows, add_unplayed
from tourney.referee.specs import MatchSpec
from tourney.runner.loop import Runner
from tourney.runner.withdrawal import FaultStreaks
from tourney.schedule.scheduler import Block, Scheduler
from tourney.store import RunReader


def seats(*outcomes: tuple[int, str, str]) -> pl.DataFrame:
    rows = [
        {"match": match, "seat": 0, "bot": bot, "outcome": outcome}
        for match, bot, outcome in outcomes
    ]
    return records.frame("seats", rows)


def test_only_faults_in_a_row_count() -> None:
    streaks = FaultStreaks(3)
    assert streaks.add(seats((0, "a", "crashed"), (1, "a", "timeout"))) == {}
    assert streaks.add(seats((2, "a", "finished"), (3, "a", "crashed"))) == {}
    assert streaks.add(seats((4, "a", "crashed"), (4, "b", "crashed"))) == {}
    over = streaks.add(seats((5, "a", "crashed")))
    assert over == {"a": "3 faults in a row, the last in match 5"}


def test_zero_never_withdraws() -> None:
    assert FaultStreaks(0).add(seats(*((i, "a", "crashed") for i in range(99)))) == {}


def spec(group: int, rotation: int) -> MatchSpec:
    pair = ("a", "b")
    return MatchSpec(
        match=2 * group + rotation, group=group, pairing=pair, deal=group, rotation=rotation,
        seating=pair if rotation == 0 else pair[::-1],
    )  # fmt: skip


def test_unplayed_matches_are_recorded_and_count_for_nobody() -> None:
    rows: Rows = {"matches": [], "seats": [], "faults": [], "logs": []}
    add_unplayed(rows, [spec(4, 0), spec(4, 1)], {"a"})
    assert [row["outcomes"] for row in rows["matches"]] == [
        ["withdrawn", "not_played"],
        ["not_played", "withdrawn"],
    ]
    assert rows["seats"] == []
    assert records.frame("matches", rows["matches"])["actions"].list.len().to_list() == [0, 0]


class Crashing:
    """An executor in which bot a crashes in every match it plays."""

    def __init__(self) -> None:
        self.queue: list[Block] = []
        self.joined = False

    def start(self, *_: Any) -> int:
        return 1

    def submit(self, worker: str, block: Block) -> None:
        self.queue.append(block)

    def wait(self, seconds: float) -> list[Any]:
        from tourney.executors.base import WorkerJoined

        if not self.joined:
            self.joined = True
            return [WorkerJoined("w0")]
        block = self.queue.pop(0)
        rows: Rows = {"matches": [], "seats": [], "faults": [], "logs": []}
        for group in block.groups:
            specs = [spec(group, rotation) for rotation in (0, 1)]
            if "a" in block.withdrawn:
                add_unplayed(rows, specs, block.withdrawn)
                continue
            for one in specs:
                rows["matches"].append(
                    {"match": one.match, "group": group, "outcomes": ["crashed", "finished"]}
                )
                rows["seats"] += [
                    {"match": one.match, "group": group, "seat": s, "bot": bot, "score": 1,
                     "rank": 2 if bot == "a" else 1,
                     "win": bot == "b", "outcome": "crashed" if bot == "a" else "finished"}
                    for s, bot in enumerate(one.seating)
                ]  # fmt: skip
        tables = {name: records.frame(name, kept) for name, kept in rows.items()}
        result = BlockResult(tables=tables, sums=sums(tables["seats"]), seconds=1.0)
        return [BlockDone("w0", block.id, result)]

    def close(self) -> None:
        pass


def test_a_withdrawn_bots_matches_are_not_played_and_the_run_ends(tmp_path: Path) -> None:
    writer = create(tmp_path / "r")
    runner = Runner(writer, Crashing(), Scheduler(30, (), 1.0), 0.0, lambda _: None, 6)
    plan: Any = None
    assert runner.run(plan, {}, 1)
    info = RunReader(tmp_path / "r").info
    assert "6 faults in a row" in info.withdrawn["a"]
    matches = RunReader(tmp_path / "r").scan("matches").collect()
    assert sorted(matches["match"]) == list(range(60)), "all of the schedule is accounted for"
    played = RunReader(tmp_path / "r").scan("seats").collect().height / 2
    assert 6 <= played < 30
