"""How two wide columns of `matches` lie on disk and travel: 2 kB a match would else be 500 bytes.

`actions` are words of a small vocabulary: a list of categories, which Parquet writes as a
dictionary and any tool reads as text. `think_us` is a number for each action, most below 128: bytes
of seven bits each, lowest first, the eighth bit set on all but a number's last (LEB128).
Everything else is stored as `records` declares it.
"""

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl

from tourney.records import SCHEMAS

__all__ = ("pack", "unpack")

PACKED_ACTIONS = pl.List(pl.Categorical)
PACKED_THINK = pl.Binary()
MOST_BYTES = 5
"""Bytes of the largest 32-bit number."""


def pack(matches: pl.DataFrame) -> pl.DataFrame:
    """Rows of `matches` in the form of the files; packed rows stay as they are."""
    if matches.schema["think_us"] == PACKED_THINK:
        return matches
    return matches.with_columns(
        pl.col("actions").cast(PACKED_ACTIONS), _pack_numbers(matches["think_us"])
    )


def unpack(rows: pl.LazyFrame, table: str) -> pl.LazyFrame:
    """Rows of a table's file with the columns that `records` declares."""
    rows = rows.select([column.name for column in SCHEMAS[table]])
    if table != "matches" or rows.collect_schema()["think_us"] != PACKED_THINK:
        return rows
    think = pl.col("think_us").map_batches(
        _unpack_numbers, return_dtype=pl.List(pl.UInt32), is_elementwise=True
    )
    return rows.with_columns(pl.col("actions").cast(pl.List(pl.String)), think)


def _pack_numbers(lists: pl.Series) -> pl.Series:
    lists = lists.fill_null([])
    values = lists.explode(empty_as_null=False).to_numpy().astype(np.uint32)
    lengths = np.ones(len(values), np.int64)
    for k in range(1, MOST_BYTES):
        lengths += values >= np.uint64(1 << (7 * k))
    stops = _stops(lengths)
    data = np.empty(stops[-1], np.uint8)
    for k in range(MOST_BYTES):
        long = lengths > k
        more = np.where(lengths[long] > k + 1, 128, 0)
        data[stops[:-1][long] + k] = (values[long] >> np.uint32(7 * k)) & 127 | more
    whole = data.tobytes()
    cuts = stops[_stops(lists.list.len().to_numpy())].tolist()
    return pl.Series(lists.name, [whole[a:b] for a, b in pairwise(cuts)], PACKED_THINK)


def _unpack_numbers(packed: pl.Series) -> pl.Series:
    rows = packed.to_list()
    data = np.frombuffer(b"".join(rows), np.uint8)
    is_last = data < 128
    starts = np.flatnonzero(np.append(True, is_last[:-1])[: len(data)])
    place = np.arange(len(data)) - np.repeat(starts, np.diff(np.append(starts, len(data))))
    parts = (data & 127).astype(np.uint64) << (7 * place).astype(np.uint64)
    values = np.add.reduceat(parts, starts) if len(data) else parts
    ends = _stops(is_last.astype(np.int64))[_stops(np.array([len(row) for row in rows], np.int64))]
    row = np.repeat(np.arange(len(rows), dtype=np.uint32), np.diff(ends))
    # A key known to be sorted is grouped without hashing; rows without a number come back as null.
    flat = pl.DataFrame({"row": pl.Series(row).set_sorted(), "value": values.astype(np.uint32)})
    lists = flat.group_by("row", maintain_order=True).agg("value")
    every = pl.DataFrame({"row": np.arange(len(rows), dtype=np.uint32)})
    filled = every.join(lists, on="row", how="left", maintain_order="left")["value"].fill_null([])
    return filled.alias(packed.name)


def _stops(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Where each piece starts, and where the last one ends."""
    stops: npt.NDArray[np.int64] = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    return stops
