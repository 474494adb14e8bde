"""Who would be fielded against a rival who knows the choice: Nash averaging of a pair matrix.

Each bot is an action of a game that pays the log-odds of finishing ahead. The equilibrium of
greatest entropy is unique, and does not change when a bot is entered twice (Balduzzi, Tuyls,
Perolat and Graepel 2018). With one order it puts all weight on the best bot; the bots of a cycle
share it.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog, minimize
from scipy.special import logit, softmax

from tourney.ratings.matches import FloatArray, IntArray

__all__ = ("NashAverage", "log_odds", "nash_average")

PLAYED = 1e-7
"""A slack or weight below this share of the largest payoff is none."""


class NashAverage(NamedTuple):
    """An equilibrium, and what each bot gets against it."""

    weights: FloatArray
    """How often each bot is fielded; they add up to 1."""
    scores: FloatArray
    """What each bot gets against the mixture: 0 for whoever is fielded, else at most 0."""


def log_odds(ahead: FloatArray) -> FloatArray:
    """Payoffs from how often each bot (row) finished ahead of each other (column).

    Half a match of each kind is added, so that nobody's odds are infinite.
    """
    share = (ahead + 0.5) / (ahead + ahead.T + 1)
    payoffs: FloatArray = logit(share)
    np.fill_diagonal(payoffs, 0.0)
    return payoffs


def nash_average(payoffs: FloatArray) -> NashAverage:
    """The equilibrium of greatest entropy of a game in which one side's gain is the other's loss.

    Args:
        payoffs: what each bot (row) gets against each other (column); antisymmetric.

    Raises:
        ValueError: the payoffs are not antisymmetric.
    """
    size = float(np.abs(payoffs).max(initial=0.0))
    if not np.allclose(payoffs, -payoffs.T, atol=1e-9 * (size or 1.0)):
        raise ValueError("payoffs must be antisymmetric: what one gains the other loses")
    scaled = payoffs / (size or 1.0)
    support = _fielded(scaled)
    weights = np.zeros(len(scaled))
    weights[support] = _most_even(scaled[:, support], support)
    return NashAverage(weights, payoffs @ weights)


def _fielded(payoffs: FloatArray) -> IntArray:
    """Bots that some equilibrium fields: where weight and loss cannot both be 0, weight it is.

    In such a game an equilibrium exists in which every bot either has weight or loses against
    the mixture (Goldman and Tucker 1956); the one that leaves most room shows which.
    """
    bots = len(payoffs)
    # Weights p, then room e: p_i - (payoffs p)_i >= e for all i, payoffs p <= 0, sum p = 1.
    room = np.hstack([payoffs - np.eye(bots), np.ones((bots, 1))])
    never_win = np.hstack([payoffs, np.zeros((bots, 1))])
    found = linprog(
        np.r_[np.zeros(bots), -1.0],
        A_ub=np.vstack([room, never_win]),
        b_ub=np.zeros(2 * bots),
        A_eq=np.r_[np.ones(bots), 0.0][None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * bots + [(None, None)],
    )
    weights = found.x[:bots]
    return np.flatnonzero(weights > PLAYED)


def _most_even(payoffs: FloatArray, support: IntArray) -> FloatArray:
    """Weights of greatest entropy with no gain for anybody, and none lost inside the support.

    The dual of the problem: weights are exponentials of a mix of the constraints, and the mix
    minimises their total.
    """
    inside = np.isin(np.arange(len(payoffs)), support)

    def total(mix: FloatArray) -> tuple[float, FloatArray]:
        heights = -(payoffs.T @ mix)
        top = float(heights.max())
        weights = softmax(heights)
        value = top + float(np.log(np.exp(heights - top).sum()))
        return value, -(payoffs @ weights)

    # What a fielded bot must get is 0, what another must not exceed is 0.
    bounds = [(None, None) if own else (0.0, None) for own in inside]
    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000, "maxfun": 100_000}
    start = np.zeros(len(payoffs))
    found = minimize(total, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    weights: FloatArray = softmax(-(payoffs.T @ found.x))
    return weights
