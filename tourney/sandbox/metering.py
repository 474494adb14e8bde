"""Read what a bot uses, from outside and without its help: CPU clock, memory, files.

Reads only; judging the numbers is the referee's.
"""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Protocol

__all__ = (
    "Meter",
    "NamespaceMeter",
    "TreeMeter",
    "children",
    "cpu_clock",
    "cpu_ns",
    "host_pid",
    "starved_ns",
)

MIB = 2**20

FILE_KB = 1.0
"""Kernel memory of a file in /tmp beside its contents: an inode, a name, their caches. Measured:
560,000 empty files took 568 MB that no process shows."""


class Meter(Protocol):
    """What can be read of a running bot."""

    def main_pid(self) -> int | None:
        """Pid of the bot's main process as we see it, None while it has not started."""
        ...

    def memory_mb(self) -> float:
        """Memory of all its processes and its files in /tmp, mebibytes."""
        ...

    def n_processes(self) -> int:
        """Number of its processes at the last look at its memory, the sandbox's own left out."""
        ...

    def tmp_files(self) -> int:
        """Number of files in its /tmp."""
        ...

    def close(self) -> None:
        """Give up what it holds open."""
        ...


def cpu_clock(pid: int) -> int:
    """Number of the clock that shows the CPU time of process `pid`, all threads.

    The formula is the kernel's (`include/linux/posix-timers.h`, CPUCLOCK_SCHED); reading it takes
    a quarter of a microsecond, `/proc` forty times that.
    """
    return (~pid << 3) | 2


def starved_ns(pid: int) -> int:
    """How long the threads of process `pid` waited for a core, summed; 0 when it is gone."""
    total = 0
    for task in _threads(pid):
        with suppress(ValueError, IndexError):
            total += int(_read(f"{task}/schedstat").split()[1])
    return total


def host_pid(pidfd: int) -> int:
    """The pid behind a pidfd, as numbered in our own namespace; -1 when it is gone."""
    for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    return -1


def children(pid: int) -> list[int]:
    """Children of all threads of process `pid`, oldest first in each; empty when it is gone."""
    return [int(child) for task in _threads(pid) for child in _read(f"{task}/children").split()]


def _threads(pid: int) -> list[str]:
    """The folder of each thread of process `pid`; none when it is gone."""
    tasks = f"/proc/{pid}/task"
    try:
        return [f"{tasks}/{name}" for name in os.listdir(tasks)]  # noqa: PTH208 - many a second
    except OSError:
        return []


def tree(root: int) -> set[int]:
    """`root` and all its descendants, as far as they can be found."""
    waiting, seen = [root], set[int]()
    while waiting:
        pid = waiting.pop()
        if pid not in seen:
            seen.add(pid)
            waiting += children(pid)
    return seen


def _used_kb(status: bytes, skip: bytes = b"") -> int:
    """Kilobytes that a process holds: in memory, in swap, and as page tables; but for `skip`.

    Page tables count because a program can make the kernel fill gigabytes of them by reading
    pages that it never wrote, with next to nothing resident.
    """
    total = 0
    for name in (b"\nVmRSS:", b"\nVmPTE:", b"\nVmSwap:"):
        start = -1 if name == skip else status.find(name)
        if start >= 0:
            total += int(status[start + len(name) : status.index(b"kB", start)])
    return total


def _read(path: str, folder: int = -1) -> bytes:
    """A file of /proc, relative to the open `folder` if any; empty when its process is gone."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder if folder >= 0 else None)
    except OSError:
        return b""
    try:
        return os.read(fd, 16384)
    except OSError:
        return b""
    finally:
        os.close(fd)


def _proportional_kb(rollup: bytes) -> int:
    for line in rollup.splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1])
    return 0


class NamespaceMeter:
    """Meter of a sandbox with its own pid namespace and its own /proc and /tmp.

    Its /proc lists its processes at once. A root without CAP_SYS_PTRACE may not look into it:
    then the tree of processes is walked, and /tmp, which has a size of its own, is left out.

    Args:
        init: pid of the namespace's process 1, as we see it.
        limit_mb: above it, memory that several processes share is counted once, which costs a
            millisecond a process and is not done below it.
    """

    def __init__(self, init: int, limit_mb: float) -> None:
        self._init = init
        self._limit_kb = limit_mb * 1024
        self._n_processes = 1
        self._main: int | None = None
        self._proc = self._open("proc")
        self._tmp = self._open("tmp")

    def _open(self, name: str) -> int:
        try:
            return os.open(
                f"/proc/{self._init}/root/{name}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
            )
        except OSError:
            return -1

    def main_pid(self) -> int | None:
        """The first child of process 1: the program, whatever it adopts later."""
        if self._main is None:
            self._main = next(iter(children(self._init)), None)
        return self._main

    def memory_mb(self) -> float:
        """Memory of every process in the namespace and of the files in its /tmp."""
        folders = self._folders()
        self._n_processes = len(folders) - 1
        used = sum(_used_kb(_read(f"{folder}/status", self._proc)) for folder in folders)
        tmp_kb = self._tmp_kb()
        if used + tmp_kb > self._limit_kb and len(folders) > 2:
            used = sum(self._exact_kb(folder) for folder in folders)
        return (used + tmp_kb) / 1024

    def n_processes(self) -> int:
        """Number of its processes at the last look at its memory, but for process 1."""
        return self._n_processes

    def _folders(self) -> list[str]:
        """The folder of each process, relative to its /proc where that is open."""
        if self._proc < 0:
            return [f"/proc/{pid}" for pid in tree(self._init)]
        # By descriptor: a path would be looked up anew through a process that may be gone.
        return [name for name in os.listdir(self._proc) if name.isdigit()]  # noqa: PTH208

    def _exact_kb(self, folder: str) -> int:
        status = _read(f"{folder}/status", self._proc)
        rollup = _read(f"{folder}/smaps_rollup", self._proc)
        if not rollup:
            return _used_kb(status)
        return _used_kb(status, skip=b"\nVmRSS:") + _proportional_kb(rollup)

    def _tmp_kb(self) -> float:
        if self._tmp < 0:
            return 0.0
        space = os.fstatvfs(self._tmp)
        content_kb = (space.f_blocks - space.f_bfree) * space.f_frsize / 1024
        return content_kb + (space.f_files - space.f_ffree) * FILE_KB

    def tmp_files(self) -> int:
        """Files and folders in its /tmp."""
        if self._tmp < 0:
            return 0
        space = os.fstatvfs(self._tmp)
        # The folder itself is one of the used ones.
        return max(0, space.f_files - space.f_ffree - 1)

    def close(self) -> None:
        """Close the two folders, so that the namespace's mounts can go."""
        for fd in (self._proc, self._tmp):
            if fd >= 0:
                os.close(fd)
        self._proc = self._tmp = -1


class TreeMeter:
    """Meter of a plain program: itself and its descendants, as far as they can be found.

    Args:
        pid: the program.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._n_processes = 1

    def main_pid(self) -> int | None:
        """The program's own pid."""
        return self._pid

    def memory_mb(self) -> float:
        """Memory of the program and of its descendants."""
        found = tree(self._pid)
        self._n_processes = len(found)
        return sum(_used_kb(_read(f"/proc/{pid}/status")) for pid in found) / 1024

    def n_processes(self) -> int:
        """Number of processes at the last look at their memory."""
        return self._n_processes

    def tmp_files(self) -> int:
        """Not known: a plain program may write where it likes."""
        return 0

    def close(self) -> None:
        """Nothing is held open."""


def cpu_ns(clock: int) -> int | None:
    """CPU time on that clock, None when its process is gone."""
    try:
        return time.clock_gettime_ns(clock)
    except OSError:
        return None
