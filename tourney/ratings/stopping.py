"""When a run has seen enough: rules, verdicts on neighbours, and how much is left to play.

Every verdict comes from a confidence sequence on the scores of groups, so it may be asked for
after every commit. The likelihood of superiority is never a reason to stop.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from scipy.special import expit

from tourney.ratings.duels import duel
from tourney.ratings.rate import ELO, Estimates, RatingTable, rate
from tourney.ratings.sequences import (
    GroupMean,
    certainly_above,
    groups_needed,
    interval,
    reach,
)
from tourney.ratings.sketch import Sketch
from tourney.ratings.spread import Model

__all__ = ("ALPHA", "NeighbourVerdict", "Outlook", "StopRule", "outlook")

ALPHA = 0.05
"""Share of runs in which any verdict at all is wrong."""

Verdict = Literal["above", "below", "equal", "open"]


class StopRule(msgspec.Struct, frozen=True, kw_only=True):
    """What a run waits for; it stops when all that is set holds, or at a cap."""

    separated: bool = False
    """Every bot is certainly better than the next one."""
    within: float | None = None
    """Every bot is certainly better than the next one, or certainly within so many points of it."""
    interval: float | None = None
    """Every rating is known to ± so many points."""

    @property
    def waits(self) -> bool:
        """Whether there is anything to wait for."""
        return self.separated or self.within is not None or self.interval is not None


class NeighbourVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Two bots that follow each other in the order, and what is certain about them."""

    bot: Annotated[str, msgspec.Meta(description="the one that is rated higher")]
    other: Annotated[str, msgspec.Meta(description="the next one")]
    groups: Annotated[int, msgspec.Meta(description="rotation groups in which both sat")]
    score: Annotated[float | None, msgspec.Meta(description="0.5 is even, by the headline")]
    low: Annotated[float | None, msgspec.Meta(description="lower end, valid at every look")]
    high: Annotated[float | None, msgspec.Meta(description="upper end, valid at every look")]
    verdict: Annotated[Verdict, msgspec.Meta(description="above, below, equal or open")]
    groups_left: Annotated[
        float | None, msgspec.Meta(description="their groups until it is decided, if ever")
    ]


class Outlook(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run is on its way to a verdict."""

    enough: bool
    """Whether the rule is fulfilled."""
    neighbours: tuple[NeighbourVerdict, ...]
    reaches: tuple[tuple[str, float | None], ...]
    """Half width of each rating's interval that is valid at every look."""
    matches_left: int | None
    """About how many more matches until enough; None for more than can be played."""
    pairs_left: tuple[int | None, ...]
    """The same for each open pair of neighbours, whatever the rule waits for."""

    @property
    def sentence(self) -> str:
        """What is left, for a person."""
        count = len(self.pairs_left)
        if not count:
            return "every neighbour is told apart"
        pairs = f"{count} pair{'s' if count > 1 else ''} of neighbours"
        within = [left for left in self.pairs_left if left is not None]
        if not within:
            return f"{pairs} not told apart, and no number of matches in reach would"
        more = f"about {_rounded(max(within)):,} more matches"
        if len(within) == count:
            return f"{more} to separate {pairs}"
        beyond = count - len(within)
        others = "the other" if beyond == 1 else f"the other {beyond}"
        return (
            f"{pairs} not told apart: {more} would tell {len(within)} of them apart, "
            f"no number in reach {others}"
        )


def _rounded(number: int) -> int:
    """To two digits: a forecast is no more exact."""
    unit: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // unit) * unit


def outlook(sketches: Sequence[Sketch], rule: StopRule, *, headline: Model = "win") -> Outlook:
    """Verdicts on all neighbours, widths of all ratings, and what the rule still waits for.

    Raises:
        ValueError: there is no whole group.
    """
    tables = rate(*sketches)
    pairs: list[tuple[NeighbourVerdict, float]] = []
    widths: list[tuple[str, float]] = []
    for table in tables:
        chosen = table.by(headline)
        ranked = [chosen.bots[bot] for bot in chosen.ranking]
        error = ALPHA / max(1, len(ranked) - 1)
        for bot, other in itertools.pairwise(ranked):
            pairs.append(_neighbours(table, (bot, other), headline, rule.within, error))
        widths += _widths(chosen, ALPHA / len(ranked))
    factors = [factor for _, factor in pairs] if rule.separated or rule.within is not None else []
    if rule.interval is not None:
        factors += [_growth(width, rule.interval) for _, width in widths]
    enough = bool(factors) and all(factor <= 1 for factor in factors)
    # Without a rule the forecast is about telling neighbours apart.
    most = max(factors or [factor for _, factor in pairs], default=1.0)
    played = sum(sketch.matches for sketch in sketches)
    return Outlook(
        enough=enough,
        neighbours=tuple(verdict for verdict, _ in pairs),
        reaches=tuple((bot, _finite(width)) for bot, width in widths),
        matches_left=_more(most, played),
        pairs_left=tuple(
            _more(factor, played) for verdict, factor in pairs if verdict.verdict == "open"
        ),
    )


def _more(factor: float, played: int) -> int | None:
    """Matches to a run so many times as long; None for more than can be played."""
    left = (factor - 1) * played
    # Up to a whole one, but not for the rounding of a float.
    return math.ceil(left - 1e-6) if left < 1e12 else None


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _growth(width: float, wanted: float) -> float:
    """How many times as long a run gives the wanted width; errors shrink as a square root."""
    return 1.0 if width <= wanted else (width / wanted) ** 2


def _widths(estimates: Estimates, error: float) -> list[tuple[str, float]]:
    """The sequence of each rating: its error scaled from one look to all of them."""
    errors = estimates.errors
    if errors is None:
        return [(bot, math.inf) for bot in estimates.bots]
    stretch = math.sqrt(estimates.groups) * reach(estimates.groups, error)
    return [
        (bot, math.inf if bound else float(own) * stretch)
        for bot, own, bound in zip(estimates.bots, errors, estimates.bounds, strict=True)
    ]


def _neighbours(
    table: RatingTable, pair: tuple[str, str], model: Model, within: float | None, error: float
) -> tuple[NeighbourVerdict, float]:
    """A verdict, and how many times as long the run must be for one."""
    (bot, other), met = pair, duel(table.sketches, *pair, model)
    scores = met.scores
    margin = 0.0 if within is None else met.stake * (float(expit(within / ELO)) - 0.5)
    if scores.groups < 2:
        verdict = NeighbourVerdict(
            bot=bot,
            other=other,
            groups=scores.groups,
            score=scores.mean if scores.groups else None,
            low=None,
            high=None,
            verdict="open",
            groups_left=None,
        )
        return verdict, math.inf
    low, high = interval(scores, error)
    said = _verdict(scores, margin, error)
    total = _needed(scores, margin, error)
    left = 0.0 if said != "open" else max(total - scores.groups, 1.0)
    verdict = NeighbourVerdict(
        bot=bot,
        other=other,
        groups=scores.groups,
        score=scores.mean,
        low=low,
        high=high,
        verdict=said,
        groups_left=_finite(left),
    )
    return verdict, 1.0 if said != "open" else (scores.groups + left) / scores.groups


def _verdict(scores: GroupMean, margin: float, error: float) -> Verdict:
    if certainly_above(scores, 0.5, error):
        return "above"
    if certainly_above(scores.flipped, 0.5, error):
        return "below"
    near = margin > 0 and all(
        certainly_above(side, 0.5 - margin, error) for side in (scores, scores.flipped)
    )
    return "equal" if near else "open"


def _needed(scores: GroupMean, margin: float, error: float) -> float:
    """Groups to the easier of two verdicts: told apart, or equal."""
    apart = groups_needed(scores, 0.5, error)
    if abs(scores.mean - 0.5) >= margin:
        return apart
    return min(apart, max(groups_needed(scores, 0.5 + side, error) for side in (-margin, margin)))
