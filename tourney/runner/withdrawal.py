"""Which bots are taken out of a run: those that fault in match after match. Pure."""

from collections.abc import Mapping

import polars as pl

from tourney.protocol.faults import FINISHED

__all__ = ("FaultStreaks",)


class FaultStreaks:
    """Counts each bot's matches in a row that ended with a fault, as matches come in."""

    def __init__(self, limit: int, before: Mapping[str, int] | None = None) -> None:
        """Count up to `limit`, going on from `before`; 0 never withdraws."""
        self._limit = limit
        self._streaks = dict(before or {})

    @property
    def counts(self) -> dict[str, int]:
        """The streak of each bot that has one."""
        return dict(self._streaks)

    def add(self, seats: pl.DataFrame) -> dict[str, str]:
        """Take rows of `seats`, later ones than before.

        Returns:
            the bots over the limit, with the reason.
        """
        if not self._limit:
            return {}
        if not self._streaks and (seats["outcome"] == FINISHED).all():
            return {}
        over: dict[str, str] = {}
        rows = seats.sort("match", "seat").select("bot", "outcome", "match")
        for bot, outcome, match in rows.iter_rows():
            if outcome == FINISHED:
                self._streaks.pop(bot, None)
                continue
            self._streaks[bot] = self._streaks.get(bot, 0) + 1
            if self._streaks[bot] >= self._limit:
                over[bot] = f"{self._streaks[bot]} faults in a row, the last in match {match}"
        return over
