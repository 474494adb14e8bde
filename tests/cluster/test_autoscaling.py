"""Ray's autoscaler for real: nodes come as a run asks for them, are used, and are given back."""

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster.conftest import Start, finish
from tests.cluster.heads import head
from tourney.store import RunReader

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SECONDS = 240.0
"""Nothing here takes so long, even on a busy machine, unless it never comes."""


def nodes(session: Path) -> int:
    """Nodes of the cluster besides its head."""
    found = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            # The head's words name the session, those of its nodes too: they are processes here.
            found += words[0].endswith(b"/raylet/raylet") and any(
                str(session).encode() in word for word in words
            )
    return found - 1


def workers(folder: Path) -> int:
    pulse = RunReader(folder).heartbeat if (folder / "run.json").exists() else None
    return pulse.workers if pulse else 0


def seconds_until(true: Callable[[], bool], process: subprocess.Popen[str] | None = None) -> float:
    begin = time.monotonic()
    while time.monotonic() - begin < SECONDS:
        assert process is None or process.poll() is None, process.communicate()[1]
        if true():
            return time.monotonic() - begin
        time.sleep(0.2)
    raise AssertionError(f"not within {SECONDS:.0f} s")


def test_nodes_come_as_asked_are_used_and_are_given_back(
    config: Path, tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0123456789abcdef" * 4)
    config.write_text(config.read_text().replace("workers = 2", "min_workers = 1"))
    arguments = ("run", config, "--out", tmp_path / "r", "--set", "tournament.deals=100000")
    with head(0, most=2) as cluster:
        process = start(*arguments, "--address", cluster.address)
        came = seconds_until(lambda: nodes(cluster.session) == 1, process)
        used = seconds_until(lambda: workers(tmp_path / "r") == 1, process)
        seconds_until(lambda: RunReader(tmp_path / "r").info.counts.matches > 0)
        assert nodes(cluster.session) == 1, "a run that asks for one node gets one"
        process.send_signal(signal.SIGINT)
        code, _, err = finish(process, SECONDS)
        assert code == 130, err

        again = ("--resume", "--set", "run.min_workers=4", "--set", "run.max_workers=2")
        process = start(*arguments, "--address", cluster.address, *again)
        seconds_until(lambda: workers(tmp_path / "r") == 2, process)
        assert nodes(cluster.session) == 2
        assert RunReader(tmp_path / "r").info.workers == 2, "never more than max_workers"
        process.send_signal(signal.SIGINT)
        code, _, err = finish(process, SECONDS)
        assert code == 130, err
        gone = seconds_until(lambda: nodes(cluster.session) == 0)
    print(
        f"\nthe first node came after {came:.1f} s and played {used:.1f} s later; both were given "
        f"back {gone:.1f} s after the run"
    )
