"""From runs' folders to the values that are shown; kept until a run's content changes.

Reads only committed rows through the store. A damaged run is an error of that run alone.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import msgspec
import polars as pl

from tourney.dashboard.replays import Record, Recorded
from tourney.dashboard.values import (
    Absent,
    BotRow,
    FaultCount,
    FaultPage,
    FaultRow,
    MatchPage,
    MatchRow,
    Ratings,
    RunDetail,
    RunList,
    RunSummary,
)
from tourney.errors import StoreError, TourneyError
from tourney.games.registry import make_game
from tourney.protocol.faults import FAULT_KINDS
from tourney.ratings import Model
from tourney.reports import PANELS, Evidence, Panel, PanelName, panel, report_of
from tourney.reports.places import place_lines
from tourney.store import Location, NoRun, RunReader, look, run_called, storage_at
from tourney.store.storage import is_of_storage

__all__ = ("PAGE_SIZE", "Library")

PAGE_SIZE = 50

CACHE_ENTRIES = 64
"""Values are small beside a run; this many keep every page of a few runs warm."""

T = TypeVar("T")


class Library:
    """The runs at a place, which may also be one run's own."""

    def __init__(self, results: Location) -> None:
        """Nothing is looked at before somebody asks."""
        self.results = storage_at(results)
        self._cache: OrderedDict[tuple[Any, ...], tuple[Any, Any]] = OrderedDict()
        self._lock = threading.RLock()

    def runs(self) -> RunList:
        """Every run: the sound ones newest first, then those that cannot be read."""
        readers, problems = look(self.results)
        sound = [_summary(reader) for reader in readers]
        damaged = [
            RunSummary(id=name, problem=self.told(error)) for name, error in problems.items()
        ]
        sound.sort(key=lambda run: (run.started, run.id), reverse=True)
        damaged.sort(key=lambda run: run.id)
        return RunList(runs=(*sound, *damaged))

    def told(self, error: TourneyError) -> str:
        """An error's text for readers, who need no path of the server."""
        return str(error).replace(f"{self.results}/", "")

    def open(self, run: str) -> RunReader:
        """The run whose folder has this name.

        Raises:
            Absent: there is none.
            StoreError: it cannot be read.
        """
        try:
            return run_called(self.results, run)
        except NoRun:
            text = f"there is no run called {run!r} in this results folder"
            raise Absent(text) from None

    def detail(self, run: str) -> RunDetail:
        """The facts of a run.

        Raises:
            Absent: there is no such run.
            StoreError: it cannot be read.
        """
        reader = self.open(run)
        return self._kept(reader, ("detail",), lambda: _detail(reader))

    def ratings(self, run: str, headline: Model | None = None) -> Ratings:
        """The leaderboard of a run, by its game's own headline unless one is asked for.

        Raises:
            Absent: there is no such run.
            StoreError: it cannot be read.
            PluginError: its game is not installed.
            GameError: its rules are not those of the installed game.
        """
        reader = self.open(run)
        return self._kept(reader, ("ratings", headline), lambda: _ratings(reader, headline))

    def panel(self, run: str, name: PanelName) -> Panel:
        """What else a run's matches say.

        Raises:
            Absent: there is no such run.
            StoreError: it cannot be read.
            PluginError: its game is not installed.
            GameError: its rules are not those of the installed game.
        """
        reader = self.open(run)
        return self._kept(reader, ("panel", name), lambda: panel(Evidence([reader]), name))

    def panels(self, run: str) -> dict[PanelName, Panel]:
        """Every panel; they share what they are made of, which is not kept.

        Raises:
            Absent: there is no such run.
            StoreError: it cannot be read.
            PluginError: its game is not installed.
            GameError: its rules are not those of the installed game.
        """
        reader = self.open(run)
        evidence = Evidence([reader])

        def one(name: PanelName) -> Panel:
            return self._kept(reader, ("panel", name), lambda: panel(evidence, name))

        return {name: one(name) for name in PANELS}

    def matches(self, run: str, *, bot: str = "", page: int = 1) -> MatchPage:
        """One page of a run's matches, those of `bot` if one is named.

        Raises:
            Absent: there is no such run or page, or no such bot in it.
            StoreError: the run cannot be read.
        """
        reader = self.open(run)
        if bot and bot not in reader.info.bots:
            raise Absent(f"no bot called {bot!r} plays in {run}")
        return self._kept(reader, ("matches", bot, page), lambda: _matches(reader, bot, page))

    def faults(self, run: str, *, bot: str = "", kind: str = "", page: int = 1) -> FaultPage:
        """One page of a run's faults with their evidence, those of `bot` or `kind` if named.

        Raises:
            Absent: there is no such run or page, no such bot in it, or no such kind of fault.
            StoreError: the run cannot be read.
        """
        reader = self.open(run)
        counts = self.fault_counts(run)
        if bot and bot not in reader.info.bots:
            raise Absent(f"no bot called {bot!r} plays in {run}")
        # A run of another version may hold kinds that this one does not know.
        if kind and kind not in FAULT_KINDS and all(kind != count.kind for count in counts):
            raise Absent(f"no fault is called {kind!r}")
        return self._kept(
            reader, ("faults", bot, kind, page), lambda: _faults(reader, counts, bot, kind, page)
        )

    def fault_counts(self, run: str) -> tuple[FaultCount, ...]:
        """How often each bot did what wrong.

        Raises:
            Absent: there is no such run.
            StoreError: it cannot be read.
        """
        reader = self.open(run)
        return self._kept(reader, ("fault counts",), lambda: _fault_counts(reader))

    def recorded(self, run: str, match: int) -> Recorded:
        """A recorded match, ready to be looked at.

        Raises:
            Absent: there is no such run, or no such match in it yet.
            StoreError: the run cannot be read.
        """
        reader = self.open(run)
        return self._kept(reader, ("match", match), lambda: Recorded(_record(reader, match)))

    def _kept(self, reader: RunReader, what: tuple[Any, ...], make: Callable[[], T]) -> T:
        """`make()`, or what it returned when the run's content was the same."""
        key, stamp = (reader.folder, *what), reader.stamp()
        with self._lock:
            if key in self._cache:
                known, value = self._cache[key]
                if known == stamp:
                    self._cache.move_to_end(key)
                    return cast("T", value)
            with _one_kind_of_error(reader):
                made = make()
            self._cache[key] = (stamp, made)
            self._cache.move_to_end(key)
            if len(self._cache) > CACHE_ENTRIES:
                self._cache.popitem(last=False)
            return made


@contextmanager
def _one_kind_of_error(reader: RunReader) -> Iterator[None]:
    """Whatever is wrong with a run's files is a StoreError that names the run."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        first = str(error).partition("\n")[0]
        what = "cannot be read now" if is_of_storage(error) else "is damaged"
        raise StoreError(f"the run {reader.folder.name} {what}: {first}") from error


def _summary(reader: RunReader) -> RunSummary:
    info, counts = reader.info, reader.info.counts
    return RunSummary(
        id=reader.folder.name,
        name=info.name,
        status=info.status,
        game=info.game,
        format=info.format,
        seats=info.seats,
        seats_text=info.seats_text,
        bots=tuple(info.bots),
        matches=counts.matches,
        matches_total=info.most_matches,
        groups=counts.groups,
        groups_total=counts.groups_total,
        faults=counts.faults,
        seconds=info.seconds,
        started=info.started,
        updated=info.updated,
        reason=info.reason,
        rounds=counts.rounds,
        places=tuple(place_lines(info.places)),
    )


def _seed(reader: RunReader) -> int | None:
    seed: int | None = reader.resolved().get("tournament", {}).get("seed")
    return seed


def _detail(reader: RunReader) -> RunDetail:
    info = reader.info
    return RunDetail(
        summary=_summary(reader),
        bots=tuple(msgspec.convert(reader.scan("bots").collect().to_dicts(), list[BotRow])),
        withdrawn=info.withdrawn,
        rules=info.rules,
        limits=reader.resolved().get("limits", {}),
        sandbox=info.sandbox,
        workers=info.workers,
        clock=info.clock_text,
        commitment=info.commitment,
        secret=info.secret,
        seed=_seed(reader),
        digest=info.digest,
        tourney=info.tourney,
        python=info.host.python,
        system=info.host.system,
        cores=info.host.cores,
    )


def _ratings(reader: RunReader, headline: Model | None) -> Ratings:
    game = make_game(reader.info.game, reader.info.rules).info
    shown = report_of(reader, headline=headline, hurried=True)
    return Ratings(
        run=reader.folder.name,
        score_name=game.score_name,
        lower_is_better=game.lower_is_better,
        **msgspec.structs.asdict(shown),
    )


def _matches(reader: RunReader, bot: str, page: int) -> MatchPage:
    rows = reader.scan("matches").select(MatchRow.__struct_fields__)
    if bot:
        rows = rows.filter(pl.col("seating").list.contains(bot))
    shown, pages, total = _page(rows.sort("match"), page, "matches")
    return MatchPage(
        run=reader.folder.name,
        bot=bot,
        page=page,
        pages=pages,
        total=total,
        matches=tuple(msgspec.convert(shown.to_dicts(), list[MatchRow])),
    )


def _page(rows: pl.LazyFrame, page: int, what: str) -> tuple[pl.DataFrame, int, int]:
    """The rows of a page, and how many pages and rows there are; the first page may be empty."""
    total: int = rows.select(pl.len()).collect().item()
    pages = max(1, -(-total // PAGE_SIZE))
    if not 1 <= page <= pages:
        raise Absent(f"there is no page {page}: the {what} fill {pages}")
    return rows.slice((page - 1) * PAGE_SIZE, PAGE_SIZE).collect(), pages, total


def _faults(
    reader: RunReader, counts: tuple[FaultCount, ...], bot: str, kind: str, page: int
) -> FaultPage:
    rows = reader.scan("faults").select(FaultRow.__struct_fields__)
    for column, wanted in (("bot", bot), ("kind", kind)):
        if wanted:
            rows = rows.filter(pl.col(column) == wanted)
    shown, pages, total = _page(rows.sort("match", "seat"), page, "faults")
    return FaultPage(
        run=reader.folder.name,
        bot=bot,
        kind=kind,
        page=page,
        pages=pages,
        total=total,
        counts=counts,
        faults=tuple(msgspec.convert(shown.to_dicts(), list[FaultRow])),
    )


def _fault_counts(reader: RunReader) -> tuple[FaultCount, ...]:
    counted = reader.scan("faults").group_by("bot", "kind").agg(faults=pl.len())
    rows = counted.sort("faults", "bot", "kind", descending=[True, False, False]).collect()
    return tuple(msgspec.convert(rows.to_dicts(), list[FaultCount]))


def _record(reader: RunReader, match: int) -> Record:
    found = reader.match(match).to_dicts()
    if not found:
        raise Absent(f"there is no match {match} in {reader.folder.name}")
    group = match // reader.info.seats
    rows = (
        reader.scan("faults", (group, group + 1))
        .filter(pl.col("match") == match)
        .sort("turn", "seat")
    )
    faults = rows.select(FaultRow.__struct_fields__).collect().to_dicts()
    return Record(
        run=reader.folder.name,
        info=reader.info,
        row=found[0],
        faults=tuple(msgspec.convert(faults, list[FaultRow])),
        seed=_seed(reader),
    )
