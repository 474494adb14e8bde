"""What the machine itself is like: kernel, limits, memory, clocks, cores. Reads only."""

import os
import resource
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tourney.errors import SandboxUnavailable
from tourney.sandbox.doctor.lines import Line, fail, good, warn
from tourney.sandbox.metering import cpu_clock, cpu_ns
from tourney.sandbox.seccomp import native_architecture
from tourney.sandbox.slots import FIRST_UID, N_SLOTS, is_known

__all__ = ("host",)

OLDEST_KERNEL = (5, 14)
"""Since then the number of processes is counted for each user namespace."""

ENOUGH_FILES = 1024

ENOUGH_PROCESSES = 512

FINE_CLOCK_S = 1e-6

GOOD_CLOCKS = frozenset({"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"})
"""Read without a system call; others take a microsecond or more."""

GIB = 2**30


def host() -> list[Line]:
    """Everything about the machine that matters to bots."""
    return [
        _kernel(),
        _architecture(),
        _user(),
        _container(),
        *_limits(),
        _memory(),
        _control_groups(),
        *_settings(),
        *_clocks(),
        _cores(),
    ]


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def _kernel() -> Line:
    release = os.uname().release
    parts = release.split("-")[0].split(".")
    if not sys.platform.startswith("linux"):
        fix = "run in a Linux virtual machine (Lima, WSL2)"
        return fail("system", "kernel", f"{sys.platform} {release}", fix)
    if tuple(map(int, parts[:2])) < OLDEST_KERNEL:
        fix = "use Linux 5.14 or later; before it a bot's processes are not counted apart"
        return fail("system", "kernel", f"Linux {release}", fix)
    return good("system", "kernel", f"Linux {release}")


def _architecture() -> Line:
    try:
        return good("system", "architecture", native_architecture().name)
    except SandboxUnavailable as error:
        return fail("system", "architecture", os.uname().machine, str(error))


def _user() -> Line:
    if os.geteuid() != 0:
        return good("system", "user", f"{os.geteuid()}, an ordinary one")
    taken = [uid for uid in range(FIRST_UID, FIRST_UID + N_SLOTS) if is_known(uid)]
    span = f"{FIRST_UID}-{FIRST_UID + N_SLOTS - 1}"
    if taken:
        fix = "give the accounts in that range other numbers; bots get the rest"
        return warn("system", "user", f"root; {len(taken)} of {span} are accounts here", fix)
    return good("system", "user", f"root; each bot gets a user of its own from {span}")


def _container() -> Line:
    signs = {"/.dockerenv": "Docker", "/run/.containerenv": "Podman"}
    found = next((name for path, name in signs.items() if Path(path).exists()), "")
    found = found or _read("/run/systemd/container")
    return good("system", "container", found or "none seen")


def _limits() -> Iterator[Line]:
    wanted = (
        ("open files", resource.RLIMIT_NOFILE, ENOUGH_FILES, "n"),
        ("processes", resource.RLIMIT_NPROC, ENOUGH_PROCESSES, "u"),
    )
    for name, kind, enough, option in wanted:
        soft, _ = resource.getrlimit(kind)
        if soft == resource.RLIM_INFINITY:
            yield good("limits", name, "no limit")
        elif soft < enough:
            yield warn("limits", name, str(soft), f"`ulimit -{option} {enough}` or more")
        else:
            yield good("limits", name, str(soft))


def _memory() -> Line:
    fields = dict(line.split(":", 1) for line in _read("/proc/meminfo").splitlines())
    free = int(fields.get("MemAvailable", "0 kB").split()[0]) * 1024
    swap = int(fields.get("SwapTotal", "0 kB").split()[0]) * 1024
    text = f"{free / GIB:.1f} GiB available"
    if swap:
        fix = "`swapoff -a` for a contest: a bot that is swapped out loses time, not memory"
        return warn("limits", "memory", f"{text}, {swap / GIB:.1f} GiB of swap", fix)
    return good("limits", "memory", f"{text}, no swap")


def _control_groups() -> Line:
    controllers = _read("/sys/fs/cgroup/cgroup.controllers").split()
    text = "version 2 with memory" if "memory" in controllers else "no version 2 memory controller"
    return good("limits", "control groups", f"{text}; not used: memory is polled every 10 ms")


def _settings() -> Iterator[Line]:
    """Kernel settings that the sandbox does not depend on, for a second line of defence."""
    pattern = _read("/proc/sys/kernel/core_pattern")
    piped = " (a program of the host's; bots are kept from it)" if pattern.startswith("|") else ""
    yield good("settings", "core_pattern", f"{pattern}{piped}")
    for name, path, safe in (
        ("legacy_tiocsti", "/proc/sys/dev/tty/legacy_tiocsti", "0"),
        ("io_uring_disabled", "/proc/sys/kernel/io_uring_disabled", "2"),
    ):
        value = _read(path)
        kept = "" if value in (safe, "") else " (bots are kept from it by the filter)"
        yield good("settings", name, f"{value or 'not on this kernel'}{kept}")


def _clocks() -> Iterator[Line]:
    resolution = time.get_clock_info("monotonic").resolution
    source = _read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    text = f"{source or 'unknown source'}, steps of {resolution * 1e9:.0f} ns"
    if resolution > FINE_CLOCK_S or (source and source not in GOOD_CLOCKS):
        fix = "use a machine whose clock source is one of " + ", ".join(sorted(GOOD_CLOCKS))
        yield warn("clocks", "wall time", text, fix)
    else:
        yield good("clocks", "wall time", text)
    before = cpu_ns(cpu_clock(os.getpid()))
    sum(range(10_000))
    after = cpu_ns(cpu_clock(os.getpid()))
    if before is None or after is None or after <= before:
        fix = "bots' CPU time cannot be told here: a busy machine may cost a bot its move"
        yield warn("clocks", "CPU time", "another process's cannot be read", fix)
    else:
        yield good("clocks", "CPU time", "counted in nanoseconds")


def _cores() -> Line:
    count = len(os.sched_getaffinity(0))
    if _read("/sys/devices/system/cpu/smt/active") == "1":
        fix = (
            f"for close contests `--set run.workers={max(1, count // 2)}`: two threads share a core"
        )
        return warn("clocks", "cores", f"{count}, hyper-threading on", fix)
    return good("clocks", "cores", f"{count}, no hyper-threading")


def is_setuid(path: str) -> bool:
    """Whether a program runs as its owner."""
    return bool(Path(path).stat().st_mode & stat.S_ISUID)
