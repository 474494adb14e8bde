"""A results folder with every kind of run, made once, and a client that looks at it."""

from pathlib import Path

import pytest

from tests.unit.dashboard.client import Client, client_of
from tests.unit.dashboard.synthetic import FAULTY, LATE, make_run

SECRET = bytes(range(32))


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    make_run(folder / "duel", deals=6)
    make_run(
        folder / "four",
        bots=("memory", "flat-6", "flat-4", "chance", FAULTY),
        seats=4,
        deals=2,
        rules={"rounds": 2},
        history=3,
    )
    make_run(folder / "live", seed=None, secret=SECRET, deals=3, play=5, finish=False)
    make_run(folder / "open", seed=7, deals=3, play=5, finish=False)
    (folder / "torn").mkdir()
    (folder / "torn" / "run.json").write_text('{"id": "torn", "name"')
    (folder / "notes").mkdir()
    return folder


@pytest.fixture(scope="session")
def client(results: Path) -> Client:
    return client_of(results)


@pytest.fixture(scope="session")
def many_faults(tmp_path_factory: pytest.TempPathFactory) -> Client:
    """Of the run `many`: six matches a deal, in which the clumsy bot crashes in 0 and 3, and the
    late one is late in 1 and 4 and crashes in 5."""
    folder = tmp_path_factory.mktemp("faults")
    make_run(folder / "many", bots=(FAULTY, LATE, "chance"), deals=30)
    return client_of(folder)
