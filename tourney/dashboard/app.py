"""The application: which parts it has and in which order. No page is made here."""

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.middleware.trustedhost import TrustedHostMiddleware

from tourney import __version__
from tourney.dashboard import api, errors, pages
from tourney.dashboard.queries import Library
from tourney.dashboard.security import SecurityHeaders, allowed_hosts
from tourney.dashboard.templating import STATIC
from tourney.store import Location

__all__ = ("create_app",)


def create_app(results: Location, *, hosts: Sequence[str] | None = None) -> FastAPI:
    """The dashboard of the runs in `results`, which may be empty, missing or one run's folder.

    Args:
        results: where the runs are: a folder, or the URL of a bucket or a prefix.
        hosts: host names that are answered to; those of this machine by default.
    """
    app = FastAPI(
        title="tourney",
        version=__version__,
        summary="Runs, leaderboards, matches and faults, as the pages show them.",
        openapi_url="/api/openapi.json",
        # Their pages load scripts from elsewhere; /api is our own.
        docs_url=None,
        redoc_url=None,
    )
    app.state.library = Library(results)
    allowed = list(hosts) if hosts is not None else allowed_hosts("127.0.0.1")
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=allowed, www_redirect=False)
    app.add_middleware(SecurityHeaders)
    errors.install(app)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.include_router(api.router)
    app.include_router(pages.router)

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = api.describe(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's own way to extend it
    return app
