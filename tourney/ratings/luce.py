"""Whole rankings by the Plackett-Luce model with ties of any order: a diagnostic, not the rating.

From the best place to the worst, the set C is chosen from the remaining set R with chance
f(C) / sum of f over R's subsets, f(C) = d_|C| * (product of worths)^(1/|C|), d_1 = 1 (Luce 1959,
Plackett 1975, ties after Davidson 1970 as in Turner, van Etten, Firth and Kosmidis 2020). It reads
places from the top down and would say something else from the bottom up; on matches of cards the
pairwise rating predicts better (RATINGS.md section 4.1), so this only checks it.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit

from tourney.ratings.fits import Fit, Slope, newton
from tourney.ratings.matches import FloatArray

__all__ = ("LuceFit", "Ranking", "fit_luce")

Ranking = Sequence[Sequence[int]]
"""Sets of bots that tie, the best set first."""


class LuceFit(NamedTuple):
    """Worths and ties."""

    worths: FloatArray
    """Logarithm of each bot's worth; the first bot's is 0 unless there is a prior."""
    ties: Mapping[int, float]
    """Logarithm of d for ties of each order that came."""
    log_likelihood: float
    covariance: FloatArray
    """Of all worths and then all ties: the inverse information, rankings taken as independent."""


class _Choices(NamedTuple):
    """Every choice that could have been made, a row each, stage after stage."""

    features: sparse.csr_matrix
    starts: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    weights: FloatArray
    """How often each stage came."""
    made: FloatArray
    """Sum of the features of what was chosen."""


def fit_luce(
    rankings: Sequence[Ranking], counts: Sequence[float] | None = None, *, prior: float = 0.0
) -> LuceFit:
    """The worths of greatest likelihood.

    Args:
        rankings: bots by number from 0.
        counts: how often each ranking came; once by default.
        prior: half-won comparisons of each bot with a phantom of log worth 0.

    Raises:
        ValueError: without a prior, when there is no finite optimum.
    """
    bots = 1 + max(bot for ranking in rankings for tied in ranking for bot in tied)
    orders = sorted({len(tied) for ranking in rankings for tied in ranking} - {1})
    choices = _choices(rankings, counts or [1.0] * len(rankings), bots, orders)
    # Without a prior only ratios of worths are known: the first bot's is 1.
    free = np.arange(0 if prior > 0 else 1, bots + len(orders))
    worth = free < bots

    def slope(at: FloatArray) -> Slope:
        full = np.zeros(bots + len(orders))
        full[free] = at
        here = _slope(choices, full)
        score, information = here.score[free], here.information[np.ix_(free, free)]
        if prior > 0:
            s = expit(at[worth])
            score[worth] += prior * (0.5 - s)
            information[worth, worth] += prior * s * (1 - s)
        return Slope(here.log_likelihood, score, information)

    fit = newton(slope, np.zeros(len(free)))
    return _spread_out(fit, free, bots, orders)


def _spread_out(
    fit: Fit, free: np.ndarray[tuple[int, ...], np.dtype[np.int64]], bots: int, orders: list[int]
) -> LuceFit:
    full = np.zeros(bots + len(orders))
    full[free] = fit.strengths
    covariance = np.zeros((len(full), len(full)))
    covariance[np.ix_(free, free)] = np.linalg.inv(fit.information)
    ties = dict(zip(orders, full[bots:].tolist(), strict=True))
    return LuceFit(full[:bots], ties, fit.log_likelihood, covariance)


def _choices(
    rankings: Sequence[Ranking], counts: Sequence[float], bots: int, orders: list[int]
) -> _Choices:
    columns: list[int] = []
    values: list[float] = []
    ends, starts, weights = [0], [], []
    made = np.zeros(bots + len(orders))

    def add(chosen: Sequence[int]) -> None:
        columns.extend(chosen)
        values.extend([1 / len(chosen)] * len(chosen))
        if len(chosen) > 1:
            columns.append(bots + orders.index(len(chosen)))
            values.append(1.0)
        ends.append(len(columns))

    for ranking, count in zip(rankings, counts, strict=True):
        left = [bot for tied in ranking for bot in tied]
        for tied in ranking:
            if len(left) < 2:
                break
            starts.append(len(ends) - 1)
            weights.append(count)
            for size in [1, *orders]:
                for chosen in combinations(left, size):
                    add(chosen)
            made[list(tied)] += count / len(tied)
            if len(tied) > 1:
                made[bots + orders.index(len(tied))] += count
            left = left[len(tied) :]
    shape = (len(ends) - 1, bots + len(orders))
    features = sparse.csr_matrix((values, columns, ends), shape=shape)
    return _Choices(features, np.array(starts), np.array(weights, dtype=np.float64), made)


def _slope(choices: _Choices, at: FloatArray) -> Slope:
    heights = choices.features @ at
    sizes = np.diff(choices.starts, append=len(heights))
    top = np.maximum.reduceat(heights, choices.starts)
    odds = np.exp(heights - np.repeat(top, sizes))
    totals = np.add.reduceat(odds, choices.starts)
    chances = odds / np.repeat(totals, sizes)
    likelihood = float(choices.made @ at - choices.weights @ (np.log(totals) + top))
    weighted = chances * np.repeat(choices.weights, sizes)
    stage = np.repeat(np.arange(len(sizes)), sizes)
    gather = sparse.csr_matrix(
        (chances, (stage, np.arange(len(stage)))), shape=(len(sizes), len(stage))
    )
    means = (gather @ choices.features).toarray()
    squares = (choices.features.T @ sparse.diags(weighted) @ choices.features).toarray()
    information = squares - means.T @ (choices.weights[:, None] * means)
    return Slope(likelihood, choices.made - choices.features.T @ weighted, information)
