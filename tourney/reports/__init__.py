"""What runs say: leaderboards, panels and history. The command line and the pages both ask here."""

from tourney.reports.boards import board_of, chosen, imported
from tourney.reports.kept import kept_report, report_of
from tourney.reports.panels import PANELS, Evidence, Panel, PanelName, panel

__all__ = (
    "PANELS",
    "Evidence",
    "Panel",
    "PanelName",
    "board_of",
    "chosen",
    "imported",
    "kept_report",
    "panel",
    "report_of",
)
