"""Who can be compared with whom: tables that never met, and parts that met in one direction only.

Bots that no chain of matches links have no difference in rating, so each linked set is a table of
its own. Within a table, a set of bots that only won against the rest (or only lost) is as strong
as the prior says and maybe much stronger: its rating is a floor, or a ceiling.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import connected_components

from tourney.ratings.matches import FloatArray, IntArray

__all__ = ("Bound", "bounds", "tables")

BoolArray = npt.NDArray[np.bool_]

Bound = Literal["", "≥", "≤", "?"]
"""What the data say of a rating: an estimate, a floor, a ceiling, or nothing beside the prior."""


def tables(met: FloatArray) -> IntArray:
    """Number of the table that each bot is in, from how often each met each other."""
    _, labels = connected_components(met > 0, directed=False)
    return np.asarray(labels, dtype=np.int64)


def bounds(ahead: FloatArray, strengths: FloatArray) -> list[Bound]:
    """What each rating of one linked table is: floors and ceilings against its largest part.

    Args:
        ahead: how often each bot (row) finished ahead of each other (column).
        strengths: fitted with a prior. Among parts of one size the one linked to most bots is the
            largest, and then the one in the middle.
    """
    count, part = connected_components(ahead > 0, directed=True, connection="strong")
    if count == 1:
        return [""] * len(ahead)
    sizes = np.bincount(part)
    far = [float(np.abs(strengths[part == label]).min()) for label in range(count)]
    linked = [
        int((_linked(ahead.T > 0, part == label) | _linked(ahead > 0, part == label)).sum())
        for label in range(count)
    ]
    main = min(range(count), key=lambda label: (-sizes[label], -linked[label], far[label]))
    # `above` can reach the main part by a chain of wins, `below` can be reached from it.
    above, below = _linked(ahead.T > 0, part == main), _linked(ahead > 0, part == main)
    words: dict[tuple[bool, bool], Bound] = {
        (True, True): "",
        (True, False): "≥",
        (False, True): "≤",
        (False, False): "?",
    }
    return [words[bool(a), bool(b)] for a, b in zip(above, below, strict=True)]


def _linked(wins: BoolArray, start: BoolArray) -> BoolArray:
    """Whom chains of `wins` from `start` reach."""
    reached = start.copy()
    while True:
        more = reached | wins[reached].any(axis=0)
        if np.array_equal(more, reached):
            return reached
        reached = more
