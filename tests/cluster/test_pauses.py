"""A worker that stood still tells so, and nobody is charged for what was late meanwhile."""

import os
import signal
import subprocess
import sys
import time
from typing import Any

import polars as pl
import pytest

from tourney.errors import NodeNoisy
from tourney.executors.cores import CoreSlot
from tourney.executors.pauses import PauseWatch
from tourney.executors.ray import RayWorker
from tourney.executors.worker import TableWorker
from tourney.schedule.scheduler import MAX_ATTEMPTS, Block

WATCH = """
import sys
from tourney.executors.pauses import PauseWatch
watch = PauseWatch()
print("looking", flush=True)
sys.stdin.readline()
print(watch.longest(), flush=True)
print(watch.longest(), flush=True)
"""

STOPPED_SECONDS = 1.5


def test_a_stopped_process_knows_how_long_it_stood_still() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WATCH], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "looking\n"
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(STOPPED_SECONDS)
        os.kill(process.pid, signal.SIGCONT)
        process.stdin.write("\n")
        process.stdin.flush()
        # The last look may have been a tick before the stop, and pauses count from a late look on.
        assert float(process.stdout.readline()) >= STOPPED_SECONDS - 0.1
        assert float(process.stdout.readline()) < STOPPED_SECONDS - 0.1, "told once"
        process.communicate()


class Paused(PauseWatch):
    """A watch that saw pauses of so many seconds."""

    def __init__(self, *seconds: float) -> None:
        self._told = list(seconds)

    def longest(self) -> float:
        return self._told.pop(0)


class Played:
    """What a block gave."""

    def __init__(self, faults: int) -> None:
        self.tables = {"faults": pl.DataFrame({"seat": [0] * faults})}


@pytest.mark.parametrize(
    ("pause", "faults", "attempt", "counts"),
    [
        (0.6, 0, 1, True),  # nobody was late
        (0.4, 1, 1, True),  # a bot is slower than this by itself
        (0.6, 1, 1, False),
        (0.6, 1, MAX_ATTEMPTS - 1, False),
        (0.6, 1, MAX_ATTEMPTS, True),  # as with a busy machine, a block is not given back for ever
    ],
)
def test_a_block_with_a_pause_and_a_fault_is_given_back(
    monkeypatch: pytest.MonkeyPatch, pause: float, faults: int, attempt: int, counts: bool
) -> None:
    worker: Any = object.__new__(RayWorker)
    worker._slot = CoreSlot()
    worker._slot._cpus = []
    worker._bound = 0.5
    # What was before the block does not matter.
    worker._watch = Paused(99.0, pause)
    result = Played(faults)
    monkeypatch.setattr(TableWorker, "play", lambda self, block: result)
    block = Block(1, (0,), attempt)
    if counts:
        assert worker.play(block) is result
    else:
        with pytest.raises(NodeNoisy, match=r"stood still for 0\.6 s"):
            worker.play(block)
