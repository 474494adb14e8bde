"""Panels as text: heads and cells, the same on a terminal and on a page."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tourney.reports.decimals import decimals
from tourney.reports.panels import PanelName

__all__ = ("COLUMNS", "NAMES", "Cell")

Cell = Callable[[Any], str]


def _plain(name: str) -> Cell:
    return lambda line: "–" if getattr(line, name) is None else str(getattr(line, name))


def _number(name: str, error: str = "", *, scale: int = 1, digits: int = 2, sign: str = "") -> Cell:
    """A number, with its error if it has one."""

    def cell(line: Any) -> str:
        value = getattr(line, name)
        if value is None:
            return "–"
        found = getattr(line, error) if error else None
        places = digits if found is None else decimals(scale * found, digits)
        shown = f"{scale * value:{sign}.{places}f}"
        if not error:
            return shown
        return f"{shown} " + ("±?" if found is None else f"±{scale * found:.{places}f}")

    return cell


def _percent(name: str, error: str = "") -> Cell:
    inner = _number(name, error, scale=100, digits=1)

    def cell(line: Any) -> str:
        shown = inner(line)
        if shown == "–":
            return shown
        return shown.replace(" ±", "% ±") if error else f"{shown}%"

    return cell


def _chance(name: str) -> Cell:
    """A likelihood, which is never quite certain."""
    inner = _percent(name)

    def cell(line: Any) -> str:
        value = getattr(line, name)
        if value is None or 0.001 <= value <= 0.999:
            return inner(line)
        return ">99.9%" if value > 0.5 else "<0.1%"

    return cell


def _matches(line: Any) -> str:
    return f"{line.matches:,}"


def _left(line: Any) -> str:
    return "never" if line.groups_left is None else f"{line.groups_left:,.0f}"


def _interval(line: Any) -> str:
    """Of a share, where there is one."""
    return "–" if line.low is None else f"{100 * line.low:.1f}–{100 * line.high:.1f}%"


def _z(line: Any) -> str:
    return ("–" if line.z is None else f"{line.z:+.1f}") + ("!" if line.odd else "")


def _p_value(line: Any) -> str:
    if line.p_value is None:
        return "–"
    return "<0.001" if line.p_value < 0.001 else f"{line.p_value:.3f}"


def _cycles(line: Any) -> str:
    return "; ".join(" > ".join([*one.bots, one.bots[0]]) for one in line.cycles) or "none"


COLUMNS: Mapping[PanelName, Sequence[tuple[str, Cell]]] = {
    "head-to-head": (
        ("bot", _plain("bot")),
        ("opponent", _plain("opponent")),
        ("ahead", _percent("ahead", "ahead_se")),
        ("expected", _percent("expected")),
        ("z", _z),
        ("better", _chance("superiority")),
        ("matches", _matches),
    ),
    "seats": (
        ("seats", _plain("seats")),
        ("seat", _plain("seat")),
        ("wins", _percent("win_share", "win_se")),
        ("left behind", _percent("ahead", "ahead_se")),
        ("rating", _number("rating", "rating_se", digits=1, sign="+")),
        ("points", _number("points", "points_se", sign="+")),
    ),
    "neighbours": (
        ("seats", _plain("seats")),
        ("right after", _plain("bot")),
        ("points", _number("points", "points_se", sign="+")),
        ("groups", _number("groups", digits=0)),
    ),
    "ties": (
        ("seats", _plain("seats")),
        ("first shared", _percent("first")),
        ("pairs tied", _percent("pairs")),
    ),
    "cycles": (
        ("seats", _plain("seats")),
        ("misfit", _number("misfit", digits=1)),
        ("degrees", _plain("degrees")),
        ("p", _p_value),
        ("curl", _percent("curl")),
        ("certain circles", _cycles),
    ),
    "luck": (
        ("bot", _plain("bot")),
        ("points", _number("score", "score_se")),
        ("without luck", _number("adjusted", "adjusted_se")),
        ("groups", _number("groups", digits=0)),
    ),
    "gain": (
        ("rating", _plain("model")),
        ("matches", _matches),
        ("one is worth", _number("gain")),
        ("all are worth", lambda line: f"{line.worth:,}"),
    ),
    "outlook": (
        ("bot", _plain("bot")),
        ("next", _plain("other")),
        ("score", _percent("score")),
        ("interval", _interval),
        ("verdict", _plain("verdict")),
        ("groups left", _left),
    ),
    "history": (
        ("matches", _matches),
        ("bot", _plain("bot")),
        ("rating", _number("rating", digits=0)),
        ("from", _number("rating_low", digits=0)),
        ("to", _number("rating_high", digits=0)),
    ),
}
"""Head and cell of every column, by panel."""

NAMES = frozenset(("bot", "opponent", "next", "right after", "certain circles"))
"""Heads above names, which stand to the left."""
