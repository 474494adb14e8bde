"""The journal of commits: the one truth of which rows exist.

A commit is one line. Rows of a segment are visible only when a line names it, so a crash between
two files leaves nothing half seen. The journal is one object, replaced whole at every commit and
merge: a reader sees the commits before or those after, never a part. It stays short because
segments are merged; a run of 10^6 matches has a few hundred lines. On an object store that means
one request to read it and no listing, and the replacement is made only if the journal is still the
one we know, so that a second driver cannot lose a commit of the first. A line that is no commit is
the mark of a driver that took over. Any other line is damage: left out in silence, its groups would
be played again.
"""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO

import msgspec

from tourney.errors import StoreError
from tourney.store import ranges
from tourney.store.storage import RESTORE, Changed, Storage

__all__ = ("FILE", "Commit", "Journal", "committed", "groups_of", "read")

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


class Mark(msgspec.Struct, frozen=True):
    """A driver took over."""

    driver: str


class Journal:
    """The driver's hold on the journal."""

    def __init__(self, storage: Storage) -> None:
        """Read what is there.

        Raises:
            OSError: the storage refuses.
            StoreError: a line is damaged.
        """
        self._storage = storage
        try:
            data, self._version = storage.read(FILE)
        except FileNotFoundError:
            data, self._version = b"", ""
        self.commits: Sequence[Commit] = _decoded(storage, data)

    def claim(self) -> None:
        """Write it anew with a mark of ours: a commit that another began before this will fail.

        Raises:
            OSError: the storage refuses.
            StoreError: another driver has written it.
        """
        mark = msgspec.json.encode(Mark(secrets.token_hex(8))) + b"\n"
        self._put(_encoded(self.commits) + mark)

    def replace(self, commits: Sequence[Commit]) -> None:
        """Make `commits` the whole truth, in one step.

        Raises:
            OSError: the storage refuses; the old journal stands.
            StoreError: another driver has written it.
        """
        self._put(_encoded(commits))
        self.commits = commits

    def _put(self, data: bytes) -> None:
        try:
            self._version = self._storage.replace(FILE, data, self._version)
        except Changed:
            raise StoreError(
                f"another driver saves results in {self._storage}: this one stops; what both "
                "saved before is kept, and the other goes on"
            ) from None


def read(storage: Storage) -> list[Commit]:
    """All commits in order; marks are left out.

    Raises:
        OSError: the storage refuses.
        StoreError: a line is damaged.
    """
    try:
        data = storage.read(FILE)[0]
    except FileNotFoundError:
        return []
    return _decoded(storage, data)


def _encoded(commits: Iterable[Commit]) -> bytes:
    return b"".join(msgspec.json.encode(one) + b"\n" for one in commits)


def _decoded(storage: Storage, data: bytes) -> list[Commit]:
    commits = []
    for number, line in enumerate(BytesIO(data), 1):
        try:
            commits.append(msgspec.json.decode(line, type=Commit))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            # A crash may leave the last line torn, which then was never committed.
            if line.endswith(b"\n") and not _is_mark(line):
                raise StoreError(
                    f"{storage}/{FILE} is damaged in line {number}, which is no commit ({error}); "
                    f"which results are saved is not known: {RESTORE}"
                ) from error
    return commits


def _is_mark(line: bytes) -> bool:
    try:
        msgspec.json.decode(line, type=Mark)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def committed(commits: Iterable[Commit]) -> list[tuple[int, int]]:
    """Every committed group, as few half-open ranges as hold them."""
    return ranges.merge(pair for commit in commits for pair in commit.groups)


def groups_of(commits: Iterable[Commit]) -> Iterator[int]:
    """Every committed group, as often as a commit names it."""
    for commit in commits:
        for start, stop in commit.groups:
            yield from range(start, stop)
