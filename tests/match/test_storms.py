"""After a thousand bad matches, and after kill -9 at a hundred random moments, nothing is left."""

import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conformance.sandbox_harness import REPOSITORY, command_line, descendants
from tests.match.storm import write_bots

MATCHES = 1_000
KILLS = 92
RAY_KILLS = {"driver": 5, "raylet": 1, "ray::RayWorker": 2}
"""With `KILLS` a hundred in all. Ray needs most of a minute to notice that a raylet is gone."""

LEFT_S = 20.0
"""Ray's own daemons take some seconds to notice; ours are gone within milliseconds."""

SEED = 4


class Ground(NamedTuple):
    """Where a storm takes place: its own folders and a word that only its processes have."""

    bots: Path
    tmp: Path
    marker: str
    already: frozenset[int] = frozenset()
    """Processes of tests before: their S3 server, their guard."""

    def start(self, *words: str, cwd: Path = REPOSITORY) -> subprocess.Popen[str]:
        """Start Python with our word in its environment and our folder for temporary files."""
        return subprocess.Popen(
            [sys.executable, "-m", *words],
            cwd=cwd,
            env={**os.environ, "TEST_MARKER": self.marker, "TMPDIR": str(self.tmp), "CI": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def left(self) -> dict[int, list[str]]:
        """New processes, zombies too, that carry the word or descend from us, with their words."""
        found = descendants(os.getpid())
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and any(
                    self.marker.encode() in (entry / name).read_bytes()
                    for name in ("environ", "cmdline")
                ):
                    found.add(int(entry.name))
            except OSError:
                continue
        return {pid: command_line(pid) for pid in found - self.already - {os.getpid()}}


@pytest.fixture
def ground() -> Iterator[Ground]:
    """Bots and folders for a storm; afterwards all has to be as it was."""
    folder = Path(tempfile.mkdtemp(prefix="tourney-storm-"))
    folder.chmod(0o755)
    made = Ground(folder / "bots", folder / "tmp", f"mark-{secrets.token_hex(8)}")
    made.bots.mkdir(mode=0o755)
    made.tmp.mkdir(mode=0o777)
    write_bots(made.bots)
    made, mounts = made._replace(already=frozenset(made.left())), mounted()
    yield made
    deadline = time.monotonic() + LEFT_S
    while (left := made.left()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left == {}
    # Ray keeps the logs of its sessions in a folder of that name.
    assert {entry.name for entry in made.tmp.iterdir()} <= {"ray"}
    assert mounted() == mounts
    shutil.rmtree(folder)


def mounted() -> list[str]:
    """Where file systems are mounted."""
    return [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_thousand_bad_matches_leave_nothing(ground: Ground) -> None:
    few = ground.start("tests.match.storm", "play", str(ground.bots), ground.marker, "14", "0")
    said, _ = few.communicate(timeout=60)
    assert said.startswith("right 14 left 0 descriptors "), said
    many = ground.start(
        "tests.match.storm", "play", str(ground.bots), ground.marker, str(MATCHES), "0"
    )
    storm, _ = many.communicate(timeout=380)
    # On a machine with others at work a bot may now and then be given too little time to fail.
    right = int(storm.split()[1])
    assert right >= MATCHES * 0.98, storm
    # As many descriptors after a thousand matches as after fourteen.
    assert storm.split()[2:] == said.split()[2:]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_kill_at_random_moments_leaves_nothing(ground: Ground) -> None:
    storm = ground.start(
        "tests.match.storm", "kill", str(ground.bots), ground.marker, str(KILLS), str(SEED)
    )
    said, _ = storm.communicate(timeout=280)
    assert said == "done\n"


CONFIG = """
[tournament]
name = "storm"
game = "dam"
deals = 100_000
[run]
workers = 2
[[bot]]
path = "{root}/bots/dam-memory"
[[bot]]
path = "{root}/bots/dam-random"
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("whom", RAY_KILLS)
def test_kill_in_a_run_on_ray_leaves_nothing(ground: Ground, whom: str) -> None:
    chance = random.Random(SEED)
    config = ground.bots / "storm.toml"
    config.write_text(CONFIG.format(root=REPOSITORY))
    for _ in range(RAY_KILLS[whom]):
        run = ground.start("tourney", "run", str(config), cwd=ground.bots)
        victim = find(run, whom)
        time.sleep(chance.uniform(0, 2))
        os.kill(victim, signal.SIGKILL)
        if whom == "ray::RayWorker":
            # The run gets another worker and goes on until it is told to stop.
            find(run, whom, besides=victim)
            assert run.poll() is None
            run.send_signal(signal.SIGINT)
        said, _ = run.communicate(timeout=90)
        assert run.returncode != 0, said
        deadline = time.monotonic() + LEFT_S
        while ground.left() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert ground.left() == {}


def find(run: subprocess.Popen[str], whom: str, besides: int = 0) -> int:
    """Wait until the run has a process of that name."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if whom == "driver":
            find(run, "raylet")
            return run.pid
        for pid in descendants(run.pid) - {besides}:
            word = (command_line(pid) or [""])[0]
            if word.rpartition("/")[2].startswith(whom):
                return pid
        assert run.poll() is None, run.communicate()[0]
        time.sleep(0.05)
    raise AssertionError(f"no {whom} came up")
