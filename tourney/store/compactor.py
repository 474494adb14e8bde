"""Keeps the segments of a run few: merges small ones, each row at most a few times.

Works beside the journal and never decides what is true: it writes merged files under new names and
says which commits stand for which. The caller swaps the journal, and only then may the old files
go. A crash at any point leaves either journal, and files that no line names.
"""

from collections.abc import Callable, Iterator, Sequence

import polars as pl

from tourney.store import ranges, segments
from tourney.store.journal import Commit
from tourney.store.storage import Storage

__all__ = ("FAN_IN", "SEGMENT_BYTES", "due", "merged", "remainder")

FAN_IN = 16
"""Segments of one size that are merged into one of the next: few files, few rewrites."""

SEGMENT_BYTES = 1 << 20
"""A segment this large is never touched again: it bounds a merge, which unpacks tenfold."""

Write = Callable[[str, str, pl.LazyFrame], int]
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


def merged(storage: Storage, bundle: Sequence[Commit], write: Write) -> Commit:
    """Write the rows of `bundle` as one segment; returns the commit that may stand for them.

    Raises:
        OSError: the storage refuses, or a segment is gone or torn.
        PolarsError: a segment cannot be read.
    """
    name = segments.new_name(bundle[0].groups[0][0])
    for table in segments.TABLES:
        names = [one.segment for one in bundle]
        held = [segments.path(table, one) for one in names]
        if table in segments.RARE_TABLES:
            held = segments.present(storage, table, names)
        if held:
            write(table, name, _in_order([storage.scan([one]) for one in held]))
    return Commit(
        segment=name,
        groups=ranges.merge(pair for one in bundle for pair in one.groups),
        matches=sum(one.matches for one in bundle),
        faults=sum(one.faults for one in bundle),
        seconds=max(one.seconds for one in bundle),
        size=sum(one.size for one in bundle),
    )


def _in_order(parts: list[pl.LazyFrame]) -> pl.LazyFrame:
    """One frame in the order of the matches, by merging pairs: a stream, not a sort in memory."""
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        rest = parts[-1:] if len(parts) % 2 else []
        parts = [one.merge_sorted(two, "match") for one, two in pairs] + rest
    return parts[0]
