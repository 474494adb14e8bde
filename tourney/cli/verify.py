"""`tourney verify`: recompute a run from its revealed secret, and say what differs."""

import json
import os
import time
from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    # Loading polars takes longer than `tourney --help` may.
    from tourney.referee.verify import Difference, Plan
    from tourney.schedule.groups import Schedule
    from tourney.store import RunReader, Storage

__all__ = ("verify",)

SHOWN = 20
"""Differences printed; `--json` has them all."""

FOLLOWS = (
    "the secret is the one committed to; every card, action, score, rank and seat follows from it"
)

TABLES = ("matches", "seats", "faults")

WINDOW_MATCHES = 2_000
"""Matches in memory at a time, and the share of one process at a time."""


def verify(
    run: Annotated[
        str, typer.Argument(help="A run's folder, or a folder of runs: its newest is taken.")
    ] = "results",
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes. [default: one a core]")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Deal, replay and count every match of a run again.

    Recomputes the commitment, every card, every action's legality, scores, ranks, seatings and
    counts. Exits 1 and names the match and the column where anything differs. A run that has not
    finished keeps its secret, and cannot be verified unless its config fixed a seed.

    Raises:
        StoreError: there is no run, its secret is not revealed yet, its game is not installed, or a
            file that all depends on is damaged.
    """
    from tourney.store import find_run

    begin = time.monotonic()
    reader = find_run(run)
    differences = _verify(reader, jobs or os.cpu_count() or 1)
    seconds = time.monotonic() - begin
    if as_json:
        _print_json(reader, differences, seconds)
    else:
        _print_text(reader, differences, seconds)
    raise typer.Exit(1 if differences else 0)


def _verify(reader: "RunReader", jobs: int) -> "list[Difference]":
    from tourney.referee.verify import check_facts, check_secret

    info, values = reader.info, _config(reader)
    secret = _secret(reader, values)
    found = check_secret(secret, info.commitment, values["tournament"]["seed"])
    plan, commits = _plan(reader, values, secret), reader.commits()
    found += _check_rounds(reader, plan.schedule, values)
    bots = reader.scan("bots").select("bot").collect()["bot"].to_list()
    found += check_facts(plan, info, values, bots, commits)
    unreadable = _check_readable(reader, plan)
    if unreadable:
        return [*found, *unreadable]
    for more in _windows(reader, plan, secret, jobs):
        found += more
    if info.status == "finished":
        found += _check_digest(reader)
    return found


def _config(reader: "RunReader") -> dict[str, Any]:
    from tourney.errors import StoreError

    name = "config.resolved.json"
    try:
        values: dict[str, Any] = json.loads(reader.folder.read(name)[0])["values"]
    except (OSError, ValueError, KeyError) as error:
        raise StoreError(f"cannot verify {reader.folder}: {name} is unreadable: {error}") from None
    return values


def _secret(reader: "RunReader", values: dict[str, Any]) -> bytes:
    from tourney.deals import secret_from_seed
    from tourney.errors import StoreError

    info, seed = reader.info, values["tournament"]["seed"]
    if info.secret is not None:
        try:
            return bytes.fromhex(info.secret)
        except ValueError as error:
            raise StoreError(
                f"cannot verify {reader.folder}: the secret is no hex: {error}"
            ) from None
    if seed is None:
        raise StoreError(
            f"cannot verify {reader.folder} yet: the run is {info.status}, and its secret is "
            "revealed when it has finished (`tourney run CONFIG --resume` goes on with it)"
        )
    return secret_from_seed(seed)


def _plan(reader: "RunReader", values: dict[str, Any], secret: bytes) -> "Plan":
    from tourney.config.models import Tournament
    from tourney.errors import StoreError, TourneyError
    from tourney.games.registry import make_game
    from tourney.referee.verify import Plan
    from tourney.runner.terms import terms_of
    from tourney.schedule.rounds import make_schedule

    info = reader.info
    try:
        game = make_game(values["tournament"]["game"], values["rules"], version=info.game_version)
        bots = reader.scan("bots").collect()
        owners = dict(zip(bots["bot"], bots["owner"], strict=True)) if "owner" in bots else {}
        terms = terms_of(Tournament.model_validate(values["tournament"]), owners)
        schedule = make_schedule(terms, info.bots)
    except TourneyError as error:
        raise StoreError(f"cannot verify {reader.folder}: {error}") from error
    return Plan(game, schedule, secret, frozenset(info.withdrawn))


def _check_rounds(
    reader: "RunReader", schedule: "Schedule", values: dict[str, Any]
) -> "list[Difference]":
    """The rounds are those that the results before them give; `schedule` then has them."""
    from tourney.config.models import TournamentConfig
    from tourney.games.registry import make_game
    from tourney.referee.verify import Difference
    from tourney.runner.redrawn import redrawn
    from tourney.runner.stopping import stop_rule
    from tourney.schedule.rounds import Rounds

    if not isinstance(schedule, Rounds):
        return []
    config = TournamentConfig.model_validate(values)
    headline = make_game(reader.info.game, values["rules"]).info.headline
    after, rule = config.run.withdraw_after, stop_rule(config.stop)
    return [Difference(text) for text in redrawn(reader, schedule, headline, after, rule)]


def _check_readable(reader: "RunReader", plan: "Plan") -> "list[Difference]":
    """Every file can be read, and holds no match that the schedule does not have."""
    import polars as pl

    from tourney.errors import StoreError
    from tourney.referee.verify import Difference
    from tourney.store import segments

    end = plan.schedule.drawn * plan.schedule.seats
    beyond = pl.col("match") >= end
    text = f"the schedule ends at match {end - 1}"
    found = []
    for table, commit in product(TABLES, reader.commits()):
        try:
            rows = reader.rows(table, [commit], beyond).select("match").unique().collect()
            numbers = sorted(rows["match"].to_list())
        except StoreError as error:
            found.append(Difference(f"cannot be read: {error}", table=table))
            continue
        except (OSError, pl.exceptions.PolarsError) as error:
            what, path = str(error).partition("\n")[0], segments.path(table, commit.segment)
            found.append(Difference(f"cannot be read: {path}: {what}", table=table))
            continue
        found += [Difference(text, number, None, table, "match") for number in numbers]
    return found


def _windows(
    reader: "RunReader", plan: "Plan", secret: bytes, jobs: int
) -> "Iterator[list[Difference]]":
    """All groups, some at a time, over several processes where that is worth their start."""
    from tourney.store.journal import groups_of

    size = max(1, WINDOW_MATCHES // plan.schedule.seats)
    end = plan.schedule.drawn
    if reader.info.stop:
        # The schedule of a run with a stopping rule goes on far beyond what was played.
        end = 1 + max(groups_of(reader.commits()), default=-1)
    windows = [range(start, min(start + size, end)) for start in range(0, end, size)]
    if jobs == 1 or len(windows) == 1:
        yield from (_check_window(reader, plan, window) for window in windows)
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # A forked child could inherit a lock that a thread of polars holds.
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), _begin, (reader.folder, secret))
    with pool:
        yield from pool.map(_check_in_child, windows)


_child: "list[tuple[RunReader, Plan]]" = []
"""What this process verifies, if it is one of several."""


def _begin(folder: "Storage", secret: bytes) -> None:
    from tourney.schedule.draws import Round
    from tourney.schedule.rounds import Rounds
    from tourney.store import RunReader
    from tourney.store.rounds import RoundBook

    reader = RunReader(folder)
    plan = _plan(reader, _config(reader), secret)
    if isinstance(plan.schedule, Rounds):
        for drawn in RoundBook(reader.folder, Round).rounds:
            plan.schedule.add(drawn)
    _child.append((reader, plan))


def _check_in_child(window: range) -> "list[Difference]":
    [(reader, plan)] = _child
    return _check_window(reader, plan, window)


def _check_window(reader: "RunReader", plan: "Plan", window: range) -> "list[Difference]":
    """The groups of `window` that the journal or a row names."""
    from tourney.referee.verify import Difference, check_group
    from tourney.store import journal

    committed = set(journal.groups_of(reader.commits())).intersection(window)
    tables = {table: _rows_by_group(reader, table, window, plan.schedule.seats) for table in TABLES}
    found = []
    for table, rows in tables.items():
        strays = sorted(rows.keys() - committed)
        text = "rows of a group that no commit in the journal names"
        found += [Difference(text, None, group, table, "match") for group in strays]
    for group in sorted(committed):
        found += check_group(plan, group, *(rows.get(group, []) for rows in tables.values()))
    return found


def _rows_by_group(
    reader: "RunReader", table: str, window: range, n_seats: int
) -> dict[int, list[dict[str, Any]]]:
    """Rows by the group that their match's number says."""
    by_group: dict[int, list[dict[str, Any]]] = {}
    rows = reader.read(table, (window.start, window.stop))
    for row in rows.iter_rows(named=True):
        by_group.setdefault(row["match"] // n_seats, []).append(row)
    return by_group


def _check_digest(reader: "RunReader") -> "list[Difference]":
    """The digest of a finished run is the one of its games in order."""
    from tourney.referee.verify import Difference
    from tourney.store.digest import games_digest

    digest = games_digest(reader)
    if digest == reader.info.digest:
        return []
    return [Difference(f"the digest is {reader.info.digest}, but the games give {digest}")]


def _print_text(reader: "RunReader", differences: "Sequence[Difference]", seconds: float) -> None:
    info = reader.info
    counts = info.counts
    print(f"run       {info.id}: {info.game}, {info.seats_text}, {info.status}")
    print(f"groups    {counts.groups} of {counts.groups_total} in the journal")
    rate = counts.matches / max(seconds, 1e-9)
    print(f"matches   {counts.matches} in {seconds:.1f} s, {rate:.0f} a second")
    for difference in differences[:SHOWN]:
        print(f"differs   {difference}")
    if len(differences) > SHOWN:
        print(f"          and {len(differences) - SHOWN} more (all with --json)")
    matches = {one.match for one in differences if one.match is not None}
    if differences:
        print(f"NOT as it says: {len(differences)} differences, in {len(matches)} matches")
    elif info.status == "finished":
        print(f"verified: {FOLLOWS}")
    else:
        print(f"verified so far, the run is {info.status}: {FOLLOWS}")


def _print_json(reader: "RunReader", differences: "Sequence[Difference]", seconds: float) -> None:
    import msgspec

    counts = reader.info.counts
    facts = {
        "run": reader.info.id,
        "status": reader.info.status,
        "groups": counts.groups,
        "groups_total": counts.groups_total,
        "matches": counts.matches,
        "seconds": round(seconds, 3),
        "verified": not differences,
        "differences": msgspec.to_builtins(list(differences)),
    }
    print(json.dumps(facts))
