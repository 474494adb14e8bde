"""Templates with autoescape, and the few formats that pages share."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tourney import __version__
from tourney.dashboard.glyphs import are_cards, card_name, is_card
from tourney.reports.decimals import decimals

__all__ = ("STATIC", "render")

HERE = Path(__file__).parent
STATIC = HERE / "static"


def number(value: float, digits: int = 0) -> str:
    """A number with thin spaces between thousands and a true minus sign."""
    return f"{value:,.{digits}f}".replace(",", "\u202f").replace("-", "\u2212")


def score(value: float) -> str:
    """A score of one match: whole where it is whole."""
    return number(value, 0 if value == int(value) else 2)


def duration(seconds: float) -> str:
    """A span of time for people."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def thinking(us: int) -> str:
    """A thinking time at the scale that suits it."""
    if us < 1_000:
        return f"{us} µs"
    return f"{us / 1_000:.1f} ms" if us < 1_000_000 else f"{us / 1_000_000:.2f} s"


def moment(text: str) -> str:
    """An ISO time for people, in UTC; text that is none stays as it is."""
    try:
        when = datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        return text
    return f"{when:%d %b %Y, %H:%M} UTC".lstrip("0")


def _static_version() -> str:
    digest = hashlib.sha256()
    for path in sorted(STATIC.iterdir()):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for function in (card_name, decimals, number, score, duration, thinking, moment):
        environment.filters[function.__name__] = function
    environment.tests["card"] = is_card
    environment.tests["cards"] = are_cards
    # A changed file gets a new address, so that no browser shows an old one.
    environment.globals["version"] = __version__
    environment.globals["static"] = _static_version()
    return environment


_ENVIRONMENT = _environment()


def render(
    request: Request, template: str, context: Mapping[str, Any], status: int = 200
) -> Response:
    """The page `template` with `context`."""
    text = _ENVIRONMENT.get_template(template).render(path=request.url.path, **context)
    return HTMLResponse(text, status)
