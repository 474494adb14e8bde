"""What is derived from a run's rows, as files beside them: ratings, pairs, seats and history.

Written by the runner as it goes, for readers that want no rows. No row holds the history; the rest
is made of them, and all may be deleted: a damaged one is as good as none.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import polars as pl

from tourney import __version__
from tourney.ratings import Report, Sums, effects_of, facts_of, head_to_head
from tourney.store import RunWriter
from tourney.store.derived import read_derived, write_derived

__all__ = ("HISTORY_POINTS", "Snapshots", "thinned")

HISTORY_POINTS = 240
"""A history has no more points than this: it is thinned to half of them when it is full."""

HISTORY = ("bot", "rating", "rating_low", "rating_high", "placement_rating", "win_rating")
"""What a point of the history keeps of a bot's line."""


class Snapshots:
    """Writes the derived files of one run."""

    def __init__(self, writer: RunWriter) -> None:
        """Go on with the history that is there, up to what is committed."""
        self._writer = writer
        self._points: list[list[dict[str, Any]]] = []
        known = read_derived(writer.folder, "history")
        if known is not None and set(HISTORY) < set(known.columns):
            within = known.filter(pl.col("matches") <= writer.info.counts.matches)
            self._points = [
                part.to_dicts() for part in within.partition_by("matches", maintain_order=True)
            ]
        self._spacing = _spacing(self._points)

    def write(self, report: Report, sums: Sums) -> None:
        """Replace all four by what is known now.

        Args:
            report: the leaderboard.
            sums: what it was made of.

        Raises:
            StoreError: the disk refuses.
        """
        pairs = head_to_head(sums.sketches)
        seats = [
            {"seats": one.seats, **msgspec.structs.asdict(effect)}
            for one in sums.seats
            for effect in effects_of(one)
        ]
        facts = {
            **facts_of(report),
            "committed": str(self._writer.info.counts.matches),
            "tourney": __version__,
        }
        self._save("ratings", map(msgspec.structs.asdict, report.standings), facts)
        for name, rows in (
            ("head_to_head", [msgspec.structs.asdict(pair) for pair in pairs]),
            ("seat_effects", seats),
            ("history", [row for point in self._points for row in point]),
        ):
            self._save(name, rows)

    def _save(
        self, name: str, rows: Iterable[dict[str, Any]], facts: Mapping[str, str] | None = None
    ) -> None:
        table = pl.DataFrame(list(rows), infer_schema_length=None)
        write_derived(self._writer.folder, name, table, facts)

    def remember(self, report: Report, matches: int, seconds: float) -> None:
        """Make the leaderboard a point of the history.

        Args:
            report: the leaderboard.
            matches: in it.
            seconds: of play so far.
        """
        point = {"matches": matches, "seconds": round(seconds, 1)}
        rows = [
            {**point, **{name: getattr(line, name) for name in HISTORY}}
            for line in report.standings
        ]
        seen = [one[0]["matches"] for one in self._points[-2:]]
        # Too near to the one before, or the same: the newest takes the last one's place.
        if seen and (seen[-1] == matches or seen[-1] - seen[0] < self._spacing * (len(seen) - 1)):
            self._points.pop()
        self._points.append(rows)
        if len(self._points) > HISTORY_POINTS:
            self._points = thinned(self._points)
            self._spacing = _spacing(self._points)


def _spacing(points: Sequence[Sequence[Mapping[str, Any]]]) -> int:
    """Matches between two points of a history that was thinned; 0 while it never was."""
    if len(points) <= HISTORY_POINTS // 2:
        return 0
    return int(points[-1][0]["matches"] - points[0][0]["matches"]) // len(points)


def thinned(points: Sequence[list[dict[str, Any]]]) -> list[list[dict[str, Any]]]:
    """Every second point, and always the first and the last."""
    kept = list(points[:-1:2])
    return [*kept, points[-1]]
