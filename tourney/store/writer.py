"""Write a run: the only writer is the runner, and a commit is whole or not there."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from tourney.errors import StoreError
from tourney.records import frame
from tourney.store import journal
from tourney.store.files import write_atomically, write_bytes
from tourney.store.info import RunInfo
from tourney.store.reader import RunReader

__all__ = ("RunWriter",)

TABLES = ("matches", "seats", "faults", "logs")
RARE_TABLES = ("faults", "logs")
SECRET_FILE = "secret.hex"  # noqa: S105 - a file's name
PACKAGES = "packages"
"""Folder of the packed bots, each under its digest."""

DIGEST_COLUMNS = ("match", "seating", "scores", "ranks", "outcomes", "actions")


class RunWriter:
    """Owns a run's folder while it is played."""

    def __init__(self, folder: Path, info: RunInfo) -> None:
        self.folder = folder
        self.info = info
        self.commits = journal.read(folder)

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
            StoreError: `folder` holds no run, or a committed file is gone.
        """
        reader = RunReader(folder)
        for table in TABLES:
            reader.scan(table)
        journal.repair(folder)
        writer = cls(folder, reader.info)
        known = {commit.segment for commit in writer.commits}
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
        segment = f"{len(self.commits):06d}"
        try:
            for table in TABLES:
                rows = tables.get(table)
                if table not in RARE_TABLES or (rows is not None and rows.height):
                    self._write_segment(table, segment, tables[table])
            commit = journal.Commit(
                segment=segment,
                groups=journal.group_ranges(groups),
                matches=tables["matches"].height,
                faults=tables["faults"].height if "faults" in tables else 0,
                seconds=seconds,
            )
            journal.append(self.folder, commit)
        except OSError as error:
            raise StoreError(f"cannot save results in {self.folder}: {error}") from error
        self.commits.append(commit)
        counts = self.info.counts
        counts.groups += len(groups)
        counts.matches += commit.matches
        counts.faults += commit.faults
        self.info.seconds = seconds
        self.save_info()

    def _write_segment(self, table: str, segment: str, rows: pl.DataFrame) -> None:
        ordered = rows.sort([name for name in ("match", "seat") if name in rows.columns])
        path = self.folder / table / f"{segment}.parquet"

        def write(temporary: Path) -> None:
            ordered.write_parquet(temporary, compression="zstd")

        write_atomically(path, write)

    def recount(self) -> None:
        """Set the counts from the journal, the truth after a crash."""
        counts = self.info.counts
        counts.groups = sum(1 for _ in journal.groups_of(self.commits))
        counts.matches = sum(commit.matches for commit in self.commits)
        counts.faults = sum(commit.faults for commit in self.commits)
        self.info.seconds = self.commits[-1].seconds if self.commits else 0.0

    def groups(self) -> set[int]:
        """Numbers of the committed groups."""
        return set(journal.groups_of(self.commits))

    def finish(self) -> None:
        """All groups are there: reveal the secret, fix the digest."""
        self.info.secret = self.secret().hex()
        self.info.digest = self._digest()
        self.info.status = "finished"
        self.save_info()
        (self.folder / SECRET_FILE).unlink(missing_ok=True)

    def _digest(self) -> str:
        """SHA-256 over the games in order, without anything that depends on the clock."""
        rows = RunReader(self.folder).scan("matches").select(DIGEST_COLUMNS).sort("match").collect()
        digest = hashlib.sha256()
        for row in rows.iter_rows():
            digest.update(msgspec.json.encode(row) + b"\n")
        return digest.hexdigest()

    def save_info(self) -> None:
        """Write `run.json`."""
        self.info.updated = now()
        write_bytes(
            self.folder / "run.json", msgspec.json.format(msgspec.json.encode(self.info)) + b"\n"
        )


def now() -> str:
    """This moment, UTC, ISO 8601 to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
