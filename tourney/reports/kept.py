"""The last leaderboard that a run's driver wrote: to look at a run without reading its rows."""

from tourney.ratings import Report, from_facts
from tourney.store import RunReader
from tourney.store.derived import read_derived, read_facts

__all__ = ("kept_report",)


def kept_report(reader: RunReader) -> Report | None:
    """The leaderboard as it was some seconds ago, or at the end; None where none was kept."""
    rows = read_derived(reader.folder, "ratings")
    if rows is None:
        return None
    try:
        return from_facts(rows.to_dicts(), read_facts(reader.folder, "ratings"))
    except ValueError:
        # Of another version: derived, so it is as good as none.
        return None
