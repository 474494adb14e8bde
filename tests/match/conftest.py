"""Bots written into a folder and a table to seat them at."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tourney.config.models import Limits
from tourney.deals import Deals, group_key
from tourney.games.dam import Dam, DamRules
from tourney.protocol.messages import Hello
from tourney.referee.match import Match
from tourney.referee.specs import BotSpec, MatchSpec
from tourney.referee.table import Table
from tourney.sandbox.base import ProcessLimits
from tourney.sandbox.none import NoSandbox

GAME = Dam(DamRules(rounds=1))

PRELUDE = """
import json, os, sys, time

def lines():
    for line in sys.stdin:
        yield json.loads(line)

def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()

def ready():
    say('{"type":"ready"}\\n')

def answer(message):
    say(json.dumps({"action": message["legal"][-1]}) + "\\n")
"""

GOOD = """
for message in lines():
    if message["type"] == "hello":
        ready()
    elif message["type"] == "act":
        answer(message)
    elif message["type"] == "quit":
        break
"""


def new_match(number: int, seating: tuple[str, ...], move_ms: int = 400) -> Match:
    spec = MatchSpec(
        match=number, group=number, pairing=seating, deal=number, rotation=0, seating=seating
    )
    return Match(
        spec,
        GAME,
        Deals(group_key(b"t", str(number))),
        seeds=[1] * len(seating),
        move_ms=move_ms,
    )


TableMaker = Callable[..., Table]


@pytest.fixture
def make_table(tmp_path: Path) -> Iterator[TableMaker]:
    """Make a table of bots given as the bodies of Python programs; closed at the end."""
    tables: list[Table] = []

    def make(
        sandbox: Any = None,
        memory_mb: int = 256,
        cpu_seconds: int | None = None,
        move_ms: int = 400,
        **bodies: str,
    ) -> Table:
        specs = {}
        for name, body in bodies.items():
            folder = tmp_path / name
            folder.mkdir()
            (folder / "bot.py").write_text(PRELUDE + body)
            specs[name] = BotSpec(
                name=name,
                folder=folder,
                command=["python3", "bot.py"],
                options={},
                limits=ProcessLimits(memory_mb=memory_mb, cpu_seconds=cpu_seconds),
            )
        hello = Hello(
            protocol=1, game="dam", rules=msgspec.to_builtins(GAME.rules), limits={}, options={}
        )
        limits = Limits(start_ms=5_000, move_ms=move_ms, idle_cpu_ms=500)
        table = Table(sandbox or NoSandbox(), specs, hello, limits)
        tables.append(table)
        return table

    yield make
    for table in tables:
        table.close()
