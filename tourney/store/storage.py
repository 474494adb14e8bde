"""What a run needs of the place where it lies: whole objects under names, and one driver at a time.

A folder of this machine and a prefix of a bucket both offer it. Names of objects are relative, with
`/` between parts. Nothing here is known of a run.
"""

import errno
from collections.abc import Sequence
from typing import Protocol, Self

import polars as pl

from tourney.errors import StoreError

__all__ = ("Changed", "Damaged", "Lock", "Storage", "is_of_storage", "refused")

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})

KEPT = "what was saved before is kept, --resume goes on"

RESTORE = "put the file back from a copy, or start a new run with another --out"
"""What is left to do when a file of a run is lost: nothing repairs one."""


class Changed(Exception):
    """An object was written by somebody else since it was read."""


class Damaged(OSError):
    """An object that should be there is gone, or not what was written; its text names it."""


class Lock(Protocol):
    """The right to write, held by one process."""

    def check(self) -> None:
        """Make sure that it still is ours.

        Raises:
            StoreError: it went to another process, or may have.
        """

    def close(self) -> None:
        """Give it back; a second time does nothing."""


class Storage(Protocol):
    """One place, which may hold further ones; `str()` is what a user calls it.

    Every method may raise OSError, whose text says what failed and where.
    """

    @property
    def name(self) -> str:
        """The last part of what a user calls it."""

    @property
    def parent(self) -> Self:
        """The place that holds this one."""

    def child(self, name: str) -> Self:
        """The place of this name inside."""

    def prepare(self, names: Sequence[str]) -> None:
        """Make the place, and folders of these names in it, where places are made at all."""

    def read(self, name: str) -> tuple[bytes, str]:
        """An object and its version.

        Raises:
            FileNotFoundError: there is none.
        """

    def version(self, name: str) -> str:
        """A text that changes when the object does; empty where there is none."""

    def write(self, name: str, data: bytes, *, private: bool = False) -> str:
        """Put an object there durably, whole or not at all; returns its version.

        Args:
            name: of the object.
            data: all of it.
            private: keep it from other users, where there are users.
        """

    def replace(self, name: str, data: bytes, version: str) -> str:
        """Put an object in the place of that version of it; empty for none. Returns the new one.

        Raises:
            Changed: another version is there. A folder does not look: its lock keeps others out.
        """

    def delete(self, names: Sequence[str]) -> None:
        """Remove objects; they may be gone already."""

    def names(self, name: str = "") -> list[str]:
        """Last parts of the names of all that lies directly inside, here or in a folder of here."""

    def scan(self, names: Sequence[str]) -> pl.LazyFrame:
        """Rows of Parquet objects, at least one, read when they are collected.

        Raises:
            Damaged: one is gone or torn. A bucket does not look: its objects are whole, and each
                look is a request.
        """

    def lock(self) -> Lock:
        """Become the one driver of the run that lies here.

        Raises:
            StoreError: another process is.
        """


def refused(failed: str, error: Exception, advice: str = KEPT) -> StoreError:
    """What to tell when a storage, or polars on one, refuses.

    Args:
        failed: what could not be done, and where.
        error: what it said.
        advice: what is left, and what to do.
    """
    steps = [advice] if advice else []
    if isinstance(error, OSError) and error.errno in FULL:
        steps = ["free some space there", *steps]
    return StoreError("; ".join([f"{failed}: {error}", *steps]))


def is_of_storage(error: Exception) -> bool:
    """Whether an error while rows were read says that an object store could not be reached.

    Rows are read when a frame is collected, by polars, whose errors have no type for it.
    """
    return str(error).startswith("object-store error")
