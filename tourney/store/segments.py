"""Names of segments: the files of a commit, one in the folder of each table."""

import secrets
from collections.abc import Sequence

from tourney.store.storage import Storage

__all__ = ("RARE_TABLES", "TABLES", "new_name", "path", "present")

TABLES = ("matches", "seats", "faults", "logs")

RARE_TABLES = ("faults", "logs")
"""Most segments have no rows of these, and then no file."""

ASKED = 4
"""More files than this are looked up in a list of their folder, and not one by one."""


def new_name(group: int) -> str:
    """A name for a segment that begins with this group.

    It is new for ever: a file left by a crash, or by a driver that lost the run without knowing it
    yet, must not be taken for a later segment.
    """
    return f"{group:09d}-{secrets.token_hex(4)}"


def path(table: str, segment: str) -> str:
    """Where a segment's rows of a table lie in the run's folder."""
    return f"{table}/{segment}.parquet"


def present(storage: Storage, table: str, segments: Sequence[str]) -> list[str]:
    """Paths of those segments that have rows of the table.

    Raises:
        OSError: the storage refuses.
    """
    paths = [path(table, segment) for segment in segments]
    if len(paths) <= ASKED:
        return [one for one in paths if storage.version(one)]
    held = {f"{table}/{name}" for name in storage.names(table)}
    return [one for one in paths if one in held]
