"""A mean over clusters with its standard error and interval. Pure numbers; no frame, no file.

The mean is a ratio: what was gained over how often it was tried. Its error treats the rotation
group as the unit of evidence, because the matches of a group share a deal.
"""

import math
from typing import NamedTuple

from scipy.special import stdtrit

from tourney.ratings.matches import FloatArray

__all__ = ("CONFIDENCE", "Estimate", "Moments", "moments_of", "ratio_mean", "share")

CONFIDENCE = 0.95
"""Coverage of every interval that is shown."""


class Moments(NamedTuple):
    """Sums over clusters: x is what a cluster gained, m how often it tried. All are additive."""

    clusters: int
    m: float
    x: float
    xx: float
    xm: float
    mm: float


def moments_of(x: FloatArray, m: FloatArray) -> Moments:
    """The sums of clusters that gained `x` in `m` trials, a number each."""
    return Moments(
        clusters=len(x),
        m=float(m.sum()),
        x=float(x.sum()),
        xx=float(x @ x),
        xm=float(x @ m),
        mm=float(m @ m),
    )


class Estimate(NamedTuple):
    """A mean, its standard error and its interval; None where one cluster cannot tell."""

    mean: float
    se: float | None
    low: float | None
    high: float | None


def ratio_mean(moments: Moments) -> Estimate:
    """The mean x / m with the cluster sandwich, C / (C - 1), and t with C - 1 degrees.

    Raises:
        ValueError: nothing was tried, so that there is no mean.
    """
    clusters = moments.clusters
    if clusters < 1 or moments.m <= 0:
        raise ValueError(f"no mean of {moments.m} trials in {clusters} clusters")
    mean = moments.x / moments.m
    if clusters == 1:
        return Estimate(mean, None, None, None)
    # Rounding can leave a tiny negative number where all clusters agree.
    residual = max(0.0, moments.xx - 2 * mean * moments.xm + mean * mean * moments.mm)
    se = math.sqrt(residual * clusters / (clusters - 1)) / moments.m
    reach = se * float(stdtrit(clusters - 1, (1 + CONFIDENCE) / 2))
    return Estimate(mean, se, mean - reach, mean + reach)


def share(moments: Moments) -> Estimate:
    """As `ratio_mean` for a share between 0 and 1, whose interval stays there.

    Where every cluster gave all, or nothing, the spread is zero but the doubt is not: the open
    end is then the exact binomial bound with the cluster as the one trial.

    Raises:
        ValueError: nothing was tried.
    """
    estimate = ratio_mean(moments)
    if estimate.low is None or estimate.high is None:
        return estimate
    low, high = max(0.0, estimate.low), min(1.0, estimate.high)
    doubt: float = ((1 - CONFIDENCE) / 2) ** (1 / moments.clusters)
    if moments.x <= 0:
        high = 1 - doubt
    elif moments.x >= moments.m:
        low = doubt
    return estimate._replace(low=low, high=high)
