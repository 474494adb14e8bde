"""What the sandbox costs and how fast it ends a bot; prints the table of docs/sandbox.md.

    python -m tests.conformance.sandbox_costs [--quick]

Run it on a quiet machine: medians of interleaved trials, so that a slow moment hits both sides.
"""

import os
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tests.conformance.sandbox_harness import (
    ROGUES,
    bots_below,
    died_of_memory,
    watch,
)
from tests.match.conftest import GAME, GOOD, PRELUDE, new_match
from tourney.config.models import Limits
from tourney.packages import install, pack, package_digest
from tourney.packages.manifest import load_manifest
from tourney.protocol.messages import Hello
from tourney.referee.specs import BotSpec
from tourney.referee.table import Table
from tourney.sandbox.base import BotProcess, ProcessLimits, Sandbox
from tourney.sandbox.bwrap import BwrapNoProcSandbox, BwrapRootSandbox, BwrapSandbox
from tourney.sandbox.none import NoSandbox

ECHO = {
    "Python": (
        "python3",
        "-S",
        "-c",
        "import os\nwhile data := os.read(0, 65536): os.write(1, data)",
    ),
    "Node": (
        "node",
        "-e",
        "const fs = require('fs'); const b = Buffer.alloc(65536);"
        "for (;;) { const n = fs.readSync(0, b); if (!n) break; fs.writeSync(1, b, 0, n); }",
    ),
    "C": ("./echo",),
}

C_ECHO = """
#include <unistd.h>
int main(void) {
    static char data[65536];
    for (ssize_t n; (n = read(0, data, sizeof data)) > 0;) write(1, data, n);
    return 0;
}
"""

MESSAGE = b"x" * 199 + b"\n"
MESSAGES = 2_000
MEMORY_LIMIT = ProcessLimits(memory_mb=256)


def milliseconds(work: Callable[..., object], *arguments: object) -> float:
    """How long `work` takes."""
    began = time.perf_counter()
    work(*arguments)
    return (time.perf_counter() - began) * 1000


def start_up(folder: Path, trials: int) -> None:
    """From the call to the end of a program that does nothing, over a plain spawn of it."""
    sandboxes: list[Sandbox] = [BwrapSandbox(), BwrapNoProcSandbox()]
    if os.geteuid() == 0:
        sandboxes.append(BwrapRootSandbox())
    commands = {"true": ["true"], "python3 -S": ["/usr/bin/python3", "-S", "-c", "pass"]}
    for name, command in commands.items():
        plain: list[float] = []
        inside: dict[str, list[float]] = {sandbox.name: [] for sandbox in sandboxes}
        for _ in range(trials):
            plain.append(milliseconds(subprocess.check_call, command))
            for sandbox in sandboxes:
                inside[sandbox.name].append(milliseconds(run, sandbox, folder, command))
        base = statistics.median(plain)
        told = ", ".join(
            f"{kind} +{statistics.median(times) - base:.1f}" for kind, times in inside.items()
        )
        say(f"start-up and end of `{name}`: plain {base:.1f} ms, {told}")


def run(sandbox: Sandbox, folder: Path, command: Sequence[str]) -> None:
    """Start a program and wait for its end."""
    process = sandbox.start(folder, command, ProcessLimits())
    select.select([process.stdout], [], [], 10)
    process.close(grace_ms=1_000)


def messages(folder: Path) -> None:
    """A line there and back, on one core."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for name, command in ECHO.items():
        pair = [
            sandbox.start(folder, list(command), ProcessLimits())
            for sandbox in (NoSandbox(), BwrapSandbox())
        ]
        times: list[list[float]] = [[], []]
        for process in pair:
            ping(process)
        for _ in range(MESSAGES):
            for process, kept in zip(pair, times, strict=True):
                kept.append(ping(process) * 1000)
        for process in pair:
            process.close()
        outside, inside = map(statistics.median, times)
        say(f"message, {name}: {outside:.1f} us outside, {inside:.1f} us inside")


def ping(process: BotProcess) -> float:
    """Milliseconds for a line there and back."""
    began = time.perf_counter()
    os.write(process.stdin, MESSAGE)
    left = len(MESSAGE)
    while left:
        select.select([process.stdout], [], [])
        left -= len(os.read(process.stdout, 65536))
    return (time.perf_counter() - began) * 1000


def overshoot(trials: int) -> None:
    """Memory at the kill, above a limit of 256 MiB, of a program that takes what it can get."""
    sandbox = BwrapSandbox()
    for name in ("eats-memory", "eats-memory-js", "eats-memory-c"):
        folder = install(pack(ROGUES / name), package_digest(ROGUES / name), sandbox)
        over, until = [], []
        for _ in range(trials):
            process = sandbox.start(folder, load_manifest(folder).run, MEMORY_LIMIT)
            options = b'{"type":"hello","options":{"attack":{"kind":"own"}}}\n'
            os.write(process.stdin, options)
            watch(process, 10, MEMORY_LIMIT)
            os.write(process.stdin, b'{"type":"act","legal":["keep"]}\n')
            seen = watch(process, 20, MEMORY_LIMIT)
            until.append(milliseconds(process.close, 0))
            end = process.close()
            assert died_of_memory(seen, end, MEMORY_LIMIT)
            over.append(max(seen.peak_mb, end.peak_memory_mb) - MEMORY_LIMIT.memory_mb)
        say(
            f"memory at kill, {name}: {statistics.median(over):+.0f} MiB in the median, "
            f"{max(over):+.0f} at most; gone {statistics.median(until):.1f} ms after the kill"
        )


FAULTS = {
    "timeout (100 ms) of a sleeper": ("time.sleep(60)", 100.0),
    "timeout (100 ms) of a fork bomb": (
        "end = time.monotonic() + 2\n"
        "            while time.monotonic() < end:\n"
        "                try: os.fork()\n"
        "                except OSError: pass",
        100.0,
    ),
    "endless line": ("while True: os.write(1, b'x' * 65536)", 0.0),
    "bad message": ("say('junk\\n'); time.sleep(60)", 0.0),
    "exit": ("os._exit(3)", 0.0),
}

ROGUE = """
for message in lines():
    if message["type"] == "hello":
        ready()
    elif message["type"] == "act":
        if message["turn"] >= 0:
            {do}
"""


def fault_to_kill(folder: Path, trials: int) -> None:
    """From the fault, or the limit, to the last process of the bot gone and the match going on."""
    rules = msgspec.to_builtins(GAME.rules)
    hello = Hello(protocol=1, game="dam", rules=rules, limits={}, options={})
    limits = Limits(start_ms=20_000, move_ms=100, idle_cpu_ms=0)
    for number, (name, (do, allowed_ms)) in enumerate(FAULTS.items()):
        times: list[float] = []
        for trial in range(trials):
            specs = {}
            for bot, body in (("good", GOOD), ("rogue", ROGUE.replace("{do}", do))):
                place = folder / f"{bot}-{number}-{trial}"
                place.mkdir()
                (place / "bot.py").write_text(PRELUDE + body)
                specs[bot] = spec(bot, place)
            table = Table(BwrapSandbox(), specs, hello, limits)
            table.handshake()
            match = new_match(trial, ("good", "rogue"))
            match._move_ms = 100
            asked = watch_questions(table)
            list(table.play([match]))
            times.append((asked["ended"] - asked["asked"]) / 1e6 - allowed_ms)
            assert 1 in match.faults
            table.close()
            assert not bots_below(os.getpid())
        say(
            f"fault to end, {name}: {statistics.median(times):.1f} ms in the median, "
            f"{max(times):.1f} at most"
        )


def spec(name: str, folder: Path) -> BotSpec:
    """A bot in Python with few processes."""
    limits = ProcessLimits(processes=40)
    command = ["python3", "bot.py"]
    return BotSpec(name=name, folder=folder, command=command, options={}, limits=limits)


def watch_questions(table: Table) -> dict[str, int]:
    """Note when the rogue was asked last and when it was gone, in nanoseconds."""
    bot = table._live["rogue"]
    seen: dict[str, int] = {}
    ask, end = bot.ask, bot.end

    def noting_ask(message: Any) -> None:
        ask(message)
        seen["asked"] = bot.asked_at_ns

    def noting_end(grace_ms: int) -> Any:
        status = end(grace_ms)
        seen.setdefault("ended", time.monotonic_ns())
        return status

    vars(bot).update(ask=noting_ask, end=noting_end)
    return seen


def say(text: str) -> None:
    """One line of the table."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(arguments: Sequence[str]) -> None:
    """Measure everything."""
    trials = 3 if "--quick" in arguments else 50
    with tempfile.TemporaryDirectory(prefix="tourney-costs-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        os.environ["TOURNEY_CACHE"] = str(folder / "cache")
        (folder / "echo.c").write_text(C_ECHO)
        subprocess.run(["cc", "-O2", "-w", "-o", folder / "echo", folder / "echo.c"], check=True)
        start_up(folder, trials)
        overshoot(max(3, trials // 5))
        fault_to_kill(folder, max(3, trials // 5))
        messages(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
