"""A run's folder: written atomically by one runner, read lazily by everybody else."""

from tourney.store.heartbeat import Heartbeat
from tourney.store.info import Host, RunCounts, RunInfo
from tourney.store.reader import RunReader, find_run, list_runs
from tourney.store.writer import RunWriter

__all__ = (
    "Heartbeat",
    "Host",
    "RunCounts",
    "RunInfo",
    "RunReader",
    "RunWriter",
    "find_run",
    "list_runs",
)
