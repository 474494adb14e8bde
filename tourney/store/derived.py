"""Files that are made of a run's rows and may be deleted: no commit depends on one."""

import io

import polars as pl
from polars.exceptions import PolarsError

from tourney.errors import StoreError
from tourney.store.storage import Storage

__all__ = ("read_derived", "write_derived")


def read_derived(folder: Storage, name: str) -> pl.DataFrame | None:
    """The derived file `ratings`, `head_to_head`, `seat_effects` or `history`, if there is one.

    One that cannot be read is as good as none.
    """
    try:
        return pl.read_parquet(io.BytesIO(folder.read(f"{name}.parquet")[0]))
    except (OSError, PolarsError):
        return None


def write_derived(folder: Storage, name: str, rows: pl.DataFrame) -> None:
    """Replace a derived file.

    Raises:
        StoreError: the disk refuses.
    """
    out = io.BytesIO()
    rows.write_parquet(out)
    try:
        folder.write(f"{name}.parquet", out.getvalue())
    except OSError as error:
        raise StoreError(f"cannot write in {folder}: {error}") from error
