"""`python -m tests.bench.one_run BOT DEALS [BATCH]`: one worker and its bot's floor, as JSON.

A program of its own, because whether the compiled modules are used is decided when Python starts.
"""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

from tests.bench.floor import answers_per_second
from tourney import compiled
from tourney.config.load import config_from
from tourney.executors.inline import InlineExecutor
from tourney.executors.worker import collect_seldom
from tourney.packages.cache import install
from tourney.runner import Prepared, Runner, open_run, prepare
from tourney.sandbox.bwrap import BwrapSandbox
from tourney.store import RunReader

ROOT = Path(__file__).parents[2]

IN_ARRAYS = """
from policy import {bot}
from tourney_bot import run

{bot}.batch = {batch}
run({bot})
"""

CLASSES = {"dam-threshold": "ThresholdBot", "rams-simple": "SimpleBot"}


def package(bot: str, batch: int, folder: Path) -> Path:
    """The bot's package; with `batch`, a copy of it that takes arrays of so many messages."""
    source = ROOT / "bots" / bot
    if batch == 1:
        return source
    copy = shutil.copytree(source, folder / bot)
    (copy / "bot.py").rename(copy / "policy.py")
    (copy / "bot.py").write_text(IN_ARRAYS.format(bot=CLASSES[bot], batch=batch))
    return copy


def prepared(bot: Path, deals: int) -> Prepared:
    """A tournament of two such bots."""
    game = bot.name.split("-")[0]
    data: dict[str, Any] = {
        "tournament": {"name": "bench", "game": game, "deals": deals, "seed": 5},
        "rules": {"rounds": 1} if game == "dam" else {},
        "bot": [
            {"path": str(bot), "name": "six"},
            {"path": str(bot), "name": "five", "options": {"threshold": 5}},
        ],
    }
    return prepare(config_from(data))


def decisions_per_second(play: Prepared) -> float:
    """The whole path on one core: from start of play to committed rows."""
    with tempfile.TemporaryDirectory() as folder:
        opened = open_run(play, Path(), Path(folder) / "run", resume=False)
        runner = Runner(opened.writer, InlineExecutor(), opened.scheduler, 2.0, lambda _: None)
        assert runner.run(opened.plan, play.archives, 1)
        info, place = opened.writer.info, opened.writer.folder
        rows = RunReader(place).scan("matches").select(pl.col("decisions").sum())
        opened.writer.close()
        return float(rows.collect().item() / info.seconds)


def main(bot: str, deals: int, batch: int = 1) -> dict[str, Any]:
    """Both figures, measured on one core one after the other."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as name:
        play = prepared(package(bot, batch, Path(name)), deals)
        entrant = play.entrants[0]
        folder = install(entrant.archive, entrant.digest, BwrapSandbox())
        command = list(entrant.manifest.run)
        floor = answers_per_second(command, folder)
        collect_seldom()
        rate = decisions_per_second(play)
        # The machine may have slowed down or sped up in between.
        floor = max(floor, answers_per_second(command, folder))
    return {
        "compiled": compiled.in_use(),
        "us": 1e6 / rate,
        "floor_us": 1e6 / floor,
        "share": rate / floor,
    }


if __name__ == "__main__":
    name, *numbers = sys.argv[1:]
    print(json.dumps(main(name, *map(int, numbers))))
