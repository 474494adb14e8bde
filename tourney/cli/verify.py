"""`tourney verify`: recompute a run from its revealed secret, and say what differs."""

import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    # Loading polars takes longer than `tourney --help` may.
    from tourney.referee.verify import Difference, Plan
    from tourney.store import RunReader
    from tourney.store.journal import Commit

__all__ = ("verify",)

SHOWN = 20
"""Differences printed; `--json` has them all."""

PARALLEL_FROM = 2_000
"""Fewer matches are done sooner than more processes are started."""


def verify(
    run: Annotated[
        Path, typer.Argument(help="A run's folder, or a folder of runs: its newest is taken.")
    ] = Path("results"),
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
        StoreError: there is no run, its secret is not revealed yet, or its game is not installed.
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
    from tourney.store import journal

    info, values = reader.info, _config(reader)
    secret = _secret(reader, values)
    found = check_secret(secret, info.commitment, values["tournament"]["seed"])
    plan, commits = _plan(reader, values, secret), journal.read(reader.folder)
    bots = reader.scan("bots").select("bot").collect()["bot"].to_list()
    found += check_facts(plan, info, values, bots, commits)
    for more in _segments(reader.folder, plan, secret, commits, jobs):
        found += more
    if info.status == "finished":
        found += _check_digest(reader)
    return found


def _config(reader: "RunReader") -> dict[str, Any]:
    from tourney.errors import StoreError

    path = reader.folder / "config.resolved.json"
    try:
        values: dict[str, Any] = json.loads(path.read_bytes())["values"]
    except (OSError, ValueError, KeyError) as error:
        raise StoreError(
            f"cannot verify {reader.folder}: {path.name} is unreadable: {error}"
        ) from None
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
    from tourney.errors import StoreError, TourneyError
    from tourney.games.registry import make_game
    from tourney.referee.verify import Plan
    from tourney.schedule.groups import RoundRobin

    info = reader.info
    try:
        game = make_game(values["tournament"]["game"], values["rules"])
        schedule = RoundRobin(info.bots, info.seats, values["tournament"]["deals"])
    except TourneyError as error:
        raise StoreError(f"cannot verify {reader.folder}: {error}") from error
    return Plan(game, schedule, secret, frozenset(info.withdrawn))


def _segments(
    folder: Path, plan: "Plan", secret: bytes, commits: "Sequence[Commit]", jobs: int
) -> "Iterator[list[Difference]]":
    """Every commit, over several processes where that is worth their start."""
    if jobs == 1 or len(commits) == 1 or sum(c.matches for c in commits) < PARALLEL_FROM:
        yield from (_check_segment(folder, plan, commit) for commit in commits)
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # A forked child could inherit a lock that a thread of polars holds.
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), _begin, (folder, secret))
    with pool:
        yield from pool.map(_check_in_child, commits)


_child: "list[tuple[Path, Plan]]" = []
"""What this process verifies, if it is one of several."""


def _begin(folder: Path, secret: bytes) -> None:
    from tourney.store import RunReader

    reader = RunReader(folder)
    _child.append((folder, _plan(reader, _config(reader), secret)))


def _check_in_child(commit: "Commit") -> "list[Difference]":
    [(folder, plan)] = _child
    return _check_segment(folder, plan, commit)


def _check_segment(folder: Path, plan: "Plan", commit: "Commit") -> "list[Difference]":
    """The rows of one commit, group by group."""
    from polars.exceptions import PolarsError

    from tourney.referee.verify import Difference, check_group
    from tourney.store.journal import groups_of

    tables = {}
    for table in ("matches", "seats", "faults"):
        path = folder / table / f"{commit.segment}.parquet"
        try:
            tables[table] = _rows_by_group(path, table, plan.schedule.seats)
        except (OSError, PolarsError) as error:
            where = f"{table}/{path.name}, groups {commit.groups}"
            return [Difference(f"{where}: cannot be read: {error}", table=table)]
    groups = dict.fromkeys(groups_of([commit]))
    found = []
    for table, rows in tables.items():
        strays = sorted(set(rows).difference(groups))
        text = f"rows in {commit.segment}.parquet, whose commit does not name this group"
        found += [Difference(text, None, group, table, "match") for group in strays]
    for group in groups:
        found += check_group(plan, group, *(rows.get(group, []) for rows in tables.values()))
    return found


def _rows_by_group(path: Path, table: str, n_seats: int) -> dict[int, list[dict[str, Any]]]:
    """Rows by the group that their match's number says; most commits have no faults' file."""
    import polars as pl

    from tourney.records import SCHEMAS

    if table == "faults" and not path.exists():
        return {}
    by_group: dict[int, list[dict[str, Any]]] = {}
    rows = pl.read_parquet(path, glob=False).select([column.name for column in SCHEMAS[table]])
    for row in rows.iter_rows(named=True):
        by_group.setdefault(row["match"] // n_seats, []).append(row)
    return by_group


def _check_digest(reader: "RunReader") -> "list[Difference]":
    """The digest of a finished run is the SHA-256 of its games in order."""
    import hashlib

    import msgspec
    from polars.exceptions import PolarsError

    from tourney.referee.verify import Difference
    from tourney.store.writer import DIGEST_COLUMNS

    digest = hashlib.sha256()
    try:
        rows = reader.scan("matches").select(DIGEST_COLUMNS).sort("match").collect()
    except (OSError, PolarsError):
        # The segment that cannot be read has been named already.
        return []
    for row in rows.iter_rows():
        digest.update(msgspec.json.encode(row) + b"\n")
    if digest.hexdigest() == reader.info.digest:
        return []
    text = f"the digest is {reader.info.digest}, but the games give {digest.hexdigest()}"
    return [Difference(text)]


def _print_text(reader: "RunReader", differences: "Sequence[Difference]", seconds: float) -> None:
    info = reader.info
    counts = info.counts
    print(f"run       {info.id}: {info.game}, {info.seats} seats, {info.status}")
    print(f"groups    {counts.groups} of {counts.groups_total} in the journal")
    rate = counts.matches / max(seconds, 1e-9)
    print(f"matches   {counts.matches} in {seconds:.1f} s, {rate:.0f} a second")
    for difference in differences[:SHOWN]:
        print(f"differs   {difference}")
    if len(differences) > SHOWN:
        print(f"          and {len(differences) - SHOWN} more (all with --json)")
    if differences:
        matches = {one.match for one in differences if one.match is not None}
        print(f"NOT as it says: {len(differences)} differences, in {len(matches)} matches")
    else:
        print(
            "verified: the secret is the one committed to; every card, action, score, rank and "
            "seat follows from it"
        )


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
