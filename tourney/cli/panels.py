"""Panels on a terminal: the sentence of each, and its lines as a table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from tourney.cli.board import plain_table

if TYPE_CHECKING:
    # Loading polars takes longer than `tourney --help` may.
    from tourney.reports import Panel, PanelName

__all__ = ("print_panel",)


def print_panel(name: "PanelName", shown: "Panel") -> None:
    """Print a panel."""
    from rich.console import Console

    from tourney.reports.cells import COLUMNS, NAMES

    console = Console()
    console.print(shown.note, markup=False, highlight=False)
    lines: Sequence[Any] = getattr(shown, "lines", ())
    if not lines:
        return
    table = plain_table("")
    for head, _ in COLUMNS[name]:
        if head in NAMES:
            table.add_column(head, overflow="fold" if head == "certain circles" else "ellipsis")
        else:
            table.add_column(head, justify="right", no_wrap=True)
    for line in lines:
        # Names come from bots' packages: plain text, never markup.
        table.add_row(*(Text(cell(line)) for _, cell in COLUMNS[name]))
    console.print(table)
