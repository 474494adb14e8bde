"""`tourney ratings`: the leaderboard of a run, as a table, JSON or CSV on standard output."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    # Loading polars takes longer than `tourney --help` may.
    from rich.table import Table

    from tourney.ratings import Standing
    from tourney.store import RunInfo

__all__ = ("ratings", "standings_table")


def ratings(
    run: Annotated[
        Path, typer.Argument(help="A run's folder, or a folder of runs: its newest is taken.")
    ] = Path("results"),
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list, best first.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, best first.")] = False,
) -> None:
    """Show a run's leaderboard with 95 % intervals, best bot first.

    Raises:
        StoreError: there is no run, or it cannot be read.
        PluginError: the run's game is not installed.
        GameError: the run's rules are not those of the installed game.
    """
    if as_json and as_csv:
        raise typer.BadParameter("choose one of --json and --csv")
    from tourney.games.registry import make_game
    from tourney.ratings import leaderboard, tally, to_csv, to_json
    from tourney.store import find_run

    reader = find_run(run)
    game = make_game(reader.info.game, reader.info.rules)
    lower = game.info.lower_is_better
    standings = leaderboard(tally(reader.scan("seats")), lower_is_better=lower)
    if as_json:
        sys.stdout.write(to_json(standings))
    elif as_csv:
        sys.stdout.write(to_csv(standings))
    else:
        from rich.console import Console

        Console().print(standings_table(reader.info, standings))


def standings_table(info: "RunInfo", standings: Sequence["Standing"]) -> "Table":
    """The leaderboard for a terminal, best first."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    counts = info.counts
    title = (
        f"{info.id} · {info.game}, {info.seats} seats · {info.status} · "
        f"{counts.matches}/{counts.matches_total} matches"
    )
    # Names come from bots' packages: plain text, never markup.
    table = Table(title=Text(title), title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("#", justify="right")
    table.add_column("bot", overflow="fold")
    for head in ("win share", "mean score", "matches", "faults", "mean ms", "max ms"):
        table.add_column(head, justify="right", no_wrap=True)
    for line in standings:
        table.add_row(
            str(line.rank),
            Text(line.bot),
            f"{line.win_share:.1%} {_plus_minus(line.win_se, 100, 1)}",
            f"{line.mean_score:.2f} {_plus_minus(line.score_se, 1, 2)}",
            str(line.matches),
            str(line.faults),
            _ms(line.ms_mean),
            _ms(line.ms_max),
        )
    table.caption = Text("± one standard error, clustered by rotation group")
    table.caption_justify = "left"
    return table


def _plus_minus(error: float | None, scale: int, digits: int) -> str:
    return "±?" if error is None else f"±{error * scale:.{digits}f}"


def _ms(ms: float | None) -> str:
    return "–" if ms is None else f"{ms:.2f}"
