"""Ratings as lines to show: both models, intervals, ranges of ranks, and where the orders differ.

The headline is the model that matches what the rules pay: the share of wins, unless asked
otherwise. The other one is always beside it.
"""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
from scipy.special import stdtrit

from tourney.ratings.estimate import CONFIDENCE
from tourney.ratings.matches import FloatArray
from tourney.ratings.order import letters, quasi_variances, rank_ranges, significant
from tourney.ratings.parts import Bound
from tourney.ratings.rate import ELO, Estimates, RatingTable
from tourney.ratings.spread import Model

__all__ = ("Rated", "standings")


class Rated(msgspec.Struct, frozen=True, kw_only=True):
    """One bot's line of ratings."""

    table: Annotated[int, msgspec.Meta(description="bots of different tables never met, from 1")]
    rank: Annotated[int, msgspec.Meta(description="by the headline rating, 1 is best")]
    rank_best: Annotated[int, msgspec.Meta(description="best rank that is not ruled out")]
    rank_worst: Annotated[int, msgspec.Meta(description="worst rank that is not ruled out")]
    bot: Annotated[str, msgspec.Meta(description="name of the bot in the run")]
    rating: Annotated[float, msgspec.Meta(description="headline rating")]
    bound: Annotated[Bound, msgspec.Meta(description="≥ a floor, ≤ a ceiling: it met no match")]
    rating_se: Annotated[float | None, msgspec.Meta(description="its standard error, by group")]
    rating_low: Annotated[float | None, msgspec.Meta(description="lower end of its interval")]
    rating_high: Annotated[float | None, msgspec.Meta(description="upper end of its interval")]
    rating_bar: Annotated[float | None, msgspec.Meta(description="error for comparing two bars")]
    letters: Annotated[
        str, msgspec.Meta(description="neighbours that share one are not told apart")
    ]
    placement_rating: Annotated[
        float, msgspec.Meta(description="rating by who finished ahead of whom")
    ]
    placement_rating_se: Annotated[float | None, msgspec.Meta(description="its standard error")]
    placement_rank: Annotated[int, msgspec.Meta(description="rank by placement")]
    win_rating: Annotated[float, msgspec.Meta(description="rating by who took the match")]
    win_rating_se: Annotated[float | None, msgspec.Meta(description="its standard error")]
    win_rank: Annotated[int, msgspec.Meta(description="rank by wins")]
    orders_differ: Annotated[bool, msgspec.Meta(description="placement and wins rank it apart")]
    matches: Annotated[int, msgspec.Meta(description="matches played")]
    table_groups: Annotated[int, msgspec.Meta(description="rotation groups of the table")]


class _Order(NamedTuple):
    """What a table's headline proves about its order."""

    ranges: list[tuple[int, int]]
    letters: list[str]
    bars: FloatArray | None
    placement_ranks: list[int]
    win_ranks: list[int]


def standings(tables: Sequence[RatingTable], *, headline: Model = "win") -> list[Rated]:
    """A line a bot: table by table, best first by the headline."""
    lines = []
    for number, table in enumerate(tables, 1):
        order = _order(table, headline)
        lines += [_line(number, table, headline, order, bot) for bot in table.by(headline).ranking]
    return lines


def _order(table: RatingTable, headline: Model) -> _Order:
    estimates = table.by(headline)
    superior, count = estimates.superiority, len(estimates.bots)
    if superior is None or estimates.spread is None:
        better, bars = np.zeros((count, count), dtype=bool), None
    else:
        better, bars = significant(superior), quasi_variances(estimates.spread)
    return _Order(
        ranges=rank_ranges(better),
        letters=letters(better, estimates.ranking),
        bars=bars,
        placement_ranks=table.placement.ranks,
        win_ranks=table.win.ranks,
    )


def _line(number: int, table: RatingTable, headline: Model, order: _Order, bot: int) -> Rated:
    chosen, placement, win = table.by(headline), table.placement, table.win
    rating, bound = float(chosen.ratings[bot]), chosen.bounds[bot]
    error = _error(chosen, bot)
    low = high = None
    if error is not None and not bound:
        reach = error * float(stdtrit(chosen.groups - 1, (1 + CONFIDENCE) / 2))
        low, high = rating - reach, rating + reach
    best, worst = order.ranges[bot]
    by_place, by_wins = order.placement_ranks[bot], order.win_ranks[bot]
    return Rated(
        table=number,
        rank=by_wins if headline == "win" else by_place,
        rank_best=best,
        rank_worst=worst,
        bot=table.bots[bot],
        rating=rating,
        bound=bound,
        rating_se=error,
        rating_low=low,
        rating_high=high,
        rating_bar=None if order.bars is None else float(ELO * np.sqrt(order.bars[bot])),
        letters=order.letters[bot],
        placement_rating=float(placement.ratings[bot]),
        placement_rating_se=_error(placement, bot),
        placement_rank=by_place,
        win_rating=float(win.ratings[bot]),
        win_rating_se=_error(win, bot),
        win_rank=by_wins,
        orders_differ=by_place != by_wins,
        matches=table.matches[bot],
        table_groups=chosen.groups,
    )


def _error(estimates: Estimates, bot: int) -> float | None:
    errors = estimates.errors
    return None if errors is None else float(errors[bot])
