"""Attack the sandbox for a second: a short form of the conformance tests, shipped with the package.

Starts programs, and only inside the sandbox.
"""

import json
import os
import select
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tourney.errors import BotRefused
from tourney.sandbox.base import BotProcess, ProcessLimits, Sandbox
from tourney.sandbox.doctor.lines import Line, fail, good, warn
from tourney.sandbox.seccomp import native_architecture

__all__ = ("attacks",)

ATTACKER = Path(__file__).with_name("attacker.py")

LIMITS = ProcessLimits(memory_mb=64, tmp_mb=4, processes=16)

ANSWER_WAIT_S = 5.0

MEMORY_WAIT_S = 5.0

DEAD_WITHIN_S = 0.5

CLOSED = frozenset({"EACCES", "EROFS", "ENOENT", "EPERM"})

REFUSALS: Mapping[str, frozenset[str]] = {
    "files": frozenset({"ENOENT"}),
    "processes": frozenset({"ENOENT"}),
    "signals": frozenset({"ESRCH"}),
    "network": frozenset({"EAFNOSUPPORT"}),
    "hypervisor": frozenset({"EAFNOSUPPORT"}),
    "io_uring": frozenset({"ENOSYS"}),
    "own folder": CLOSED,
    "system": CLOSED,
    "kernel settings": CLOSED,
    "namespaces": frozenset({"EPERM"}),
    "tracing": frozenset({"EPERM"}),
    "hidden memory": frozenset({"EPERM"}),
    "keyrings": frozenset({"EPERM"}),
    "terminal": frozenset({"EPERM"}),
    "disk": frozenset({"ENOSPC"}),
    "environment": frozenset({"HOME,LANG,PATH,PWD,TMPDIR"}),
    # 16 processes, less the sandbox's first and the bot itself.
    "fork bomb": frozenset({"EAGAIN after 14"}),
}
"""What each attempt must meet with."""

FIX = "do not run strangers' bots here; please report this with the whole output"


def attacks(sandbox: Sandbox) -> list[Line]:
    """Attack `sandbox`, which works; returns a line for each attack that got through, or one.

    Raises:
        SandboxUnavailable: it no longer starts.
    """
    try:
        report = _attack(sandbox)
        held = {name: report.get(name, "no answer") in REFUSALS[name] for name in REFUSALS}
        memory = _memory(sandbox)
        ending = _ending(sandbox)
    except BotRefused as error:
        fix = "install Python 3 (Debian: apt-get install python3) to have it tried"
        return [warn("attacks", "smoke test", f"not tried: {error}", fix)]
    through = [
        fail("attacks", name, f"a bot got through: {report.get(name, 'no answer')}", FIX)
        for name in held
        if not held[name]
    ]
    through += [fail("attacks", name, what, FIX) for name, what in (memory, ending) if what]
    if through:
        return through
    names = ", ".join((*held, memory[0], ending[0]))
    return [good("attacks", "smoke test", f"all {len(held) + 2} held: {names}")]


def _attack(sandbox: Sandbox) -> dict[str, str]:
    with (
        tempfile.NamedTemporaryFile() as secret,
        socket.create_server(("127.0.0.1", 0)) as listener,
        subprocess.Popen(["/bin/sleep", "20"], stdin=subprocess.DEVNULL) as victim,
    ):
        try:
            Path(secret.name).chmod(0o644)
            wanted = {
                "secret": secret.name,
                "pid": victim.pid,
                "port": listener.getsockname()[1],
                "numbers": native_architecture().numbers,
            }
            report = _ask(sandbox, wanted)
            if victim.poll() is not None:
                report["signals"] = "the victim is dead"
        finally:
            victim.kill()
    return report


def _ask(sandbox: Sandbox, wanted: dict[str, Any]) -> dict[str, str]:
    command = ["python3", "-c", ATTACKER.read_text(), json.dumps(wanted)]
    bot = sandbox.start(Path("/usr"), command, LIMITS)
    try:
        said = _said(bot, ANSWER_WAIT_S)
    finally:
        bot.close(grace_ms=0)
    try:
        report: dict[str, str] = json.loads(said)
    except ValueError:
        return {}
    return report


def _said(bot: BotProcess, wait_s: float) -> bytes:
    """The first line of a program, or what there was of it."""
    said = b""
    deadline = time.monotonic() + wait_s
    while b"\n" not in said:
        if not select.select([bot.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
            break
        piece = os.read(bot.stdout, 65536)
        if not piece:
            break
        said += piece
    return said


def _memory(sandbox: Sandbox) -> tuple[str, str]:
    """Let a bot take memory; returns the attack's name and what went wrong."""
    # Half of the limit, as a step of the program's, is the most that it may overshoot by.
    script = "x = []\nwhile len(x) < 64: x.append(b'x' * 2**22)"
    bot = sandbox.start(Path("/usr"), ["python3", "-c", script], LIMITS)
    deadline = time.monotonic() + MEMORY_WAIT_S
    memory_mb = 0.0
    while memory_mb <= LIMITS.memory_mb and time.monotonic() < deadline:
        ended = select.select([bot.stdout], [], [], 0.005)[0]
        if ended:
            break
        memory_mb = bot.memory_mb()
    bot.kill()
    end = bot.close(grace_ms=0)
    # Killed at our limit, or ended by the kernel's, which lies 64 MiB above it.
    highest = max(end.peak_memory_mb, memory_mb)
    bound = LIMITS.memory_mb * 1.25 + 64
    return "memory", "" if highest < bound else f"a bot took {highest:.0f} MiB of {bound:.0f}"


def _ending(sandbox: Sandbox) -> tuple[str, str]:
    """Kill a bot that ignores signals and has an orphan; returns as `_memory`."""
    script = "trap '' TERM INT HUP; (trap '' TERM; exec sleep 20) & echo up; sleep 20"
    bot = sandbox.start(Path("/usr"), ["sh", "-c", script], LIMITS)
    _said(bot, ANSWER_WAIT_S)
    began = time.monotonic()
    end = bot.close(grace_ms=0)
    seconds = time.monotonic() - began
    if end.killed_by_us and seconds < DEAD_WITHIN_S:
        return "ending", ""
    return "ending", f"a bot that ignores signals {end.in_words()} after {seconds * 1000:.0f} ms"
