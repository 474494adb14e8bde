"""Seats in the rating model itself: how many rating points a seat is worth.

The pair's log-odds gain the difference of two seats' effects (the home effect of sports, Agresti
1990; here for any number of seats). Effects sum to zero; the error is clustered by group.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_expit

from tourney.ratings.fits import PRIOR, Fit, Slope, newton
from tourney.ratings.matches import FloatArray, IntArray, Matches
from tourney.ratings.spread import Spread, covariance

__all__ = ("Advantage", "Duels", "fit_advantage", "seat_advantage")


class Duels(NamedTuple):
    """Two seats of a match, or of many alike: who sat there, and how often the first was ahead."""

    bots: tuple[IntArray, IntArray]
    seats: tuple[IntArray, IntArray]
    ahead: FloatArray
    met: FloatArray


class Advantage(NamedTuple):
    """Seats' effects in the logarithm of the odds, with their covariance by group."""

    seats: FloatArray
    spread: FloatArray | None


def fit_advantage(duels: Duels, bots: int, seats: int, *, prior: float = PRIOR) -> Fit:
    """Strengths of the bots and, after them, of the seats.

    Raises:
        ValueError: without a prior, when there is no finite optimum.
    """
    sides = [(duels.bots[k], bots + duels.seats[k]) for k in range(2)]
    size = bots + seats

    def slope(t: FloatArray) -> Slope:
        height = [t[bot] + t[seat] for bot, seat in sides]
        p = expit(height[0] - height[1])
        likelihood = duels.ahead @ log_expit(height[0] - height[1])
        likelihood += (duels.met - duels.ahead) @ log_expit(height[1] - height[0])
        gap, weight = duels.ahead - duels.met * p, duels.met * p * (1 - p)
        score, flat = np.zeros(size), np.zeros(size * size)
        parts = [(index, sign) for k, sign in ((0, 1.0), (1, -1.0)) for index in sides[k]]
        for index, sign in parts:
            score += np.bincount(index, weights=sign * gap, minlength=size)
            for other, other_sign in parts:
                place = index * size + other
                flat += np.bincount(place, sign * other_sign * weight, size * size)
        information = flat.reshape(size, size)
        # Only differences count, of bots and of seats: this holds both means where they are.
        information[:bots, :bots] += 1 / bots
        information[bots:, bots:] += 1 / seats
        s = expit(t[:bots])
        score[:bots] += prior * (0.5 - s)
        information[range(bots), range(bots)] += prior * s * (1 - s)
        return Slope(float(likelihood), score, information)

    return newton(slope, np.zeros(size))


def seat_advantage(matches: Matches) -> Advantage:
    """What each seat is worth, whoever sits there.

    Raises:
        ValueError: there is no match.
    """
    if not matches.ranks.size:
        raise ValueError("no match, no seat's effect")
    bots, seats = len(matches.bots), matches.seats
    duels, of = _duels(matches)
    fit = fit_advantage(_alike(duels, bots, seats), bots, seats)
    t = fit.strengths
    height = [t[duels.bots[k]] + t[bots + duels.seats[k]] for k in range(2)]
    gap = duels.ahead - expit(height[0] - height[1])
    groups, size = len(matches.starts), bots + seats
    sums = np.zeros(groups * size)
    for k, sign in ((0, 1.0), (1, -1.0)):
        for index in (duels.bots[k], bots + duels.seats[k]):
            sums += np.bincount(of * size + index, sign * gap, groups * size)
    gained = sums.reshape(groups, size)
    spread = covariance(fit.information, Spread(gained.T @ gained, groups))
    return Advantage(t[bots:], None if spread is None else spread[bots:, bots:])


def _alike(duels: Duels, bots: int, seats: int) -> Duels:
    """Duels of the same two bots in the same two seats as one row: all that a fit needs."""
    sides = [duels.bots[k] * seats + duels.seats[k] for k in range(2)]
    codes, row = np.unique(sides[0] * (bots * seats) + sides[1], return_inverse=True)
    one, two = codes // (bots * seats), codes % (bots * seats)
    return Duels(
        bots=(one // seats, two // seats),
        seats=(one % seats, two % seats),
        ahead=np.bincount(row.ravel(), duels.ahead).astype(np.float64),
        met=np.bincount(row.ravel(), duels.met).astype(np.float64),
    )


def _duels(matches: Matches) -> tuple[Duels, IntArray]:
    """A row for each two seats of each match, and the place of its group."""
    one, two = np.triu_indices(matches.seats, 1)
    count = matches.seating.shape[1]
    ranks = matches.ranks.astype(np.int64)
    ahead = (1 + np.sign(ranks[two] - ranks[one])) / 2
    seating = matches.seating.astype(np.int64)
    duels = Duels(
        bots=(seating[one].ravel(), seating[two].ravel()),
        seats=(np.repeat(one, count), np.repeat(two, count)),
        ahead=ahead.ravel(),
        met=np.ones(ahead.size),
    )
    return duels, np.tile(matches.group_of, len(one))
