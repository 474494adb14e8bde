"""The attacks of docs/sandbox.md at a real table: each has its fault, and nobody else suffers."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import msgspec
import pytest

from tests.conformance.sandbox_harness import (
    ROGUES,
    bots_below,
    descendants,
    open_descriptors,
)
from tests.match.conftest import GAME, GOOD, PRELUDE, new_match
from tourney.config.models import Limits
from tourney.errors import SandboxUnavailable
from tourney.packages import install, pack, package_digest
from tourney.packages.manifest import load_manifest
from tourney.protocol.messages import Hello
from tourney.referee.bots import LiveBot
from tourney.referee.specs import BotSpec
from tourney.referee.table import Table
from tourney.referee.verdicts import blame, ending
from tourney.sandbox.base import ExitStatus, ProcessLimits
from tourney.sandbox.bwrap import BwrapSandbox


class Case(NamedTuple):
    """A rogue at the table, and what is to come of it."""

    rogue: str
    attack: dict[str, Any]
    outcome: str
    words: str = ""
    move_ms: int = 5_000
    memory_mb: int = 256


HOST_PATHS = ["/etc/shadow", "/root", "/home", "/proc/1/root/etc/shadow"]

CASES = {
    "1 files": Case("reads-files", {"paths": HOST_PATHS}, "finished", "ENOENT"),
    "2 processes": Case("reads-processes", {"pid": 1}, "finished"),
    "3 signals": Case("kills", {"pid": os.getpid(), "all": False}, "finished", "ESRCH"),
    "3 all": Case("kills", {"pid": os.getpid(), "all": True}, "finished", "ESRCH"),
    "4-6 network": Case(
        "opens-network",
        {"tcp": 1, "udp": 1, "path": "/run/nobody", "abstract": "nobody"},
        "finished",
        "EAFNOSUPPORT",
    ),
    "7 calls": Case("foreign-calls", {"how": "i386"}, "crashed", "killed by SIGSYS"),
    "8-9 writes": Case("writes-outside", {"folders": ["/bot", "/usr", "/"]}, "finished", "EROFS"),
    "10-11 tmp": Case("fills-tmp", {"names": 10}, "finished", "ENOSPC"),
    "12 inodes": Case("fills-tmp", {"names": 200_000}, "memory_limit", "files in /tmp", 8_000, 64),
    "13 forks": Case("forks", {}, "finished", "EAGAIN"),
    "14 fork bomb": Case("fork-bomb", {}, "timeout", "no answer after", 400),
    "15 memory": Case("eats-memory", {"kind": "own"}, "memory_limit", "the limit is 256"),
    "15 memory js": Case("eats-memory-js", {}, "memory_limit", "the limit is 256"),
    "15 memory c": Case("eats-memory-c", {}, "memory_limit", "the limit is 256"),
    "16 shared": Case("eats-memory", {"kind": "shared"}, "memory_limit", "the limit is 256"),
    "16 processes": Case("eats-memory", {"kind": "processes"}, "memory_limit", "limit is 256"),
    "18 tables": Case("eats-memory", {"kind": "tables"}, "memory_limit", "the limit is 256"),
    "17 hidden": Case("hides-memory", {}, "finished", "EPERM"),
    "19 no newline": Case(
        "floods", {"fd": 1, "piece": "x", "bytes": 2**31}, "output_limit", "65536"
    ),
    "20 lines": Case("floods", {"fd": 1, "piece": "{}\n", "bytes": 2**31}, "bad_message", "one"),
    "21 log": Case("floods", {"fd": 2, "piece": "log\n", "bytes": 100 * 2**20}, "finished"),
    "22 never reads": Case("never-reads", {}, "start_failed", "no answer to hello"),
    "23 signals": Case("ignores-signals", {"quiet": True}, "timeout", "did the bot flush", 300),
    "24 CPU": Case("burns-cpu", {"processes": 1, "threads": 4}, "timeout", "of CPU", 400),
    "25 orphans": Case("leaves-orphans", {"quiet": True}, "crashed", "exited with code 3"),
    "26 process 1": Case("attacks-processes", {}, "finished", "EPERM"),
    "27 itself": Case("shows-itself", {}, "finished", "environ"),
    "28 terminal": Case("pushes-terminal", {}, "finished", "EPERM"),
    "29 namespaces": Case("makes-namespaces", {}, "finished", "EPERM"),
}

HELLO = Hello(protocol=1, game="dam", rules=msgspec.to_builtins(GAME.rules), limits={}, options={})

Seat = Callable[..., Table]


@pytest.fixture
def seat(monkeypatch: pytest.MonkeyPatch) -> Iterator[Seat]:
    """Make a table in the default sandbox; at the end nothing of it may be left."""
    folder = Path(tempfile.mkdtemp(prefix="tourney-table-"))
    folder.chmod(0o755)
    monkeypatch.setenv("TOURNEY_CACHE", str(folder / "cache"))
    sandbox = BwrapSandbox()
    sandbox.check()
    tables: list[Table] = []

    def make(limits: Limits, *specs: BotSpec, **bodies: str) -> Table:
        bots = {spec.name: spec for spec in specs}
        for name, body in bodies.items():
            bots[name] = spec_of(folder / name, ["python3", "bot.py"])
            (folder / name).mkdir()
            (folder / name / "bot.py").write_text(PRELUDE + body)
        tables.append(Table(sandbox, bots, HELLO, limits))
        return tables[-1]

    before = open_descriptors()
    yield make
    for table in tables:
        table.close()
    deadline = time.monotonic() + 1
    while (left := bots_below(os.getpid())) and time.monotonic() < deadline:
        time.sleep(0.005)
    assert left == set()
    assert len(open_descriptors()) <= len(before) + 1, "the guard's socket is all that may be new"
    shutil.rmtree(folder)


def spec_of(
    folder: Path,
    command: list[str],
    limits: ProcessLimits | None = None,
    **options: Any,
) -> BotSpec:
    return BotSpec(
        name=folder.name,
        folder=folder,
        command=command,
        options=options,
        limits=limits or ProcessLimits(),
    )


def installed(case: Case) -> BotSpec:
    """The rogue's package as a run has it, with its attack in the options."""
    source = ROGUES / case.rogue
    folder = install(pack(source), package_digest(source), BwrapSandbox())
    limits = ProcessLimits(memory_mb=case.memory_mb, processes=40)
    spec = spec_of(folder, list(load_manifest(folder).run), limits, attack=case.attack)
    return msgspec.structs.replace(spec, name="rogue")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_each_attack_has_its_fault_and_the_others_play_on(seat: Seat, case: Case) -> None:
    limits = Limits(start_ms=3_000, move_ms=case.move_ms, idle_cpu_ms=60_000)
    table = seat(limits, installed(case), good=GOOD, other=GOOD)
    one, two = new_match(0, ("good", "rogue")), new_match(1, ("good", "other"))
    for match in (one, two):
        match._move_ms = case.move_ms
    began = time.monotonic()
    assert [match for match, _ in table.play([one, two])] == [one, two]
    assert time.monotonic() - began < 25
    assert one.result().outcomes == ("finished", case.outcome)
    assert two.result().outcomes == ("finished", "finished")
    if case.outcome == "finished":
        assert one.notes[0][0] >= 0
        assert case.words in one.notes[0][1]
        return
    assert one.result().ranks == (1, 2)
    fault = one.faults[1][1]
    assert case.words in fault.detail
    assert fault.exit_status
    assert fault.last_sent


def test_14_a_bot_wins_no_time_by_starving_itself(seat: Seat) -> None:
    """Its main process waits for a core that its own children hold: the clock runs on."""
    helpers = """
def burn():
    end = time.monotonic() + 3
    while time.monotonic() < end:
        pass

for message in lines():
    if message["type"] == "hello":
        ready()
    elif message["type"] == "act":
        for _ in range(12):
            if os.fork() == 0:
                burn()
                os._exit(0)
        burn()
"""
    mine = os.sched_getaffinity(0)
    table = seat(Limits(start_ms=3_000, idle_cpu_ms=0), good=GOOD, rogue=helpers)
    match = new_match(0, ("good", "rogue"))
    try:
        # As a worker of a run: it and its bots share a core.
        os.sched_setaffinity(0, {min(mine)})
        list(table.play([match]))
    finally:
        os.sched_setaffinity(0, mine)
    assert match.result().outcomes == ("finished", "timeout")
    late_ms = float(match.faults[1][1].detail.split()[3])
    # A limit of 400 ms, a tick, and our own wait for the core; the ceiling would be 2,600.
    assert 400 <= late_ms < 1_000


def test_21_the_log_is_cut_with_a_count(seat: Seat) -> None:
    case = CASES["21 log"]
    table = seat(Limits(start_ms=3_000, idle_cpu_ms=60_000), installed(case), good=GOOD)
    match = new_match(0, ("good", "rogue"))
    match._move_ms = case.move_ms
    list(table.play([match]))
    text, dropped = match.logs[1]
    # The last newline is not shown.
    assert len(text) == 64 * 1024 - 1
    assert dropped == case.attack["bytes"] - 64 * 1024


def test_4_nobody_outside_hears_a_rogue(seat: Seat) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        port = listener.getsockname()[1]
        attack = {"tcp": port, "udp": port, "path": "/run/nobody", "abstract": "nobody"}
        case = Case("opens-network", attack, "finished")
        table = seat(Limits(start_ms=3_000), installed(case), good=GOOD)
        list(table.play([new_match(0, ("good", "rogue"))]))
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_3_a_process_of_the_host_survives(seat: Seat) -> None:
    with subprocess.Popen(["sleep", "30"]) as victim:
        try:
            case = Case("kills", {"pid": victim.pid, "all": True}, "finished")
            table = seat(Limits(start_ms=3_000), installed(case), good=GOOD)
            list(table.play([new_match(0, ("good", "rogue"))]))
            assert victim.poll() is None
        finally:
            victim.kill()


SLOW_AT_FIRST = GOOD.replace(
    "answer(message)", 'time.sleep(0.3 * (message["match"] == "m0")); answer(message)'
)


def test_a_lost_guard_is_nobodys_fault(seat: Seat) -> None:
    table = seat(Limits(start_ms=3_000, move_ms=2_000), good=SLOW_AT_FIRST, other=SLOW_AT_FIRST)
    lost = new_match(0, ("good", "other"))
    guards = descendants(os.getpid()) - bots_below(os.getpid())
    assert guards

    def kill() -> None:
        for pid in guards:
            os.kill(pid, signal.SIGKILL)

    timer = threading.Timer(0.2, kill)
    timer.start()
    with pytest.raises(SandboxUnavailable, match="lost together with the runner's guard"):
        list(table.play([lost]))
    timer.join()
    assert lost.faults == {}
    # The next is a match like any other, and the lost one is not heard of any more.
    again = new_match(1, ("good", "other"))
    assert [match for match, _ in table.play([again])] == [again]
    assert again.result().outcomes == ("finished", "finished")


@pytest.mark.parametrize("line", ["#!/no/such/interpreter", "#!"])
def test_a_program_that_cannot_be_executed_did_not_start(seat: Seat, line: str) -> None:
    table = seat(Limits(start_ms=3_000), good=GOOD, odd=GOOD)
    folder = table._processes.bots["odd"].folder
    (folder / "bot").write_text(line)
    (folder / "bot").chmod(0o755)
    odd = spec_of(folder, ["./bot"])
    table = seat(Limits(start_ms=3_000), odd)
    faults = table.handshake()
    assert faults["odd"].kind == "start_failed"
    assert "could not be executed: bwrap: execvp ./bot" in faults["odd"].detail


def ended(**more: Any) -> ExitStatus:
    fields = {"code": None, "signal": None, "killed_by_us": False, "cpu_ms": 0, "reported": False}
    return ExitStatus(**{**fields, "peak_memory_mb": 0, **more})


def silent(said: str, *, ready: bool) -> LiveBot:
    """A bot that left these words in its log."""
    spec = SimpleNamespace(name="x", limits=ProcessLimits())
    bot = SimpleNamespace(spec=spec, ready=ready, peak_memory_mb=0.0, log_tail=lambda: said)
    return cast("LiveBot", bot)


def test_a_sandbox_that_fails_late_is_ours_until_the_bot_has_spoken() -> None:
    failed = "bwrap: Can't mount proc on /newroot/proc: Operation not permitted\n"
    with pytest.raises(SandboxUnavailable, match="masks /proc"):
        blame(silent(failed, ready=False), ended())
    for bot, status in (
        (silent(failed, ready=True), ended()),
        (silent(failed, ready=False), ended(code=1, reported=True)),
        (silent("my own words", ready=False), ended()),
        (silent("", ready=False), ended(killed_by_us=True)),
    ):
        blame(bot, status)
    assert ending(silent(failed, ready=True), ended()) == ("crashed", "ended in an unknown way")
    assert ending(silent("", ready=False), ended(code=3, reported=True)) == (
        "start_failed",
        "exited with code 3",
    )
