"""How two wide columns of `matches` lie on disk and travel: 2 kB a match would else be 500 bytes.

`actions` are words of a small vocabulary: a list of categories, which Parquet writes as a
dictionary and any tool reads as text. `think_us` is a number for each action, kept to five
significant bits, which is within 1/32, and mostly in one byte: the exact microseconds of a bot that
thinks are 15 bits of noise each, and were two thirds of a run's size. Totals and maxima in `seats`
are exact. Everything else is stored as `records` declares it.

A number below 32 is its own code. Any other is m times 2 to the d, with m from 16 to 31, and its
code is 16 d + m. A code below 255 is one byte; any other the byte 255 and what exceeds it.
"""

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl

from tourney.records import SCHEMAS

__all__ = ("THINK_ERROR", "pack", "unpack")

PACKED_ACTIONS = pl.List(pl.Categorical)
PACKED_THINK = pl.Binary()
BITS = 5
"""Significant bits of a number that are kept."""

HALF = 1 << (BITS - 1)
ESCAPE = 255
LARGEST_CODE = (32 - BITS) * HALF + 2 * HALF - 1
"""Of the 32-bit numbers."""

THINK_ERROR = 1 / (2 * HALF)
"""Relative error of a number that comes back, at the most."""


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
    codes = _codes(lists.explode(empty_as_null=False).to_numpy().astype(np.int64))
    is_long = codes >= ESCAPE
    stops = _stops(1 + is_long)
    data = np.empty(stops[-1], np.uint8)
    data[stops[:-1]] = np.minimum(codes, ESCAPE)
    data[stops[:-1][is_long] + 1] = codes[is_long] - ESCAPE
    whole = data.tobytes()
    cuts = stops[_stops(lists.list.len().to_numpy())].tolist()
    return pl.Series(lists.name, [whole[a:b] for a, b in pairwise(cuts)], PACKED_THINK)


def _unpack_numbers(packed: pl.Series) -> pl.Series:
    rows = packed.to_list()
    data = np.frombuffer(b"".join(rows), np.uint8)
    # What follows the byte 255 is never 255 itself.
    starts = np.flatnonzero(np.append(True, data[:-1] != ESCAPE)[: len(data)])
    codes = data[starts].astype(np.int64)
    is_long = codes == ESCAPE
    codes[is_long] += data[starts[is_long] + 1]
    values = _numbers(codes)
    ends = np.searchsorted(starts, _stops(np.array([len(row) for row in rows], np.int64)))
    row = np.repeat(np.arange(len(rows), dtype=np.uint32), np.diff(ends))
    # A key known to be sorted is grouped without hashing; rows without a number come back as null.
    flat = pl.DataFrame({"row": pl.Series(row).set_sorted(), "value": values.astype(np.uint32)})
    lists = flat.group_by("row", maintain_order=True).agg("value")
    every = pl.DataFrame({"row": np.arange(len(rows), dtype=np.uint32)})
    filled = every.join(lists, on="row", how="left", maintain_order="left")["value"].fill_null([])
    return filled.alias(packed.name)


def _codes(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    dropped = np.maximum(np.frexp(numbers)[1] - BITS, 0).astype(np.int64)
    kept = (numbers + (np.int64(1) << dropped >> 1)) >> dropped
    # Rounded up to the next power of two, a number has the code of that power.
    codes: npt.NDArray[np.int64] = np.minimum(dropped * HALF + kept, LARGEST_CODE)
    return codes


def _numbers(codes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    dropped = np.maximum(codes // HALF - 1, 0)
    numbers: npt.NDArray[np.int64] = (codes - dropped * HALF) << dropped
    return numbers


def _stops(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Where each piece starts, and where the last one ends."""
    stops: npt.NDArray[np.int64] = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    return stops
