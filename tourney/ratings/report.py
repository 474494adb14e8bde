"""A leaderboard with all that is said about it: what terminal, pages, files and API show."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec

from tourney.ratings.board import Board, Line
from tourney.ratings.spread import Model
from tourney.ratings.stopping import Outlook, StopRule

__all__ = ("Report", "facts_of", "from_facts", "outlook_of", "report")


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What a leaderboard shows."""

    headline: Annotated[Model, msgspec.Meta(description="what bots are ranked by")]
    every_look: Annotated[
        bool, msgspec.Meta(description="intervals hold at every look, not at a single one")
    ]
    standings: Annotated[tuple[Line, ...], msgspec.Meta(description="best first")]
    notes: Annotated[
        tuple[str, ...], msgspec.Meta(description="what is left to find out, what groups are worth")
    ]


def facts_of(shown: Report) -> dict[str, str]:
    """All of a report but its lines, as texts that a file of the lines can carry."""
    return {
        "headline": shown.headline,
        "every_look": str(shown.every_look),
        "notes": "\n".join(shown.notes),
    }


def from_facts(lines: Sequence[Mapping[str, Any]], facts: Mapping[str, str]) -> Report:
    """A report from its lines and its facts.

    Raises:
        ValueError: they are not those of a report.
    """
    kept = {
        "headline": facts.get("headline"),
        "every_look": facts.get("every_look") == str(True),
        "standings": lines,
        "notes": facts.get("notes", "").splitlines(),
    }
    try:
        return msgspec.convert(kept, Report)
    except msgspec.ValidationError as error:
        raise ValueError(f"not a leaderboard: {error}") from error


def outlook_of(board: Board, stop: Mapping[str, Any]) -> Outlook | None:
    """How far neighbours are told apart, by the run's own stopping rule if it has one."""
    return board.outlook(
        StopRule(
            separated=stop.get("pairs") == "separated",
            within=stop.get("within"),
            interval=stop.get("interval"),
        )
    )


def report(board: Board, stop: Mapping[str, Any], found: Outlook | None) -> Report:
    """What to show of `board`.

    Args:
        board: the leaderboard.
        stop: the run's stopping rule. A run that waited for knowledge was looked at all the time:
            its ratings have intervals that hold at every look.
        found: how far neighbours are told apart, perhaps of a moment ago.
    """
    waited = found is not None and not {"pairs", "within", "interval"}.isdisjoint(stop)
    lines: Sequence[Line] = board.lines
    if found is not None and waited:
        reaches = dict(found.reaches)
        lines = [_reaching(line, reaches.get(line.bot)) for line in lines]
    notes = [found.sentence] if found is not None and found.neighbours else []
    if board.gain is not None:
        notes.append(board.gain.sentence)
    return Report(
        headline=board.headline, every_look=waited, standings=tuple(lines), notes=tuple(notes)
    )


def _reaching(line: Line, reach: float | None) -> Line:
    low, high = (None, None) if reach is None else (line.rating - reach, line.rating + reach)
    return msgspec.structs.replace(line, rating_low=low, rating_high=high)
