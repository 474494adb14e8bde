"""Workers that play with bots that crash, hang, fork and flood; run by the tests as a program.

    python -m tests.match.storm play|kill FOLDER MARKER NUMBER SEED

FOLDER holds the bots. Every bot has MARKER among its arguments and every process of ours in its
environment, so that what is left can be found. `play` plays NUMBER matches; `kill` lets a child
play and ends the child, its guard, a bot's sandbox or several of them, NUMBER times.
"""

import contextlib
import itertools
import os
import random
import select
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from tests.conformance.sandbox_harness import bots_below, descendants, is_bwrap
from tests.match.conftest import GAME, GOOD, PRELUDE, new_match
from tourney.config.models import Limits
from tourney.errors import TourneyError
from tourney.protocol.messages import Hello
from tourney.referee.match import Match
from tourney.referee.specs import BotSpec
from tourney.referee.table import Table
from tourney.sandbox.base import ProcessLimits
from tourney.sandbox.bwrap import BwrapSandbox

FORK_S = 2
FLOOD_BYTES = 2**26
RECOVERY_S = 15.0


def bad(do: str) -> str:
    """A bot that plays well until its third question."""
    lines = ["asked = 0", "for message in lines():", "    if message['type'] == 'hello':"]
    lines += ["        ready()", "    elif message['type'] == 'act':", "        asked += 1"]
    lines += ["        if asked < 3:", "            answer(message)", "            continue"]
    return "\n".join([*lines, *(f"        {line}" for line in do.splitlines())])


BOTS = {
    "good": GOOD,
    "crash": bad("sys.exit(3)"),
    "abort": bad("os.abort()"),
    "hang": bad("time.sleep(60)"),
    "fork": bad(
        f"end = time.monotonic() + {FORK_S}\n"
        "while time.monotonic() < end:\n"
        "    try:\n        os.fork()\n"
        "    except OSError:\n        time.sleep(0.001)\n"
        "os._exit(0)"
    ),
    "orphan": bad("if os.fork() == 0:\n    os.setsid()\n    time.sleep(60)\nos._exit(0)"),
    "flood": bad(f"for _ in range({FLOOD_BYTES // 2**16}):\n    os.write(1, b'x' * 2**16)"),
    "files": bad("for n in range(20):\n    open(f'/tmp/{n}', 'w').write('x' * 2**19)\nos._exit(1)"),
}

OUTCOMES = {
    "good": "finished",
    "crash": "crashed",
    "abort": "crashed",
    "hang": "timeout",
    "fork": "timeout",
    "orphan": "crashed",
    "flood": "output_limit",
    "files": "crashed",
}


def write_bots(folder: Path) -> None:
    """Write every bot's program into a folder of its own below `folder`."""
    for name, body in BOTS.items():
        (folder / name).mkdir(mode=0o755)
        (folder / name / "bot.py").write_text(PRELUDE + body)


def new_table(folder: Path, marker: str) -> Table:
    """A table with every bot."""
    limits = ProcessLimits(processes=24)
    specs = {
        name: BotSpec(
            name=name,
            folder=folder / name,
            command=["python3", "bot.py", marker],
            options={},
            limits=limits,
        )
        for name in BOTS
    }
    rules = msgspec.to_builtins(GAME.rules)
    hello = Hello(protocol=1, game="dam", rules=rules, limits={}, options={})
    sandbox = BwrapSandbox()
    sandbox.check()
    return Table(sandbox, specs, hello, Limits(start_ms=20_000, move_ms=60, idle_cpu_ms=0))


def matches(first: int = 0) -> Iterator[Match]:
    """Matches of the good bot with every other in turn."""
    names = [name for name in BOTS if name != "good"]
    for number in itertools.count(first):
        match = new_match(number, ("good", names[number % len(names)]))
        match._move_ms = 60
        yield match


def play(folder: Path, marker: str, number: int, seed: int) -> None:
    """Play, and say how often each bot ended as it should."""
    del seed
    table = new_table(folder, marker)
    right = 0
    for match, _ in table.play(itertools.islice(matches(), number)):
        outcomes = match.result().outcomes
        right += outcomes == tuple(OUTCOMES[name] for name in match.spec.seating)
    table.close()
    left = bots_below(os.getpid())
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    say(f"right {right} left {len(left)} descriptors {descriptors}")


def play_for_ever(folder: Path, marker: str, told: int) -> None:
    """Play until killed, also after the guard was lost; say so after each match."""
    first = 0
    while True:
        with contextlib.suppress(TourneyError):
            table = new_table(folder, marker)
            for _ in table.play(matches(first)):
                first += 1
                os.write(told, b"x")


def kill(folder: Path, marker: str, number: int, seed: int) -> None:
    """Let children play and end them at random moments."""
    chance = random.Random(seed)
    for trial in range(number):
        heard, told = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(heard)
            play_for_ever(folder, marker, told)
        os.close(told)
        try:
            wait_for_match(heard)
            time.sleep(chance.uniform(0, 0.4))
            end(child, heard, ("worker", "guard", "sandbox", "all")[trial % 4])
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(heard)
    say("done")


def end(child: int, heard: int, whom: str) -> None:
    """Kill one kind of process below `child`; unless it is the child, see that it plays on."""
    below = descendants(child)
    bots = bots_below(child)
    victims = {
        "worker": [child],
        "guard": sorted(below - bots),
        "sandbox": sorted(filter(is_bwrap, bots)),
        "all": [*sorted(below), child],
    }[whom]
    for victim in victims:
        # The one may be gone by the death of the other.
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
    if child not in victims:
        # Whatever was said before the kill does not count.
        while select.select([heard], [], [], 0)[0]:
            os.read(heard, 4096)
        wait_for_match(heard)


def wait_for_match(heard: int) -> None:
    """Wait for the end of a match."""
    assert select.select([heard], [], [], RECOVERY_S)[0], "no match came to its end"
    assert os.read(heard, 4096), "the worker died"


def say(text: str) -> None:
    """One line for the test."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(arguments: Sequence[str]) -> None:
    """Do what the first argument says."""
    what, folder, marker, number, seed = arguments
    {"play": play, "kill": kill}[what](Path(folder), marker, int(number), int(seed))


if __name__ == "__main__":
    main(sys.argv[1:])
