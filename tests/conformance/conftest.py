"""The sandbox that attacks are tried on, and the check that nothing of them is left."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.sandbox_harness import bots_below
from tourney import plugins
from tourney.errors import SandboxUnavailable
from tourney.sandbox.bwrap import BwrapSandbox
from tourney.sandbox.tiers import ROOT

HEAVY = ("test_13_", "test_14_", "test_15_", "test_19_", "test_21_", "test_24_", "test_30b_")
"""For the weaker kinds of sandbox these run apart: nothing in them depends on the kind."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the suite that everybody runs below a minute."""
    for item in items:
        if item.name.startswith(HEAVY) and "bwrap-" in item.name:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def cache() -> Iterator[Path]:
    """A node's cache that a bot's user can reach; pytest's own folders are closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="tourney-cache-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def sandbox(
    cache: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[BwrapSandbox]:
    """The sandbox of that name; a machine where it does not work fails, unless told otherwise."""
    monkeypatch.setenv("TOURNEY_CACHE", str(cache))
    name = getattr(request, "param", "bwrap")
    if name == ROOT.name and os.geteuid() != 0:
        pytest.skip("this kind is for root")
    chosen: BwrapSandbox = plugins.load("sandboxes", name)()
    try:
        chosen.check()
    except SandboxUnavailable as error:
        allowed = os.environ.get("TOURNEY_TESTS_WITHOUT_SANDBOX") == "1"
        if allowed and os.environ.get("REQUIRE_SANDBOX") != "1":
            pytest.skip(str(error))
        pytest.fail(str(error))
    # What other tests of this process left is theirs to answer for.
    before = bots_below(os.getpid())
    yield chosen
    deadline = time.monotonic() + 1
    while (left := bots_below(os.getpid()) - before) and time.monotonic() < deadline:
        time.sleep(0.005)
    assert left == set(), "processes of a bot are left"
