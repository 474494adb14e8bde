"""A small tournament on a real Ray of its own, driven through the command as a user would."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFIG = """
[tournament]
name = "small"
game = "dam"
deals = {deals}
seed = 7
[rules]
rounds = 1
[run]
workers = 2
[[bot]]
path = "{root}/bots/dam-memory"
[[bot]]
path = "{root}/bots/dam-threshold"
[[bot]]
path = "{root}/bots/dam-random"
"""

END_SECONDS = 10.0
"""Everything a run started is gone this long after it, the sandbox's grace included."""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(CONFIG.format(deals=40, root=ROOT))
    return path


Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start `tourney`; its processes carry a mark by which leftovers are found."""
    mark = f"TOURNEY_TEST_MARK={os.getpid()}-{time.monotonic_ns()}"
    started: list[subprocess.Popen[str]] = []

    def begin(*arguments: str | Path) -> subprocess.Popen[str]:
        name, _, value = mark.partition("=")
        process = subprocess.Popen(
            [sys.executable, "-m", "tourney", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, name: value, "CI": "1"},
            cwd=tmp_path,
            start_new_session=True,
        )
        started.append(process)
        return process

    before = _living()
    yield begin
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=30)
    deadline = time.monotonic() + END_SECONDS
    while (left := _ours(_living() - before, mark)) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not left, f"processes left behind: {left}"


def _living() -> set[tuple[int, str]]:
    """Every process that is not a zombie, with its command."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:80]
            except (OSError, UnicodeDecodeError):
                continue
            if stat.rpartition(")")[2].split()[0] != "Z":
                found.add((int(entry.name), command))
    return found


def _ours(processes: set[tuple[int, str]], mark: str) -> set[tuple[int, str]]:
    """Those that a run of this test started: they carry its mark, or are orphans of its sandbox.

    Other runs may be going on beside this test; their sandboxes have living parents.
    """
    found = set()
    for pid, command in processes:
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            stat = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            continue
        is_orphan = stat.rpartition(")")[2].split()[1] == "1"
        of_sandbox = any(word in command for word in ("bwrap", "bot", "guard"))
        if mark.encode() in environment or (is_orphan and of_sandbox):
            found.add((pid, command))
    return found


def finish(process: subprocess.Popen[str], seconds: float = 240) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=seconds)
    return process.returncode, out, err
