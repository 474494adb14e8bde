"""The pages. Each shows one value of `values` and what only its layout needs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from tourney.dashboard import tables
from tourney.dashboard.api import Headline, MatchNumber, PageNumber, library
from tourney.dashboard.charts import compared, heat, history, rating_axis, timeline
from tourney.dashboard.replays import Recorded
from tourney.dashboard.templating import render
from tourney.dashboard.values import (
    Absent,
    FaultCount,
    HeadToHead,
    History,
    Perspective,
    Ratings,
)
from tourney.errors import GameError, PluginError
from tourney.reports import PanelName
from tourney.reports.cells import COLUMNS, NAMES

__all__ = ("router",)

router = APIRouter(include_in_schema=False)

Refresh = Annotated[int, Query(ge=0, le=3600, description="seconds between reloads, 0 never")]
Step = Annotated[int, Query(ge=0, lt=2**31)]

TITLES: dict[PanelName, tuple[str, str]] = {
    "outlook": (
        "How far neighbours are told apart",
        "A score of 50 is even, by the headline. The interval holds at every look, so it may be "
        "looked at while the run is played.",
    ),
    "gain": (
        "What rotations are worth",
        "Each deal is played in every rotation of the table, so the luck of the cards cancels. "
        "One match of a group tells as much as so many on deals of their own.",
    ),
    "seats": (
        "Seats",
        "Whoever sat there; every bot sits in every seat equally often. Points are those above "
        "the table's mean.",
    ),
    "neighbours": (
        "Neighbours",
        "The points of whoever sits right after a bot, against the same bots after another one.",
    ),
    "luck": (
        "Without the luck of the cards",
        "The number of cards of each rank that a seat is dealt has a known mean; what is above "
        "or below it is luck, and is taken out. Coefficients come from other groups.",
    ),
    "cycles": (
        "Does one order fit?",
        "The misfit sums what the ratings fail to predict. It is common and harmless at the "
        "extremes; a circle of three certain victories is not.",
    ),
    "ties": ("Ties", "How often the first place, and any two places, are shared."),
}
"""Head and explanation of the panels that are shown as plain tables, in their order on the page."""


@router.get("/")
def home(request: Request, refresh: Refresh = 0) -> Response:
    """The list of runs."""
    shown = library(request)
    runs = shown.runs().runs
    context = {"runs": runs, "folder": shown.results.name, "refresh": refresh}
    return render(request, "runs.html", context)


@router.get("/runs/{run}")
def run_page(
    request: Request, run: str, refresh: Refresh = 0, headline: Headline = None
) -> Response:
    """A run: progress, leaderboard, history, facts."""
    shown = library(request)
    detail = shown.detail(run)
    plays = detail.summary.status == "running"
    context: dict[str, Any] = {
        "run": detail.summary,
        "detail": detail,
        "refresh": refresh if plays else 0,
        "to": _addresses(request, {"refresh": refresh or None if plays else None}),
        "language": {bot.bot: bot.language for bot in detail.bots},
        "ratings": None,
        "unrated": "",
        "chart": None,
    }
    try:
        own = shown.ratings(run)
        ratings = shown.ratings(run, headline) if headline else own
    except (PluginError, GameError) as error:
        context["unrated"] = str(error)
    else:
        kept = shown.panel(run, "history")
        assert isinstance(kept, History), "a panel is of its declared type"
        context |= _leaderboard(ratings)
        context["own_headline"] = own.headline
        context["chart"] = history(kept.lines, ratings.headline, own.headline)
    return render(request, "run.html", context)


def _addresses(request: Request, now: Mapping[str, Any]) -> Callable[..., str]:
    """Makes this page's address with other choices; those not named stay."""
    chosen = {name: value for name, value in now.items() if value is not None}
    if headline := request.query_params.get("headline"):
        chosen["headline"] = headline

    def to(**changed: Any) -> str:
        query = {name: value for name, value in (chosen | changed).items() if value is not None}
        return f"{request.url.path}?{urlencode(query)}" if query else request.url.path

    return to


def _leaderboard(ratings: Ratings) -> dict[str, Any]:
    letters = "".join(line.letters for line in ratings.standings)
    return {
        "ratings": ratings,
        "axis": rating_axis(ratings.standings),
        "bars": {line.bot: compared(line) for line in ratings.standings},
        "differ": any(line.orders_differ for line in ratings.standings),
        "tied": len(set(letters)) < len(letters),
    }


@router.get("/runs/{run}/analysis")
def analysis_page(request: Request, run: str) -> Response:
    """What a run's matches say besides the order of its bots."""
    shown = library(request)
    context: dict[str, Any] = {
        "run": shown.detail(run).summary,
        "ratings": shown.ratings(run),
        "panels": shown.panels(run),
        "columns": COLUMNS,
        "names": NAMES,
        "titles": TITLES,
    }
    met = context["panels"]["head-to-head"]
    assert isinstance(met, HeadToHead), "a panel is of its declared type"
    context["cells"] = {
        (pair.bot, pair.opponent): {"pair": pair, "heat": heat(pair.ahead)} for pair in met.lines
    }
    return render(request, "analysis.html", context)


@router.get("/runs/{run}/matches")
def matches_page(request: Request, run: str, bot: str = "", page: PageNumber = 1) -> Response:
    """Matches of a run, page by page."""
    shown = library(request)
    context = {"run": shown.detail(run).summary, "list": shown.matches(run, bot=bot, page=page)}
    return render(request, "matches.html", context)


@router.get("/runs/{run}/faults")
def faults_page(
    request: Request, run: str, bot: str = "", kind: str = "", page: PageNumber = 1
) -> Response:
    """What bots did wrong, page by page."""
    shown = library(request)
    context: dict[str, Any] = {"run": shown.detail(run).summary, "absent": "", "list": None}
    counts, status = shown.fault_counts(run), 200
    try:
        context["list"] = shown.faults(run, bot=bot, kind=kind, page=page)
    except Absent as error:
        # All filters are offered, so that a way on is at hand.
        context["absent"], status, bot, kind = str(error), 404, "", ""
    context |= {"bot": bot, "kind": kind, **_fault_filters(counts, bot, kind)}
    return render(request, "faults.html", context, status)


def _fault_filters(counts: Sequence[FaultCount], bot: str, kind: str) -> dict[str, dict[str, int]]:
    """How many faults each filter leaves where the other one stays as it is."""
    bots = {count.bot: 0 for count in counts}
    kinds = {count.kind: 0 for count in counts}
    for count in counts:
        bots[count.bot] += count.faults if kind in ("", count.kind) else 0
        kinds[count.kind] += count.faults if bot in ("", count.bot) else 0
    return {"bots": bots, "kinds": kinds}


@router.get("/runs/{run}/matches/{match}")
def match_page(
    request: Request, run: str, match: MatchNumber, step: Step = 0, seat: str = "all"
) -> Response:
    """A match step by step."""
    shown = library(request)
    replayed = shown.recorded(run, match)
    perspective = replayed.perspective(seat)
    context: dict[str, Any] = {
        "run": shown.detail(run).summary,
        "row": replayed.row,
        "seats": replayed.seats,
        "locked": replayed.locked,
        "perspective": perspective,
        "faults": replayed.record.faults,
    }
    if not replayed.locked:
        if step > replayed.last:
            raise Absent(f"match {match} has {replayed.last} steps, there is no step {step}")
        context |= _step(request, replayed, step, perspective)
    return render(request, "match.html", context)


def _step(
    request: Request, replayed: Recorded, step: int, perspective: Perspective
) -> dict[str, Any]:
    moment = replayed.moment(step, perspective)
    game = replayed.record.info.game
    owners = []
    if perspective == "all":
        owners = [replayed.view(step, seat) for seat in range(replayed.seats)]

    def to(number: int, seat: Perspective = perspective) -> str:
        return f"{request.url.path}?{urlencode({'step': number, 'seat': seat})}"

    fault_steps = replayed.fault_steps()
    actors = [frame.seat for frame in replayed.frames[1:]]
    bars = timeline(actors, replayed.row["think_us"], set(fault_steps))
    return {
        "moment": moment,
        "table": tables.table_of(game, replayed.seats, moment, owners),
        "own_layout": game == "dam",
        "phrases": [(event.get("seat"), tables.phrase(game, event)) for event in moment.events],
        "last": replayed.last,
        "to": to,
        "next_fault": next((number for number in fault_steps if number > step), None),
        "timeline": bars,
        "go_before": next((bar.first for bar in reversed(bars) if bar.first < step), 0),
        "go_after": next((bar.first for bar in bars if bar.first > step), replayed.last),
        "over": replayed.frames[step].over,
    }


@router.get("/api")
def api_page(request: Request) -> Response:
    """A plain reference of the API, from its OpenAPI document."""
    return render(request, "api.html", {"document": request.app.openapi()})
