"""Formats whose rounds wait for results, on a real Ray: workers, kills and sizes change no game."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.cluster.conftest import ROOT, Start, finish
from tourney.schedule.draws import Round
from tourney.store import RunReader
from tourney.store.rounds import RoundBook

# A busy machine may need minutes for what takes seconds alone.
pytestmark = pytest.mark.timeout(900)

BOTS = """
[rules]
rounds = 1
[[bot]]
path = "{root}/bots/dam-memory"
[[bot]]
path = "{root}/bots/dam-memory"
name = "memory-3"
options = {{ threshold = 3 }}
[[bot]]
path = "{root}/bots/dam-threshold"
[[bot]]
path = "{root}/bots/dam-threshold"
name = "threshold-3"
options = {{ threshold = 3 }}
[[bot]]
path = "{root}/bots/dam-random"
"""

FORMATS = {
    "swiss": 'format = "swiss"\nseats = 2\ndeals = 3\nrounds = 3',
    "knockout": 'format = "knockout"\nseats = [2, 4]\ndeals = 4',
    "adaptive": 'format = "adaptive"\nseats = 3\ndeals = 3\nrounds = 6',
    "sizes": "seats = [2, 3, 4]\ndeals = 2",
}

MATCHES = {
    # Two tables of two, three rounds of three groups.
    "swiss": 2 * 3 * 3 * 2,
    # At two seats 5 bots: two tables, one, the final; at four one table and a bye, then the final.
    "knockout": 4 * (4 * 2 + 2 * 4),
    "adaptive": 6 * 3 * 3,
    "sizes": 2 * (10 * 2 + 10 * 3 + 5 * 4),
}

MOMENTS = random.Random(7)


def config(tmp_path: Path, name: str) -> Path:
    path = tmp_path / f"{name}.toml"
    head = f'[tournament]\nname = "{name}"\ngame = "dam"\nseed = 7\n{FORMATS[name]}\n'
    path.write_text(head + BOTS.format(root=ROOT))
    return path


def checked(folder: Path, name: str) -> str:
    reader = RunReader(folder)
    assert reader.info.status == "finished"
    assert reader.info.counts.matches == reader.info.counts.matches_total == MATCHES[name]
    numbers = reader.scan("matches").select("match").collect()["match"]
    assert numbers.n_unique() == MATCHES[name]
    assert reader.info.digest is not None
    return reader.info.digest


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_one_worker_and_a_killed_run_of_two_play_the_same(
    name: str, tmp_path: Path, start: Start
) -> None:
    path = config(tmp_path, name)
    code, _, err = finish(
        start("run", path, "--out", tmp_path / "one", "--set", "run.workers=1", "--json")
    )
    assert code == 0, err
    process = start("run", path, "--out", tmp_path / "two", "--set", "run.workers=2", "--json")
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and process.poll() is None:
        journal = tmp_path / "two" / "journal.jsonl"
        if journal.exists() and journal.stat().st_size:
            break
        time.sleep(0.05)
    time.sleep(MOMENTS.uniform(0, 2))
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    code, _, err = finish(
        start("run", path, "--out", tmp_path / "two", "--resume", "--set", "run.workers=2"), 600
    )
    assert code == 0, err
    assert checked(tmp_path / "two", name) == checked(tmp_path / "one", name)
    rounds = [RoundBook(RunReader(tmp_path / run).folder, Round).rounds for run in ("one", "two")]
    assert rounds[0] == rounds[1]
    code, out, _ = finish(start("verify", tmp_path / "two"))
    assert code == 0, out
