"""The leaderboard on a terminal, at any width: live, at the end, and on demand."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    # Loading polars takes longer than `tourney --help` may.
    from tourney.ratings import Line, Report
    from tourney.store import RunInfo

__all__ = ("board_table", "plain_table", "print_report", "title_of")

DROPPED = ("mean ms", "> next", "matches", "by place", "by wins", "points", "tied", "faults")
"""Columns that a narrow terminal goes without, the least missed first."""

NAME_WIDTH = 24
"""Room for a bot's name before other columns go."""

LEAST_NAME = 8
"""A name keeps so many of its letters."""


class _Column(NamedTuple):
    head: str
    cells: list[str]

    @property
    def width(self) -> int:
        """Room that it takes, with the space beside it."""
        widest = max(len(self.head), *map(len, self.cells), 0)
        return 2 + (min(widest, NAME_WIDTH) if self.head == "bot" else widest)


def title_of(info: "RunInfo") -> str:
    """What was played, and how far."""
    counts = info.counts
    matches = f"{counts.matches:,}"
    if counts.matches != counts.matches_total and not info.stop:
        matches += f" of {counts.matches_total:,}"
    return f"{info.id} · {info.game}, {info.seats_text} · {info.status} · {matches} matches"


def plain_table(title: str) -> Table:
    """An empty table in our one style."""
    # Names come from bots' packages: plain text, never markup.
    shown = Text(title) if title else None
    return Table(title=shown, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))


def board_table(
    lines: "Sequence[Line]",
    *,
    width: int,
    title: str = "",
    every_look: bool = False,
    most: int | None = None,
) -> Group:
    """The leaderboard as a table, with its key under it.

    Args:
        lines: best first.
        width: columns of the terminal.
        title: above it.
        every_look: whether intervals hold at every look.
        most: lines that there is room for; the rest are counted.
    """
    table = plain_table(title)
    shown = lines if most is None or len(lines) <= most else lines[: max(1, most - 1)]
    columns = _fitting(_columns(shown), width)
    others = sum(column.width for column in columns if column.head != "bot")
    for column in columns:
        if column.head == "bot":
            # What is left of the terminal; numbers are never cut.
            table.add_column("bot", no_wrap=True, max_width=max(LEAST_NAME, width - others - 3))
        else:
            table.add_column(column.head, justify="right", no_wrap=True, min_width=column.width - 2)
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*map(_styled, columns, cells))
    said = [] if len(shown) == len(lines) else [f"… {len(lines) - len(shown)} more"]
    key = "\n".join([*said, *_caption(lines, every_look=every_look)])
    return Group(table, Text(key, style="dim"), "")


def _styled(column: _Column, cell: str) -> Text:
    """A cell with its error in the background and what matters in front."""
    value, sign, error = cell.partition("±")
    front = {"bot": "bold", "rating": "bold"}.get(column.head, "")
    if column.head == "faults" and cell != "0":
        front = "bold red"
    return Text.assemble((value, front), (sign + error, "dim"))


def _fitting(columns: list[_Column], width: int) -> list[_Column]:
    """Those that there is room for."""
    for head in DROPPED:
        if 1 + sum(column.width for column in columns) <= width:
            break
        columns = [column for column in columns if column.head != head]
    return columns


def _columns(lines: "Sequence[Line]") -> list[_Column]:
    """Every column that has something to say, in order."""
    columns = [
        _Column("#", [_ranks(line) for line in lines]),
        _Column("bot", [line.bot for line in lines]),
        _Column("rating", [_rating(line) for line in lines]),
    ]
    if _any_tied(lines):
        columns.append(_Column("tied", [line.letters for line in lines]))
    columns += [
        _Column("> next", [_certainty(line.superiority) for line in lines]),
    ]
    if any(line.win_share is not None for line in lines):
        columns += [
            _Column("wins", [_share(line.win_share, line.win_se) for line in lines]),
            _Column("points", [_number(line.mean_score, line.score_se) for line in lines]),
        ]
    else:
        columns += [
            _Column("by wins", [f"{line.win_rating:.0f}" for line in lines]),
            _Column("by place", [f"{line.placement_rating:.0f}" for line in lines]),
        ]
    columns.append(_Column("matches", [f"{line.matches:,}" for line in lines]))
    if any(line.faults for line in lines):
        columns.append(_Column("faults", [f"{line.faults or 0:,}" for line in lines]))
    if any(line.ms_mean is not None for line in lines):
        columns.append(_Column("mean ms", [_ms(line.ms_mean) for line in lines]))
    return columns


def _any_tied(lines: "Sequence[Line]") -> bool:
    """Whether any two share a letter."""
    letters = [letter for line in lines for letter in line.letters]
    return len(set(letters)) < len(letters)


def _caption(lines: "Sequence[Line]", *, every_look: bool) -> list[str]:
    interval = "an interval valid at every look" if every_look else "95 % interval"
    said = [f"rating ± {interval}, by rotation group; wins and points ± one error"]
    if _any_tied(lines):
        said.append("bots that share a letter are not told apart")
    if any(line.orders_differ for line in lines):
        said.append("≠ the other rating, by places or by wins, ranks it elsewhere")
    if any(line.table > 1 for line in lines):
        said.append("ranks begin anew for bots that never met those above")
    return said


def print_report(shown: "Report", *, title: str = "") -> None:
    """Print a leaderboard and what is said about it."""
    from rich.console import Console

    console = Console()
    console.print(
        board_table(shown.standings, width=console.width, title=title, every_look=shown.every_look)
    )
    for sentence in shown.notes:
        console.print(sentence, markup=False, highlight=False)


def _ranks(line: "Line") -> str:
    """The ranks that are not ruled out, and whether the other model ranks it elsewhere."""
    ends = {line.rank_best, line.rank_worst}
    return "-".join(map(str, sorted(ends))) + ("≠" if line.orders_differ else "")


def _rating(line: "Line") -> str:
    if line.bound:
        return f"{line.bound} {line.rating:.0f}"
    reach = None if line.rating_high is None else line.rating_high - line.rating
    return _with_error(line.rating, reach, 0)


def _certainty(chance: float | None) -> str:
    """How likely a bot is better than the next, never said to be certain."""
    if chance is None:
        return ""
    return ">99.9 %" if chance > 0.999 else f"{chance:.1%}".replace("%", " %")


def _share(share: float | None, error: float | None) -> str:
    if share is None:
        return ""
    return _with_error(100 * share, None if error is None else 100 * error, 1, "%")


def _number(value: float | None, error: float | None) -> str:
    if value is None:
        return ""
    return _with_error(value, error, 2)


def _with_error(value: float, error: float | None, usual: int, unit: str = "") -> str:
    from tourney.reports.decimals import decimals

    digits = decimals(error, usual)
    return f"{value:.{digits}f}{unit} " + ("±?" if error is None else f"±{error:.{digits}f}")


def _ms(ms: float | None) -> str:
    return "–" if ms is None else f"{ms:.2f}"
