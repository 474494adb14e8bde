"""A run from its config to its last commit."""

from tourney.runner.loop import Progress, Runner
from tourney.runner.opening import OpenRun, Prepared, open_run, preflight, prepare
from tourney.runner.stopping import StopCheck

__all__ = (
    "OpenRun",
    "Prepared",
    "Progress",
    "Runner",
    "StopCheck",
    "open_run",
    "preflight",
    "prepare",
)
