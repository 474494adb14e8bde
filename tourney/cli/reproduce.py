"""`tourney reproduce`: one seat of a recorded match again, with the other seats as they played."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tourney.cli.text import plain

if TYPE_CHECKING:
    # Loading polars takes longer than `tourney --help` may.
    from tourney.referee.match import Match
    from tourney.store import RunReader

__all__ = ("reproduce",)


def reproduce(
    run: Annotated[str, typer.Argument(help="A run's folder, or a folder of runs.")],
    match: Annotated[int, typer.Argument(help="Number of the match.")],
    seat: Annotated[int, typer.Option(help="The seat to be played again.")],
    bot: Annotated[
        Path | None, typer.Option(help="The package to sit there. [default: the config's own]")
    ] = None,
    unsafe: Annotated[
        bool,
        typer.Option("--unsafe-no-sandbox", help="No confinement at all; only for your own bots."),
    ] = False,
) -> None:
    """Send a bot what it was sent in a recorded match, and compare its answers.

    Same cards, same seed, the other seats as recorded. Once the bot answers otherwise, they go on
    as recorded as long as that is legal, then as the stand-in does. Exit 1 when it faults.

    Raises:
        TourneyError: the run, the match or the bot stood in the way.
    """
    from tourney.store import find_run

    reader = find_run(run)
    row = _row(reader, match)
    if not 0 <= seat < len(row["seating"]):
        raise typer.BadParameter(f"match {match} has seats 0 to {len(row['seating']) - 1}")
    again = _play(reader, row, seat, bot, unsafe=unsafe)
    name = row["seating"][seat]
    fault = again.faults.get(seat)
    differs = next(
        (
            step
            for step, (old, new) in enumerate(zip(row["actions"], again.actions, strict=False))
            if old != new
        ),
        None,
    )
    if differs is None:
        print(
            f"{name} played as recorded: {again.asked[seat]} answers, {len(again.actions)} actions"
        )
    else:
        print(
            f"{name} played otherwise from action {differs + 1} on: "
            f"{again.actions[differs]!r}, recorded was {row['actions'][differs]!r}"
        )
    if fault is not None:
        turn, what = fault
        print(f"fault at action {turn + 1}: {what.kind}: {plain(what.detail)}")
        for line in what.stderr_tail.splitlines()[-10:]:
            print(f"  log  {plain(line)}")
    raise typer.Exit(0 if fault is None else 1)


def _row(reader: "RunReader", number: int) -> dict[str, Any]:
    from tourney.errors import StoreError

    found = reader.match(number)
    if found.height != 1 or not found["actions"][0].len():
        raise StoreError(f"{reader.folder} holds no played match {number}")
    return found.to_dicts()[0]


def _play(
    reader: "RunReader", row: dict[str, Any], seat: int, bot: Path | None, *, unsafe: bool
) -> "Match":
    from tourney.executors.worker import TableWorker
    from tourney.runner.saved import saved_plan

    plan, archives = saved_plan(reader, row["seating"][seat], bot, unsafe=unsafe)
    worker = TableWorker(plan, archives)
    try:
        return worker.play_again(row, seat)
    finally:
        worker.close()
