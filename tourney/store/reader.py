"""Read runs. Only committed rows are seen; nothing is ever written or started."""

from collections.abc import Iterable
from pathlib import Path

import msgspec
import polars as pl

from tourney.errors import StoreError
from tourney.records import frame
from tourney.store import codec, heartbeat, journal, ranges
from tourney.store.info import RunInfo

__all__ = ("RunReader", "find_run", "list_runs")


class RunReader:
    """One run's folder."""

    def __init__(self, folder: Path) -> None:
        """Open `folder`.

        Raises:
            StoreError: it holds no readable run.
        """
        self.folder = folder
        self.info = self._read_info()

    def _read_info(self) -> RunInfo:
        path = self.folder / "run.json"
        try:
            return msgspec.json.decode(path.read_bytes(), type=RunInfo)
        except FileNotFoundError:
            raise StoreError(
                f"{self.folder} is not a run: it has no run.json (give a folder that "
                "`tourney run` made, or one that holds such folders)"
            ) from None
        except (OSError, msgspec.DecodeError) as error:
            raise StoreError(f"cannot read {path}: {error}") from error

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
        """What is committed; each commit names a segment, and a segment holds whole groups."""
        return journal.read(self.folder)

    def scan(self, table: str, groups: tuple[int, int] | None = None) -> pl.LazyFrame:
        """A table's committed rows: `matches`, `seats`, `faults` or `bots`; columns as declared.

        Collect it within a minute: a running run merges segments and drops the small ones.

        Args:
            table: its name in `records.SCHEMAS`.
            groups: only the rows of these, as a half-open range; few files are opened then.

        Raises:
            StoreError: a committed file is gone.
        """
        if table == "bots":
            return pl.scan_parquet(self._present([self.folder / "bots.parquet"]), glob=False)
        if groups is None:
            return self.rows(table, self.commits())
        first, stop = groups
        held = [one for one in self.commits() if ranges.contains(one.groups, first, stop - 1)]
        wanted = pl.col("match").is_between(
            first * self.info.seats, stop * self.info.seats, closed="left"
        )
        return self.rows(table, held).filter(wanted)

    def rows(self, table: str, commits: Iterable[journal.Commit]) -> pl.LazyFrame:
        """The rows of these commits; columns as declared.

        Raises:
            StoreError: a committed file is gone.
        """
        paths = [self.folder / table / f"{commit.segment}.parquet" for commit in commits]
        if table in {"faults", "logs"}:
            # Most commits have none, and then no file.
            paths = [path for path in paths if path.exists()]
        if not paths:
            return frame(table, []).lazy()
        return codec.unpack(pl.scan_parquet(self._present(paths), glob=False), table)

    @staticmethod
    def _present(paths: list[Path]) -> list[Path]:
        lost = [path for path in paths if not path.exists()]
        if lost:
            raise StoreError(f"{lost[0]} is named in the journal but missing: the run is damaged")
        return paths

    def stamp(self) -> tuple[int, int]:
        """Changes whenever the run's visible content does; cheap."""
        sizes = []
        for name in ("run.json", journal.FILE):
            try:
                status = (self.folder / name).stat()
            except FileNotFoundError:
                sizes.append(0)
            else:
                sizes.append(status.st_mtime_ns ^ status.st_size)
        return sizes[0], sizes[1]


def list_runs(results: Path) -> list[RunReader]:
    """Readable runs in `results`, newest first; `results` may itself be a run."""
    if (results / "run.json").exists():
        return [RunReader(results)]
    found = []
    for path in results.glob("*/run.json"):
        try:
            found.append(RunReader(path.parent))
        except StoreError:
            continue
    return sorted(found, key=lambda run: (run.info.started, run.info.id), reverse=True)


def find_run(where: Path) -> RunReader:
    """The run at `where`: its folder, or the newest one in a folder of runs.

    Raises:
        StoreError: there is none.
    """
    runs = list_runs(where)
    if not runs:
        raise StoreError(f"no run in {where}: start one with `tourney run CONFIG`")
    return runs[0]
