"""The covariance of fitted strengths, with the rotation group as the unit of evidence.

The sandwich V = C/(C-1) H^-1 B H^-1 (Liang and Zeger 1986) with B the sum over groups of u u^T,
where u is what each bot gained in the group beyond what its strength expects. Within a pairing
all groups expect the same e a match, so B needs only second moments (RATINGS.md section 4.3):

    sum u u^T = A1 - A2 e^T - e A2^T + A3 e e^T.

The prior is in H and never in B: it is no evidence.
"""

from typing import Literal, NamedTuple

import numpy as np
from scipy.special import expit

from tourney.ratings.fits import expected_wins, scatter
from tourney.ratings.matches import FloatArray
from tourney.ratings.scores import WIN_UNIT
from tourney.ratings.sketch import HALVES, Sketch

__all__ = ("Model", "Spread", "covariance", "meat")

Model = Literal["placement", "win"]

_COLUMN: dict[Model, tuple[str, int]] = {"placement": ("place", HALVES), "win": ("win", WIN_UNIT)}
"""Columns of a sketch, and how many of their units make a whole."""


class Spread(NamedTuple):
    """Sums over clusters of u u^T."""

    squares: FloatArray
    clusters: int


def meat(sketch: Sketch, strengths: FloatArray, model: Model, *, by_match: bool = False) -> Spread:
    """The spread of what bots gained, group by group, or as if every match stood alone.

    Args:
        sketch: the sums.
        strengths: of the sketch's bots.
        model: what was fitted.
        by_match: take each match for a cluster, which is right only for independent deals.
    """
    name, unit = _COLUMN[model]
    pairings = sketch.pairings
    expected = expected_wins(pairings, strengths) if model == "win" else _beaten(sketch, strengths)
    kind = "match" if by_match else "sq"
    cross = sketch.vector(name if by_match else f"{name}_m") / unit
    weights = sketch.column("matches" if by_match else "matches_sq")

    def entry(i: int, j: int) -> FloatArray:
        square = sketch.column(f"{name}_{kind}_{i}_{j}") / unit**2
        square -= cross[i] * expected[j] + expected[i] * cross[j]
        square += weights * expected[i] * expected[j]
        return square

    clusters = sketch.matches if by_match else sketch.groups
    return Spread(scatter(sketch.cells, entry, len(strengths)), clusters)


def _beaten(sketch: Sketch, strengths: FloatArray) -> FloatArray:
    """How many others each bot of each pairing is expected to finish ahead of."""
    pairings, odds = sketch.pairings, expit(strengths[:, None] - strengths[None, :])
    expected = np.zeros(pairings.shape)
    for i in range(sketch.seats):
        for j in range(sketch.seats):
            if i != j:
                expected[i] += odds[pairings[i], pairings[j]]
    return expected


def covariance(information: FloatArray, spread: Spread) -> FloatArray | None:
    """The sandwich; None where one cluster cannot tell."""
    if spread.clusters < 2:
        return None
    bread = np.linalg.inv(information)
    factor = spread.clusters / (spread.clusters - 1)
    return factor * bread @ spread.squares @ bread
