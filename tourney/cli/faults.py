"""`tourney faults`, `explain` and `logs`: what went wrong, what it means, what the bot wrote."""

import json
import shlex
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tourney.cli.text import plain

if TYPE_CHECKING:
    # Loading polars takes longer than `tourney --help` may.
    from tourney.store import RunReader, Storage

__all__ = ("explain", "faults", "logs")

SHOWN = 20


def faults(
    run: Annotated[str, typer.Argument(help="A run's folder, or a folder of runs.")] = "results",
    bot: Annotated[str | None, typer.Option(help="Only this bot's.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Every fault with all evidence.")] = False,
) -> None:
    """List a run's faults with their evidence and the command that reproduces each.

    Raises:
        ConfigError: the bot is not in the run.
        StoreError: there is no run, or it cannot be read.
    """
    import polars as pl

    from tourney.store import find_run

    reader = find_run(run)
    rows = reader.scan("faults").sort("match", "seat")
    if bot is not None:
        _check_bot(reader, bot)
        rows = rows.filter(pl.col("bot") == bot)
    found = rows.collect().to_dicts()
    commands = [_reproduce(reader.folder, row) for row in found]
    if as_json:
        json.dump(
            [row | {"reproduce": line} for row, line in zip(found, commands, strict=True)],
            sys.stdout,
            indent=2,
        )
        print()
        return
    for name, reason in reader.info.withdrawn.items():
        print(f"withdrawn: {plain(name)} after {reason}\n")
    for row, command in list(zip(found, commands, strict=True))[:SHOWN]:
        _show(row, command)
    counts: dict[tuple[str, str], int] = {}
    for row in found:
        counts[row["bot"], row["kind"]] = counts.get((row["bot"], row["kind"]), 0) + 1
    if len(found) > SHOWN:
        print(f"… {len(found) - SHOWN} more (--json shows all, --bot one bot's)\n")
    for (name, kind), count in sorted(counts.items(), key=lambda item: -item[1]):
        print(f"{count:>6}  {kind:<15} {plain(name)}")
    print(f"{len(found)} faults in {reader.info.counts.matches} matches of {reader.info.id}")
    if counts:
        print(f"what one means: tourney explain {next(iter(counts))[1]}")


def _check_bot(reader: "RunReader", bot: str) -> None:
    from tourney.errors import ConfigError

    if bot not in reader.info.bots:
        known = ", ".join(reader.info.bots)
        raise ConfigError(f"no bot called {bot!r} plays in {reader.info.id}, only {known}")


def _check_place(reader: "RunReader", match: int | None, bot: str | None, seat: int | None) -> None:
    """Whether there is such a match, and in it (or anywhere) such a seat and bot."""
    from tourney.errors import ConfigError

    if bot is not None:
        _check_bot(reader, bot)
    if match is None:
        seats, where = reader.info.seats, reader.info.id
    else:
        seating = _seating(reader, match)
        seats, where = len(seating), f"match {match}"
        if bot is not None and bot not in seating:
            raise ConfigError(f"{bot} does not sit in {where}, only {', '.join(seating)}")
    if seat is not None and not 0 <= seat < seats:
        raise typer.BadParameter(f"{where} has seats 0 to {seats - 1}")


def _seating(reader: "RunReader", match: int) -> list[str]:
    from tourney.errors import StoreError

    found = reader.match(match)["seating"].to_list()
    if not found:
        raise StoreError(f"{reader.folder} holds no match {match}")
    return list(found[0])


def _reproduce(folder: "Storage", row: Mapping[str, Any]) -> str:
    match, seat = str(row["match"]), str(row["seat"])
    return shlex.join(["tourney", "reproduce", str(folder), match, "--seat", seat])


def _show(row: Mapping[str, Any], command: str) -> None:
    print(
        f"{row['kind']}: {plain(row['bot'])}, match {row['match']}, seat {row['seat']}, "
        f"action {row['turn'] + 1}"
    )
    print(f"  {plain(row['detail'])}")
    used = f"{row['cpu_ms']:.0f} ms of CPU, {row['memory_mb']:.0f} MiB at most"
    print(f"  {row['exit_status'] or 'it was still running'}; {used}")
    for line in row["last_sent"][-1:]:
        print(f"  sent      {plain(line)[:200]}")
    for line in row["last_received"][-2:]:
        print(f"  received  {plain(line)[:200]}")
    for line in (row["stderr_tail"] or "").splitlines()[-5:]:
        print(f"  log       {plain(line)[:200]}")
    print(f"  again     {command}\n")


def explain(
    fault: Annotated[
        str, typer.Argument(help="A fault's name, as `timeout`; empty lists them.")
    ] = "",
) -> None:
    """Say what a fault means and what to look for; works offline."""
    from tourney.protocol.explanations import EXPLANATIONS

    if fault not in EXPLANATIONS:
        known = ", ".join(EXPLANATIONS)
        if fault:
            raise typer.BadParameter(f"no fault is called {fault!r}; known: {known}")
        print(known)
        return
    when, hints = next(value for name, value in EXPLANATIONS.items() if name == fault)
    print(f"{fault}\n  {when}")
    for hint in hints:
        print(f"  - {hint}")


def logs(
    run: Annotated[str, typer.Argument(help="A run's folder, or a folder of runs.")],
    match: Annotated[
        int | None, typer.Argument(help="Number of a match; all when left out.")
    ] = None,
    bot: Annotated[str | None, typer.Option(help="Only this bot's.")] = None,
    seat: Annotated[int | None, typer.Option(help="Only this seat's.")] = None,
) -> None:
    """Print what bots wrote to standard error, match by match.

    Raises:
        ConfigError: the bot is not in the run, or not in the match.
        StoreError: there is no run, it cannot be read, or it has no such match.
    """
    import polars as pl

    from tourney.store import find_run

    reader = find_run(run)
    _check_place(reader, match, bot, seat)
    rows = reader.scan("logs").sort("match", "seat")
    for column, value in (("match", match), ("bot", bot), ("seat", seat)):
        if value is not None:
            rows = rows.filter(pl.col(column) == value)
    found = rows.collect()
    for row in found.iter_rows(named=True):
        print(f"--- match {row['match']}, seat {row['seat']}, {plain(row['bot'])}")
        for line in row["text"].splitlines():
            print(plain(line))
        if row["dropped"]:
            print(f"--- {row['dropped']} bytes more were not kept (limits.stderr_kb)")
    if not found.height:
        print("no bot wrote to standard error there", file=sys.stderr)
