"""The digest of a run's games: equal for equal games, however they were committed."""

import hashlib
from collections.abc import Callable, Iterator

import msgspec
import polars as pl

from tourney.store.journal import Commit
from tourney.store.reader import RunReader

__all__ = ("games_digest",)

COLUMNS = ("match", "seating", "scores", "ranks", "outcomes", "actions")
"""What a match was, without anything that depends on the clock."""

WINDOW_MATCHES = 1 << 11
"""Matches in memory at a time: a run may hold more than fit."""


def games_digest(reader: RunReader, each: Callable[[], None] = lambda: None) -> str:
    """SHA-256 over the games in order of their numbers, in hex.

    Args:
        reader: the run.
        each: called now and then, for it may take minutes.

    Raises:
        StoreError: a committed file is gone.
        OSError: a file cannot be read.
        PolarsError: a file is not what it should be.
    """
    digest = hashlib.sha256()
    for rows in _windows(reader):
        for row in rows.iter_rows():
            digest.update(msgspec.json.encode(row) + b"\n")
        each()
    return digest.hexdigest()


def _windows(reader: RunReader) -> Iterator[pl.DataFrame]:
    """The matches in order, some thousand at a time."""
    waiting = sorted(reader.commits(), key=_first, reverse=True)
    last = max((one.groups[-1][1] for one in waiting), default=0)
    width = max(1, WINDOW_MATCHES // reader.info.seats)
    held: list[Commit] = []
    for first in range(0, last, width):
        while waiting and _first(waiting[-1]) < first + width:
            held.append(waiting.pop())
        held = [one for one in held if one.groups[-1][1] > first]
        begin, end = first * reader.info.seats, (first + width) * reader.info.seats
        inside = pl.col("match").is_between(begin, end, closed="left")
        rows = reader.rows("matches", held).filter(inside)
        yield rows.select(COLUMNS).sort("match").collect()


def _first(commit: Commit) -> int:
    return commit.groups[0][0]
