"""`tourney ratings`: the leaderboard and panels of runs, or of another program's results."""

import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    # Loading polars takes longer than `tourney --help` may.
    from tourney.ratings import Board, Model, Report
    from tourney.reports import Evidence
    from tourney.store import RunReader

__all__ = ("print_run", "ratings")


class By(StrEnum):
    """What gets a line."""

    BOT = "bot"
    SEAT = "seat"
    VERSION = "version"
    SEATS = "seats"


class Headline(StrEnum):
    """What bots are ranked by."""

    WIN = "win"
    PLACEMENT = "placement"


MODELS: "dict[Headline, Model]" = {Headline.WIN: "win", Headline.PLACEMENT: "placement"}


class PanelChoice(StrEnum):
    """What to show in place of the leaderboard; `reports.PanelName`, without loading it."""

    HEAD_TO_HEAD = "head-to-head"
    SEATS = "seats"
    NEIGHBOURS = "neighbours"
    TIES = "ties"
    CYCLES = "cycles"
    LUCK = "luck"
    GAIN = "gain"
    OUTLOOK = "outlook"
    HISTORY = "history"


class Format(StrEnum):
    """How lines are written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"


def ratings(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            help="Runs' folders, rated together; of a folder of runs the newest is taken."
            " [default: results]",
            show_default=False,
        ),
    ] = None,
    by: Annotated[By, typer.Option(help="A line for each bot, seat, version or table size.")] = (
        By.BOT
    ),
    panel: Annotated[
        PanelChoice | None, typer.Option(help="Show this instead of the leaderboard.")
    ] = None,
    game: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only runs of this game.")
    ] = None,
    headline: Annotated[
        Headline | None,
        typer.Option(
            help="Rank by who takes matches, or by who finishes ahead of whom."
            " [default: what the game pays]",
            show_default=False,
        ),
    ] = None,
    anchor: Annotated[
        str | None, typer.Option(help="The bot that is put at 1500, instead of the field's mean.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--import", help="Rate a CSV file of match,bot,rank or a PGN file instead."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list, best first.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, best first.")] = False,
    as_parquet: Annotated[
        bool, typer.Option("--parquet", help="Write Parquet to standard output.")
    ] = False,
) -> None:
    """Show a leaderboard with 95 % intervals, best bot first; or a panel of what else was found.

    Raises:
        ConfigError: the file cannot be read, runs do not go together, or there is no such anchor.
        StoreError: there is no run, or it cannot be read.
        PluginError: the run's game is not installed.
        GameError: the run's rules are not those of the installed game.
    """
    form = _format(as_json=as_json, as_csv=as_csv, as_parquet=as_parquet)
    if panel is not None and by is not By.BOT:
        raise typer.BadParameter("choose one of --panel and --by")
    chosen = None if headline is None else MODELS[headline]
    if file is not None:
        if runs or game or panel or by is not By.BOT:
            raise typer.BadParameter("--import takes the place of runs, and has a line a bot")
        from tourney.reports import imported

        _show(_report(imported(file, headline=chosen or "win", anchor=anchor)), "", form)
        return
    readers = _readers(runs or ["results"], game)
    if panel is not None or by is By.SEAT:
        from tourney.reports import Evidence

        _show_panel(Evidence(readers, chosen), panel or PanelChoice.SEATS, form)
        return
    if len(readers) == 1 and by is By.BOT and anchor is None:
        from tourney.reports import report_of

        shown = report_of(readers[0], headline=chosen)
        if form is Format.TABLE:
            print_run(shown, readers[0])
        else:
            _show(shown, "", form)
        return
    from tourney.reports import board_of

    board = board_of(readers, headline=chosen, anchor=anchor, by_version=by is By.VERSION)
    if by is By.SEATS:
        _show_sizes(board, form)
    else:
        _show(_report(board), f"{len(readers)} runs of {readers[0].info.game}", form)


def _readers(runs: Sequence[str], game: str | None) -> "list[RunReader]":
    """The runs that were named, of one game."""
    from tourney.reports import chosen
    from tourney.store import find_run, list_runs

    if game is None:
        return chosen([find_run(run) for run in runs], None)
    found = []
    for run in runs:
        listed = list_runs(run) or [find_run(run)]
        found.append(next((one for one in listed if one.info.game == game), listed[0]))
    return chosen(found, game)


def _format(*, as_json: bool, as_csv: bool, as_parquet: bool) -> Format:
    chosen = [
        form
        for form, wanted in (
            (Format.JSON, as_json),
            (Format.CSV, as_csv),
            (Format.PARQUET, as_parquet),
        )
        if wanted
    ]
    if len(chosen) > 1:
        raise typer.BadParameter("choose one of --json, --csv and --parquet")
    return chosen[0] if chosen else Format.TABLE


def _write_json(value: Any) -> None:
    import msgspec

    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value)).decode() + "\n")


def _write(lines: Sequence[Mapping[str, Any]], form: Format) -> None:
    """Lines for another program."""
    if form is Format.PARQUET:
        import polars as pl

        pl.DataFrame(lines, infer_schema_length=None).write_parquet(sys.stdout.buffer)
        return
    if form is Format.JSON:
        _write_json(lines)
        return
    import csv

    if lines:
        writer = csv.DictWriter(sys.stdout, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def _report(board: "Board") -> "Report":
    """What to show of a board that is not that of one run."""
    from tourney.ratings import outlook_of, report

    return report(board, {}, outlook_of(board, {}))


def _show(shown: "Report", title: str, form: Format) -> None:
    import msgspec

    if form is Format.TABLE:
        from tourney.cli.board import print_report

        print_report(shown, title=title)
    else:
        _write([msgspec.structs.asdict(line) for line in shown.standings], form)


def print_run(shown: "Report", reader: "RunReader") -> None:
    """The leaderboard of a run, what is left to find out, and what its matches are worth."""
    from tourney.cli.board import title_of

    _show(shown, title_of(reader.info), Format.TABLE)
    for bot, reason in reader.info.withdrawn.items():
        print(f"withdrawn: {bot} after {reason}; its later matches were not played, nor rated")


def _show_panel(evidence: "Evidence", name: PanelChoice, form: Format) -> None:
    import msgspec

    from tourney.cli.panels import print_panel
    from tourney.reports import panel

    found = panel(evidence, name.value)
    if form is Format.TABLE:
        print_panel(name.value, found)
    elif form is Format.JSON:
        _write_json(found)
    else:
        _write(msgspec.to_builtins(getattr(found, "lines", ())), form)


def _show_sizes(board: "Board", form: Format) -> None:
    """A leaderboard for each table size."""
    import msgspec

    from tourney.ratings import Board

    parts = [(one.seats, Board([one], headline=board.headline)) for one in board.sketches]
    if form is not Format.TABLE:
        lines = [
            {"seats": seats, **msgspec.structs.asdict(line)}
            for seats, part in parts
            for line in part.lines
        ]
        _write(lines, form)
        return
    for seats, part in parts:
        _show(_report(part), f"{seats} seats", form)
