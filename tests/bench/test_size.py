"""What a run of 10^6 matches takes on disk, with its moves and without, and how fast one is opened.

Dam matches of two seats are played by the rules with small policies in this process. The real
store then keeps them, commit by commit, until there are a million: no row group repeats a match, so
that nothing is compressed that a real run would not offer.
"""

import math
import random
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from tests.bench.fake_cluster import SEATS, Template
from tests.unit.dashboard.synthetic import make_run
from tests.unit.store.test_store import create
from tourney import records
from tourney.store import RunReader, codec, storage_at, writer
from tourney.store.writer import ROW_GROUP

pytestmark = [pytest.mark.bench, pytest.mark.timeout(3000)]

MATCHES = 1_000_000
OPENED = 40
COMMITTED = 500
"""Groups a commit; the compactor makes of several what it wants."""

THINKING = {
    # Median and spread of log-normal times in microseconds; the bar of bytes a match.
    "bots that answer at once": (20.0, 0.5, 400),
    "bots that think": (10_000.0, 1.0, 400),
    "without moves": (None, 0.5, 120),
}


class Played(Template):
    """As many real matches as a row group holds, to be renumbered."""

    def __init__(self, folder: Path, median: float | None, spread: float) -> None:
        deals = ROW_GROUP // SEATS // 6 + 1
        make_run(folder, deals=deals, finish=False).close()
        reader = RunReader(folder)
        matches = reader.scan("matches").sort("match").head(ROW_GROUP).collect()
        seats = reader.scan("seats").sort("match", "seat").head(ROW_GROUP * SEATS).collect()
        rng = np.random.default_rng(1)
        nothing: list[list[Any]] = [[]] * ROW_GROUP
        think = nothing if median is None else [
            (np.array(old, bool) * rng.lognormal(math.log(median), spread, len(old))).astype(int)
            for old in matches["think_us"].to_list()
        ]  # fmt: skip
        matches = matches.with_columns(
            pl.Series("notes", nothing, matches.schema["notes"]),
            pl.Series("think_us", think, pl.List(pl.UInt32)),
        )
        if median is None:
            matches = matches.with_columns(pl.Series("actions", nothing, pl.List(pl.String)))
        self._matches = codec.pack(matches)
        self._seats = seats.with_columns(
            pl.Series("think_ms_total", rng.lognormal(0, spread, len(seats)), pl.Float32),
            pl.Series("think_ms_max", rng.lognormal(0, spread, len(seats)), pl.Float32),
        )
        self._none = {name: records.frame(name, []) for name in ("faults", "logs")}

    def tables(self, groups: tuple[int, ...]) -> Mapping[str, pl.DataFrame]:
        """Rows for these groups: the match with a number is always the same one."""
        number = np.repeat(np.array(groups, np.uint64) * SEATS, SEATS)
        number += np.tile(np.arange(SEATS, dtype=np.uint64), len(groups))
        row = (number % ROW_GROUP).astype(np.uint32)
        seat_row = np.repeat(row * SEATS, SEATS) + np.tile(
            np.arange(SEATS, dtype=np.uint32), len(row)
        )
        by_seat = np.repeat(number, SEATS)
        return {
            "matches": self._matches[row].with_columns(match=number, group=number // SEATS),
            "seats": self._seats[seat_row].with_columns(match=by_seat, group=by_seat // SEATS),
            **self._none,
        }


def _spread(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Each number's first, second ... of as many as there are seats."""
    seat = np.tile(np.arange(SEATS, dtype=np.uint64), len(numbers))
    return np.repeat(numbers * SEATS, SEATS) + seat


def opening(where: Any) -> list[float]:
    """Milliseconds to find single matches, each with nothing known but the run's place."""
    taken = []
    numbers = random.Random(3)
    for _ in range(OPENED):
        match = numbers.randrange(MATCHES)
        begin = time.perf_counter()
        rows = RunReader(where).scan("matches", (match // SEATS, match // SEATS + 1))
        found = rows.filter(pl.col("match") == match).collect()
        taken.append((time.perf_counter() - begin) * 1000)
        assert found["match"].to_list() == [match]
        assert len(found["actions"][0]) > 100
    return sorted(taken)


@pytest.mark.parametrize("kind", THINKING)
def test_a_million_matches_on_disk(
    kind: str, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    median, spread, most = THINKING[kind]
    template = Played(tmp_path / "played", median, spread)
    folder = tmp_path / "r"
    run = create(folder)
    for first in range(0, MATCHES // SEATS, COMMITTED):
        groups = tuple(range(first, first + COMMITTED))
        run.commit(groups, template.tables(groups), 0.0)
    # It takes a minute and writes nothing.
    monkeypatch.setattr(writer, "games_digest", lambda *_: "")
    run.finish()
    run.close()
    each = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / MATCHES
    print(f"\n{kind}: {each:.0f} bytes a match, in {len(run.commits)} segments")
    assert most is None or each < most
    if median is None:
        return
    here = opening(folder)
    remote = storage_at(f"{place}/r")
    for path in (path for path in folder.rglob("*") if path.is_file()):
        remote.write(str(path.relative_to(folder)), path.read_bytes())
    there = opening(remote)
    for where, taken in (("the disk", here), ("an S3 server here", there)):
        print(f"one match from {where}: {taken[OPENED // 2]:.0f} ms, slowest {taken[-1]:.0f} ms")
