"""Results of other programs as rows that can be rated: ranks a match as CSV, and PGN.

Text in, frame out. The rows have the columns that `sketches` reads; where nothing says which
matches share a deal, each is a group of its own.
"""

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

import polars as pl

__all__ = ("from_csv", "from_pgn")

SCHEMA = {"match": pl.UInt64, "group": pl.UInt64, "bot": pl.String, "rank": pl.UInt8}

NEEDED = ("match", "bot", "rank")

TAG = re.compile(r'^\[(\w+)\s+"((?:[^"\\]|\\.)*)"\]\s*$')

POINTS = {"1-0": (1, 2), "0-1": (2, 1), "1/2-1/2": (1, 1)}
"""Ranks of White and Black."""


def from_csv(text: str) -> pl.DataFrame:
    """Rows of `match,bot,rank` with `group` and `score` where there are such columns.

    Raises:
        ValueError: a column is missing, or a row cannot be read; the text names the line.
    """
    reader = csv.DictReader(io.StringIO(text))
    head = [name.strip() for name in reader.fieldnames or ()]
    reader.fieldnames = head
    missing = [name for name in NEEDED if name not in head]
    if missing:
        raise ValueError(f"the first line must name the columns {', '.join(missing)}")
    rows = [_csv_row(reader.line_num, row, head) for row in reader]
    return _numbered(rows, with_score="score" in head)


def _csv_row(line: int, row: dict[str, Any], head: list[str]) -> dict[str, Any]:
    try:
        rank = int(row["rank"])
        if not 1 <= rank <= 255:
            raise ValueError("a rank is a number from 1")
        out = {"match": row["match"], "bot": row["bot"].strip(), "rank": rank}
        out["group"] = row["group"] if "group" in head else row["match"]
        if "score" in head:
            out["score"] = float(row["score"])
        if not out["bot"] or out["match"] is None or out["group"] is None:
            raise ValueError("a cell is empty")
    except (TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"line {line}: {error}") from None
    return out


def from_pgn(text: str) -> pl.DataFrame:
    """Decided and drawn games of a PGN file; unfinished ones (`*`) are left out.

    Games of two bots whose `Round` differs only after its last point, as match programs number the
    games of one opening, are one group.

    Raises:
        ValueError: a game lacks White, Black or Result.
    """
    rows: list[dict[str, Any]] = []
    for number, tags in enumerate(_games(text), 1):
        missing = [tag for tag in ("White", "Black", "Result") if tag not in tags]
        if missing:
            raise ValueError(f"game {number} has no {', '.join(missing)}")
        if tags["Result"] not in POINTS:
            continue
        pair = "+".join(sorted((tags["White"], tags["Black"])))
        opening = tags.get("Round", "?").rpartition(".")[0]
        group = f"{opening}/{pair}" if opening else f"game {number}"
        for side, rank in zip(("White", "Black"), POINTS[tags["Result"]], strict=True):
            rows.append({"match": number, "group": group, "bot": tags[side], "rank": rank})
    return _numbered(rows, with_score=False)


def _games(text: str) -> Iterator[dict[str, str]]:
    """The tags of each game."""
    tags: dict[str, str] = {}
    in_moves = False
    for line in text.splitlines():
        found = TAG.match(line.strip())
        if found:
            if in_moves and tags:
                yield tags
                tags = {}
            in_moves = False
            tags[found[1]] = re.sub(r"\\(.)", r"\1", found[2])
        elif line.strip():
            in_moves = True
    if tags:
        yield tags


def _numbered(rows: list[dict[str, Any]], *, with_score: bool) -> pl.DataFrame:
    """Rows with matches and groups as numbers, in the order in which they came."""
    numbers: dict[str, dict[Any, int]] = {"match": {}, "group": {}}
    for row in rows:
        for name, known in numbers.items():
            row[name] = known.setdefault(row[name], len(known))
    schema = {**SCHEMA, "score": pl.Float64} if with_score else SCHEMA
    return pl.DataFrame(rows, schema=schema, orient="row")
