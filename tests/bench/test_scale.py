"""What a driver can feed: memory, disk and CPU of a run over a cluster that plays nothing.

Machines differ, so speed is reported and only what must hold everywhere is asserted.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.bench.fake_cluster import FakeCluster, Template
from tests.unit.store.test_store import create
from tourney.runner.loop import Progress, Runner
from tourney.schedule.scheduler import Scheduler
from tourney.store import RunReader, RunWriter

pytestmark = pytest.mark.bench

BLOCK_SECONDS = 2.0
ACTIONS = 318
"""Of a Dam match of one deal and two seats, as the reference bots play it."""

ROOT = Path(__file__).parents[2]

# Memory that the allocator keeps for later is not growth: tell it to keep none.
CLEAN = {"_RJEM_MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0"}


def megabytes(field: str = "VmRSS") -> float:
    """Memory of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    [line] = [line for line in lines if line.startswith(field)]
    return int(line.split()[1]) / 1024


def drive(
    folder: Path, cluster: FakeCluster, groups: int, report: Any = lambda _: None
) -> RunWriter:
    """A whole run over `cluster`."""
    writer = create(folder)
    writer.info.counts.groups_total, writer.info.counts.matches_total = groups, 2 * groups
    scheduler = Scheduler(groups, (), BLOCK_SECONDS)
    plan: Any = None
    assert Runner(writer, cluster, scheduler, BLOCK_SECONDS, report).run(plan, {}, None)
    return writer


def grow(folder: Path, matches: int, actions: int) -> dict[str, float]:
    """Memory of the driver in a run of so many matches; called in a process of its own."""
    marks: list[tuple[int, float]] = []

    def mark(progress: Progress) -> None:
        if not marks or progress.matches - marks[-1][0] >= matches // 50:
            marks.append((progress.matches, megabytes()))

    cluster = FakeCluster(8, Template(actions, 4096), BLOCK_SECONDS / 400)
    writer = drive(folder, cluster, matches // 2, mark)
    early = max(size for done, size in marks if done <= matches // 10)
    late = max(size for done, size in marks if done > matches // 10)
    begin = time.monotonic()
    writer.finish()
    return {
        "growth": late - early,
        "peak": megabytes("VmHWM"),
        "at_a_tenth": early,
        "segments": len(writer.commits),
        "finish": time.monotonic() - begin,
    }


@pytest.fixture(scope="module")
def million(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, float]]:
    """A run of 10^6 matches, and what its driver needed."""
    folder = tmp_path_factory.mktemp("million") / "r"
    code = (
        "import json, sys; from pathlib import Path; from tests.bench.test_scale import grow;"
        "print(json.dumps(grow(Path(sys.argv[1]), 1_000_000, 60)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, folder],
        cwd=ROOT, env={**os.environ, **CLEAN}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return folder, json.loads(done.stdout)


def test_a_million_matches_add_no_memory(million: tuple[Path, dict[str, float]]) -> None:
    _, facts = million
    print(
        f"\ndriver: {facts['at_a_tenth']:.0f} MB at 10^5 matches, {facts['growth']:+.1f} MB from "
        f"there to 10^6, at most {facts['peak']:.0f} MB; {facts['segments']:.0f} segments, "
        f"digest in {facts['finish']:.0f} s"
    )
    assert facts["growth"] < 50


def test_one_match_of_a_million_is_opened_by_its_number(
    million: tuple[Path, dict[str, float]],
) -> None:
    folder, _ = million
    reader = RunReader(folder)
    taken = []
    for match in range(3, 1_000_000, 49_999):
        begin = time.perf_counter()
        rows = reader.scan("matches", (match // 2, match // 2 + 1))
        found = rows.filter(pl.col("match") == match).collect()
        taken.append((time.perf_counter() - begin) * 1000)
        assert found["match"].to_list() == [match]
    print(f"\none match of 10^6: median {sorted(taken)[10]:.1f} ms, slowest {max(taken):.1f} ms")


def test_a_resume_of_a_million_matches_holds_no_list_of_them(
    million: tuple[Path, dict[str, float]],
) -> None:
    begin = time.perf_counter()
    writer = RunWriter.reopen(million[0])
    writer.recount()
    scheduler = Scheduler(10**9, writer.groups(), BLOCK_SECONDS)
    [first, _] = scheduler.worker_joined("w0")
    print(f"\nreopened in {(time.perf_counter() - begin) * 1000:.0f} ms: {writer.groups()}")
    assert writer.groups() == [(0, 500_000)]
    assert first.groups == (500_000,)
    assert scheduler.left == 10**9 - 500_000


@pytest.mark.parametrize(
    ("workers", "groups_a_block", "blocks"),
    [(100, 1, 2000), (1000, 1, 6000), (10_000, 1, 40_000), (200, 20, 4000), (100, 200, 1500)],
)
def test_what_one_driver_can_feed(
    tmp_path: Path, workers: int, groups_a_block: int, blocks: int
) -> None:
    """Blocks of about 2 s: CPU of the driver for each, and the cores that one core can feed.

    A group a block is what bots that think give; 200 what the fastest give.
    """
    template = Template(ACTIONS, max(8, groups_a_block * 4))
    cluster = FakeCluster(workers, template, BLOCK_SECONDS / groups_a_block, wire=True)
    begin, wall = time.process_time(), time.perf_counter()
    writer = drive(tmp_path / "r", cluster, blocks * groups_a_block)
    cpu = time.process_time() - begin - cluster.own_seconds
    wall = time.perf_counter() - wall
    per_block, per_match = cpu / cluster.blocks, cpu / blocks / groups_a_block / 2
    held = RunReader(tmp_path / "r").scan("matches").select("match").collect()["match"]
    assert sorted(held) == list(range(2 * blocks * groups_a_block))
    played = cluster.now * workers
    print(
        f"\n{workers} workers, {groups_a_block} groups a block: {cluster.blocks} blocks in "
        f"{len(writer.commits)} segments, {per_block * 1e3:.2f} ms of CPU a block, "
        f"{per_match * 1e6:.0f} µs a match; one driver core feeds {played / cpu:.0f} cores, "
        f"{cluster.blocks / wall:.0f} blocks a second committed"
    )
