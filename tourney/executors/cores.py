"""One CPU core for each worker of a node, whoever started it.

A core is taken by binding a socket's name in the kernel's abstract namespace. Two processes can
never hold one name, it belongs to no user and no folder, and the kernel frees it when its holder
ends, however that ends. Containers with networks of their own do not see each other's names; they
should have CPUs of their own as well.
"""

import os
import socket
from collections.abc import Iterable
from math import ceil, inf
from pathlib import Path

__all__ = ("CoreSlot", "allowed_cpus", "usable")

NAME = "\0tourney-core-{cpu}"

CPUS = Path("/sys/devices/system/cpu")
CGROUPS = Path("/sys/fs/cgroup")
OURS = Path("/proc/self/cgroup")


def allowed_cpus() -> list[int]:
    """CPUs that this process may use: one thread of each physical core first, then the others."""
    allowed = os.sched_getaffinity(0)
    return sorted(allowed, key=lambda cpu: (min(_siblings(cpu) & allowed) != cpu, cpu))


def _siblings(cpu: int) -> set[int]:
    """CPUs of the same physical core, itself included."""
    try:
        text = (CPUS / f"cpu{cpu}/topology/thread_siblings_list").read_text()
        return {cpu, *_numbers(text)}
    except (OSError, ValueError):
        return {cpu}


def _numbers(text: str) -> Iterable[int]:
    """The numbers of a list as `0,4-6`."""
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def quota() -> float:
    """How many CPUs' time the control groups of this process allow; infinite without a limit."""
    try:
        lines = OURS.read_text().splitlines()
    except OSError:
        return inf
    least = inf
    for line in lines:
        _, kinds, path = line.split(":", 2)
        if kinds and "cpu" not in kinds.split(","):
            continue
        # Version 1 has a folder for each kind, version 2 one for all.
        root = CGROUPS / kinds
        folder = root / path.lstrip("/")
        while folder.is_relative_to(root):
            least = min(least, _limit(folder))
            folder = folder.parent
    return least


def _limit(folder: Path) -> float:
    """CPUs' time that one control group allows."""
    try:
        if (folder / "cpu.max").exists():
            most, period = (folder / "cpu.max").read_text().split()
        else:
            most = (folder / "cpu.cfs_quota_us").read_text().strip()
            period = (folder / "cpu.cfs_period_us").read_text()
    except (OSError, ValueError):
        return inf
    return inf if most in {"max", "-1"} else int(most) / int(period)


def usable() -> int:
    """How many workers this process's CPUs can carry, at least one."""
    cpus = len(os.sched_getaffinity(0))
    return max(1, min(cpus, ceil(min(quota(), cpus))))


class CoreSlot:
    """A worker's core, as soon as there is one that no other worker of the node has."""

    def __init__(self) -> None:
        """Hold none yet."""
        self._held: socket.socket | None = None
        self._cpus = allowed_cpus()
        if quota() < len(self._cpus):
            # The time is rationed and the cores are shared with whom we do not know: the kernel
            # finds a free one better than we do.
            self._cpus = []

    def claim(self) -> int | None:
        """A core for this worker alone; None while all are taken or where none can be its own.

        At most one call returns a core, which is then held until this process ends.
        """
        if self._held is not None:
            return None
        for cpu in self._cpus:
            name = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                name.bind(NAME.format(cpu=cpu))
            except OSError:
                name.close()
            else:
                self._held = name
                return cpu
        return None

    def close(self) -> None:
        """Give the core back."""
        if self._held is not None:
            self._held.close()
            self._held = None
