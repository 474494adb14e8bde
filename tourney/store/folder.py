"""Runs in a folder of this machine, or of a file system that several share."""

import fcntl
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from polars.exceptions import PolarsError

from tourney.errors import StoreError
from tourney.store.driver import Driver
from tourney.store.storage import Damaged

__all__ = ("LOCK_FILE", "Folder")

LOCK_FILE = "driver.lock"


@dataclass(frozen=True)
class Folder:
    """A folder; its objects are files."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    @property
    def name(self) -> str:
        """The folder's name, also of one called `.`."""
        return self.path.name or self.path.resolve().name

    @property
    def parent(self) -> "Folder":
        """The folder around this one."""
        return Folder(self.path.parent)

    def child(self, name: str) -> "Folder":
        """A folder in this one."""
        return Folder(self.path / name)

    def prepare(self, names: Sequence[str]) -> None:
        """Make this folder and folders in it."""
        for name in ("", *names):
            (self.path / name).mkdir(parents=True, exist_ok=True)

    def read(self, name: str) -> tuple[bytes, str]:
        """A file's content and version."""
        return (self.path / name).read_bytes(), self.version(name)

    def version(self, name: str) -> str:
        """When the file was written, and its size."""
        try:
            status = (self.path / name).stat()
        except (FileNotFoundError, NotADirectoryError):
            return ""
        return f"{status.st_mtime_ns}-{status.st_size}"

    def write(self, name: str, data: bytes, *, private: bool = False) -> str:
        """Replace a file: temporary name, fsync, rename."""
        path = self.path / name
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            with temporary.open("wb") as file:
                temporary.chmod(0o600 if private else 0o644)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        _sync(path.parent)
        return self.version(name)

    def replace(self, name: str, data: bytes, version: str) -> str:
        """Replace a file; who holds the lock is the only writer."""
        del version
        return self.write(name, data)

    def delete(self, names: Sequence[str]) -> None:
        """Remove files."""
        for name in names:
            (self.path / name).unlink(missing_ok=True)

    def names(self, name: str = "") -> list[str]:
        """Names of files and folders; none if there is no such folder."""
        try:
            return [one.name for one in (self.path / name).iterdir()]
        except FileNotFoundError:
            return []

    def scan(self, names: Sequence[str]) -> pl.LazyFrame:
        """Rows of files, each of which has an end that can be read."""
        paths = [self.path / name for name in names]
        for path in paths:
            _refuse_torn(path)
        return pl.scan_parquet(paths, glob=False)

    def lock(self) -> "FolderLock":
        """Become the driver."""
        return FolderLock(self.path)


def _refuse_torn(path: Path) -> None:
    """Look at a file's end, some 50 microseconds: polars looks late and names no file."""
    try:
        pl.read_parquet_schema(path)
    except FileNotFoundError:
        raise Damaged(f"{path} is missing") from None
    except PolarsError as error:
        raise Damaged(f"{path} is damaged ({error})") from error


def _sync(folder: Path) -> None:
    """Make renames in `folder` durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class FolderLock:
    """A lock of the kernel on a file: it ends with its process, however that ends.

    The file stays when the lock is given back. Were it removed, a process that has just opened it
    would lock a file that nobody else can see.
    """

    def __init__(self, folder: Path) -> None:
        """Take it.

        Raises:
            StoreError: another process has it.
            OSError: it cannot be had here, for instance on a file system without locks.
        """
        path = folder / LOCK_FILE
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(self._fd, 0)
            os.write(self._fd, Driver.this().encoded())
        except BlockingIOError:
            self.close()
            who = Driver.read(path.read_bytes())
            raise StoreError(
                f"{folder} is being played by {who}: wait until that ends, or stop it with "
                "Ctrl-C; two drivers would spoil each other's results"
            ) from None
        except OSError:
            self.close()
            raise

    def check(self) -> None:
        """The kernel keeps it for us."""

    def close(self) -> None:
        """Give it back."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)
