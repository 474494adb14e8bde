"""The journal of commits: the one truth of which rows exist.

A commit is one line. Rows of a segment are visible only when a line names it, so a crash between
two files leaves nothing half seen. A torn last line is a commit that did not happen. When segments
are merged, a new journal takes the old one's place in one step, so that a reader sees the many or
the one, never both.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from tourney.store import ranges
from tourney.store.files import append_line, write_bytes

__all__ = ("FILE", "Commit", "append", "committed", "groups_of", "read", "repair", "rewrite")

FILE = "journal.jsonl"


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """One commit, or several that were merged."""

    segment: str
    """Name of the segment's files in `matches/`, `seats/` and `faults/`, without suffix."""
    groups: list[tuple[int, int]]
    """Groups in it, as half-open ranges."""
    matches: int
    faults: int
    seconds: float
    """Wall time of play so far, over all resumes."""
    size: int = 0
    """Bytes of the matches' file, for a merged segment about."""


def append(folder: Path, commit: Commit) -> None:
    """Make `commit` true.

    Raises:
        OSError: the disk refused.
    """
    append_line(folder / FILE, msgspec.json.encode(commit))


def rewrite(folder: Path, commits: Iterable[Commit]) -> None:
    """Make `commits` the whole truth, in one step.

    Raises:
        OSError: the disk refused; the old journal stands.
    """
    write_bytes(folder / FILE, b"".join(msgspec.json.encode(one) + b"\n" for one in commits))


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


def committed(commits: Iterable[Commit]) -> list[tuple[int, int]]:
    """Every committed group, as few half-open ranges as hold them."""
    return ranges.merge(pair for commit in commits for pair in commit.groups)


def groups_of(commits: Iterable[Commit]) -> Iterator[int]:
    """Every committed group, as often as a commit names it."""
    for commit in commits:
        for start, stop in commit.groups:
            yield from range(start, stop)
