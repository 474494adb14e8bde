"""A finished match as rows of the records."""

from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from tourney.protocol.faults import NOT_PLAYED, WITHDRAWN
from tourney.referee.match import Match
from tourney.referee.specs import MatchSpec

__all__ = ("Rows", "add_rows", "add_unplayed")

Rows = dict[str, list[dict[str, Any]]]
"""Rows by table, as they are collected."""


def add_rows(rows: Rows, match: Match, seconds: float) -> None:
    """Add a finished match to `rows`; `seconds` is its wall time."""
    spec = match.spec
    row, seats = _match_and_seats(match, seconds)
    rows["matches"].append(row)
    rows["seats"] += seats
    common = {"match": spec.match, "group": spec.group}
    for seat, (turn, fault) in sorted(match.faults.items()):
        rows["faults"].append(
            {
                **common,
                "seat": seat,
                "bot": spec.seating[seat],
                "turn": turn,
                **msgspec.structs.asdict(fault),
            }
        )
    for seat, (text, dropped) in sorted(match.logs.items()):
        rows["logs"].append(
            {
                **common,
                "seat": seat,
                "bot": spec.seating[seat],
                "text": text,
                "dropped": dropped,
            }
        )


def add_unplayed(rows: Rows, specs: Sequence[MatchSpec], withdrawn: Collection[str]) -> None:
    """Record the matches of a group that is not played because a bot in it was withdrawn.

    They have no rows in `seats`: nobody gains or loses by them.
    """
    for spec in specs:
        rows["matches"].append(
            {
                "match": spec.match,
                "group": spec.group,
                "pairing": "+".join(spec.pairing),
                "deal": spec.deal,
                "rotation": spec.rotation,
                "seating": spec.seating,
                "scores": [],
                "ranks": [],
                "outcomes": [WITHDRAWN if bot in withdrawn else NOT_PLAYED for bot in spec.seating],
                "actions": [],
                "notes": [],
                "decisions": 0,
                "seconds": 0.0,
                "think_us": [],
            }
        )


def _match_and_seats(match: Match, seconds: float) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    spec, result = match.spec, match.result()
    common = {"match": spec.match, "group": spec.group, "pairing": "+".join(spec.pairing)}
    row = {
        **common,
        "deal": spec.deal,
        "rotation": spec.rotation,
        "seating": spec.seating,
        "scores": result.scores,
        "ranks": result.ranks,
        "outcomes": result.outcomes,
        "actions": match.actions,
        "notes": [{"turn": turn, "note": note} for turn, note in match.notes],
        "decisions": sum(match.asked),
        "seconds": seconds,
        "think_us": match.think_us,
    }
    seats = [
        {
            **common,
            "seat": seat,
            "bot": bot,
            "score": result.scores[seat],
            "rank": result.ranks[seat],
            "win": result.win_share(seat),
            "outcome": result.outcomes[seat],
            "decisions": match.asked[seat],
            "think_ms_total": match.think_us_total[seat] / 1000,
            "think_ms_max": match.think_us_max[seat] / 1000,
        }
        for seat, bot in enumerate(spec.seating)
    ]
    return row, seats
