"""A launcher to be killed, or put where no sandbox can work; run by the tests as a program.

    python -m tests.conformance.sandbox_launcher hold|storm|reap|try|weigh MARKER [NUMBER]

Every bot it starts has MARKER among its arguments, and every process of its own in its
environment, so that what is left can be found.
"""

import contextlib
import os
import random
import select
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from tests.conformance.sandbox_harness import bots_below, descendants
from tourney import plugins
from tourney.errors import TourneyError
from tourney.sandbox import proving
from tourney.sandbox.base import BotProcess, ProcessLimits, Sandbox

PACKAGE = Path("/usr")
HOLD_S = 20


def start(sandbox: Sandbox, marker: str) -> BotProcess:
    """A bot that lives until it is killed, or for a bounded time."""
    return sandbox.start(PACKAGE, ["sh", "-c", f"sleep {HOLD_S}; :", marker], ProcessLimits())


def hold(sandbox: Sandbox, marker: str, number: int) -> None:
    """Start bots, say so, and wait to be killed."""
    bots = [start(sandbox, marker) for _ in range(number)]
    say(f"started {len(bots)}")
    time.sleep(HOLD_S)


def start_for_ever(sandbox: Sandbox, marker: str) -> NoReturn:
    """Start bots, also after the guard was killed, until killed."""
    end = time.monotonic() + HOLD_S
    while time.monotonic() < end:
        with contextlib.suppress(TourneyError):
            start(sandbox, marker)
    os._exit(1)


def n_ways() -> int:
    """Ways to kill: without a pid namespace of the guard's own, only that of the launcher."""
    return 1 if os.environ.get("TEST_PLAIN_GUARD") else 4


def storm(sandbox: Sandbox, marker: str, number: int) -> None:
    """Let a child start bots, kill it or its guard or both within milliseconds, many times."""
    chance = random.Random(number)
    for trial in range(number):
        ready, told = os.pipe()
        child = os.fork()
        if child == 0:
            sandbox.check()
            os.write(told, b"x")
            start_for_ever(sandbox, marker)
        assert select.select([ready], [], [], 10)[0], "the child did not get ready"
        guards = descendants(child)
        time.sleep(chance.uniform(0, 0.006))
        victims = ([child], [*guards], [*guards, child], [child, *guards])[trial % n_ways()]
        for victim in victims:
            # The one may be gone by the death of the other.
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        if child not in victims:
            time.sleep(chance.uniform(0, 0.006))
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(ready)
        os.close(told)
    say("done")


def reap(sandbox: Sandbox, marker: str, number: int) -> None:
    """As process 1: start and end bots, then say how many processes are still there."""
    bots = [start(sandbox, marker) for _ in range(number)]
    for bot in bots[::2]:
        bot.kill()
    for bot in bots:
        bot.close(grace_ms=0)
    say(f"pid {os.getpid()} left {len(bots_below(os.getpid()))}")


def attempt(sandbox: Sandbox, marker: str, _: int) -> None:
    """Start a program that leaves a file named MARKER where it can, and say what came of it."""
    try:
        bot = sandbox.start(PACKAGE, ["sh", "-c", f"echo ran; touch {marker}"], ProcessLimits())
    except TourneyError as error:
        say(f"{type(error).__name__} {error.exit_code}: {error}")
        return
    select.select([bot.stdout], [], [], 5)
    said = os.read(bot.stdout, 100).decode().strip()
    say(f"{said}: {bot.close().in_words()}")


def weigh(sandbox: Sandbox, marker: str, _: int) -> None:
    """Start a bot that takes 64 MiB, and say what the meter shows of it and of its child."""
    script = "import os; block = b'x' * 2**26; os.fork(); print(1, flush=True); input()"
    bot = sandbox.start(PACKAGE, ["python3", "-c", script, marker], ProcessLimits())
    for _ in range(2):
        select.select([bot.stdout], [], [], 5)
        os.read(bot.stdout, 2)
    say(f"{bot.memory_mb():.0f}")
    bot.close(grace_ms=0)


def say(text: str) -> None:
    """One line for the test."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(arguments: Sequence[str]) -> None:
    """Do what the first argument says."""
    what = {"hold": hold, "storm": storm, "reap": reap, "try": attempt, "weigh": weigh}[
        arguments[0]
    ]
    if os.environ.get("TEST_PLAIN_GUARD"):
        proving.prove = lambda tier: False
    sandbox: Sandbox = plugins.load("sandboxes", os.environ.get("TEST_SANDBOX", "bwrap"))()
    what(sandbox, arguments[1], int(arguments[2]) if len(arguments) > 2 else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
