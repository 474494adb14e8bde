"""Runs on a real Ray: the same games on one worker or two, and nothing lost when things die."""

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import polars as pl
import pytest

from tests.cluster.conftest import Start, finish
from tourney.executors import reaper
from tourney.store import RunReader

# A busy machine may need minutes for what takes seconds alone.
pytestmark = pytest.mark.timeout(600)

MATCHES = 3 * 40 * 2
MOMENTS = random.Random(5)
DELAYS = [MOMENTS.uniform(0, 2) for _ in range(3)]


def digest(folder: Path) -> str:
    info = RunReader(folder).info
    assert info.status == "finished"
    assert info.digest is not None
    return info.digest


def check_whole(folder: Path) -> None:
    numbers = RunReader(folder).scan("matches").select("match").collect()["match"]
    assert sorted(numbers) == list(range(MATCHES)), "no lost match, no double match"
    seats = RunReader(folder).scan("seats").select(pl.len()).collect().item()
    assert seats == 2 * MATCHES


def test_one_worker_and_two_play_byte_identical_games(
    config: Path, tmp_path: Path, start: Start
) -> None:
    code, out, _ = finish(start("run", config, "--out", tmp_path / "two"))
    assert code == 0
    assert "dam-memory" in out.splitlines()[4], "the best bot comes first"
    code, out, _ = finish(
        start("run", config, "--out", tmp_path / "one", "--set", "run.workers=1", "--json")
    )
    assert code == 0
    events = [json.loads(line) for line in out.splitlines()]
    assert events[0]["event"] == "started"
    assert events[-1]["event"] == "finished"
    assert events[-1]["ratings"][0]["bot"] == "dam-memory"
    assert digest(tmp_path / "one") == digest(tmp_path / "two")
    check_whole(tmp_path / "two")
    rows = [
        RunReader(tmp_path / name)
        .scan("seats")
        .sort("match", "seat")
        .select("match", "seat", "bot", "score", "rank", "win")
        .collect()
        for name in ("one", "two")
    ]
    assert rows[0].equals(rows[1])


def wait_for_commit(folder: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        journal = folder / "journal.jsonl"
        if journal.exists() and journal.stat().st_size:
            return
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("delay", DELAYS)
def test_a_killed_run_resumes_to_the_same_games(
    config: Path, tmp_path: Path, start: Start, delay: float
) -> None:
    more = ("--set", "run.commit_seconds=0.3", "--set", "run.block_seconds=0.3")
    process = start("run", config, "--out", tmp_path / "r", *more)
    wait_for_commit(tmp_path / "r", process)
    time.sleep(delay)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    code, _, err = finish(start("run", config, "--out", tmp_path / "r", "--resume"))
    assert code == 0, err
    check_whole(tmp_path / "r")
    finish(start("run", config, "--out", tmp_path / "whole"))
    assert digest(tmp_path / "r") == digest(tmp_path / "whole")


@pytest.mark.slow
def test_a_killed_worker_costs_nothing(config: Path, tmp_path: Path, start: Start) -> None:
    process = start("run", config, "--out", tmp_path / "r", "--set", "tournament.deals=200")
    wait_for_commit(tmp_path / "r", process)
    workers = [
        pid
        for pid, _ in reaper.descendants(process.pid)
        if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::RayWorker")
    ]
    assert len(workers) == 2
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    code, printed, err = finish(process)
    assert code == 0, err
    assert "unexpected system error" not in printed + err, "Ray's own words reach nobody"
    numbers = RunReader(tmp_path / "r").scan("matches").select("match").collect()["match"]
    assert sorted(numbers) == list(range(1200))


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_being_told_to_end_keeps_everything_and_prints_the_resume_line(
    config: Path, tmp_path: Path, start: Start, number: int, exit_code: int
) -> None:
    """Ctrl-C, and what service managers send; Ray would answer the second by aborting us."""
    process = start("run", config, "--out", tmp_path / "r", "--set", "tournament.deals=2000")
    wait_for_commit(tmp_path / "r", process)
    os.kill(process.pid, number)
    code, _, err = finish(process)
    assert code == exit_code
    assert f"run {config} --out {tmp_path / 'r'} --resume" in err
    info = RunReader(tmp_path / "r").info
    assert info.status == "stopped"
    numbers = RunReader(tmp_path / "r").scan("matches").select("match").collect()["match"]
    assert len(numbers) == info.counts.matches > 0
    assert numbers.n_unique() == len(numbers)
