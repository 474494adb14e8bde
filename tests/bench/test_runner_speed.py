"""The runner against the floor of the same bot, in one run: a ratio, so that machines compare."""

import os
import tempfile
from pathlib import Path

import polars as pl
import pytest

from tests.bench.floor import answers_per_second
from tourney.config.load import config_from
from tourney.executors.inline import InlineExecutor
from tourney.packages.cache import install
from tourney.runner import Runner, open_run, prepare
from tourney.sandbox.bwrap import BwrapSandbox
from tourney.store import RunReader

pytestmark = pytest.mark.bench

ROOT = Path(__file__).parents[2]
DEALS = 150


def decisions_per_second(bot: str) -> float:
    """The whole path on one core: from start of play to committed rows."""
    path = str(ROOT / "bots" / bot)
    data = {
        "tournament": {"name": "bench", "game": "dam", "deals": DEALS, "seed": 5},
        "rules": {"rounds": 1},
        "bot": [
            {"path": path, "name": "six"},
            {"path": path, "name": "five", "options": {"threshold": 5}},
        ],
    }
    prepared = prepare(config_from(data))
    with tempfile.TemporaryDirectory() as folder:
        opened = open_run(prepared, Path(), Path(folder) / "run", resume=False)
        runner = Runner(opened.writer, InlineExecutor(), opened.scheduler, 2.0, lambda _: None)
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(before)})
        try:
            assert runner.run(opened.plan, prepared.archives, 1)
        finally:
            os.sched_setaffinity(0, before)
        reader = RunReader(opened.writer.folder)
        decisions = reader.scan("matches").select(pl.col("decisions").sum()).collect().item()
        return float(decisions / opened.writer.info.seconds)


@pytest.mark.parametrize("bot", ["dam-threshold", "dam-threshold-c"])
def test_share_of_the_floor(bot: str) -> None:
    path = str(ROOT / "bots" / bot)
    data = {
        "tournament": {"name": "x", "game": "dam"},
        "bot": [{"path": path, "name": name} for name in ("a", "b")],
    }
    entrant = prepare(config_from(data)).entrants[0]
    folder = install(entrant.archive, entrant.digest, BwrapSandbox())
    floor = answers_per_second(list(entrant.manifest.run), folder)
    rate = decisions_per_second(bot)
    print(
        f"\n{bot}: {rate:,.0f} decisions a second, floor {floor:,.0f}: "
        f"{rate / floor:.2f} of it ({1e6 / rate:.1f} µs against {1e6 / floor:.1f})"
    )
    assert rate > 0
