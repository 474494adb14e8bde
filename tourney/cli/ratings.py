"""`tourney ratings`: the leaderboard of runs or of another program's results."""

import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    # Loading polars takes longer than `tourney --help` may.
    from rich.table import Table

    from tourney.cli.rated import Leaderboard
    from tourney.ratings import Outlook, Rated, Standing
    from tourney.store import RunInfo, RunReader

__all__ = ("print_board", "ratings", "standings_table")


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


class Format(StrEnum):
    """How lines are written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"


def ratings(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Runs' folders, rated together; of a folder of runs the newest is taken."
            " [default: results]",
            show_default=False,
        ),
    ] = None,
    by: Annotated[By, typer.Option(help="A line for each bot, seat, version or table size.")] = (
        By.BOT
    ),
    headline: Annotated[
        Headline, typer.Option(help="Rank by who takes matches, or by who finishes ahead of whom.")
    ] = Headline.WIN,
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
    """Show a leaderboard with 95 % intervals, best bot first.

    Raises:
        ConfigError: the file cannot be read, runs do not go together, or there is no such anchor.
        StoreError: there is no run, or it cannot be read.
        PluginError: the run's game is not installed.
        GameError: the run's rules are not those of the installed game.
    """
    form = _format(as_json=as_json, as_csv=as_csv, as_parquet=as_parquet)
    if file is not None and (runs or by is not By.BOT):
        raise typer.BadParameter("--import takes the place of runs, and has a line a bot")
    if file is not None:
        from tourney.cli.rated import imported

        _show(imported(file, headline=headline.value, anchor=anchor), None, form)
    else:
        _show_runs(runs or [Path("results")], by, headline, anchor, form)


def _show_runs(
    runs: Sequence[Path], by: By, headline: Headline, anchor: str | None, form: Format
) -> None:
    from tourney.cli.rated import of_runs
    from tourney.store import find_run

    readers = [find_run(run) for run in runs]
    if by is By.SEAT:
        _show_seats(readers, form)
        return
    board = of_runs(readers, headline=headline.value, anchor=anchor, by_version=by is By.VERSION)
    if by is By.SEATS:
        _show_sizes(board, form)
        return
    _show(board, readers[0], form)


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


def _write(lines: Sequence[Mapping[str, Any]], form: Format) -> None:
    """Lines for another program."""
    if form is Format.PARQUET:
        import polars as pl

        pl.DataFrame(lines, infer_schema_length=None).write_parquet(sys.stdout.buffer)
        return
    if form is Format.JSON:
        import msgspec

        sys.stdout.write(msgspec.json.format(msgspec.json.encode(lines)).decode() + "\n")
        return
    import csv

    if lines:
        writer = csv.DictWriter(sys.stdout, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def _show(board: "Leaderboard", reader: "RunReader | None", form: Format) -> None:
    if form is not Format.TABLE:
        _write(board.lines(), form)
    elif reader is not None:
        print_board(board, reader)
    else:
        from rich.console import Console

        Console().print(_rated_table(board.rated))


def print_board(board: "Leaderboard", reader: "RunReader") -> None:
    """The leaderboard of a run, what is left to find out, and what its matches are worth."""
    from rich.console import Console

    standings = [board.scores[line.bot] for line in board.rated] or list(board.scores.values())
    look = board.outlook(reader.info.stop)
    Console().print(standings_table(reader.info, standings, board.rated, look))
    if look is not None:
        print(look.sentence)
    if (worth := board.worth()) is not None:
        print(worth)
    for bot, reason in reader.info.withdrawn.items():
        print(f"withdrawn: {bot} after {reason}; its later matches were not played, nor rated")


def _show_seats(readers: "Sequence[RunReader]", form: Format) -> None:
    """What each seat is worth, for each table size."""
    import msgspec
    import polars as pl

    from tourney.ratings import arrange, seat_effects

    # Runs number their groups from 0 each, so they are told apart by their own part of the number.
    parts = [
        reader.scan("seats").with_columns(
            (pl.col("group") + number * 2**40).alias("group"),
        )
        for number, reader in enumerate(readers)
    ]
    lines = [
        {"seats": seats, **msgspec.structs.asdict(effect)}
        for seats, matches in arrange(pl.concat(parts)).items()
        for effect in seat_effects(matches)
    ]
    if form is not Format.TABLE:
        _write(lines, form)
        return
    _print_rows(
        ("seats", "seat", "win share", "left behind", "points"),
        [
            (
                str(line["seats"]),
                str(line["seat"]),
                f"{line['win_share']:.1%} {_plus_minus(line['win_se'], 100, 1)}",
                f"{line['ahead']:.1%} {_plus_minus(line['ahead_se'], 100, 1)}",
                f"{line['points']:+.2f} {_plus_minus(line['points_se'], 1, 2)}",
            )
            for line in lines
        ],
    )


def _show_sizes(board: "Leaderboard", form: Format) -> None:
    """A leaderboard for each table size."""
    from tourney.cli.rated import Leaderboard

    parts = [(one.seats, Leaderboard([one], headline=board.headline)) for one in board.sums]
    if form is not Format.TABLE:
        _write([{"seats": seats, **line} for seats, part in parts for line in part.lines()], form)
        return
    from rich.console import Console

    for seats, part in parts:
        print(f"{seats} seats")
        Console().print(_rated_table(part.rated))


def _print_rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console

    table = _table("")
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def _table(title: str) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    # Names come from bots' packages: plain text, never markup.
    shown = Text(title) if title else None
    return Table(title=shown, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))


def _rated_table(rated: "Sequence[Rated]") -> "Table":
    """Ratings alone, of results without scores."""
    from rich.text import Text

    table = _table("")
    table.add_column("#", justify="right")
    table.add_column("bot", overflow="fold")
    for head in ("rating", "tied", "by place", "by wins", "matches"):
        table.add_column(head, justify="right", no_wrap=True)
    for line in rated:
        table.add_row(
            _ranks(line),
            Text(line.bot),
            _rating(line),
            line.letters,
            f"{line.placement_rating:.0f}",
            f"{line.win_rating:.0f}",
            str(line.matches),
        )
    return table


def standings_table(
    info: "RunInfo",
    standings: "Sequence[Standing]",
    rated: "Sequence[Rated]" = (),
    look: "Outlook | None" = None,
) -> "Table":
    """The leaderboard for a terminal, in the order of `standings`.

    Args:
        info: the run.
        standings: scores and shares, best first.
        rated: ratings of the same bots, if they have been worked out.
        look: of a run that was stopped by a rule: its intervals, which hold at every look.
    """
    from rich.text import Text

    counts = info.counts
    table = _table(
        f"{info.id} · {info.game}, {info.seats} seats · {info.status} · "
        f"{counts.matches}/{counts.matches_total} matches"
    )
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("bot", overflow="fold", min_width=14)
    heads = ["win share", "mean score", "matches", "faults"]
    heads += [] if rated else ["mean ms", "max ms"]
    for head in (*(("rating", "tied") if rated else ()), *heads):
        table.add_column(head, justify="right", no_wrap=True)
    by_bot = {line.bot: line for line in rated}
    # A run that waited for knowledge was looked at all the time.
    waited = not {"pairs", "within", "interval"}.isdisjoint(info.stop)
    reaches = dict(look.reaches) if look is not None and waited else {}
    for line in standings:
        own = by_bot.get(line.bot)
        table.add_row(
            str(line.rank) if own is None else _ranks(own),
            Text(line.bot),
            *(() if own is None else (_rating(own, reaches), own.letters)),
            f"{line.win_share:.1%} {_plus_minus(line.win_se, 100, 1)}",
            f"{line.mean_score:.2f} {_plus_minus(line.score_se, 1, 2)}",
            str(line.matches),
            str(line.faults),
            *(() if rated else (_ms(line.ms_mean), _ms(line.ms_max))),
        )
    table.caption = Text(_caption(rated, sequence=bool(reaches)))
    table.caption_justify = "left"
    return table


def _caption(rated: "Sequence[Rated]", *, sequence: bool) -> str:
    said = ["± one standard error, clustered by rotation group"]
    if rated:
        kind = "valid at every look" if sequence else "95 % interval"
        said.append(f"rating: {kind}; bots that share a letter are not told apart")
    if any(line.orders_differ for line in rated):
        said.append("≠ ranked elsewhere by who finishes ahead of whom")
    return "\n".join(said)


def _ranks(line: "Rated") -> str:
    """The ranks that are not ruled out, and whether the other model ranks it elsewhere."""
    ends = {line.rank_best, line.rank_worst}
    return "-".join(map(str, sorted(ends))) + ("≠" if line.orders_differ else "")


def _rating(line: "Rated", reaches: Mapping[str, float | None] | None = None) -> str:
    if line.bound:
        return f"{line.bound} {line.rating:.0f}"
    if reaches:
        reach = reaches[line.bot]
    else:
        reach = None if line.rating_high is None else line.rating_high - line.rating
    return f"{line.rating:.0f} {_plus_minus(reach, 1, 0)}"


def _plus_minus(error: float | None, scale: int, digits: int) -> str:
    return "±?" if error is None else f"±{error * scale:.{digits}f}"


def _ms(ms: float | None) -> str:
    return "–" if ms is None else f"{ms:.2f}"
