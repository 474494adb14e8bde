"""Without a sandbox: nothing protects, but limits, meters and the end are the same."""

import os
import time
from collections.abc import Iterator

import pytest

from tests.conformance.sandbox_harness import (
    REPOSITORY,
    ROGUES,
    Rogue,
    bots_below,
    open_descriptors,
    watch,
)
from tourney import plugins
from tourney.errors import BotRefused
from tourney.sandbox.base import ProcessLimits, Sandbox


@pytest.fixture
def plain(cache: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """The sandbox that is none."""
    monkeypatch.setenv("TOURNEY_CACHE", str(cache))
    sandbox: Sandbox = plugins.load("sandboxes", "none")()
    sandbox.check()
    before = open_descriptors()
    yield sandbox
    assert bots_below(os.getpid()) == set()
    assert open_descriptors() == before


def test_it_talks_and_ends(plain: Sandbox) -> None:
    with Rogue(plain, "shows-itself") as rogue:
        report = rogue.report()
        status = rogue.process.close(grace_ms=5000)
    assert report["cwd"] == str(rogue.folder)
    assert set(report["environ"]) <= {"PATH", "HOME", "TMPDIR", "LANG", "LC_CTYPE", "PWD"}
    assert sorted(report["descriptors"]) == ["0", "1", "2"]
    assert report["limits"]["RLIMIT_NOFILE"] == [256, 256]
    assert status.in_words() == "exited with code 0"
    assert not os.path.exists(report["environ"]["TMPDIR"])  # noqa: PTH110


def test_orphans_in_sessions_of_their_own_die_too(plain: Sandbox) -> None:
    with Rogue(plain, "leaves-orphans") as rogue:
        rogue.ask()
        assert watch(rogue.process, 5, rogue.limits).output == b'{"type": "orphan"}\n'
        time.sleep(0.3)
        status = rogue.process.close()
    assert status.in_words() == "exited with code 3"


def test_one_that_ignores_signals_is_stopped(plain: Sandbox) -> None:
    with Rogue(plain, "ignores-signals") as rogue:
        rogue.ask()
        assert watch(rogue.process, 5, rogue.limits).reason == "answered"
        began = time.monotonic()
        status = rogue.process.close(grace_ms=100)
        seconds = time.monotonic() - began
    assert status.in_words() == "stopped by the runner"
    assert seconds < 1


def test_memory_and_cpu_are_metered(plain: Sandbox) -> None:
    script = (
        "import time; block = b'x' * 2**26\n"
        "while time.process_time() < 0.2: pass\n"
        "print(1, flush=True); input()"
    )
    limits = ProcessLimits()
    process = plain.start(REPOSITORY, ["python3", "-c", script], limits)
    seen = watch(process, 10, limits)
    cpu_ns = process.cpu_ns()
    status = process.close()
    assert seen.reason == "answered"
    assert 64 < seen.peak_mb < 110
    assert 0.2e9 <= cpu_ns < 0.4e9
    assert 64 < status.peak_memory_mb < 110


def test_a_killed_one_ends_at_once(plain: Sandbox) -> None:
    with Rogue(plain, "never-reads") as rogue:
        rogue.process.kill()
        rogue.process.kill()
        assert watch(rogue.process, 5, rogue.limits).reason == "ended"
        assert rogue.process.close().killed_by_us


def test_missing_programs_are_refused(plain: Sandbox) -> None:
    with pytest.raises(BotRefused, match="no-such-program"):
        plain.require(ROGUES / "forks", "no-such-program")
    with pytest.raises(BotRefused, match="not in its package"):
        plain.start(ROGUES / "forks", ["./none"], ProcessLimits())
