"""Put a rogue into a sandbox, talk to it, watch it as the referee would, see what it leaves.

Everything is bounded here as well: no test waits longer than it says.
"""

import contextlib
import json
import os
import select
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tourney.packages import install, pack, package_digest
from tourney.packages.manifest import load_manifest
from tourney.sandbox.base import BotProcess, ExitStatus, ProcessLimits, Sandbox
from tourney.sandbox.metering import children

REPOSITORY = Path(__file__).parents[2]
ROGUES = REPOSITORY / "tests" / "rogues"

MAX_LINE_BYTES = 64 * 1024
NEAR_LIMIT = 0.9
HELLO = {"type": "hello", "protocol": 1, "game": "dam", "rules": {}, "limits": {}, "options": {}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What came of watching a process."""

    reason: str
    """`answered`, `ended`, `timeout`, `memory_limit` or `output_limit`."""
    output: bytes
    n_stderr: int
    seconds: float
    peak_mb: float
    """Highest memory that a poll saw."""


class Rogue:
    """A rogue at work in a sandbox."""

    def __init__(self, sandbox: Sandbox, name: str, limits: ProcessLimits | None = None) -> None:
        self.limits = limits or ProcessLimits()
        self.folder = install(pack(ROGUES / name), package_digest(ROGUES / name), sandbox)
        self.process = sandbox.start(self.folder, load_manifest(self.folder).run, self.limits)

    def __enter__(self) -> "Rogue":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.close(grace_ms=0)

    def hello(self) -> None:
        """Greet it and wait until it is ready."""
        send(self.process, HELLO)
        seen = watch(self.process, 10, self.limits)
        assert json.loads(seen.output) == {"type": "ready"}, seen

    def ask(self, **attack: Any) -> None:
        """Greet it and tell it to attack."""
        self.hello()
        send(self.process, {"type": "act", "legal": ["keep"], "attack": attack})

    def report(self, **attack: Any) -> dict[str, Any]:
        """Greet it, let it attack, and return what it says it managed."""
        self.ask(**attack)
        seen = watch(self.process, 20, self.limits)
        assert seen.reason == "answered", seen
        answer = json.loads(seen.output)
        assert answer["action"] == "keep"
        report: dict[str, Any] = answer["report"]
        return report


def send(process: BotProcess, message: dict[str, Any]) -> None:
    """Write one message; it is short enough for the pipe."""
    line = json.dumps(message).encode() + b"\n"
    assert os.write(process.stdin, line) == len(line)


def watch(process: BotProcess, wait_s: float, limits: ProcessLimits) -> Watched:
    """Wait for a line, drop the log, look at memory every 10 ms; kill at a limit or the end."""
    began = time.monotonic()
    output, n_stderr, peak, reason = b"", 0, 0.0, ""
    fds = [process.stdout, process.stderr]
    while not reason:
        for fd in select.select(fds, [], [], 0.01)[0]:
            data = b""
            with contextlib.suppress(BlockingIOError):
                data = os.read(fd, 65536)
            if fd == process.stderr:
                n_stderr += len(data)
            output += data if fd == process.stdout else b""
            if not data:
                fds.remove(fd)
        peak = max(peak, process.memory_mb())
        reason = _reason(output, peak, limits, open_end=process.stdout in fds)
        if not reason and time.monotonic() > began + wait_s:
            reason = "timeout"
    if reason not in ("answered", "ended"):
        process.kill()
    seconds = time.monotonic() - began
    return Watched(reason=reason, output=output, n_stderr=n_stderr, seconds=seconds, peak_mb=peak)


def _reason(output: bytes, peak_mb: float, limits: ProcessLimits, *, open_end: bool) -> str:
    if peak_mb > limits.memory_mb:
        return "memory_limit"
    if len(output) > MAX_LINE_BYTES:
        return "output_limit"
    if b"\n" in output:
        return "answered"
    return "" if open_end else "ended"


def died_of_memory(seen: Watched, status: ExitStatus, limits: ProcessLimits) -> bool:
    """Killed at the limit, or ended by itself so near to it that it must have been that."""
    near = max(seen.peak_mb, status.peak_memory_mb) >= NEAR_LIMIT * limits.memory_mb
    return seen.reason == "memory_limit" or (seen.reason == "ended" and near)


def descendants(pid: int) -> set[int]:
    """All living and dead processes below `pid`."""
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        for child in children(waiting.pop()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found


def command_line(pid: int) -> list[str]:
    """Arguments of a process, empty when it is gone or dead."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")[:-1]
    except OSError:
        return []


def is_bwrap(pid: int) -> bool:
    """Whether a process is one of bubblewrap's own."""
    return any(Path(word).name == "bwrap" for word in command_line(pid)[:1])


NOT_BOTS = ("tourney.sandbox.guard", "multiprocessing.resource_tracker", "moto.server")


def bots_below(pid: int) -> set[int]:
    """Processes below `pid` but for the guard, its `unshare`, Python's own and the S3 server."""
    return {
        child
        for child in descendants(pid)
        if not any(own in word for word in command_line(child) for own in NOT_BOTS)
    }


def processes_with(marker: str) -> list[int]:
    """Processes of the machine that have `marker` among their arguments."""
    return [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit()
        and int(entry.name) != os.getpid()
        and any(marker in word for word in command_line(int(entry.name)))
    ]


def wait_until_none(marker: str, wait_s: float, besides: int = 0) -> list[int]:
    """Wait until no process but `besides` has `marker`; returns those that are left at the end."""
    deadline = time.monotonic() + wait_s
    while left := [pid for pid in processes_with(marker) if pid != besides]:
        if time.monotonic() > deadline:
            return left
        time.sleep(0.005)
    return []


def open_descriptors() -> Sequence[str]:
    """Names of this process's open descriptors."""
    return sorted(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names are all that is wanted
