"""The journal of commits: the one truth of which rows exist.

A commit is one line. Rows of a segment are visible only when a line names it, so a crash between
two files leaves nothing half seen. A torn last line is a commit that did not happen.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from tourney.store.files import append_line

__all__ = ("FILE", "Commit", "append", "group_ranges", "groups_of", "read", "repair")

FILE = "journal.jsonl"


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """One commit."""

    segment: str
    """Name of the segment's files in `matches/`, `seats/` and `faults/`, without suffix."""
    groups: list[tuple[int, int]]
    """Groups in it, as half-open ranges."""
    matches: int
    faults: int
    seconds: float
    """Wall time of play so far, over all resumes."""


def append(folder: Path, commit: Commit) -> None:
    """Make `commit` true."""
    append_line(folder / FILE, msgspec.json.encode(commit))


def read(folder: Path) -> list[Commit]:
    """All commits in order; a torn last line is left out."""
    try:
        *lines, _torn = (folder / FILE).read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    commits = []
    for line in lines:
        try:
            commits.append(msgspec.json.decode(line, type=Commit))
        except msgspec.DecodeError:
            continue
    return commits


def repair(folder: Path) -> None:
    """Cut a torn last line off, so that the next commit starts a line of its own."""
    path = folder / FILE
    if path.exists():
        data = path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) != len(data):
            with path.open("r+b") as file:
                file.truncate(len(whole))


def group_ranges(groups: Iterable[int]) -> list[tuple[int, int]]:
    """Sorted groups as half-open ranges: 3, 4, 5, 9 give (3, 6), (9, 10)."""
    ranges: list[tuple[int, int]] = []
    for group in sorted(groups):
        if ranges and ranges[-1][1] == group:
            ranges[-1] = (ranges[-1][0], group + 1)
        else:
            ranges.append((group, group + 1))
    return ranges


def groups_of(commits: Iterable[Commit]) -> Iterator[int]:
    """Every committed group."""
    for commit in commits:
        for start, stop in commit.groups:
            yield from range(start, stop)
