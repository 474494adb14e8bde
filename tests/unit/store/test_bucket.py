"""Runs on an object store, on a real S3 server: the same rows, one driver, and nothing lost."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from tests.conftest import SECRET_KEY, S3Server
from tests.unit.dashboard.client import client_of
from tests.unit.store.test_compactor import play
from tests.unit.store.test_store import create, info, tables
from tourney.errors import StoreError
from tourney.store import (
    Location,
    NoRun,
    RunReader,
    RunWriter,
    bucket,
    compactor,
    find_run,
    lease,
    list_runs,
    storage_at,
)
from tourney.store.storage import Changed

MANY = 12


def matches(where: Location) -> list[int]:
    return RunReader(where).scan("matches").select("match").collect()["match"].to_list()


def abandon(writer: RunWriter) -> None:
    """As a kill does: the driver says nothing more, and does not say that it has ended."""
    assert isinstance(writer._lock, lease.Lease)
    writer._lock._closed.set()
    writer._lock._thread.join()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server that does not answer is given up at once."""
    monkeypatch.setattr(bucket, "REQUEST", timedelta(seconds=0.5))
    monkeypatch.setattr(bucket, "RETRY", timedelta(seconds=0.5))
    monkeypatch.setattr(bucket, "SCAN_RETRIES", 0)
    bucket._opened.cache_clear()
    yield
    bucket._opened.cache_clear()


@contextmanager
def stopped(server: S3Server) -> Iterator[None]:
    """A server that takes connections and says nothing."""
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.process.pid, signal.SIGCONT)


def test_a_run_is_the_same_as_in_a_folder(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compactor, "FAN_IN", 4)
    digests = []
    for where in (f"{place}/r", tmp_path / "r"):
        writer = create(where)
        play(writer, iter(range(MANY)))
        writer.finish()
        digests.append(writer.info.digest)
        writer.close()
    assert digests[0] == digests[1]
    assert sorted(matches(f"{place}/r")) == list(range(2 * MANY))
    reader = RunReader(f"{place}/r")
    assert reader.scan("faults").collect().height == 2 * MANY
    assert reader.scan("matches", (7, 8)).collect()["match"].to_list() == [14, 15]
    assert len(storage_at(f"{place}/r/matches").names()) == len(reader.commits()) <= 4
    assert "secret.hex" not in storage_at(f"{place}/r").names()
    assert find_run(place).folder.name == "r"


def test_an_object_is_replaced_only_if_it_is_the_one_we_know(place: str) -> None:
    storage = storage_at(place)
    first = storage.replace("x", b"one", "")
    with pytest.raises(Changed):
        storage.replace("x", b"two", "")
    second = storage.replace("x", b"two", first)
    with pytest.raises(Changed):
        storage.replace("x", b"three", first)
    assert storage.read("x") == (b"two", second)
    assert storage.version("x") == second != first
    # The answer to a request got lost, and it is made again: it was ours.
    assert storage.replace("x", b"two", first) == second


def test_names_objects_and_what_is_not_there(place: str) -> None:
    storage = storage_at(place)
    storage.write("a/b/c", b"")
    storage.write("d", b"")
    assert sorted(storage.names()) == ["a", "d"]
    assert storage.names("a") == ["b"]
    assert storage.names("nothing") == []
    storage.delete(["d", "never-there"])
    assert storage.version("d") == ""
    with pytest.raises(FileNotFoundError):
        storage.read("d")
    assert (storage.name, str(storage.parent)) == (place.rpartition("/")[2], "s3://runs")


def test_a_second_driver_is_refused_while_the_first_lives(place: str) -> None:
    first = create(f"{place}/r")
    with pytest.raises(StoreError, match=rf"played by process {os.getpid()} on .* try again in"):
        RunWriter.reopen(f"{place}/r")
    with pytest.raises(StoreError, match="not empty"):
        create(f"{place}/r")
    first.commit((0,), tables(0), 1.0)
    first.close()
    second = RunWriter.reopen(f"{place}/r")
    second.commit((1,), tables(1), 1.0)
    assert matches(f"{place}/r") == [0, 1, 2, 3]


def test_a_killed_drivers_lock_expires(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "LEASE_SECONDS", 2.0)
    first = create(f"{place}/r")
    first.commit((0,), tables(0), 1.0)
    abandon(first)
    with pytest.raises(StoreError, match="being played"):
        RunWriter.reopen(f"{place}/r")
    time.sleep(3.1)
    second = RunWriter.reopen(f"{place}/r")
    # The first was only asleep: it finds out, and spoils nothing.
    with pytest.raises(StoreError, match="took it over"):
        first.commit((1,), tables(1), 1.0)
    second.commit((1,), tables(1), 1.0)
    assert matches(f"{place}/r") == [0, 1, 2, 3]


def test_a_commit_on_its_way_when_another_takes_over_fails(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = create(f"{place}/r")
    first.commit((0,), tables(0), 1.0)
    abandon(first)
    with monkeypatch.context() as patch:
        patch.setattr(lease, "LEASE_SECONDS", 0.0)
        second = RunWriter.reopen(f"{place}/r")
        # It believes that the run is its own up to the last step.
        patch.setattr(first._lock, "check", lambda: None)
        with pytest.raises(StoreError, match="another driver saves"):
            first.commit((1,), tables(1), 1.0)
    assert matches(f"{place}/r") == [0, 1]
    second.commit((1,), tables(1), 1.0)
    assert matches(f"{place}/r") == [0, 1, 2, 3]


@pytest.mark.usefixtures("impatient")
def test_a_server_that_is_silent_is_said_and_nothing_is_lost(
    place: str, s3_server: S3Server
) -> None:
    writer = create(f"{place}/r")
    writer.commit((0,), tables(0), 1.0)
    server = s3_server.environment["AWS_ENDPOINT_URL"]
    with stopped(s3_server):
        with pytest.raises(StoreError) as refused:
            writer.commit((1,), tables(1), 2.0)
        text = str(refused.value)
        assert f"cannot save results in {place}/r: {server} does not answer" in text
        assert "AWS_ENDPOINT_URL" in text
        assert "--resume goes on" in text
        assert SECRET_KEY not in text
        with pytest.raises(StoreError, match="cannot read"):
            RunReader(f"{place}/r")
        page = client_of(place).get("/")
        assert page.status_code == 500
        assert "does not answer" in page.text
    assert matches(f"{place}/r") == [0, 1]
    writer.commit((1,), tables(1), 2.0)
    assert matches(f"{place}/r") == [0, 1, 2, 3]


def test_the_dashboard_shows_a_run_from_there(place: str) -> None:
    writer = create(f"{place}/evening")
    writer.commit((0, 1), tables(0, 1), 1.0)
    client = client_of(place)
    assert [run["id"] for run in client.get("/api/v1/runs").json()["runs"]] == ["evening"]
    page = client.get("/api/v1/runs/evening/matches").json()
    assert [row["match"] for row in page["matches"]] == [0, 1, 2, 3]
    assert client.get("/runs/evening").status_code == 200
    writer.commit((2,), tables(2), 2.0)
    assert client.get("/api/v1/runs/evening/matches").json()["total"] == 6
    assert client.get("/runs/morning").status_code == 404
    assert client_of(f"{place}/evening").get("/runs/evening").status_code == 200


def test_credentials_are_nowhere_in_the_run(place: str) -> None:
    writer = create(f"{place}/r")
    writer.commit((0,), tables(0), 1.0)
    writer.close()
    storage = storage_at(f"{place}/r")
    for folder in ("", "matches/", "seats/"):
        for name in storage.names(folder.rstrip("/")):
            if storage.version(folder + name):
                assert SECRET_KEY.encode() not in storage.read(folder + name)[0]


def test_runs_are_listed_and_what_is_none_is_left_out(place: str) -> None:
    for name in ("one", "two"):
        create(f"{place}/{name}").close()
    storage_at(place).write("notes/run.txt", b"")
    storage_at(place).write("torn/run.json", b"{")
    assert sorted(run.info.id for run in list_runs(place)) == ["one", "two"]
    with pytest.raises(NoRun):
        RunReader(f"{place}/notes")


def test_wrong_places_are_refused_with_what_to_do(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for where in ("gs://runs/x", "s3://", "s3:///"):
        with pytest.raises(StoreError, match="s3://BUCKET/PREFIX"):
            storage_at(where)
    with pytest.raises(StoreError, match="no such bucket: make it"):
        RunReader("s3://never-made/x")
    with pytest.raises(StoreError, match="no such bucket: make it"):
        create("s3://never-made/x")
    monkeypatch.delitem(sys.modules, "tourney.store.bucket")
    monkeypatch.setitem(sys.modules, "obstore.exceptions", None)
    with pytest.raises(StoreError, match=r"pip install 'tourney\[s3\]'"):
        storage_at(place)


def test_the_name_in_run_json_is_the_last_part(place: str) -> None:
    create(f"{place}/evening").close()
    assert RunReader(f"{place}/evening").info.id == info("evening").id
