"""Formats with real bots in the sandbox, played here: a death of the driver changes no game."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tourney.config.load import config_from
from tourney.executors.base import ExecutorEvent
from tourney.executors.inline import InlineExecutor
from tourney.runner import Runner, open_run, prepare
from tourney.store import RunReader

ROOT = Path(__file__).parents[2]

FORMATS: dict[str, dict[str, Any]] = {
    "swiss": {"format": "swiss", "seats": 2, "deals": 2, "rounds": 2},
    "knockout": {"format": "knockout", "seats": [2, 3], "deals": 2},
    "adaptive": {"format": "adaptive", "seats": 3, "deals": 2, "rounds": 4},
    "sizes": {"seats": [2, 3, 4], "deals": 1},
}


class Killed(Exception):
    """The driver dies here."""


class Mortal(InlineExecutor):
    """Dies after some blocks, or never."""

    def __init__(self, blocks: int | None = None) -> None:
        super().__init__()
        self._left = blocks

    def wait(self, seconds: float) -> list[ExecutorEvent]:
        if self._left == 0:
            raise Killed
        if self._left is not None:
            self._left -= 1
        return super().wait(seconds)


def config(name: str) -> dict[str, Any]:
    return {
        "tournament": {"name": name, "game": "dam", "seed": 7, **FORMATS[name]},
        "rules": {"rounds": 1},
        "bot": [
            {"path": f"{ROOT}/bots/dam-memory"},
            {"path": f"{ROOT}/bots/dam-threshold"},
            {"path": f"{ROOT}/bots/dam-threshold", "name": "three", "options": {"threshold": 3}},
            {"path": f"{ROOT}/bots/dam-random"},
        ],
    }


def play(folder: Path, name: str, executor: Mortal) -> None:
    prepared = prepare(config_from(config(name)))
    opened = open_run(prepared, folder.parent, folder, resume=True)
    try:
        runner = Runner(
            opened.writer, executor, opened.scheduler, 0.0, lambda _: None, rounds=opened.rounds
        )
        assert runner.run(opened.plan, prepared.archives, None)
        opened.writer.finish()
    finally:
        opened.writer.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_real_bots_play_the_same_games_after_a_death(name: str, tmp_path: Path) -> None:
    play(tmp_path / "whole", name, Mortal())
    with pytest.raises(Killed):
        play(tmp_path / "killed", name, Mortal(3))
    play(tmp_path / "killed", name, Mortal())
    whole, killed = (RunReader(tmp_path / run) for run in ("whole", "killed"))
    assert whole.info.digest == killed.info.digest is not None
    assert whole.info.places == killed.info.places
    verified = subprocess.run(
        [sys.executable, "-m", "tourney", "verify", str(tmp_path / "killed"), "--jobs", "1"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert verified.returncode == 0, verified.stdout
    rows = whole.scan("matches").collect()
    assert rows.height == whole.info.counts.matches_total
    assert set(rows["outcomes"].explode()) == {"finished"}
    assert {len(seating) for seating in rows["seating"].to_list()} == set(
        whole.info.table_sizes or [whole.info.seats]
    )
