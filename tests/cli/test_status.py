"""`tourney status`: what a run's folder tells from another terminal or machine."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.cli.test_commands import tourney
from tests.unit.store.test_store import create, tables
from tourney.cli.status import facts
from tourney.store import Heartbeat, RunReader, RunWriter, Storage
from tourney.store.heartbeat import SILENT_SECONDS


def iso(seconds_ago: float) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds_ago)).isoformat(timespec="seconds")


@pytest.fixture
def playing(tmp_path: Path) -> Iterator[RunWriter]:
    """A run at 6 of its 20 matches, at two matches a second on two nodes."""
    writer = create(tmp_path / "evening")
    writer.commit((0, 1, 2), {**tables(0, 1, 2), "faults": tables(1, fault=True)["faults"]}, 3.0)
    writer.info.noisy = {"w3": 2}
    writer.info.withdrawn = {"b": "20 faults in a row, the last in match 5"}
    writer.save_info()
    writer.beat(Heartbeat(rate=2.0, nodes={"left": 3, "right": 1}, blocks=8))
    yield writer
    writer.close()


def shown(folder: Storage, *options: str) -> str:
    result = tourney("status", str(folder), *options)
    assert result.returncode == 0, result.stderr
    return result.stdout


def age(writer: RunWriter, seconds: float) -> None:
    """Make the last words of the driver so old."""
    info = msgspec.structs.replace(writer.info, updated=iso(seconds))
    writer.folder.write("run.json", msgspec.json.encode(info))
    pulse = json.loads(writer.folder.read("heartbeat.json")[0])
    writer.folder.write("heartbeat.json", json.dumps({**pulse, "at": iso(seconds)}).encode())


def test_a_run_that_plays_shows_how_it_goes(playing: RunWriter) -> None:
    told: dict[str, Any] = json.loads(shown(playing.folder, "--json"))
    wanted = {
        "run": "evening", "game": "dam", "state": "running", "silent_since": None,
        "matches": 6, "matches_total": 20, "groups": 3, "groups_total": 10,
        "rate": 2.0, "eta_seconds": 7.0, "seconds": 3.0, "faults": 2, "noisy": {"w3": 2},
        "workers": 4, "nodes": {"left": 3, "right": 1}, "blocks": 8,
    }  # fmt: skip
    assert {name: told[name] for name in wanted} == wanted
    assert 0 <= told["last_commit_seconds_ago"] < 60
    text = shown(playing.folder)
    assert "6 of 20 (30.0%)" in text
    assert "4 on 2 nodes: left 3, right 1" in text
    assert "b: 20 faults in a row" in text
    assert "eta       7 s" in text


def test_a_dead_driver_is_silent_and_not_running(playing: RunWriter) -> None:
    age(playing, 3 * SILENT_SECONDS)
    last = json.loads(playing.folder.read("heartbeat.json")[0])["at"]
    told = facts(RunReader(playing.folder))
    assert (told["state"], told["silent_since"]) == ("silent", last)
    assert (told["rate"], told["eta_seconds"], told["workers"]) == (None, None, 0)
    assert f"silent since {last}" in shown(playing.folder)


def test_a_heartbeat_alone_keeps_a_run_alive(playing: RunWriter) -> None:
    """Blocks may take longer than the bound; the driver still says that it is there."""
    age(playing, 3 * SILENT_SECONDS)
    playing.beat(Heartbeat())
    assert RunReader(playing.folder).silent_since is None


def test_a_run_that_never_beat_is_judged_by_its_last_save(tmp_path: Path) -> None:
    writer = create(tmp_path / "r")
    assert RunReader(tmp_path / "r").silent_since is None
    old = msgspec.structs.replace(writer.info, updated=iso(3 * SILENT_SECONDS))
    (tmp_path / "r" / "run.json").write_bytes(msgspec.json.encode(old))
    assert RunReader(tmp_path / "r").silent_since == old.updated


@pytest.mark.parametrize("state", ["stopped", "failed", "finished"])
def test_a_run_that_ended_is_never_silent(playing: RunWriter, state: Any) -> None:
    playing.info.status, playing.info.reason = state, "somebody said so"
    playing.save_info()
    age_of_all = 3 * SILENT_SECONDS
    age(playing, age_of_all)
    assert RunReader(playing.folder).silent_since is None
    assert f"{state}: somebody said so" in shown(playing.folder, "--watch")


def test_a_torn_heartbeat_is_none(playing: RunWriter) -> None:
    playing.folder.write("heartbeat.json", b'{"at": "20')
    told = facts(RunReader(playing.folder))
    assert (told["state"], told["rate"], told["last_commit"]) == ("running", None, None)


def test_a_heartbeat_changes_no_page(playing: RunWriter) -> None:
    before = RunReader(playing.folder).stamp()
    playing.beat(Heartbeat(rate=3.0))
    assert RunReader(playing.folder).stamp() == before


def test_no_run_is_said_as_such(tmp_path: Path) -> None:
    result = tourney("status", str(tmp_path))
    assert result.returncode != 0
    assert "no run in" in result.stderr
