"""Whole runs on an object store: the games of a folder, also after the driver was killed."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cluster.conftest import Start, finish
from tourney.errors import StoreError
from tourney.store import RunReader, journal, storage_at
from tourney.store.lease import LEASE_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

FEW = ("--set", "tournament.deals=10")
MANY = ("--set", "tournament.deals=40")


def digest(where: str | Path) -> str:
    info = RunReader(where).info
    assert info.status == "finished"
    assert info.digest is not None
    return info.digest


def committed(where: str, process: subprocess.Popen[str]) -> None:
    """Wait for the first commit of a run that goes on."""
    while process.poll() is None:
        try:
            if journal.read(storage_at(where)):
                return
        except StoreError:
            pass
        time.sleep(0.1)
    pytest.fail(f"the run ended by itself: {process.communicate()[1]}")


def test_a_run_on_s3_plays_the_games_of_one_in_a_folder(
    config: Path, tmp_path: Path, start: Start, place: str
) -> None:
    code, _, err = finish(start("run", config, "--out", tmp_path / "r", *FEW))
    assert code == 0, err
    code, out, err = finish(start("run", config, "--results", place, *FEW))
    assert code == 0, err
    [name] = storage_at(place).names()
    assert f"in {place}/{name}" in out
    assert digest(f"{place}/{name}") == digest(tmp_path / "r")
    for command in ("status", "ratings", "verify", "faults", "logs"):
        code, out, err = finish(start(command, place))
        assert code == 0, err
    code, out, _ = finish(start("reproduce", place, "3", "--seat", "0"))
    assert code == 0
    assert "played as recorded" in out
    code, out, _ = finish(start("compare", "dam-memory", "dam-random", place))
    assert code == 0


def test_a_killed_driver_is_followed_by_another_to_the_same_games(
    config: Path, tmp_path: Path, start: Start, place: str
) -> None:
    more = (*MANY, "--set", "run.commit_seconds=0.3", "--set", "run.block_seconds=0.3")
    run = ("run", config, "--out", f"{place}/r")
    process = start(*run, *more)
    committed(f"{place}/r", process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    killed = time.monotonic()
    code, _, err = finish(start(*run, *more, "--resume"))
    if code:
        assert "if it was killed, try again in" in err
        time.sleep(max(0.0, killed + LEASE_SECONDS + 1 - time.monotonic()))
        code, _, err = finish(start(*run, *more, "--resume"))
    assert code == 0, err
    code, _, err = finish(start("run", config, "--out", tmp_path / "r", *MANY))
    assert code == 0, err
    assert digest(f"{place}/r") == digest(tmp_path / "r")
