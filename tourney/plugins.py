"""Find games, sandboxes and executors by name through entry points.

Built-ins use the same door as a stranger's package. Nothing is imported until it is asked for.
"""

import difflib
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from tourney.errors import PluginError

__all__ = ("load", "names")

GROUPS = ("games", "sandboxes", "executors")


@cache
def _registered(group: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=f"tourney.{group}")}


def names(group: str) -> tuple[str, ...]:
    """Names registered under `tourney.<group>`, sorted; nothing is imported."""
    return tuple(sorted(_registered(group)))


@cache
def load(group: str, name: str) -> Any:
    """Import and return the object registered as `name` under `tourney.<group>`.

    Raises:
        PluginError: nothing has that name, or its import fails (the cause is attached).
    """
    point = _registered(group).get(name)
    if point is None:
        known = ", ".join(names(group)) or "none (is tourney installed? `make setup`)"
        close = difflib.get_close_matches(name, names(group), n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise PluginError(f"no {group} plug-in is called {name!r}; {hint}known: {known}")
    try:
        return point.load()
    except Exception as error:
        raise PluginError(
            f"the {group} plug-in {name!r} ({point.value}) does not import: {error}"
        ) from error
