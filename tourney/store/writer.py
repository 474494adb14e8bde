"""Write a run: the only writer is the runner, and a commit is whole or not there."""

import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import msgspec
import polars as pl
from polars.exceptions import PolarsError

from tourney.errors import StoreError
from tourney.records import SCHEMA_VERSION, frame
from tourney.store import codec, compactor, heartbeat, journal, ranges, segments
from tourney.store.digest import games_digest
from tourney.store.folder import LOCK_FILE
from tourney.store.info import RunInfo
from tourney.store.lease import FILE as LEASE_FILE
from tourney.store.location import Location, storage_at
from tourney.store.reader import INFO, PACKAGES, SECRET, RunReader
from tourney.store.storage import KEPT, Lock, Storage, refused

__all__ = ("RunWriter",)

ROW_GROUP = 1 << 12
"""Rows that are unpacked together: one match is opened by reading this many."""

KEEP_SECONDS = 60.0
"""Merged segments stay this long for readers that began before the merge."""

BEAT_SECONDS = 3.0
"""How often a long piece of work of ours says that we live."""

PREPARED = frozenset(
    {*segments.TABLES, PACKAGES, SECRET, "config.toml", "config.resolved.json", "bots.parquet"}
)
"""What a run's folder holds before its info is there, besides the lock."""

FEW_SEGMENTS = 4
"""A finished run with no more than these is left as it is."""


class RunWriter:
    """Owns a run's folder while it is played; `close` gives it back."""

    def __init__(self, folder: Storage, info: RunInfo, lock: Lock) -> None:
        """Write the run in `folder`, whose lock is held.

        Raises:
            OSError: its journal cannot be read.
            StoreError: a line of it is damaged.
        """
        self.folder = folder
        self.info = info
        self._lock = lock
        self._journal = journal.Journal(folder)
        self._merged: deque[tuple[float, str]] = deque()
        self._committed = ""
        self._beat_at = time.monotonic()

    @property
    def commits(self) -> Sequence[journal.Commit]:
        """What is committed."""
        return self._journal.commits

    @classmethod
    def create(
        cls,
        where: Location,
        info: RunInfo,
        *,
        secret: bytes,
        config_text: str,
        resolved: dict[str, Any],
        bots: Sequence[dict[str, Any]],
        archives: Mapping[str, bytes] | None = None,
    ) -> "RunWriter":
        """Make a new run's folder.

        Args:
            where: the folder; empty or not there yet.
            info: the facts of the run.
            secret: what fixes every card.
            config_text: the config as given.
            resolved: every value and where it came from.
            bots: rows of `records.BOTS`.
            archives: packed packages by digest, kept so that a fault can be reproduced later.

        Raises:
            StoreError: the folder holds something already, another process is making it, or it
                cannot be written. What a driver left that died at this point is no hindrance.
        """
        folder = storage_at(where)
        with _telling(f"cannot write the run's folder {folder}"):
            _refuse_full(folder)
            folder.prepare((*segments.TABLES, PACKAGES))
        with _held(folder) as lock:
            # Another driver may have made the run since.
            _refuse_full(folder)
            for digest, archive in (archives or {}).items():
                folder.write(f"{PACKAGES}/{digest}", archive)
            folder.write(SECRET, secret.hex().encode(), private=True)
            folder.write("config.toml", config_text.encode())
            text = msgspec.json.format(msgspec.json.encode(resolved))
            folder.write("config.resolved.json", text)
            rows = frame("bots", list(bots))
            folder.write("bots.parquet", _parquet(rows.lazy()))
            writer = cls(folder, info, lock)
            writer.save_info()
        return writer

    @classmethod
    def reopen(cls, where: Location) -> "RunWriter":
        """Go on with a run: drop what a crash left behind.

        Raises:
            StoreError: there is no run or one of another version, another process plays it, or a
                committed file or a line of the journal is damaged.
        """
        folder = storage_at(where)
        if RunReader(folder).info.schema != SCHEMA_VERSION:
            raise StoreError(
                f"{folder} was begun by tourney {RunReader(folder).info.tourney}, whose records "
                "have other columns: finish it with that version, or start a new run"
            )
        with _held(folder) as lock:
            reader = RunReader(folder)
            # Nothing is played for a run whose committed files are not all whole.
            for table in segments.TABLES:
                reader.scan(table)
            writer = cls(folder, reader.info, lock)
            # First, so that nobody can commit any more what is swept next.
            writer._journal.claim()
            writer._sweep()
        return writer

    def _sweep(self) -> None:
        known = {f"{commit.segment}.parquet" for commit in self.commits}
        for table in segments.TABLES:
            strays = [name for name in self.folder.names(table) if name not in known]
            self.folder.delete([f"{table}/{name}" for name in strays])

    def close(self) -> None:
        """Let others drive the run; nothing is written afterwards. Twice is once."""
        self._lock.close()

    def secret(self) -> bytes:
        """The secret of this run.

        Raises:
            StoreError: it is lost.
        """
        return RunReader(self.folder).secret()

    def commit(
        self, groups: Collection[int], tables: Mapping[str, pl.DataFrame], seconds: float
    ) -> None:
        """Save whole groups; they are visible when this returns, or not at all.

        Args:
            groups: numbers of the groups, at least one, none of them committed before.
            tables: frames of `matches` and `seats`, and of `faults` and `logs` where there are any,
                with the columns of `records`.
            seconds: wall time of play so far.

        Raises:
            StoreError: the storage refused; nothing of this commit is visible, unless only the
                answer to its last request got lost, and then all of it is.
        """
        segment = segments.new_name(min(groups))
        with self._writing("cannot save results in"):
            sizes = {
                table: self._write_segment(table, segment, tables[table])
                for table in segments.TABLES
                if table not in segments.RARE_TABLES or (table in tables and tables[table].height)
            }
            commit = journal.Commit(
                segment=segment,
                groups=ranges.from_groups(groups),
                matches=tables["matches"].height,
                faults=tables["faults"].height if "faults" in tables else 0,
                seconds=seconds,
                size=sizes["matches"],
            )
            self._lock.check()
            self._journal.replace([*self.commits, commit])
        self._committed = heartbeat.now()
        counts = self.info.counts
        counts.groups += len(groups)
        counts.matches += commit.matches
        counts.faults += commit.faults
        self.info.seconds = seconds
        self.save_info()
        self._merge(compactor.due(self.commits))
        self._drop_merged(KEEP_SECONDS)

    def _write_segment(self, table: str, segment: str, rows: pl.DataFrame) -> int:
        ordered = rows.sort([name for name in ("match", "seat") if name in rows.columns])
        stored = codec.pack(ordered) if table == "matches" else ordered
        return self._write_ordered(table, segment, stored.lazy())

    def _write_ordered(self, table: str, segment: str, rows: pl.LazyFrame) -> int:
        """Write rows that are in order; returns the bytes they take."""
        data = _parquet(rows)
        self.folder.write(segments.path(table, segment), data)
        return len(data)

    def _merge(self, bundle: Sequence[journal.Commit]) -> None:
        """Let one segment stand for those of `bundle`; they stay on disk for a while."""
        if not bundle:
            return
        with self._writing("cannot merge results in"):
            new = compactor.merged(self.folder, bundle, self._write_ordered)
            gone = {commit.segment for commit in bundle}
            kept = [commit for commit in self.commits if commit.segment not in gone]
            self._lock.check()
            self._journal.replace([*kept, new])
        moment = time.monotonic()
        self._merged.extend((moment, commit.segment) for commit in bundle)

    def _drop_merged(self, keep_seconds: float) -> None:
        """Remove the files of segments that were merged long enough ago."""
        until = time.monotonic() - keep_seconds
        with self._writing("cannot remove merged results in"):
            while self._merged and self._merged[0][0] <= until:
                _, segment = self._merged.popleft()
                self.folder.delete([segments.path(table, segment) for table in segments.TABLES])

    def recount(self) -> None:
        """Set the counts from the journal, the truth after a crash."""
        counts = self.info.counts
        counts.groups = ranges.count(self.groups())
        counts.matches = sum(commit.matches for commit in self.commits)
        counts.faults = sum(commit.faults for commit in self.commits)
        self.info.seconds = max((commit.seconds for commit in self.commits), default=0.0)

    def groups(self) -> list[tuple[int, int]]:
        """The committed groups, as half-open ranges."""
        return journal.committed(self.commits)

    def finish(self) -> None:
        """All groups are there: reveal the secret, fix the digest.

        Raises:
            StoreError: the secret or a segment cannot be read, or the storage refuses.
        """
        if len(self.commits) > FEW_SEGMENTS:
            for bundle in compactor.remainder(self.commits):
                self._merge(bundle)
        self.info.secret = self.secret().hex()
        with self._writing("cannot finish the run in"):
            self.info.digest = games_digest(RunReader(self.folder), self._beat_again)
            self.info.status = "finished"
            self.save_info()
            self._drop_merged(0.0)
            self.folder.delete([SECRET])

    def beat(self, pulse: heartbeat.Heartbeat) -> None:
        """Say that this run's driver lives.

        Raises:
            StoreError: the storage refuses, or the run is another driver's.
        """
        pulse.at, pulse.committed = heartbeat.now(), self._committed
        self._beat_at = time.monotonic()
        self._lock.check()
        with self._writing("cannot write in"):
            heartbeat.write(self.folder, pulse)

    def _beat_again(self) -> None:
        if time.monotonic() - self._beat_at >= BEAT_SECONDS:
            self.beat(heartbeat.Heartbeat())

    def save_info(self) -> None:
        """Write `run.json`.

        Raises:
            StoreError: the storage refuses, or the run is another driver's.
        """
        self.info.updated = heartbeat.now()
        self._lock.check()
        with self._writing("cannot write in"):
            data = msgspec.json.format(msgspec.json.encode(self.info)) + b"\n"
            self.folder.write(INFO, data)

    @contextmanager
    def _writing(self, failed: str) -> Iterator[None]:
        with _telling(f"{failed} {self.folder}", KEPT):
            yield


@contextmanager
def _telling(failed: str, advice: str = "") -> Iterator[None]:
    """Whatever a storage or polars says becomes a StoreError that says what to do."""
    try:
        yield
    except (OSError, PolarsError) as error:
        raise refused(failed, error, advice) from error


@contextmanager
def _held(folder: Storage) -> Iterator[Lock]:
    """The lock of a run that is being opened; given back if that fails."""
    with _telling(f"cannot write the run's folder {folder}"):
        lock = folder.lock()
        try:
            yield lock
        except BaseException:
            lock.close()
            raise


def _refuse_full(folder: Storage) -> None:
    names = {name for name in folder.names() if not name.endswith(".tmp")}
    locks = {LOCK_FILE, LEASE_FILE}
    # Its info is written last: a run without it was never begun.
    unmade = names <= locks | PREPARED and names & {*locks, *segments.TABLES}
    if names - locks and not unmade:
        raise StoreError(f"{folder} is not empty: choose another --out, or go on with --resume")


def _parquet(rows: pl.LazyFrame) -> bytes:
    buffer = BytesIO()
    rows.sink_parquet(buffer, compression="zstd", row_group_size=ROW_GROUP, engine="streaming")
    return buffer.getvalue()
