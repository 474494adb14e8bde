"""Head to head: how often each bot finishes ahead of each other one, from a run's sketches."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Annotated

import msgspec
import numpy as np

from tourney.ratings.estimate import Estimate, Moments, share
from tourney.ratings.matches import FloatArray
from tourney.ratings.sketch import HALVES, Sketch

__all__ = ("PairStanding", "head_to_head")


class PairStanding(msgspec.Struct, frozen=True, kw_only=True):
    """One bot against one other, over the matches in which both sat."""

    bot: Annotated[str, msgspec.Meta(description="the bot whose share this is")]
    opponent: Annotated[str, msgspec.Meta(description="the bot it is compared with")]
    matches: Annotated[int, msgspec.Meta(description="matches in which both sat")]
    groups: Annotated[int, msgspec.Meta(description="rotation groups of those matches")]
    ahead: Annotated[float, msgspec.Meta(description="share of finishing ahead, a tie is half")]
    ahead_se: Annotated[float | None, msgspec.Meta(description="its standard error, by group")]
    ahead_low: Annotated[float | None, msgspec.Meta(description="lower end of its 95 % interval")]
    ahead_high: Annotated[float | None, msgspec.Meta(description="upper end of its 95 % interval")]


def head_to_head(sketches: Sequence[Sketch]) -> list[PairStanding]:
    """Every ordered pair of bots that met, by name."""
    met: dict[tuple[str, str], FloatArray] = {}
    for sketch in sketches:
        for one, other, sums in _pairs(sketch):
            known = met.get((one, other))
            met[one, other] = sums if known is None else known + sums
    lines = []
    for (one, other), found in met.items():
        clusters, m, mm, x, xx, xm = found.tolist()
        # Whoever was not ahead was behind, so the other's sums follow.
        behind = (m - x, mm - 2 * xm + xx, mm - xm)
        for pair, (gain, gain_sq, gain_m) in (((one, other), (x, xx, xm)), ((other, one), behind)):
            ahead = share(Moments(int(clusters), m, gain, gain_sq, gain_m, mm))
            lines.append(_line(pair, int(m), int(clusters), ahead))
    return sorted(lines, key=lambda line: (line.bot, line.opponent))


def _line(pair: tuple[str, str], matches: int, groups: int, ahead: Estimate) -> PairStanding:
    return PairStanding(
        bot=pair[0],
        opponent=pair[1],
        matches=matches,
        groups=groups,
        ahead=ahead.mean,
        ahead_se=ahead.se,
        ahead_low=ahead.low,
        ahead_high=ahead.high,
    )


def _pairs(sketch: Sketch) -> Iterator[tuple[str, str, FloatArray]]:
    """Each two bots that met: groups, matches and their squares, moments of finishing ahead."""
    bots, pairings = len(sketch.bots), sketch.pairings
    codes, rows = [], []
    fixed = [sketch.column(name) for name in ("groups", "matches", "matches_sq")]
    for i, j in combinations(range(sketch.seats), 2):
        ahead = sketch.column(f"ahead_{i}_{j}") / HALVES
        square = sketch.column(f"ahead_sq_{i}_{j}") / HALVES**2
        weighted = sketch.column(f"ahead_m_{i}_{j}") / HALVES
        codes.append(pairings[i] * bots + pairings[j])
        rows.append(np.stack([*fixed, ahead, square, weighted]))
    unique, index = np.unique(np.concatenate(codes), return_inverse=True)
    values = np.concatenate(rows, axis=1)
    sums = np.zeros((len(values), len(unique)))
    for row, total in zip(values, sums, strict=True):
        total += np.bincount(index.ravel(), row, len(unique))
    for place, code in enumerate(unique.tolist()):
        yield sketch.bots[code // bots], sketch.bots[code % bots], sums[:, place]
