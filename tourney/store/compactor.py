"""Keeps the segments of a run few: merges small ones, each row at most a few times.

Works beside the journal and never decides what is true: it writes merged files under new names and
says which commits stand for which. The caller swaps the journal, and only then may the old files
go. A crash at any point leaves either journal, and files that no line names.
"""

import secrets
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import polars as pl

from tourney.store import ranges
from tourney.store.journal import Commit

__all__ = ("FAN_IN", "SEGMENT_BYTES", "due", "merged", "remainder")

FAN_IN = 16
"""Segments of one size that are merged into one of the next: few files, few rewrites."""

SEGMENT_BYTES = 1 << 20
"""A segment this large is never touched again: it bounds a merge, which unpacks tenfold."""

Write = Callable[[str, str, pl.LazyFrame], None]
"""Writes rows of a table, which are in order, under a segment's name."""


def due(commits: Sequence[Commit]) -> list[Commit]:
    """Commits that should be merged now, adjacent ones together; empty while there are few."""
    sizes: dict[int, list[Commit]] = {}
    for commit in commits:
        if commit.size < SEGMENT_BYTES:
            sizes.setdefault(_size(commit), []).append(commit)
    for size in sorted(sizes):
        alike = sizes[size]
        if len(alike) >= FAN_IN or sum(one.size for one in alike) >= SEGMENT_BYTES:
            return next(_bundles(alike))
    return []


def _size(commit: Commit) -> int:
    """Sizes within a factor of sixteen are alike."""
    return commit.size.bit_length() // 4


def remainder(commits: Sequence[Commit]) -> list[list[Commit]]:
    """All small commits of a finished run, in bundles to be merged."""
    small = [commit for commit in commits if commit.size < SEGMENT_BYTES]
    return [bundle for bundle in _bundles(small) if len(bundle) > 1]


def _bundles(commits: Sequence[Commit]) -> Iterator[list[Commit]]:
    bundle: list[Commit] = []
    for commit in sorted(commits, key=lambda one: one.groups[0]):
        bundle.append(commit)
        if sum(one.size for one in bundle) >= SEGMENT_BYTES:
            yield bundle
            bundle = []
    if bundle:
        yield bundle


def merged(folder: Path, bundle: Sequence[Commit], tables: Sequence[str], write: Write) -> Commit:
    """Write the rows of `bundle` as one segment; returns the commit that may stand for them.

    Raises:
        OSError: the disk refused.
        PolarsError: a segment cannot be read.
    """
    # The name is new for ever: a file left by a crash must not be taken for a later segment.
    name = f"m{bundle[0].groups[0][0]:09d}-{secrets.token_hex(4)}"
    for table in tables:
        paths = [folder / table / f"{one.segment}.parquet" for one in bundle]
        held = [pl.scan_parquet(path, glob=False) for path in paths if path.exists()]
        if held:
            write(table, name, _in_order(held))
    return Commit(
        segment=name,
        groups=ranges.merge(pair for one in bundle for pair in one.groups),
        matches=sum(one.matches for one in bundle),
        faults=sum(one.faults for one in bundle),
        seconds=max(one.seconds for one in bundle),
        size=sum(one.size for one in bundle),
    )


def _in_order(segments: list[pl.LazyFrame]) -> pl.LazyFrame:
    """One frame in the order of the matches, by merging pairs: a stream, not a sort in memory."""
    while len(segments) > 1:
        pairs = zip(segments[::2], segments[1::2], strict=False)
        rest = segments[-1:] if len(segments) % 2 else []
        segments = [one.merge_sorted(two, "match") for one, two in pairs] + rest
    return segments[0]
