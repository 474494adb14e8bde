"""Draws a run's rounds from what is committed, and keeps each before it is played.

A round is drawn when all rows of the rounds before it are committed, and from nothing else: the
same on one worker or many, and after a stop at any moment. Bots that fault again and again are
taken out between rounds, by the order of matches and not of arrival.
"""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np
import polars as pl

from tourney.errors import StoreError
from tourney.ratings import Model, Sketch, StopRule, add_sketches, outlook, rate, sketches
from tourney.ratings.scores import WIN_UNIT
from tourney.runner.withdrawal import FaultStreaks
from tourney.schedule.draws import Known, Result, Round
from tourney.schedule.rounds import Rounds
from tourney.store import RunInfo, RunReader, RunWriter
from tourney.store.info import PlaceInfo
from tourney.store.rounds import RoundBook

__all__ = ("RoundKeeper", "known_from", "table_results")

Results = dict[int, dict[int, dict[str, tuple[int, int]]]]
"""By round, table and bot."""


class RoundKeeper:
    """The rounds of one run."""

    def __init__(
        self,
        schedule: Rounds,
        writer: RunWriter,
        *,
        headline: Model,
        withdraw_after: int = 0,
        rule: StopRule | None = None,
    ) -> None:
        """Take up the rounds that the run has, and the results that are committed.

        Args:
            schedule: of the run, without a round yet.
            writer: the run's folder.
            headline: what the game ranks bots by.
            withdraw_after: faults in a row that take a bot out; 0 for never.
            rule: what the run waits for, which says what is undecided.

        Raises:
            StoreError: the folder cannot be read.
        """
        self.schedule = schedule
        self._info: RunInfo = writer.info
        self._book = RoundBook(writer.folder, Round)
        self._headline = headline
        self._rule = rule or StopRule()
        self._results: Results = {}
        self._sums: tuple[Sketch, ...] = ()
        self._outcomes: list[pl.DataFrame] = []
        for drawn in self._book.rounds:
            schedule.add(drawn)
        before: Mapping[str, int] = {}
        if self._book.rounds:
            last = self._book.rounds[-1]
            before = last.streaks
            # A crash may have come between the round and run.json.
            gone = dict.fromkeys(last.withdrawn, "faults in a row")
            writer.info.withdrawn = {**gone, **writer.info.withdrawn}
        self._streaks = FaultStreaks(withdraw_after, before)
        reader = RunReader(writer.folder)
        for commit in writer.commits:
            self.add(reader.rows("seats", [commit]).collect())
        for number in range(len(schedule.rounds) - 1):
            schedule.take(self._of_round(number))

    def add(self, seats: pl.DataFrame) -> None:
        """Count committed rows of the table `seats`, which hold whole groups."""
        if self.schedule.needs_estimates:
            self._sums = add_sketches(self._sums, sketches(seats))
        else:
            table_results(self.schedule, seats, self._headline, self._results)
        ours = seats.filter(pl.col("group") >= self.schedule.rounds[-1].first)
        self._outcomes.append(ours.select("match", "seat", "bot", "outcome"))

    def next(self) -> Round | None:
        """Draw the next round and keep it, all groups so far being committed.

        Returns:
            None when the tournament is over.

        Raises:
            StoreError: the storage refuses.
        """
        if self.schedule.rounds:
            self._withdraw()
            self.schedule.take(self._of_round(len(self.schedule.rounds) - 1))
        known = None
        if self.schedule.needs_estimates:
            known = known_from(self._sums, self._rule, self._headline)
        drawn = self.schedule.draw(tuple(self._info.withdrawn), self._streaks.counts, known)
        if drawn is not None:
            self._book.append(drawn)
            self.schedule.add(drawn)
        info, counts = self._info, self._info.counts
        info.places = [PlaceInfo(one.bot, one.seats, one.what) for one in self.schedule.places()]
        counts.rounds = len(self.schedule.rounds)
        counts.groups_total, counts.matches_total = self.schedule.groups, self.schedule.matches
        return drawn

    def _withdraw(self) -> None:
        if self._outcomes:
            info = self._info
            for bot, reason in self._streaks.add(pl.concat(self._outcomes)).items():
                info.withdrawn = {bot: reason, **info.withdrawn}
        self._outcomes.clear()

    def _of_round(self, number: int) -> list[Result]:
        """The result of each table; a round's results are asked for once."""
        if self.schedule.needs_estimates:
            return []
        by_table = self._results.pop(number, {})
        tables = range(len(self.schedule.rounds[number].tables))
        if not all(table in by_table for table in tables):
            raise StoreError(
                f"round {number + 1} lacks rows of a table that the journal says is committed: "
                "the run is damaged"
            )
        return [by_table[table] for table in tables]


def table_results(schedule: Rounds, seats: pl.DataFrame, headline: Model, into: Results) -> None:
    """Add up what each bot took at its table in each round.

    Args:
        schedule: with the rounds that the rows are of.
        seats: rows of whole groups.
        headline: what comes first: `win`, shares of wins in 1/840, or `placement`, the others that
            one finished ahead of in halves.
        into: what was added up before.
    """
    rank, count, equals = pl.col("rank").cast(pl.Int64), pl.col("seats"), pl.col("equals")
    taken = (
        seats.lazy()
        .with_columns(
            seats=pl.len().over("match").cast(pl.Int64),
            equals=pl.len().over("match", "rank").cast(pl.Int64),
        )
        .with_columns(
            win=(pl.col("win") * WIN_UNIT).round().cast(pl.Int64),
            ahead=2 * (count - rank - equals + 1) + equals - 1,
        )
        .group_by("group", "bot")
        .agg(pl.col("win").sum(), pl.col("ahead").sum())
        .collect()
    )
    firsts = np.array([one.first for one in schedule.rounds], dtype=np.int64)
    tables = np.array([len(one.tables) for one in schedule.rounds], dtype=np.int64)
    groups = taken["group"].to_numpy().astype(np.int64)
    places = np.searchsorted(firsts, groups, side="right") - 1
    sums = (
        taken.with_columns(
            round=pl.Series(places), table=pl.Series((groups - firsts[places]) % tables[places])
        )
        .group_by("round", "table", "bot")
        .agg(pl.col("win").sum(), pl.col("ahead").sum())
    )
    order = ("win", "ahead") if headline == "win" else ("ahead", "win")
    for number, table, bot, most, next_most in sums.select(
        "round", "table", "bot", *order
    ).iter_rows():
        own = into.setdefault(number, defaultdict(dict))[table]
        before = own.get(bot, (0, 0))
        own[bot] = (before[0] + most, before[1] + next_most)


def known_from(sums: tuple[Sketch, ...], rule: StopRule, headline: Model) -> Known | None:
    """What adaptive tables are chosen by; None while bots are not linked or errors unknown."""
    if not any(one.rows.height for one in sums):
        return None
    tables = rate(*sums)
    estimates = tables[0].by(headline)
    if len(tables) > 1 or estimates.spread is None:
        return None
    pairs = outlook(sums, rule, headline=headline).neighbours
    return Known(
        estimates.bots,
        estimates.strengths,
        estimates.spread,
        headline == "win",
        tuple((pair.bot, pair.other) for pair in pairs if pair.verdict == "open"),
    )
