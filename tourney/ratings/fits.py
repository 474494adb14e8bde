"""Strengths of greatest likelihood from counts. Pure numbers: no bot has a name here.

Two models. *Pairs*: each bot of a match against each other, p_ij = 1 / (1 + exp(t_j - t_i))
(Bradley and Terry 1952; a composite likelihood where more than two sit, Varin, Reid and Firth
2011). *Winners*: who takes a match of the set S, p_i = exp(t_i) / sum over S of exp(t_j) (Luce
1959). Both are concave, so Newton's method with short steps finds the one optimum.

The prior is `prior` half-won matches of each bot against a phantom of strength 0. It enters the
information, never the spread of the evidence, and keeps every strength finite.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_expit

from tourney.ratings.matches import FloatArray, IntArray

__all__ = (
    "Cells",
    "Fit",
    "cells_of",
    "expected_wins",
    "fit_pairs",
    "fit_winners",
    "newton",
    "scatter",
)

PRIOR = 1.0
"""One phantom match: moves a rating by less than 0.2 after 200 matches (RATINGS.md 4.1)."""

LONGEST_STEP = 1.0
"""A full Newton step diverges where somebody always wins (Hunter 2004 warns of it, too)."""

TOLERANCE = 1e-10
STEPS = 500


Cells = dict[tuple[int, int], IntArray]
"""Where two places of each pairing meet in a flat matrix."""


class Fit(NamedTuple):
    """An optimum."""

    strengths: FloatArray
    """In natural logarithms; without a prior their mean is 0."""
    information: FloatArray
    """Minus the second derivative of the log-likelihood with the prior."""
    log_likelihood: float
    """Without the prior and without constants."""


class Slope(NamedTuple):
    """The log-likelihood's derivatives at a point."""

    log_likelihood: float
    score: FloatArray
    information: FloatArray


def newton(slope: Callable[[FloatArray], Slope], start: FloatArray) -> Fit:
    """Climb to the optimum of a concave log-likelihood in steps of at most `LONGEST_STEP`.

    Raises:
        ValueError: there is no finite optimum.
    """
    at = start.astype(np.float64)
    for _ in range(STEPS):
        here = slope(at)
        try:
            step = np.linalg.solve(here.information, here.score)
        except np.linalg.LinAlgError:
            break
        longest = float(np.abs(step).max(initial=0.0))
        if not np.isfinite(longest):
            break
        at = at + step * min(1.0, LONGEST_STEP / max(longest, LONGEST_STEP))
        if longest < TOLERANCE:
            there = slope(at)
            return Fit(at, there.information, there.log_likelihood)
    raise ValueError("no finite optimum: some set of bots never lost to the others")


def fit_pairs(ahead: FloatArray, *, prior: float = PRIOR) -> Fit:
    """Strengths from how often each bot (row) finished ahead of each other (column).

    Raises:
        ValueError: without a prior, when not everybody can be reached from everybody by wins.
    """
    met = ahead + ahead.T
    bots = len(ahead)

    def slope(t: FloatArray) -> Slope:
        p = expit(t[:, None] - t[None, :])
        likelihood = float((ahead * log_expit(t[:, None] - t[None, :])).sum())
        score = (ahead - met * p).sum(axis=1)
        weight = met * p * p.T
        information = np.diag(weight.sum(axis=1)) - weight
        return _with_prior(Slope(likelihood, score, information), t, prior)

    return newton(slope, np.zeros(bots))


def expected_wins(pairings: IntArray, strengths: FloatArray) -> FloatArray:
    """Chance of each bot of each pairing to take a match of it, place by pairing."""
    # Only ratios count: below the best of all bots nothing can overflow.
    odds = np.exp(strengths - strengths.max())[pairings]
    total = odds[0].copy()
    for row in odds[1:]:
        total += row
    chances: FloatArray = odds / total
    return chances


def fit_winners(
    played: Sequence[tuple[IntArray, FloatArray]],
    wins: FloatArray,
    *,
    prior: float = PRIOR,
    start: FloatArray | None = None,
) -> Fit:
    """Strengths from the matches that each pairing played and the wins that each bot took.

    Args:
        played: for each number of seats the pairings, place by pairing, and their matches.
        wins: of each bot, over all pairings; a tie for first is split.
        prior: phantom matches.
        start: a guess, which saves steps.

    Raises:
        ValueError: without a prior, when there is no finite optimum.
    """
    bots = len(wins)
    cells = [cells_of(pairings, bots) for pairings, _ in played]

    def slope(t: FloatArray) -> Slope:
        likelihood, expected = float(wins @ t), np.zeros(bots)
        together = np.zeros((bots, bots))
        for (pairings, matches), places in zip(played, cells, strict=True):
            chances = expected_wins(pairings, t)
            p = matches * chances
            expected += np.bincount(pairings.ravel(), weights=p.ravel(), minlength=bots)
            # log of the sum over a pairing, from the chance of its first bot.
            likelihood -= float(matches @ (t[pairings[0]] - np.log(chances[0])))
            together += scatter(places, partial(_product, p, chances), bots)
        information = np.diag(expected) - together
        return _with_prior(Slope(likelihood, wins - expected, information), t, prior)

    return newton(slope, np.zeros(bots) if start is None else start)


def _product(left: FloatArray, right: FloatArray, i: int, j: int) -> FloatArray:
    product: FloatArray = left[i] * right[j]
    return product


def _with_prior(slope: Slope, t: FloatArray, prior: float) -> Slope:
    if prior <= 0:
        # Only differences count: this holds the mean where it is.
        return slope._replace(information=slope.information + 1 / len(t))
    s = expit(t)
    return slope._replace(
        score=slope.score + prior * (0.5 - s),
        information=slope.information + np.diag(prior * s * (1 - s)),
    )


def cells_of(pairings: IntArray, bots: int) -> Cells:
    """Where two places of each pairing meet in a flat matrix of bots by bots.

    Args:
        pairings: the bots, place by pairing; they rise within a pairing.
        bots: size of the matrix.
    """
    places = range(len(pairings))
    return {
        (i, j): pairings[i] * bots + pairings[j]
        for i, j in combinations_with_replacement(places, 2)
    }


def scatter(
    cells: Cells,
    entry: Callable[[int, int], FloatArray],
    bots: int,
    *,
    symmetric: bool = True,
) -> FloatArray:
    """Sum over pairings of a small matrix each, at the places of its bots.

    Args:
        cells: where two places of a pairing meet.
        entry: the matrices' entries for two places, one a pairing.
        bots: size of the sum.
        symmetric: whether the entries are, so that half of them will do.
    """
    upper, lower = np.zeros(bots * bots), np.zeros(bots * bots)
    for (i, j), place in cells.items():
        upper += np.bincount(place, weights=entry(i, j), minlength=bots * bots)
        if i != j and not symmetric:
            lower += np.bincount(place, weights=entry(j, i), minlength=bots * bots)
    square = upper.reshape(bots, bots)
    return square + (np.triu(square, 1).T if symmetric else lower.reshape(bots, bots).T)
