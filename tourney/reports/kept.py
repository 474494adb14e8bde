"""The last leaderboard that a run's driver wrote: to look at a run without reading its rows."""

from tourney import __version__
from tourney.ratings import Model, Report, from_facts, outlook_of, report
from tourney.reports.boards import board_of, game_of
from tourney.store import RunReader
from tourney.store.derived import read_derived, read_facts

__all__ = ("kept_report", "report_of")

MANY = 200_000
"""Matches from which a page shows the leaderboard of some seconds ago rather than read all rows."""


def kept_report(reader: RunReader) -> Report | None:
    """The leaderboard as it was some seconds ago, or at the end; None where none was kept."""
    return _kept(reader, read_facts(reader.folder, "ratings"))


def _kept(reader: RunReader, facts: dict[str, str]) -> Report | None:
    # What another version made of the rows is not what this one would.
    rows = read_derived(reader.folder, "ratings") if facts.get("tourney") == __version__ else None
    if rows is None:
        return None
    try:
        return from_facts(rows.to_dicts(), facts)
    except ValueError:
        return None


def report_of(reader: RunReader, *, headline: Model | None = None, hurried: bool = False) -> Report:
    """What to show of a run: what its driver wrote if that is all there is to say, else its rows.

    Args:
        reader: the run.
        headline: what bots are ranked by; None for what the game pays.
        hurried: of a long run that is played, be content with the last leaderboard that was kept.

    Raises:
        PluginError: the run's game is not installed.
        GameError: its rules are not those of the installed game.
        StoreError: the run is damaged.
    """
    own, matches = game_of([reader]).headline, reader.info.counts.matches
    if headline in (None, own):
        facts = read_facts(reader.folder, "ratings")
        if facts.get("committed") == str(matches) or (hurried and matches >= MANY):
            kept = _kept(reader, facts)
            if kept is not None:
                return kept
    board, stop = board_of([reader], headline=headline), reader.info.stop
    return report(board, stop, outlook_of(board, stop))
