"""A node's store of ready-to-run packages: read-only snapshots named by the package's digest.

Two processes may install the same package at once, and either may be killed at any moment: a
snapshot appears whole, by one rename, or not at all, and what a dead process left is swept by the
next one.
"""

import fcntl
import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from tourney.errors import BotRefused, PackageError
from tourney.packages.archive import write_files
from tourney.packages.build import BuildSandbox, run_build
from tourney.packages.digest import files_digest
from tourney.packages.files import read_archive
from tourney.packages.manifest import files_manifest, load_manifest

__all__ = ("build_log", "cache_folder", "install")

LOCK_WAIT_S = 300.0
"""How long to wait while another process builds the same package; then we build it ourselves."""

_LOCK_POLL_S = 0.05


def cache_folder() -> Path:
    """The node's cache, made if missing: `TOURNEY_CACHE`, or by who we are.

    Root: `/var/cache/tourney`, because a bot's own user cannot enter root's home. Anybody else:
    `tourney` below `XDG_CACHE_HOME` or `~/.cache`. It lies apart from the bots' sources, so that
    no path seen from inside the sandbox tells where those are.

    Raises:
        PackageError: it cannot be made, or somebody else could write into it.
    """
    folder = wanted_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        status = folder.stat()
        if status.st_uid not in (0, os.geteuid()) or status.st_mode & stat.S_IWOTH:
            raise PackageError(
                f"the cache {folder} can be written by another user; set TOURNEY_CACHE to a folder "
                "of your own"
            )
        if status.st_uid == os.geteuid():
            folder.chmod(0o755)
        for name in ("packages", "staging", "locks"):
            (folder / name).mkdir(exist_ok=True)
            if (folder / name).stat().st_uid == os.geteuid():
                (folder / name).chmod(0o755)
    except OSError as error:
        raise PackageError(
            f"the cache {folder} cannot be used ({error.strerror}); set TOURNEY_CACHE to a folder "
            "of your own"
        ) from error
    return folder


def wanted_folder() -> Path:
    """Where the cache would be; nothing is made."""
    chosen = os.environ.get("TOURNEY_CACHE")
    if chosen:
        return Path(chosen).absolute()
    if os.geteuid() == 0:
        return Path("/var/cache/tourney")
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache").absolute() / "tourney"


def install(archive: bytes, digest: str, sandbox: BuildSandbox) -> Path:
    """The ready-to-run snapshot of a package on this node, built if its manifest says so.

    Args:
        archive: as `tourney.packages.pack` made it.
        digest: as `package_digest` named it; the archive must agree.
        sandbox: where the build runs and the bot will.

    Returns:
        A folder that every user can read and only its owner can write.

    Raises:
        PackageError: the archive is not that package, breaks a rule, or cannot be stored.
        BotRefused: the build fails, or the bot's program or compiler is not on this machine.
        SandboxUnavailable: the sandbox does not work here.
    """
    cache = cache_folder()
    final = cache / "packages" / digest
    if not final.is_dir():
        try:
            with _only_one(cache / "locks" / digest):
                if not final.is_dir():
                    _make(archive, digest, sandbox, cache)
        except OSError as error:
            raise PackageError(f"the package cannot be stored in {cache}: {error}") from error
    manifest = load_manifest(final)
    try:
        sandbox.require(final, manifest.run[0])
    except BotRefused as error:
        raise BotRefused(f"bot {manifest.name} {error}") from error
    return final


def build_log(digest: str) -> str:
    """What the build of a package said on this node; empty if it had none."""
    try:
        return _log_path(cache_folder(), digest).read_text()
    except OSError:
        return ""


def _log_path(cache: Path, digest: str) -> Path:
    return cache / "packages" / f"{digest}.build.log"


def _make(archive: bytes, digest: str, sandbox: BuildSandbox, cache: Path) -> None:
    files = read_archive(archive)
    found = files_digest(files)
    if found != digest:
        raise PackageError(f"the archive holds package {found[:12]}, not {digest[:12]}")
    manifest = files_manifest(files, name=digest[:12])
    _sweep(cache / "staging")
    with _staging(cache / "staging") as folder:
        if manifest.build:
            # Apart from the snapshot: the build's user owns this copy and may write to it.
            workplace = folder / "build"
            workplace.mkdir()
            write_files(files, workplace)
            files, said = run_build(workplace, manifest, sandbox)
            log = folder / "build.log"
            log.write_text(said)
            log.replace(_log_path(cache, digest))
        snapshot = folder / "snapshot"
        snapshot.mkdir()
        write_files(files, snapshot)
        _publish(snapshot, cache / "packages" / digest)


def _publish(folder: Path, final: Path) -> None:
    try:
        folder.rename(final)
    except OSError:
        # Another process was first; its snapshot of the same digest is as good as ours.
        if not final.is_dir():
            raise


@contextmanager
def _only_one(path: Path) -> Iterator[None]:
    """Hold the lock at `path`, or go on without it when its holder takes too long.

    Without the lock the work is done twice and the second rename loses: slow, never wrong.
    """
    with path.open("ab") as lock:
        deadline = time.monotonic() + LOCK_WAIT_S
        while not _locked(lock.fileno()) and time.monotonic() < deadline:
            time.sleep(_LOCK_POLL_S)
        yield


def _locked(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _staging(parent: Path) -> Iterator[Path]:
    """A new folder below `parent`, removed at the end.

    Its `.lock` beside it is held as long as we live: how `_sweep` tells ours from a dead one's.
    """
    folder = parent / token_hex(8)
    mark = folder.with_suffix(".lock")
    with mark.open("xb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder.mkdir()
        folder.chmod(0o755)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            mark.unlink(missing_ok=True)


def _sweep(parent: Path) -> None:
    """Remove what processes that were killed left in `parent`."""
    for mark in parent.glob("*.lock"):
        try:
            with mark.open("rb") as lock:
                if not _locked(lock.fileno()):
                    continue
                shutil.rmtree(mark.with_suffix(""), ignore_errors=True)
                mark.unlink(missing_ok=True)
        except FileNotFoundError:
            continue
