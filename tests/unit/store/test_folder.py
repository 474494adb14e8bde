"""A run in a folder has one driver, and a killed one is in nobody's way."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.store.test_store import committed, create, tables
from tourney.errors import StoreError
from tourney.store import RunReader, RunWriter
from tourney.store.folder import LOCK_FILE

HOLD = """
import subprocess, sys, time
from pathlib import Path
from tests.unit.store.test_store import create
writer = create(Path(sys.argv[1]))
child = subprocess.Popen(["sleep", "60"], close_fds=False)
print(child.pid, flush=True)
time.sleep(60)
"""


def test_a_second_driver_is_refused_and_told_of_the_first(tmp_path: Path) -> None:
    first = create(tmp_path / "r")
    with pytest.raises(StoreError, match=rf"is being played by process {os.getpid()} on .* since"):
        RunWriter.reopen(tmp_path / "r")
    first.commit((0,), tables(0), 1.0)
    first.close()
    first.close()
    RunWriter.reopen(tmp_path / "r").commit((1,), tables(1), 1.0)
    assert committed(tmp_path / "r") == [0, 1, 2, 3]


def test_readers_need_no_lock(tmp_path: Path) -> None:
    create(tmp_path / "r").commit((0,), tables(0), 1.0)
    assert RunReader(tmp_path / "r").info.counts.matches == 2


def test_a_run_that_could_not_be_opened_is_not_locked(tmp_path: Path) -> None:
    writer = create(tmp_path / "r")
    writer.commit((0,), tables(0), 1.0)
    writer.close()
    [segment] = (tmp_path / "r" / "seats").iterdir()
    kept = segment.read_bytes()
    segment.unlink()
    with pytest.raises(StoreError, match="damaged"):
        RunWriter.reopen(tmp_path / "r")
    segment.write_bytes(kept)
    RunWriter.reopen(tmp_path / "r")


def test_the_lock_ends_with_its_process_even_if_a_child_lives_on(tmp_path: Path) -> None:
    driver = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path / "r"], stdout=subprocess.PIPE, text=True
    )
    assert driver.stdout is not None
    child = int(driver.stdout.readline())
    try:
        with pytest.raises(StoreError, match=f"played by process {driver.pid} "):
            RunWriter.reopen(tmp_path / "r")
        driver.kill()
        driver.wait(10)
        os.kill(child, 0)
        RunWriter.reopen(tmp_path / "r")
    finally:
        driver.kill()
        driver.wait(10)
        driver.stdout.close()
        os.kill(child, 9)


def test_a_lock_file_left_behind_locks_nobody_out(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / LOCK_FILE).write_text("torn")
    create(tmp_path / "r")
