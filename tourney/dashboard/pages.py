"""The pages. Each shows one value of `values` and what only its layout needs."""

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from tourney.dashboard import tables
from tourney.dashboard.api import MatchNumber, PageNumber, library
from tourney.dashboard.charts import heat, share_axis, timeline
from tourney.dashboard.replays import Recorded
from tourney.dashboard.templating import render
from tourney.dashboard.values import Absent, HeadToHead, Perspective, Ratings
from tourney.errors import GameError, PluginError

__all__ = ("router",)

router = APIRouter(include_in_schema=False)

Refresh = Annotated[int, Query(ge=0, le=3600, description="seconds between reloads, 0 never")]
Step = Annotated[int, Query(ge=0, lt=2**31)]


@router.get("/")
def home(request: Request, refresh: Refresh = 0) -> Response:
    """The list of runs."""
    shown = library(request)
    runs = shown.runs().runs
    context = {"runs": runs, "folder": shown.results.name, "refresh": refresh}
    return render(request, "runs.html", context)


@router.get("/runs/{run}")
def run_page(request: Request, run: str, refresh: Refresh = 0) -> Response:
    """A run: progress, leaderboard, head to head, facts."""
    shown = library(request)
    detail = shown.detail(run)
    context: dict[str, Any] = {
        "run": detail.summary,
        "detail": detail,
        "refresh": refresh if detail.summary.status == "running" else 0,
        "language": {bot.bot: bot.language for bot in detail.bots},
        "ratings": None,
        "unrated": "",
        "cells": {},
        "axis": share_axis(()),
    }
    try:
        ratings = shown.ratings(run)
    except (PluginError, GameError) as error:
        context["unrated"] = str(error)
    else:
        context["ratings"] = ratings
        context["axis"] = share_axis(ratings.standings)
        context["cells"] = _cells(ratings, shown.head_to_head(run))
    return render(request, "run.html", context)


def _cells(ratings: Ratings, met: HeadToHead) -> dict[tuple[str, str], Any]:
    """Each pair with its colour class, by (bot, opponent)."""
    rated = {line.bot for line in ratings.standings}
    return {
        (pair.bot, pair.opponent): {"pair": pair, "heat": heat(pair.ahead)}
        for pair in met.pairs
        if pair.bot in rated
    }


@router.get("/runs/{run}/matches")
def matches_page(request: Request, run: str, bot: str = "", page: PageNumber = 1) -> Response:
    """Matches of a run, page by page."""
    shown = library(request)
    context = {"run": shown.detail(run).summary, "list": shown.matches(run, bot=bot, page=page)}
    return render(request, "matches.html", context)


@router.get("/runs/{run}/faults")
def faults_page(request: Request, run: str) -> Response:
    """What bots did wrong."""
    shown = library(request)
    context = {"run": shown.detail(run).summary, "list": shown.faults(run)}
    return render(request, "faults.html", context)


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
