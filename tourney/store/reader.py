"""Read runs. Only committed rows are seen; nothing is ever written or started."""

from pathlib import Path

import msgspec
import polars as pl

from tourney.errors import StoreError
from tourney.records import SCHEMAS
from tourney.store import journal
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

    def scan(self, table: str) -> pl.LazyFrame:
        """A table's committed rows: `matches`, `seats`, `faults` or `bots`; columns as declared.

        Raises:
            StoreError: a committed file is gone.
        """
        schema = {column.name: column.dtype for column in SCHEMAS[table]}
        if table == "bots":
            paths = [self.folder / "bots.parquet"]
        else:
            segments = [commit.segment for commit in journal.read(self.folder)]
            paths = [self.folder / table / f"{name}.parquet" for name in segments]
            if table in {"faults", "logs"}:
                # Most commits have none, and then no file.
                paths = [path for path in paths if path.exists()]
        lost = [path for path in paths if not path.exists()]
        if lost:
            raise StoreError(f"{lost[0]} is named in the journal but missing: the run is damaged")
        if not paths:
            return pl.LazyFrame(schema=schema)
        return pl.scan_parquet(paths, glob=False).select(list(schema))

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
