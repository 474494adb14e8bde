"""Ends what a private Ray left behind, whatever happened to the process that started it.

Runs as a program of its own, with the standard library only. While the runner lives it remembers
which processes descend from it. At the end of its standard input, which comes when the runner
closes it or dies, it kills those that are left, and every process that carries the run's token in
its environment. Ray's agents would otherwise outlive a killed runner by a minute. Last it removes
the session's folder.
"""

import contextlib
import os
import select
import shutil
import signal
import sys
import time
from pathlib import Path

TOKEN_VARIABLE = "TOURNEY_RAY_TOKEN"  # noqa: S105 - a variable's name, not a secret

LOOK_SECONDS = 0.5
"""How often the runner's descendants are looked at; Ray's daemons live much longer."""

SWEEPS = 20
SWEEP_SECONDS = 0.1
"""A dying raylet may still start a process: sweep until nothing was found twice."""

PROC = Path("/proc")

Born = tuple[int, str]
"""A process for certain: its number and its start time."""


def _stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the state on; empty if it is gone."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _pids() -> list[int]:
    return [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]


def descendants(root: int) -> set[Born]:
    """Every process below `root`, this one and its own children left out."""
    parents: dict[int, list[Born]] = {}
    for pid in _pids():
        fields = _stat(pid)
        if fields and pid != os.getpid():
            parents.setdefault(int(fields[1]), []).append((pid, fields[19]))
    found: set[Born] = set()
    waiting = [root]
    while waiting:
        below = parents.get(waiting.pop(), [])
        found.update(below)
        waiting += [pid for pid, _ in below]
    return found


def _carries(pid: int, token: str) -> bool:
    wanted = f"{TOKEN_VARIABLE}={token}".encode()
    with contextlib.suppress(OSError):
        return wanted in (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    return False


def left(known: set[Born], token: str) -> list[int]:
    """Processes of the run that still live; zombies do not."""
    found = []
    for pid in _pids():
        fields = _stat(pid)
        if not fields or fields[0] == "Z" or pid == os.getpid():
            continue
        if (pid, fields[19]) in known or _carries(pid, token):
            found.append(pid)
    return found


def sweep(known: set[Born], token: str) -> None:
    """Kill until two looks in a row find nothing."""
    quiet = 0
    for _ in range(SWEEPS):
        found = left(known, token)
        quiet = 0 if found else quiet + 1
        if quiet == 2:
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(SWEEP_SECONDS)


def main() -> None:
    """Remember descendants until the end of standard input, then sweep."""
    runner, token, folder = os.getppid(), sys.argv[1], sys.argv[2]
    known: set[Born] = set()
    while True:
        if select.select([0], [], [], LOOK_SECONDS)[0] and not os.read(0, 4096):
            break
        if os.getppid() == runner:
            known |= descendants(runner)
    sweep(known, token)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
