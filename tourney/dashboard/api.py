"""The API: the values of the pages as JSON, with an OpenAPI description made from their types."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, FastAPI, Path, Query, Request, Response
from fastapi.openapi.utils import get_openapi

from tourney.dashboard.queries import Library
from tourney.dashboard.values import (
    FaultPage,
    MatchPage,
    Problem,
    Ratings,
    Replay,
    RunDetail,
    RunList,
    Value,
)
from tourney.ratings import Model, to_csv
from tourney.reports import PANELS, PanelName

__all__ = ("MatchNumber", "PageNumber", "describe", "library", "router")

SHOWN: tuple[type[msgspec.Struct], ...] = (
    *(made for made, _ in PANELS.values()),
    FaultPage,
    MatchPage,
    Problem,
    Ratings,
    Replay,
    RunDetail,
    RunList,
)
JSON = "application/json"
CSV: dict[int | str, dict[str, Any]] = {200: {"content": {"text/csv": {"schema": {}}}}}

# Wider numbers do not fit the columns they are compared with.
MatchNumber = Annotated[int, Path(ge=0, lt=2**63, description="number in the run")]
PageNumber = Annotated[int, Query(ge=1, lt=2**31, description="page, from 1")]
Headline = Annotated[Model | None, Query(description="what bots are ranked by")]

router = APIRouter(default_response_class=Response)


class Health(Value, frozen=True, kw_only=True):
    """The server answers."""

    status: Literal["ok"] = "ok"


def library(request: Request) -> Library:
    """The runs that this application shows."""
    found: Library = request.app.state.library
    return found


def _answer(value: msgspec.Struct) -> Response:
    return Response(msgspec.json.encode(value), media_type=JSON)


def _shows(value: type[msgspec.Struct]) -> dict[int | str, dict[str, Any]]:
    def reference(name: str, media: str) -> dict[str, Any]:
        return {"content": {media: {"schema": {"$ref": f"#/components/schemas/{name}"}}}}

    problem = reference("Problem", "application/problem+json")
    return {
        200: {"description": _first_line(value), **reference(value.__name__, JSON)},
        "default": {"description": _first_line(Problem), **problem},
    }


def _first_line(value: type[msgspec.Struct]) -> str:
    return (value.__doc__ or "").partition("\n")[0]


@router.get("/healthz", include_in_schema=False)
def healthz() -> Response:
    """Whether the server answers."""
    return _answer(Health())


@router.get("/api/v1/runs", responses=_shows(RunList))
def runs(request: Request) -> Response:
    """List the runs, newest first."""
    return _answer(library(request).runs())


@router.get("/api/v1/runs/{run}", responses=_shows(RunDetail))
def run_detail(request: Request, run: str) -> Response:
    """Show the facts of a run."""
    return _answer(library(request).detail(run))


@router.get("/api/v1/runs/{run}/ratings", responses=_shows(Ratings))
def run_ratings(request: Request, run: str, headline: Headline = None) -> Response:
    """Show the leaderboard of a run, best bot first, by what its game pays or as asked."""
    return _answer(library(request).ratings(run, headline))


@router.get("/api/v1/runs/{run}/ratings.csv", responses=CSV)
def run_ratings_csv(request: Request, run: str, headline: Headline = None) -> Response:
    """Show the leaderboard of a run as CSV."""
    text = to_csv(library(request).ratings(run, headline).standings)
    return Response(text, media_type="text/csv; charset=utf-8")


def _add_panel(name: PanelName) -> None:
    shown, _ = PANELS[name]

    def answer(request: Request, run: str) -> Response:
        return _answer(library(request).panel(run, name))

    router.add_api_route(
        f"/api/v1/runs/{{run}}/{name}",
        answer,
        name=f"run_{name}",
        description=_first_line(shown),
        responses=_shows(shown),
    )


for _name in PANELS:
    _add_panel(_name)


@router.get("/api/v1/runs/{run}/matches", responses=_shows(MatchPage))
def run_matches(request: Request, run: str, bot: str = "", page: PageNumber = 1) -> Response:
    """List the matches of a run, page by page, those of one bot if it is named."""
    return _answer(library(request).matches(run, bot=bot, page=page))


@router.get("/api/v1/runs/{run}/matches/{match}", responses=_shows(Replay))
def run_match(request: Request, run: str, match: MatchNumber, seat: str = "all") -> Response:
    """Replay a match step by step as `all`, `public` or a seat's number saw it."""
    replayed = library(request).recorded(run, match)
    return _answer(replayed.value(replayed.perspective(seat)))


@router.get("/api/v1/runs/{run}/faults", responses=_shows(FaultPage))
def run_faults(
    request: Request, run: str, bot: str = "", kind: str = "", page: PageNumber = 1
) -> Response:
    """List what bots did wrong, with the evidence, page by page; of one bot or kind if named."""
    return _answer(library(request).faults(run, bot=bot, kind=kind, page=page))


def describe(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, with the schemas of the values."""
    document = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        routes=app.routes,
    )
    _, schemas = msgspec.json.schema_components(SHOWN, ref_template="#/components/schemas/{name}")
    known: Mapping[str, Any] = document.get("components", {}).get("schemas", {})
    document["components"] = {"schemas": {**known, **schemas}}
    return document
