"""A run's folder: commits are whole or not there, and a crash leaves nothing half seen."""

import errno
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tourney import records
from tourney.deals import commitment
from tourney.errors import StoreError
from tourney.store import (
    Location,
    RunCounts,
    RunInfo,
    RunReader,
    RunWriter,
    find_run,
    journal,
    list_runs,
    storage_at,
)
from tourney.store.folder import Folder

SECRET = b"s" * 32


def info(name: str = "r", started: str = "2026-01-01T00:00:00+00:00") -> RunInfo:
    return RunInfo(
        id=name, name=name, status="running", game="dam", rules={}, seats=2, bots=["a", "b"],
        sandbox="bwrap", workers=1, started=started, updated=started,
        commitment=commitment(SECRET), counts=RunCounts(groups_total=10, matches_total=20),
    )  # fmt: skip


def create(where: Location, **changes: Any) -> RunWriter:
    return RunWriter.create(
        where, info(storage_at(where).name, **changes), secret=SECRET, config_text="x = 1\n",
        resolved={"values": {}, "sources": {}}, bots=[],
    )  # fmt: skip


def tables(*groups: int, fault: bool = False) -> dict[str, pl.DataFrame]:
    matches, seats, faults = [], [], []
    for group in groups:
        for rotation in (1, 0):
            number = group * 2 + rotation
            common = {"match": number, "group": group, "pairing": "a+b"}
            matches.append(
                {**common, "deal": group, "rotation": rotation, "seating": ["a", "b"],
                 "scores": [1, 2], "ranks": [1, 2], "outcomes": ["finished"] * 2,
                 "actions": ["draw", "throw"], "notes": [], "decisions": 2, "seconds": 0.5,
                 "think_us": [5, 5]}
            )  # fmt: skip
            seats += [{**common, "seat": s, "bot": "ab"[s], "score": s, "rank": s + 1,
                       "win": 1 - s, "outcome": "finished", "decisions": 1,
                       "think_ms_total": 1, "think_ms_max": 1} for s in (0, 1)]  # fmt: skip
            if fault:
                faults.append({"match": number, "group": group, "seat": 0, "bot": "a", "turn": 1,
                               "kind": "timeout", "detail": "late"})  # fmt: skip
    return {
        "matches": records.frame("matches", matches),
        "seats": records.frame("seats", seats),
        "faults": records.frame("faults", faults),
        "logs": records.frame("logs", []),
    }


def committed(folder: Path) -> list[int]:
    return RunReader(folder).scan("matches").select("match").collect()["match"].to_list()


def test_committed_rows_are_read_in_order_and_counted(tmp_path: Path) -> None:
    writer = create(tmp_path / "r")
    writer.commit((1, 0), tables(1, 0), 1.0)
    writer.commit((7,), tables(7, fault=True), 2.0)
    assert committed(tmp_path / "r") == [0, 1, 2, 3, 14, 15]
    counts = RunReader(tmp_path / "r").info.counts
    assert (counts.groups, counts.matches, counts.faults) == (3, 6, 2)
    assert RunReader(tmp_path / "r").scan("faults").collect()["kind"].to_list() == ["timeout"] * 2
    assert writer.groups() == [(0, 2), (7, 8)]


def test_a_segment_without_its_journal_line_is_not_seen_and_swept(tmp_path: Path) -> None:
    writer = create(tmp_path / "r")
    writer.commit((0,), tables(0), 1.0)
    stray = tmp_path / "r" / "matches" / "000001.parquet"
    tables(1)["matches"].write_parquet(stray)
    assert committed(tmp_path / "r") == [0, 1]
    writer.close()
    again = RunWriter.reopen(tmp_path / "r")
    assert not stray.exists()
    again.commit((1,), tables(1), 2.0)
    assert committed(tmp_path / "r") == [0, 1, 2, 3]


def test_a_commit_that_the_journal_does_not_name_did_not_happen(tmp_path: Path) -> None:
    writer = create(tmp_path / "r")
    writer.commit((0,), tables(0), 1.0)
    path = tmp_path / "r" / journal.FILE
    before = path.read_bytes()
    writer.commit((1,), tables(1), 2.0)
    path.write_bytes(before)
    assert committed(tmp_path / "r") == [0, 1]
    writer.close()
    again = RunWriter.reopen(tmp_path / "r")
    again.recount()
    assert again.info.counts.matches == 2
    again.commit((1,), tables(1), 2.0)
    assert committed(tmp_path / "r") == [0, 1, 2, 3]


def test_a_missing_segment_is_damage_not_silence(tmp_path: Path) -> None:
    create(tmp_path / "r").commit((0,), tables(0), 1.0)
    [segment] = (tmp_path / "r" / "seats").iterdir()
    segment.unlink()
    with pytest.raises(StoreError, match="damaged"):
        RunReader(tmp_path / "r").scan("seats")


def test_a_failed_write_shows_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = create(tmp_path / "r")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(pl.LazyFrame, "sink_parquet", full)
        with pytest.raises(StoreError, match="No space left"):
            writer.commit((0,), tables(0), 1.0)
    assert committed(tmp_path / "r") == []
    writer.commit((0,), tables(0), 1.0)
    assert committed(tmp_path / "r") == [0, 1]


def test_the_secret_is_private_until_the_run_has_finished(tmp_path: Path) -> None:
    writer = create(tmp_path / "r")
    secret = tmp_path / "r" / "secret.hex"
    assert secret.stat().st_mode & 0o777 == 0o600
    assert RunReader(tmp_path / "r").info.secret is None
    writer.commit((0,), tables(0), 1.0)
    writer.finish()
    done = RunReader(tmp_path / "r").info
    assert done.secret == SECRET.hex()
    assert commitment(bytes.fromhex(done.secret)) == done.commitment
    assert not secret.exists()


def test_the_digest_does_not_depend_on_commits_or_clocks(tmp_path: Path) -> None:
    one, two = create(tmp_path / "one"), create(tmp_path / "two")
    one.commit((0, 1, 2), tables(0, 1, 2), 1.0)
    two.commit((2,), tables(2), 5.0)
    slower = tables(0, 1)
    slower["matches"] = slower["matches"].with_columns(seconds=pl.lit(9.0, pl.Float32))
    two.commit((0, 1), slower, 9.0)
    one.finish()
    two.finish()
    assert one.info.digest == two.info.digest
    three = create(tmp_path / "three")
    three.commit((0, 1, 3), tables(0, 1, 3), 1.0)
    three.finish()
    assert three.info.digest != one.info.digest


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(StoreError, match="not empty"):
        create(tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "precious"


@pytest.mark.parametrize("writes", range(5))
def test_a_run_that_died_while_it_was_made_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    written = Folder.write
    names: list[str] = []

    def full(self: Folder, name: str, data: bytes, *, private: bool = False) -> str:
        names.append(name)
        if len(names) > writes:
            raise OSError(errno.ENOSPC, "No space left on device")
        return written(self, name, data, private=private)

    with monkeypatch.context() as patched:
        patched.setattr(Folder, "write", full)
        with pytest.raises(StoreError, match=r"No space left on device; free some space there"):
            create(tmp_path / "r")
    create(tmp_path / "r").close()
    assert RunReader(tmp_path / "r").info.status == "running"
    with pytest.raises(StoreError, match="not empty"):
        create(tmp_path / "r")


def test_runs_are_listed_newest_first_and_unreadable_ones_left_out(tmp_path: Path) -> None:
    create(tmp_path / "old", started="2026-01-01T00:00:00+00:00")
    create(tmp_path / "new", started="2026-02-01T00:00:00+00:00")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.json").write_text("{")
    assert [run.info.id for run in list_runs(tmp_path)] == ["new", "old"]
    assert find_run(tmp_path).info.id == "new"
    assert find_run(tmp_path / "old").info.id == "old"
    with pytest.raises(StoreError, match="no run in"):
        find_run(tmp_path / "nowhere")


def test_a_cap_on_matches_is_the_most_there_will_be() -> None:
    facts = info()
    assert facts.most_matches == 20
    facts.stop = {"max_matches": 7}
    assert facts.most_matches == 7
    facts.counts.matches = 9
    assert facts.most_matches == 9, "blocks in play finish"
    facts.stop = {"max_matches": 70}
    assert facts.most_matches == 20
