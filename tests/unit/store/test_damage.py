"""Files of a run that are gone or not what was written: named, and nothing is played over them."""

import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tests.unit.store.test_store import committed, create, tables
from tourney.errors import StoreError
from tourney.store import RunReader, RunWriter, journal, segments

GARBAGE = b"garbage\n"
TORN = b'{"segment":"000000002-ab'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run of two commits, groups 0 and 1."""
    writer = create(tmp_path / "r")
    for group in (0, 1):
        writer.commit((group,), tables(group, fault=True), 1.0)
    writer.close()
    return tmp_path / "r"


def segment(folder: Path, table: str, number: int) -> Path:
    return folder / segments.path(table, RunReader(folder).commits()[number].segment)


def content(folder: Path) -> dict[Path, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "driver.lock")
    return {path: path.read_bytes() for path in files}


def named(path: Path) -> str:
    return f"{re.escape(str(path))} is (damaged|missing).*: put the file back from a copy"


@pytest.mark.parametrize("table", ["matches", "seats", "faults"])
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize(
    "damage",
    [lambda _: b"", lambda _: GARBAGE, lambda data: data[:100], lambda data: data[:-1]],
    ids=["empty", "garbage", "short", "one byte"],
)
def test_a_torn_segment_is_named_to_readers_and_before_a_run_goes_on(
    folder: Path, table: str, number: int, damage: Callable[[bytes], bytes]
) -> None:
    path = segment(folder, table, number)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    before = content(folder)
    with pytest.raises(StoreError, match=named(path)):
        RunReader(folder).scan(table)
    with pytest.raises(StoreError, match=rf"{named(path)}.*--out"):
        RunWriter.reopen(folder)
    assert content(folder) == before
    path.write_bytes(whole)
    RunWriter.reopen(folder)
    assert committed(folder) == [0, 1, 2, 3]


def test_only_files_that_are_asked_for_are_looked_at(folder: Path) -> None:
    segment(folder, "matches", 1).write_bytes(GARBAGE)
    assert RunReader(folder).read("matches", (0, 1))["match"].to_list() == [0, 1]
    assert RunReader(folder).scan("seats").collect().height == 8


def test_bots_that_are_gone_or_torn_are_named(folder: Path) -> None:
    path = folder / "bots.parquet"
    assert RunReader(folder).scan("bots").collect().height == 0
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(StoreError, match=named(path)):
        RunReader(folder).scan("bots")
    path.unlink()
    with pytest.raises(StoreError, match=named(path)):
        RunReader(folder).scan("bots")


def test_damage_in_the_middle_of_a_file_is_named_by_who_reads_it(folder: Path) -> None:
    path = segment(folder, "matches", 1)
    data = path.read_bytes()
    # The first column's data begin behind the four letters that every Parquet file begins with.
    path.write_bytes(data[:4] + bytes(200) + data[204:])
    assert RunReader(folder).read("matches", (0, 1)).height == 2
    with pytest.raises(StoreError, match=named(path)):
        RunReader(folder).read("matches", (1, 2))


def test_a_file_with_other_columns_is_named(folder: Path) -> None:
    path = segment(folder, "matches", 0)
    pl.DataFrame({"x": [1]}).write_parquet(path)
    with pytest.raises(StoreError, match=f"cannot read {re.escape(str(path))}"):
        RunReader(folder).scan("matches")


def test_a_segment_torn_while_the_run_goes_on_is_named_by_the_merge(tmp_path: Path) -> None:
    writer = create(tmp_path / "r")
    for group in range(5):
        writer.commit((group,), tables(group), 1.0)
    path = segment(tmp_path / "r", "seats", 2)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(StoreError, match=f"cannot merge .*{re.escape(str(path))} is damaged"):
        writer.finish()


@pytest.mark.parametrize("line", [1, 2, 3])
@pytest.mark.parametrize(
    "garbage",
    [GARBAGE, b"\n", b"\xff\xfe\n", b'{"segment":"\xff"}\n', b'{"segment":"x"}\n', TORN + b"\n"],
)
def test_a_line_of_the_journal_that_cannot_be_read_is_named(
    folder: Path, line: int, garbage: bytes
) -> None:
    path = folder / journal.FILE
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[: line - 1], garbage, *lines[line - 1 :]]))
    before = content(folder)
    text = rf"{re.escape(str(path))} is damaged in line {line}\b.*: put the file back"
    for read in (RunReader.commits, lambda reader: reader.scan("faults")):
        with pytest.raises(StoreError, match=text):
            read(RunReader(folder))
    with pytest.raises(StoreError, match=text):
        RunWriter.reopen(folder)
    assert content(folder) == before


def test_a_last_line_that_a_crash_tore_was_never_committed(folder: Path) -> None:
    path = folder / journal.FILE
    path.write_bytes(path.read_bytes() + TORN)
    assert committed(folder) == [0, 1, 2, 3]
    writer = RunWriter.reopen(folder)
    assert TORN not in path.read_bytes()
    writer.commit((2,), tables(2), 2.0)
    assert committed(folder) == [0, 1, 2, 3, 4, 5]


def test_the_mark_of_a_driver_that_took_over_is_no_damage(folder: Path) -> None:
    RunWriter.reopen(folder).close()
    assert b'{"driver":"' in (folder / journal.FILE).read_bytes()
    RunWriter.reopen(folder).close()
    assert committed(folder) == [0, 1, 2, 3]
