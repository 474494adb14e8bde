"""Read runs. Only committed rows are seen; nothing is ever written or started."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import msgspec
import polars as pl
from polars.exceptions import PolarsError

from tourney.errors import StoreError
from tourney.records import SCHEMA_VERSION, frame
from tourney.store import codec, heartbeat, journal, ranges, segments
from tourney.store.info import RunInfo
from tourney.store.location import Location, storage_at
from tourney.store.storage import RESTORE, Damaged, Storage, is_of_storage

__all__ = ("NoRun", "RunReader", "find_run", "list_runs", "look", "run_called")

INFO = "run.json"
SECRET = "secret.hex"  # noqa: S105 - a file's name
PACKAGES = "packages"
"""Folder of the packed bots, each under its digest."""

LOST = "its matches are lost"

LOOKERS = 8
"""Runs that are opened at a time: on an object store most of it is waiting."""


class NoRun(StoreError):
    """There is no run at this place."""


class RunReader:
    """One run's folder, wherever it lies."""

    def __init__(self, where: Location) -> None:
        """Open the run at `where`.

        Raises:
            NoRun: there is none.
            StoreError: it cannot be read.
        """
        self.folder: Storage = storage_at(where)
        self.info = self._read_info()

    def _read_info(self) -> RunInfo:
        try:
            return msgspec.json.decode(self.folder.read(INFO)[0], type=RunInfo)
        except (FileNotFoundError, NotADirectoryError):
            raise NoRun(
                f"{self.folder} is not a run: it has no run.json (give a folder that "
                "`tourney run` made, or one that holds such folders)"
            ) from None
        except (OSError, msgspec.DecodeError) as error:
            raise StoreError(f"cannot read {self.folder}/{INFO}: {error}") from error

    def resolved(self) -> dict[str, dict[str, Any]]:
        """The values of the config by section, as the run began; empty if they are not there.

        Raises:
            StoreError: they cannot be read.
        """
        try:
            return _values(self.folder.read("config.resolved.json")[0])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.DecodeError, KeyError, TypeError) as error:
            raise StoreError(
                f"cannot read {self.folder}: config.resolved.json is unreadable: {error}"
            ) from error

    def secret(self) -> bytes:
        """The secret of this run.

        Raises:
            StoreError: it is lost.
        """
        if self.info.secret is not None:
            return bytes.fromhex(self.info.secret)
        try:
            return bytes.fromhex(self.folder.read(SECRET)[0].decode())
        except (OSError, ValueError) as error:
            raise StoreError(
                f"the secret of {self.folder} is unreadable, so it cannot go on: {error}"
            ) from error

    def package(self, digest: str) -> bytes:
        """The packed package of a bot.

        Raises:
            StoreError: it is not there.
        """
        try:
            return self.folder.read(f"{PACKAGES}/{digest}")[0]
        except OSError as error:
            raise StoreError(
                f"the bot's package is not in {self.folder}: name it with --bot"
            ) from error

    @property
    def heartbeat(self) -> heartbeat.Heartbeat | None:
        """The last sign of life of the run's driver, None if it gave none."""
        return heartbeat.read(self.folder)

    @property
    def silent_since(self) -> str | None:
        """When a run that should be running was last heard of, if that is too long ago; or None."""
        if self.info.status != "running":
            return None
        pulse = self.heartbeat
        last = max(self.info.updated, pulse.at if pulse else "")
        return last if heartbeat.seconds_since(last) > heartbeat.SILENT_SECONDS else None

    def commits(self) -> list[journal.Commit]:
        """What is committed; each commit names a segment, and a segment holds whole groups.

        Raises:
            StoreError: the journal cannot be read.
        """
        try:
            return journal.read(self.folder)
        except OSError as error:
            raise StoreError(f"cannot read the journal of {self.folder}: {error}") from error

    def scan(self, table: str, groups: tuple[int, int] | None = None) -> pl.LazyFrame:
        """A table's committed rows: `matches`, `seats`, `faults` or `bots`; columns as declared.

        Collect it within a minute: a running run merges segments and drops the small ones.

        Args:
            table: its name in `records.SCHEMAS`.
            groups: only the rows of these, as a half-open range; few files are opened then.

        Raises:
            StoreError: a file is gone or torn, or a line of the journal is.
        """
        if table == "bots":
            return self._scan(["bots.parquet"], "the run's bots are not known without it")
        if groups is None:
            return self.rows(table, self.commits())
        return self.rows(table, self._holding(groups), self._inside(groups))

    def read(self, table: str, groups: tuple[int, int]) -> pl.DataFrame:
        """A table's committed rows of these groups, a half-open range of few.

        Raises:
            StoreError: a file is damaged, be it in its middle, which a scan finds when collected.
        """
        parts = []
        for commit in self._holding(groups):
            try:
                parts.append(self.rows(table, [commit], self._inside(groups)).collect())
            except PolarsError as error:
                if is_of_storage(error):
                    raise
                path = f"{self.folder}/{segments.path(table, commit.segment)}"
                raise StoreError(
                    f"{path} is damaged ({_first(error)}); {LOST}: {RESTORE}"
                ) from error
        return pl.concat(parts) if parts else frame(table, [])

    def match(self, number: int) -> pl.DataFrame:
        """The committed row of a match, none if there is no such match; twice in a damaged run.

        Raises:
            StoreError: a file is damaged.
        """
        # Wider numbers do not fit the column they are compared with.
        if not 0 <= number < 1 << 63:
            return frame("matches", [])
        group = number // self.info.seats
        return self.read("matches", (group, group + 1)).filter(pl.col("match") == number)

    def _holding(self, groups: tuple[int, int]) -> list[journal.Commit]:
        first, stop = groups
        return [one for one in self.commits() if ranges.contains(one.groups, first, stop - 1)]

    def _inside(self, groups: tuple[int, int]) -> pl.Expr:
        first, stop = (group * self.info.seats for group in groups)
        return pl.col("match").is_between(first, stop, closed="left")

    def rows(
        self, table: str, commits: Iterable[journal.Commit], wanted: pl.Expr | None = None
    ) -> pl.LazyFrame:
        """The rows of these commits, or those of them that are wanted; columns as declared.

        Raises:
            StoreError: a committed file is gone or torn, or another version of us wrote it
                otherwise.
        """
        if self.info.schema != SCHEMA_VERSION:
            raise StoreError(
                f"{self.folder} was written by tourney {self.info.tourney} with records of form "
                f"{self.info.schema}; this one reads form {SCHEMA_VERSION}: use that version"
            )
        names = [commit.segment for commit in commits]
        try:
            paths = segments.present(self.folder, table, names)
        except OSError as error:
            raise StoreError(f"cannot read {self.folder}: {error}") from error
        if table not in segments.RARE_TABLES and len(paths) < len(names):
            lost = next(name for name in names if segments.path(table, name) not in paths)
            raise StoreError(
                f"{self.folder}/{segments.path(table, lost)} is named in the journal but missing: "
                f"the run is damaged; {LOST}: {RESTORE}"
            )
        if not paths:
            return frame(table, []).lazy()
        rows = self._scan(paths, LOST)
        try:
            # Chosen before they are unpacked, which costs more than finding them.
            return codec.unpack(rows if wanted is None else rows.filter(wanted), table)
        except (OSError, PolarsError) as error:
            raise StoreError(f"cannot read {self.folder}/{paths[0]}: {_first(error)}") from error

    def _scan(self, paths: Sequence[str], lost: str) -> pl.LazyFrame:
        """Rows of these files; `lost` says what is lost with one of them.

        Raises:
            StoreError: one is gone, torn or cannot be read.
        """
        try:
            return self.folder.scan(paths)
        except Damaged as error:
            raise StoreError(f"{error}; {lost}: {RESTORE}") from error
        except (OSError, PolarsError) as error:
            raise StoreError(f"cannot read {self.folder}: {error}") from error

    def stamp(self) -> tuple[str, str]:
        """Changes whenever the run's visible content does; cheap.

        Raises:
            StoreError: the storage refuses.
        """
        try:
            return self.folder.version(INFO), self.folder.version(journal.FILE)
        except OSError as error:
            raise StoreError(f"cannot read {self.folder}: {error}") from error


def _values(data: bytes) -> dict[str, dict[str, Any]]:
    values: dict[str, dict[str, Any]] = msgspec.json.decode(data)["values"]
    return values


def _first(error: Exception) -> str:
    return str(error).partition("\n")[0]


def look(results: Location) -> tuple[list[RunReader], dict[str, StoreError]]:
    """The runs at a place, which may itself be one: those that can be read, and names of others.

    Raises:
        StoreError: the place cannot be read.
    """
    storage = storage_at(results)
    try:
        return [RunReader(storage)], {}
    except NoRun:
        pass
    names = _names(storage)
    with ThreadPoolExecutor(LOOKERS) as pool:
        found = list(pool.map(_opened, [storage.child(name) for name in names]))
    damaged = {name: one for name, one in zip(names, found, strict=True)
               if isinstance(one, StoreError)}  # fmt: skip
    return [one for one in found if isinstance(one, RunReader)], damaged


def _opened(folder: Storage) -> RunReader | StoreError | None:
    try:
        return RunReader(folder)
    except NoRun:
        return None
    except StoreError as error:
        return error


def run_called(results: Location, name: str) -> RunReader:
    """The run of this name at a place, which may itself be that run.

    Raises:
        NoRun: there is none.
        StoreError: it cannot be read.
    """
    storage = storage_at(results)
    # Compared with names that are there, so that no text from outside becomes a path.
    if name in _names(storage):
        with suppress(NoRun):
            return RunReader(storage.child(name))
    own = RunReader(storage)
    if own.folder.name != name:
        raise NoRun(f"there is no run called {name!r} in {storage}")
    return own


def _names(storage: Storage) -> list[str]:
    try:
        return sorted(storage.names())
    except OSError as error:
        raise StoreError(f"cannot read {storage}: {error}") from error


def list_runs(results: Location) -> list[RunReader]:
    """Readable runs in `results`, newest first; `results` may itself be a run.

    Raises:
        StoreError: the place cannot be read.
    """
    found, _ = look(results)
    return sorted(found, key=lambda run: (run.info.started, run.info.id), reverse=True)


def find_run(where: Location) -> RunReader:
    """The run at `where`: its folder, or the newest one in a folder of runs.

    Raises:
        StoreError: there is none.
    """
    runs = list_runs(where)
    if not runs:
        raise StoreError(f"no run in {storage_at(where)}: start one with `tourney run CONFIG`")
    return runs[0]
