"""A node's store of packages: built once, whole or not there, readable by every bot."""

import fcntl
import os
import stat
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.unit.packages.samples import MANIFEST
from tourney.errors import BotRefused, PackageError
from tourney.packages import cache_folder, install, pack, package_digest
from tourney.packages.cache import wanted_folder
from tourney.packages.limits import ProcessLimits


@dataclass
class ScriptedProcess:
    """A build that says something and ends."""

    stdout: int
    stderr: int
    code: int | None

    def memory_mb(self) -> float:
        return 1.0

    def close(self, grace_ms: int = 200) -> "ScriptedProcess":
        os.close(self.stdout)
        os.close(self.stderr)
        return self

    def in_words(self) -> str:
        return f"exited with code {self.code}"


@dataclass
class ScriptedSandbox:
    """Builds by writing a file; counts how often."""

    code: int = 0
    missing: frozenset[str] = frozenset()
    delay_s: float = 0.0
    started: list[Sequence[str]] = field(default_factory=list)

    def require(self, package: Path, program: str) -> None:
        if program in self.missing:
            raise BotRefused(f"needs `{program}`")

    def start(
        self,
        package: Path,
        command: Sequence[str],
        limits: ProcessLimits,
        *,
        writable: bool = False,
    ) -> ScriptedProcess:
        assert writable
        assert limits.memory_mb == 2048
        self.started.append(command)
        time.sleep(self.delay_s)
        (package / "built").write_text("built")
        (package / "built").chmod(0o700)
        (package / "bot.py").write_text("overwritten")
        ends = []
        for said in (b"compiling\n", b"warning\n"):
            read, write = os.pipe()
            os.set_blocking(read, False)
            os.write(write, said)
            os.close(write)
            ends.append(read)
        return ScriptedProcess(ends[0], ends[1], self.code)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of this test."""
    monkeypatch.setenv("TOURNEY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_snapshot_can_be_read_by_all_and_written_by_its_owner(package: Path, cache: Path) -> None:
    mask = os.umask(0o077)
    try:
        folder = install(pack(package), package_digest(package), ScriptedSandbox())
    finally:
        os.umask(mask)
    assert folder == cache / "packages" / package_digest(package)
    assert package_digest(folder) == package_digest(package)
    modes = {path.relative_to(folder).as_posix(): path.stat().st_mode for path in folder.rglob("*")}
    assert {name: stat.S_IMODE(mode) for name, mode in modes.items()} == {
        "bot.toml": 0o644,
        "bot.py": 0o644,
        "data": 0o755,
        "data/tool": 0o755,
    }
    for path in (folder, cache / "packages", cache):
        assert stat.S_IMODE(path.stat().st_mode) == 0o755
    assert list((cache / "staging").iterdir()) == []


def test_a_build_is_done_once_and_kept(package: Path, cache: Path) -> None:
    (package / "bot.toml").write_text(MANIFEST + 'build = [["make"], ["strip"]]')
    sandbox = ScriptedSandbox()
    for _ in range(2):
        folder = install(pack(package), package_digest(package), sandbox)
    assert sandbox.started == [("make",), ("strip",)]
    assert (folder / "built").read_text() == "built"
    assert stat.S_IMODE((folder / "built").stat().st_mode) == 0o755


def test_two_at_once_build_once(package: Path, cache: Path) -> None:
    (package / "bot.toml").write_text(MANIFEST + 'build = [["make"]]')
    sandbox = ScriptedSandbox(delay_s=0.1)
    archive, digest = pack(package), package_digest(package)
    threads = [threading.Thread(target=install, args=(archive, digest, sandbox)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert sandbox.started == [("make",)]
    assert (cache / "packages" / digest / "built").exists()


def test_a_failed_build_is_told_with_its_output_and_not_kept(package: Path, cache: Path) -> None:
    (package / "bot.toml").write_text(MANIFEST + 'build = [["make", "all"]]')
    sandbox = ScriptedSandbox(code=2)
    with pytest.raises(BotRefused) as caught:
        install(pack(package), package_digest(package), sandbox)
    first, *rest = str(caught.value).splitlines()
    assert first == "bot queen-keeper cannot be built: `make all` exited with code 2"
    assert sorted(rest) == ["compiling", "warning"]
    assert list((cache / "packages").iterdir()) == list((cache / "staging").iterdir()) == []


@pytest.mark.parametrize("program", ["make", "python3"])
def test_a_missing_program_is_told_with_the_bots_name(
    package: Path, cache: Path, program: str
) -> None:
    (package / "bot.toml").write_text(MANIFEST + 'build = [["make"]]')
    with pytest.raises(BotRefused, match=f"^bot queen-keeper needs `{program}`$"):
        install(
            pack(package), package_digest(package), ScriptedSandbox(missing=frozenset({program}))
        )


def test_another_packages_archive_is_refused(package: Path, cache: Path) -> None:
    with pytest.raises(PackageError, match="the archive holds package"):
        install(pack(package), "0" * 64, ScriptedSandbox())


def test_what_a_dead_process_left_is_swept(package: Path, cache: Path) -> None:
    staging = cache_folder() / "staging"
    for name in ("dead", "alive"):
        (staging / name).mkdir()
        (staging / f"{name}.lock").touch()
    with (staging / "alive.lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        install(pack(package), package_digest(package), ScriptedSandbox())
    assert sorted(path.name for path in staging.iterdir()) == ["alive", "alive.lock"]


def test_a_cache_that_others_can_write_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    monkeypatch.setenv("TOURNEY_CACHE", str(tmp_path / "open"))
    with pytest.raises(PackageError, match="can be written by another user"):
        cache_folder()


def test_a_cache_that_cannot_be_made_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TOURNEY_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(PackageError, match="set TOURNEY_CACHE to a folder of your own"):
        cache_folder()


def test_where_the_cache_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOURNEY_CACHE", raising=False)
    monkeypatch.setattr("os.geteuid", lambda: 1234)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert wanted_folder() == tmp_path / "xdg" / "tourney"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert wanted_folder() == tmp_path / ".cache" / "tourney"
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert wanted_folder() == Path("/var/cache/tourney")


def test_a_cut_archive_is_refused(package: Path, cache: Path) -> None:
    # A plain tar does not say how long it should be; the digest does.
    for length in (100, 700, 1500):
        with pytest.raises(PackageError):
            install(pack(package)[:length], package_digest(package), ScriptedSandbox())
