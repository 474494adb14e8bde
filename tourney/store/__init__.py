"""A run's folder, on a disk or an object store: one runner writes it, others read it lazily."""

from tourney.store.heartbeat import Heartbeat
from tourney.store.info import Host, RunCounts, RunInfo
from tourney.store.location import Location, storage_at
from tourney.store.reader import NoRun, RunReader, find_run, list_runs, look, run_called
from tourney.store.storage import Storage
from tourney.store.writer import RunWriter

__all__ = (
    "Heartbeat",
    "Host",
    "Location",
    "NoRun",
    "RunCounts",
    "RunInfo",
    "RunReader",
    "RunWriter",
    "Storage",
    "find_run",
    "list_runs",
    "look",
    "run_called",
    "storage_at",
)
