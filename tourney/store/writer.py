"""Write a run: the only writer is the runner, and a commit is whole or not there."""

import time
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
from polars.exceptions import PolarsError

from tourney.errors import StoreError
from tourney.records import SCHEMA_VERSION, frame
from tourney.store import codec, compactor, heartbeat, journal, ranges
from tourney.store.digest import games_digest
from tourney.store.files import write_atomically, write_bytes
from tourney.store.info import RunInfo
from tourney.store.reader import RunReader

__all__ = ("RunWriter",)

TABLES = ("matches", "seats", "faults", "logs")
RARE_TABLES = ("faults", "logs")
SECRET_FILE = "secret.hex"  # noqa: S105 - a file's name
PACKAGES = "packages"
"""Folder of the packed bots, each under its digest."""

ROW_GROUP = 1 << 12
"""Rows that are unpacked together: one match is opened by reading this many."""

KEEP_SECONDS = 60.0
"""Merged segments stay this long for readers that began before the merge."""

BEAT_SECONDS = 3.0
"""How often a long piece of work of ours says that we live."""

FEW_SEGMENTS = 4
"""A finished run with no more than these is left as it is."""


class RunWriter:
    """Owns a run's folder while it is played."""

    def __init__(self, folder: Path, info: RunInfo) -> None:
        self.folder = folder
        self.info = info
        self.commits = journal.read(folder)
        self._next_segment = len(self.commits)
        self._merged: deque[tuple[float, str]] = deque()
        self._committed = ""
        self._beat_at = time.monotonic()

    @classmethod
    def create(
        cls,
        folder: Path,
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
            folder: where; empty or not there yet.
            info: the facts of the run.
            secret: what fixes every card.
            config_text: the config as given.
            resolved: every value and where it came from.
            bots: rows of `records.BOTS`.
            archives: packed packages by digest, kept so that a fault can be reproduced later.

        Raises:
            StoreError: `folder` holds something already, or cannot be written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise StoreError(
                    f"{folder} is not empty: choose another --out, or go on with --resume"
                )
            for table in TABLES:
                (folder / table).mkdir()
            (folder / PACKAGES).mkdir()
            for digest, archive in (archives or {}).items():
                write_bytes(folder / PACKAGES / digest, archive)
            write_bytes(folder / SECRET_FILE, secret.hex().encode(), 0o600)
            write_bytes(folder / "config.toml", config_text.encode())
            text = msgspec.json.format(msgspec.json.encode(resolved))
            write_bytes(folder / "config.resolved.json", text)
            rows = frame("bots", list(bots))
            write_atomically(folder / "bots.parquet", rows.write_parquet)
            writer = cls(folder, info)
            writer.save_info()
        except OSError as error:
            raise StoreError(f"cannot write the run's folder {folder}: {error}") from error
        return writer

    @classmethod
    def reopen(cls, folder: Path) -> "RunWriter":
        """Go on with a run: drop what a crash left behind.

        Raises:
            StoreError: `folder` holds no run or one of another version, or a committed file is
                gone.
        """
        reader = RunReader(folder)
        if reader.info.schema != SCHEMA_VERSION:
            raise StoreError(
                f"{folder} was begun by tourney {reader.info.tourney}, whose records have other "
                "columns: finish it with that version, or start a new run"
            )
        for table in TABLES:
            reader.scan(table)
        journal.repair(folder)
        writer = cls(folder, reader.info)
        known = {commit.segment for commit in writer.commits}
        numbers = [int(name) for name in known if name.isdigit()]
        writer._next_segment = max(numbers, default=-1) + 1
        for table in TABLES:
            for path in (folder / table).iterdir():
                if path.stem not in known:
                    path.unlink()
        return writer

    def secret(self) -> bytes:
        """The secret of this run.

        Raises:
            StoreError: it is lost.
        """
        if self.info.secret is not None:
            return bytes.fromhex(self.info.secret)
        try:
            return bytes.fromhex((self.folder / SECRET_FILE).read_text())
        except (OSError, ValueError) as error:
            raise StoreError(f"the run's secret is unreadable, it cannot go on: {error}") from error

    def commit(
        self, groups: Collection[int], tables: Mapping[str, pl.DataFrame], seconds: float
    ) -> None:
        """Save whole groups; they are visible when this returns, or not at all.

        Args:
            groups: numbers of the groups, none of them committed before.
            tables: frames of `matches` and `seats`, and of `faults` and `logs` where there are any,
                with the columns of `records`.
            seconds: wall time of play so far.

        Raises:
            StoreError: the disk refused; nothing of this commit is visible.
        """
        segment = f"{self._next_segment:06d}"
        try:
            for table in TABLES:
                rows = tables.get(table)
                if table not in RARE_TABLES or (rows is not None and rows.height):
                    self._write_segment(table, segment, tables[table])
            commit = journal.Commit(
                segment=segment,
                groups=ranges.from_groups(groups),
                matches=tables["matches"].height,
                faults=tables["faults"].height if "faults" in tables else 0,
                seconds=seconds,
                size=self._file("matches", segment).stat().st_size,
            )
            journal.append(self.folder, commit)
        except OSError as error:
            raise StoreError(f"cannot save results in {self.folder}: {error}") from error
        self._next_segment += 1
        self.commits.append(commit)
        self._committed = heartbeat.now()
        counts = self.info.counts
        counts.groups += len(groups)
        counts.matches += commit.matches
        counts.faults += commit.faults
        self.info.seconds = seconds
        self.save_info()
        self._merge(compactor.due(self.commits))
        self._drop_merged(KEEP_SECONDS)

    def _write_segment(self, table: str, segment: str, rows: pl.DataFrame) -> None:
        ordered = rows.sort([name for name in ("match", "seat") if name in rows.columns])
        stored = codec.pack(ordered) if table == "matches" else ordered
        self._write_ordered(table, segment, stored.lazy())

    def _write_ordered(self, table: str, segment: str, rows: pl.LazyFrame) -> None:
        def write(temporary: Path) -> None:
            rows.sink_parquet(
                temporary, compression="zstd", row_group_size=ROW_GROUP, engine="streaming"
            )

        write_atomically(self._file(table, segment), write)

    def _file(self, table: str, segment: str) -> Path:
        return self.folder / table / f"{segment}.parquet"

    def _merge(self, bundle: Sequence[journal.Commit]) -> None:
        """Let one segment stand for those of `bundle`; they stay on disk for a while."""
        if not bundle:
            return
        try:
            new = compactor.merged(self.folder, bundle, TABLES, self._write_ordered)
            gone = {commit.segment for commit in bundle}
            kept = [commit for commit in self.commits if commit.segment not in gone]
            journal.rewrite(self.folder, [*kept, new])
        except (OSError, PolarsError) as error:
            raise StoreError(f"cannot merge results in {self.folder}: {error}") from error
        self.commits = [*kept, new]
        moment = time.monotonic()
        self._merged.extend((moment, commit.segment) for commit in bundle)

    def _drop_merged(self, keep_seconds: float) -> None:
        """Remove the files of segments that were merged long enough ago."""
        until = time.monotonic() - keep_seconds
        while self._merged and self._merged[0][0] <= until:
            _, segment = self._merged.popleft()
            for table in TABLES:
                self._file(table, segment).unlink(missing_ok=True)

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
            StoreError: the secret or a segment cannot be read, or the disk refuses.
        """
        if len(self.commits) > FEW_SEGMENTS:
            for bundle in compactor.remainder(self.commits):
                self._merge(bundle)
        self.info.secret = self.secret().hex()
        try:
            self.info.digest = games_digest(RunReader(self.folder), self._beat_again)
            self.info.status = "finished"
            self.save_info()
            self._drop_merged(0.0)
            (self.folder / SECRET_FILE).unlink(missing_ok=True)
        except (OSError, PolarsError) as error:
            raise StoreError(f"cannot finish the run in {self.folder}: {error}") from error

    def beat(self, pulse: heartbeat.Heartbeat) -> None:
        """Say that this run's driver lives.

        Raises:
            StoreError: the disk refuses.
        """
        pulse.at, pulse.committed = heartbeat.now(), self._committed
        self._beat_at = time.monotonic()
        try:
            heartbeat.write(self.folder, pulse)
        except OSError as error:
            raise StoreError(f"cannot write in {self.folder}: {error}") from error

    def _beat_again(self) -> None:
        if time.monotonic() - self._beat_at >= BEAT_SECONDS:
            self.beat(heartbeat.Heartbeat())

    def save_info(self) -> None:
        """Write `run.json`."""
        self.info.updated = heartbeat.now()
        write_bytes(
            self.folder / "run.json", msgspec.json.format(msgspec.json.encode(self.info)) + b"\n"
        )
