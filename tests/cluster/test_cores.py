"""Workers of a node take different cores, only allowed ones, and free them however they end."""

import math
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cluster.conftest import Start, finish
from tourney.executors import cores, reaper

ALLOWED = sorted(os.sched_getaffinity(0))

HOLD = """
import sys
from tourney.executors import cores
cores.NAME = "\\0" + sys.argv[1] + "{cpu}"
slot = cores.CoreSlot()
print(slot.claim(), flush=True)
sys.stdin.read()
"""

NAME = f"\0tourney-test-{os.getpid()}-"
"""Of our own: other runs go on beside this test."""


class Holder:
    """Another process that claims a core."""

    def __init__(self, cpus: set[int]) -> None:
        self.process = subprocess.Popen(
            ["taskset", "-c", ",".join(map(str, cpus)), sys.executable, "-c", HOLD, NAME[1:]],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.core = self.process.stdout.readline().strip()

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "NAME", NAME + "{cpu}")


@pytest.mark.usefixtures("names")
def test_each_takes_a_core_of_its_own_until_none_is_left() -> None:
    holders = [Holder(set(ALLOWED)) for _ in range(len(ALLOWED) + 1)]
    try:
        assert sorted(holder.core for holder in holders[:-1]) == sorted(map(str, ALLOWED))
        assert holders[-1].core == "None"
    finally:
        for holder in holders:
            holder.end()


@pytest.mark.usefixtures("names")
def test_a_killed_worker_leaves_its_core_to_the_next() -> None:
    first = Holder({ALLOWED[0]})
    slot = cores.CoreSlot()
    slot._cpus = [ALLOWED[0]]
    try:
        assert first.core == str(ALLOWED[0])
        assert slot.claim() is None
        first.end()
        assert slot.claim() == ALLOWED[0]
        assert slot.claim() is None, "a worker has one core"
    finally:
        first.end()
        slot.close()


@pytest.mark.usefixtures("names")
def test_only_allowed_cores_are_taken() -> None:
    holder = Holder({ALLOWED[-1]})
    try:
        assert holder.core == str(ALLOWED[-1])
    finally:
        holder.end()


def test_one_thread_of_each_physical_core_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr(cores, "_siblings", lambda cpu: {cpu - cpu % 2, cpu - cpu % 2 + 1})
    assert cores.allowed_cpus() == [0, 2, 1, 3]
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 2, 3})
    assert cores.allowed_cpus() == [1, 2, 3], "1 is alone on its core here: 0 is not allowed"


def test_lists_of_cpus_are_read_as_the_kernel_writes_them() -> None:
    assert list(cores._numbers("0,4-6\n")) == [0, 4, 5, 6]


@pytest.mark.parametrize(
    ("ours", "files", "cpus"),
    [
        ("0::/a/b\n", {"a/cpu.max": "max 100000\n", "a/b/cpu.max": "max 100000\n"}, math.inf),
        ("0::/a/b\n", {"a/cpu.max": "150000 100000\n", "a/b/cpu.max": "max 100000\n"}, 1.5),
        ("0::/a/b\n", {"a/cpu.max": "150000 100000\n", "a/b/cpu.max": "50000 100000\n"}, 0.5),
        ("0::/\n", {"cpu.max": "400000 100000\n"}, 4.0),
        ("3:cpuset:/x\n2:cpu,cpuacct:/a\n0::/\n",
         {"cpu,cpuacct/a/cpu.cfs_quota_us": "250000\n",
          "cpu,cpuacct/a/cpu.cfs_period_us": "100000\n"}, 2.5),
        ("2:cpu:/\n",
         {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, math.inf),
    ],
)  # fmt: skip
def test_the_tightest_quota_counts(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ours: str,
    files: dict[str, str],
    cpus: float,
) -> None:
    monkeypatch.setattr(cores, "CGROUPS", tmp_path / "groups")
    monkeypatch.setattr(cores, "OURS", tmp_path / "ours")
    (tmp_path / "ours").write_text(ours)
    for name, text in files.items():
        (tmp_path / "groups" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "groups" / name).write_text(text)
    assert cores.quota() == cpus


def test_where_time_is_rationed_nobody_is_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "quota", lambda: 0.5)
    assert cores.CoreSlot().claim() is None
    assert cores.usable() == 1


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_workers_of_a_run_sit_on_different_cores_and_bots_beside_them(
    config: Path, tmp_path: Path, start: Start
) -> None:
    process = start("run", config, "--out", tmp_path / "r", "--set", "tournament.deals=100000")
    seen: dict[int, str] = {}
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline and len(seen) < 2 and process.poll() is None:
        time.sleep(0.5)
        for pid, _ in reaper.descendants(process.pid):
            where = affinity(pid, b"ray::RayWorker")
            # One that is not pinned yet still prepares its bots.
            if where and (len(ALLOWED) == 1 or not set("-,") & set(where)):
                seen[pid] = where
    for pid, where in seen.items():
        bots = {affinity(bot, b"bot.py") for bot, _ in reaper.descendants(pid)} - {""}
        assert bots <= {where}
    process.send_signal(2)
    finish(process)
    assert len(seen) == 2
    if len(ALLOWED) > 1:
        assert len(set(seen.values())) == 2


def affinity(pid: int, program: bytes) -> str:
    """Where a process may run, as a list; empty if it is gone or another program."""
    try:
        if program not in Path(f"/proc/{pid}/cmdline").read_bytes():
            return ""
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return ""
    return next(line.split()[1] for line in lines if line.startswith("Cpus_allowed_list"))
