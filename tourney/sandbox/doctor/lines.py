"""What the doctor found: a line with its state, its value and the fix. Values only."""

from dataclasses import dataclass
from typing import Literal

__all__ = ("Line", "State", "fail", "good", "warn")

State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One thing that was looked at."""

    topic: str
    name: str
    state: State
    """`fail`: bots cannot be run as promised; `warn`: they can, with a restriction."""
    value: str
    fix: str = ""
    """What to do about it, empty when nothing needs doing."""


def good(topic: str, name: str, value: str) -> Line:
    """Nothing to do."""
    return Line(topic=topic, name=name, state="ok", value=value)


def warn(topic: str, name: str, value: str, fix: str) -> Line:
    """It works, with a restriction."""
    return Line(topic=topic, name=name, state="warn", value=value, fix=fix)


def fail(topic: str, name: str, value: str, fix: str) -> Line:
    """It does not work."""
    return Line(topic=topic, name=name, state="fail", value=value, fix=fix)
