"""Where one number a bot does not tell the whole story: pairs off the model, and true cycles.

A pair's residual is how much more often one finished ahead than their ratings say, in standard
errors by group. That the model misses is common and harmless (extremes); that A beats B beats C
beats A is another matter, so both are told: the misfit over all pairs, and only cycles whose three
sides are all certain.
"""

from itertools import combinations
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.special import chdtrc, expit, ndtr, stdtr

from tourney.ratings.fits import fit_pairs
from tourney.ratings.matches import FloatArray, IntArray, Matches
from tourney.ratings.order import holm

__all__ = ("Cycle", "PairResidual", "Transitivity", "transitivity")

CERTAIN = 0.975
"""How likely each side of a reported cycle must be."""

FEW = 5.0
"""Expected results on a pair's rarer side below which its groups do not tell their own spread; the
usual least count of a chi-square test."""

GROUPS_A_PAIR = 3
"""With fewer groups for each pair the covariance of all residuals is too poorly known to invert."""


class PairResidual(msgspec.Struct, frozen=True, kw_only=True):
    """Two bots against what their ratings say of them."""

    bot: Annotated[str, msgspec.Meta(description="the bot whose share this is")]
    opponent: Annotated[str, msgspec.Meta(description="the bot it is compared with")]
    ahead: Annotated[float, msgspec.Meta(description="share of finishing ahead, a tie is half")]
    expected: Annotated[float, msgspec.Meta(description="what the ratings say it should be")]
    z: Annotated[float, msgspec.Meta(description="the difference in standard errors, by group")]
    odd: Annotated[bool, msgspec.Meta(description="too far off for chance, over all pairs (Holm)")]


class Cycle(msgspec.Struct, frozen=True, kw_only=True):
    """Three bots of which each certainly finishes ahead of the next, and the last of the first."""

    bots: Annotated[
        tuple[str, str, str],
        msgspec.Meta(description="each is ahead of the next, the last of the first"),
    ]
    superiority: Annotated[
        tuple[float, float, float], msgspec.Meta(description="how likely each of the three is")
    ]


class Transitivity(msgspec.Struct, frozen=True, kw_only=True):
    """Whether one order fits all pairs."""

    residuals: tuple[PairResidual, ...]
    misfit: Annotated[float | None, msgspec.Meta(description="chi-square of all residuals")]
    degrees: Annotated[int, msgspec.Meta(description="its degrees: pairs - bots + linked sets")]
    p_value: Annotated[float | None, msgspec.Meta(description="chance of such a misfit by luck")]
    curl: Annotated[float, msgspec.Meta(description="share of the log-odds that no order explains")]
    cycles: tuple[Cycle, ...]


class _Pairs(NamedTuple):
    """Pairs of bots that met, and the groups' witness of them."""

    one: IntArray
    two: IntArray
    ahead: FloatArray
    """How often the first finished ahead."""
    met: FloatArray
    of: IntArray
    """The pair of each two places of each group, places by group."""
    gained: FloatArray
    """How often the first of them finished ahead there."""
    sizes: FloatArray
    """Matches of each group."""


def transitivity(matches: Matches) -> Transitivity:
    """Residuals, misfit and cycles of matches with one number of seats.

    Raises:
        ValueError: there is no match.
    """
    if not matches.ranks.size:
        raise ValueError("no match, no order")
    pairs, bots = _pairs(matches), len(matches.bots)
    counts = np.zeros((bots, bots))
    counts[pairs.one, pairs.two] = pairs.ahead
    counts[pairs.two, pairs.one] = pairs.met - pairs.ahead
    fit = fit_pairs(counts)
    expected = expit(fit.strengths[pairs.one] - fit.strengths[pairs.two])
    gaps = pairs.ahead - pairs.met * expected
    # Fitting the strengths took part of every gap away: M g is what is left of gaps g.
    design = np.zeros((len(gaps), bots))
    design[np.arange(len(gaps)), pairs.one] = 1.0
    design[np.arange(len(gaps)), pairs.two] = -1.0
    weight = pairs.met * expected * (1 - expected)
    left = np.eye(len(gaps)) - (weight[:, None] * design) @ np.linalg.solve(
        fit.information, design.T
    )
    covariance = left @ _covariance(pairs, expected) @ left.T
    error = np.sqrt(np.maximum(np.diag(covariance), _rare_variance(pairs, expected)))
    z = np.divide(gaps, error, out=np.zeros_like(gaps), where=error > 1e-9)
    parts, _ = connected_components(counts + counts.T > 0, directed=False)
    degrees = len(gaps) - bots + int(parts)
    misfit = _misfit(gaps, covariance, degrees, len(matches.starts))
    return Transitivity(
        residuals=_residuals(matches.bots, pairs, expected, z),
        misfit=misfit,
        degrees=degrees,
        p_value=None if misfit is None else float(chdtrc(degrees, misfit)),
        curl=_curl(pairs, design),
        cycles=_cycles(matches.bots, pairs),
    )


def _pairs(matches: Matches) -> _Pairs:
    played, bots = matches.by_bot(), len(matches.bots)
    ranks = played.ranks.astype(np.int64)
    first = played.bots[:, matches.starts].astype(np.int64)
    places = list(combinations(range(matches.seats), 2))
    codes = np.stack([first[i] * bots + first[j] for i, j in places])
    gained = np.stack(
        [np.add.reduceat((1 + np.sign(ranks[j] - ranks[i])) / 2, matches.starts) for i, j in places]
    )
    unique, of = np.unique(codes, return_inverse=True)
    of = of.reshape(codes.shape)
    sizes = matches.sizes.astype(np.float64)
    played_together = np.broadcast_to(sizes, codes.shape)
    return _Pairs(
        one=unique // bots,
        two=unique % bots,
        ahead=np.bincount(of.ravel(), gained.ravel(), len(unique)).astype(np.float64),
        met=np.bincount(of.ravel(), played_together.ravel(), len(unique)).astype(np.float64),
        of=of,
        gained=gained,
        sizes=sizes,
    )


def _covariance(pairs: _Pairs, expected: FloatArray) -> FloatArray:
    """Sum over groups of the products of all their gaps."""
    gap = pairs.gained - pairs.sizes * expected[pairs.of]
    count, groups = len(expected), len(pairs.sizes)
    out = np.zeros(count * count)
    for i in range(len(gap)):
        for j in range(len(gap)):
            out += np.bincount(pairs.of[i] * count + pairs.of[j], gap[i] * gap[j], count * count)
    factor = groups / (groups - 1) if groups > 1 else 0.0
    return factor * out.reshape(count, count)


def _rare_variance(pairs: _Pairs, expected: FloatArray) -> FloatArray:
    """Least variance of each pair's count: where an outcome is rare, its groups may all be alike.

    Fewer than `FEW` expected are a Poisson count whatever the rotations cancel, so the variance is
    the binomial one; elsewhere the groups tell it, and there is no least one.
    """
    rarer = pairs.met * np.minimum(expected, 1 - expected)
    return np.where(rarer < FEW, pairs.met * expected * (1 - expected), 0.0)


def _misfit(gaps: FloatArray, covariance: FloatArray, degrees: int, groups: int) -> float | None:
    """Squared length of the gaps, measured by their covariance in the directions left free."""
    if degrees < 1 or groups < GROUPS_A_PAIR * len(gaps):
        return None
    scale = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    values, vectors = values[-degrees:], vectors[:, -degrees:]
    if values[0] <= 1e-9:
        return None
    turned = vectors.T @ (gaps / scale)
    return float((turned**2 / values).sum())


def _residuals(
    names: tuple[str, ...], pairs: _Pairs, expected: FloatArray, z: FloatArray
) -> tuple[PairResidual, ...]:
    odd = holm(2 * ndtr(-np.abs(z)))
    return tuple(
        PairResidual(
            bot=names[pairs.one[k]],
            opponent=names[pairs.two[k]],
            ahead=float(pairs.ahead[k] / pairs.met[k]),
            expected=float(expected[k]),
            z=float(z[k]),
            odd=bool(odd[k]),
        )
        for k in range(len(z))
    )


def _curl(pairs: _Pairs, design: FloatArray) -> float:
    """Share of the squared log-odds that is no difference of heights (Jiang, Lim, Yao, Ye 2011)."""
    odds = np.log((pairs.ahead + 0.5) / (pairs.met - pairs.ahead + 0.5))
    root = np.sqrt(pairs.met)
    heights = np.linalg.lstsq(root[:, None] * design, root * odds, rcond=None)[0]
    total = float(pairs.met @ odds**2)
    return float(pairs.met @ (odds - design @ heights) ** 2) / total if total else 0.0


def _cycles(names: tuple[str, ...], pairs: _Pairs) -> tuple[Cycle, ...]:
    better = _superiority(len(names), pairs)
    sure = better > CERTAIN
    out = []
    for a, b, c in combinations(range(len(names)), 3):
        for x, y, z in ((a, b, c), (a, c, b)):
            if sure[x, y] and sure[y, z] and sure[z, x]:
                sides = (float(better[x, y]), float(better[y, z]), float(better[z, x]))
                out.append(Cycle(bots=(names[x], names[y], names[z]), superiority=sides))
    return tuple(out)


def _superiority(bots: int, pairs: _Pairs) -> FloatArray:
    """How likely each bot finishes ahead of each other more often than not, from their matches."""
    share = pairs.ahead / pairs.met
    gap = pairs.gained - pairs.sizes * share[pairs.of]
    count = len(share)
    squares = np.bincount(pairs.of.ravel(), (gap * gap).ravel(), count)
    groups = np.bincount(pairs.of.ravel(), minlength=count)
    known = (groups > 1) & (squares > 0)
    clusters = np.maximum(groups, 2)
    error = np.sqrt(np.where(known, squares, 1.0) * clusters / (clusters - 1))
    chance = np.where(known, stdtr(clusters - 1, pairs.met * (share - 0.5) / error), 0.5)
    out = np.full((bots, bots), 0.5)
    out[pairs.one, pairs.two] = chance
    out[pairs.two, pairs.one] = 1 - chance
    return out
