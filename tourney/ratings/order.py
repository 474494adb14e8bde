"""What differences of ratings prove: superiority, ranges of ranks, tied groups, bars for plots.

All from a vector of strengths, their covariance and the number of clusters behind it.
"""

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares
from scipy.special import stdtr

from tourney.ratings.matches import FloatArray

__all__ = (
    "differences_se",
    "holm",
    "letters",
    "quasi_variances",
    "rank_ranges",
    "significant",
    "superiority",
)

LARGEST_MISFIT = 0.15
"""How far the error of a difference may be from what two bars say; else bars would mislead."""

BoolArray = npt.NDArray[np.bool_]

LEVEL = 0.05
"""How often, over a whole table, any difference at all may be called where there is none."""


def differences_se(covariance: FloatArray) -> FloatArray:
    """Standard error of each difference of two strengths."""
    own = np.diag(covariance)
    square = own[:, None] + own[None, :] - covariance - covariance.T
    # Rounding can leave a tiny negative number between bots that agree in every group.
    root: FloatArray = np.sqrt(np.maximum(square, 0.0))
    return root


def superiority(strengths: FloatArray, errors: FloatArray, clusters: int) -> FloatArray:
    """Likelihood that each bot (row) is better than each other: T(difference / its error).

    Student's t with `clusters` - 1 degrees. For reading only: a run that stops when this is
    extreme is wrong far more often than it says (RATINGS.md section 4.6).
    """
    difference = strengths[:, None] - strengths[None, :]
    # Bots that differ alike in every group: no spread, so no doubt in the data.
    certain = np.where(difference > 0, np.inf, np.where(difference < 0, -np.inf, 0.0))
    ratio = np.divide(difference, errors, out=certain, where=errors > 0)
    chance: FloatArray = stdtr(float(clusters - 1), ratio)
    return chance


def holm(p_values: FloatArray, level: float = LEVEL) -> BoolArray:
    """Which hypotheses fall when all of them are tested at `level` together (Holm 1979)."""
    rising = np.argsort(p_values, kind="stable")
    passed = p_values[rising] <= level / np.arange(len(p_values), 0, -1)
    fallen = np.zeros(len(p_values), dtype=bool)
    fallen[rising] = np.logical_and.accumulate(passed)
    return fallen


def significant(superior: FloatArray, level: float = LEVEL) -> BoolArray:
    """Which bot (row) is better than which other, over all pairs together at `level`."""
    upper = np.triu_indices(len(superior), 1)
    one_sided = np.minimum(superior, superior.T)[upper]
    fallen = np.zeros(superior.shape, dtype=bool)
    fallen[upper] = holm(np.minimum(2 * one_sided, 1.0), level)
    fallen |= fallen.T
    return fallen & (superior > 0.5)


def rank_ranges(better: BoolArray) -> list[tuple[int, int]]:
    """Ranks that each bot may have: below all that are better than it, above all it is better than.

    Args:
        better: which bot (row) is certainly better than which other.
    """
    bots = len(better)
    worst = bots - better.sum(axis=1)
    best = 1 + better.sum(axis=0)
    return [(int(low), int(high)) for low, high in zip(best, worst, strict=True)]


def letters(better: BoolArray, ranking: list[int]) -> list[str]:
    """Letters of each bot: neighbours in `ranking` that share one are not told apart.

    A letter belongs to a longest run of neighbours without a certain difference among them.
    """
    told = better | better.T
    runs: list[range] = []
    start = 0
    for end in range(len(ranking)):
        while any(told[ranking[end], ranking[k]] for k in range(start, end)):
            start += 1
        if runs and runs[-1].start == start:
            runs.pop()
        runs.append(range(start, end + 1))
    out = [""] * len(ranking)
    for number, run in enumerate(runs):
        for place in run:
            out[ranking[place]] += _letter(number)
    return out


def _letter(number: int) -> str:
    """A to z, then a1 and so on."""
    cycle, place = divmod(number, 26)
    return chr(ord("a") + place) + (str(cycle) if cycle else "")


def quasi_variances(covariance: FloatArray) -> FloatArray | None:
    """A variance for each bot such that sums of two come close to that of their difference.

    So that bars in a plot can be compared with each other (Firth and de Menezes 2004): least
    squares on the logarithms. None where a difference has no spread, there is no difference, or
    no bars come near enough to all of them.
    """
    bots = len(covariance)
    first, second = np.triu_indices(bots, 1)
    wanted = differences_se(covariance)[first, second] ** 2
    if bots < 2 or wanted.min() <= 0:
        return None
    if bots == 2:
        # One difference does not tell two bars apart.
        return np.full(2, wanted[0] / 2)
    rows = np.arange(len(first))

    def misfit(q: FloatArray) -> FloatArray:
        gap: FloatArray = np.log(np.exp(q[first]) + np.exp(q[second])) - np.log(wanted)
        return gap

    def slopes(q: FloatArray) -> FloatArray:
        out = np.zeros((len(first), bots))
        total = np.exp(q[first]) + np.exp(q[second])
        out[rows, first] = np.exp(q[first]) / total
        out[rows, second] = np.exp(q[second]) / total
        return out

    guess = np.full(bots, np.log(wanted.mean() / 2))
    found = least_squares(misfit, guess, jac=slopes, method="lm")
    if float(np.abs(found.fun).max()) > 2 * np.log(1 + LARGEST_MISFIT):
        return None
    bars: FloatArray = np.exp(found.x)
    return bars
