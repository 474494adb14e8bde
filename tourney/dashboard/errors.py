"""Every error as a friendly page, or as problem+json under /api/ (RFC 9457)."""

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from tourney.dashboard.security import HEADERS
from tourney.dashboard.templating import render
from tourney.dashboard.values import Absent, Problem
from tourney.errors import TourneyError

__all__ = ("install", "problem_response")

TITLES = {
    404: "Not found",
    405: "Not possible",
    422: "Not understood",
    500: "Something is broken",
}


def install(app: FastAPI) -> None:
    """Register the handlers."""
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(TourneyError, _our_error)
    app.add_exception_handler(Exception, _unexpected)


def problem_response(request: Request, status: int, detail: str) -> Response:
    """An error in the form that suits the address."""
    problem = Problem(title=TITLES.get(status, "Error"), status=status, detail=detail)
    if request.url.path.startswith("/api/"):
        return Response(msgspec.json.encode(problem), status, media_type="application/problem+json")
    return render(request, "error.html", {"problem": problem}, status)


def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = error.detail
    if error.status_code == 404:
        detail = f"There is nothing at {request.url.path}."
    response = problem_response(request, error.status_code, detail)
    response.headers.update(error.headers or {})
    return response


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:])
    return problem_response(request, 422, f"{where}: {first['msg']}")


def _our_error(request: Request, error: Exception) -> Response:
    status = 404 if isinstance(error, Absent) else 500
    assert isinstance(error, TourneyError)
    text: str = request.app.state.library.told(error)
    if "/" not in text.partition(" ")[0]:
        # The name of a file stays as it is.
        text = f"{text[:1].upper()}{text[1:]}"
    return problem_response(request, status, f"{text}.".replace("..", "."))


def _unexpected(request: Request, error: Exception) -> Response:  # noqa: ARG001 - the log has it
    response = problem_response(
        request, 500, "This is a fault of the dashboard; its log has the details."
    )
    # Answers to the unexpected are made outside of every middleware.
    response.headers.update(HEADERS)
    return response
