"""What runs say: leaderboards, panels and history. The command line and the pages both ask here."""

from tourney.reports.boards import board_of, chosen, headline_of, imported
from tourney.reports.panels import PANELS, Evidence, Panel, PanelName, panel
from tourney.reports.report import Report, report

__all__ = (
    "PANELS",
    "Evidence",
    "Panel",
    "PanelName",
    "Report",
    "board_of",
    "chosen",
    "headline_of",
    "imported",
    "panel",
    "report",
)
