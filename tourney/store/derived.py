"""Files that are made of a run's rows and may be deleted: no commit depends on one."""

import io
from collections.abc import Mapping

import polars as pl
from polars.exceptions import PolarsError

from tourney.store.storage import Storage, refused

__all__ = ("read_derived", "read_facts", "write_derived")


def read_derived(folder: Storage, name: str) -> pl.DataFrame | None:
    """The derived file `ratings`, `head_to_head`, `seat_effects` or `history`, if there is one.

    One that cannot be read is as good as none.
    """
    try:
        return pl.read_parquet(io.BytesIO(folder.read(f"{name}.parquet")[0]))
    except (OSError, PolarsError):
        return None


def read_facts(folder: Storage, name: str) -> dict[str, str]:
    """What a derived file says besides its rows; nothing of one that cannot be read."""
    try:
        return pl.read_parquet_metadata(io.BytesIO(folder.read(f"{name}.parquet")[0]))
    except (OSError, PolarsError):
        return {}


def write_derived(
    folder: Storage, name: str, rows: pl.DataFrame, facts: Mapping[str, str] | None = None
) -> None:
    """Replace a derived file.

    Args:
        folder: the run's.
        name: of the file, without suffix.
        rows: its table.
        facts: what it says besides.

    Raises:
        StoreError: the disk refuses.
    """
    out = io.BytesIO()
    rows.write_parquet(out, metadata=dict(facts or {}))
    try:
        folder.write(f"{name}.parquet", out.getvalue())
    except OSError as error:
        raise refused(f"cannot write in {folder}", error) from error
