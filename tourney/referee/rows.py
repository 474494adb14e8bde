"""A finished match as rows of the records."""

from typing import Any

from tourney.referee.match import Match

__all__ = ("match_rows",)


def match_rows(
    match: Match, seconds: float
) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """The match's row, its seats' rows and its faults' rows; `seconds` is its wall time."""
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
    faults = [
        {
            "match": spec.match,
            "group": spec.group,
            "seat": seat,
            "bot": spec.seating[seat],
            "turn": turn,
            "kind": fault.kind,
            "detail": fault.detail,
            "last_sent": fault.last_sent,
            "last_received": fault.last_received,
            "exit_status": fault.exit_status,
            "cpu_ms": fault.cpu_ms,
            "memory_mb": fault.memory_mb,
            "stderr_tail": fault.stderr_tail,
        }
        for seat, (turn, fault) in sorted(match.faults.items())
    ]
    return row, seats, faults
