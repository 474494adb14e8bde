"""A run from its config to its last commit."""

from tourney.runner.loop import Progress, Runner
from tourney.runner.opening import OpenRun, Prepared, open_run, preflight, prepare

__all__ = ("OpenRun", "Prepared", "Progress", "Runner", "open_run", "preflight", "prepare")
