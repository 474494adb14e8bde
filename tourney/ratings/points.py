"""A bot's score above or below its table's mean: the points that it made, not the deal.

Sums by bot, additive over disjoint sets of whole groups, as the other sums of this package.
"""

import polars as pl

from tourney.ratings.estimate import Estimate, Moments, ratio_mean

__all__ = ("add_points", "relative_points", "tally_points")


def tally_points(seats: pl.LazyFrame) -> pl.DataFrame:
    """Sums over the rows of the table `seats`, a row a bot; the rows must hold whole groups."""
    # Times the number of seats the distance to the mean is a whole number where scores are.
    count = pl.len().over("match")
    distance = (pl.col("score") * count - pl.col("score").sum().over("match")) / count
    x, m = pl.col("x"), pl.col("m")
    return (
        seats.with_columns(distance=distance)
        .group_by("bot", "group")
        .agg(m=pl.len().cast(pl.Int64), x=pl.col("distance").sum())
        .group_by("bot")
        .agg(
            clusters=pl.len().cast(pl.Int64),
            m=m.sum(),
            x=x.sum(),
            xx=(x * x).sum(),
            xm=(x * m).sum(),
            mm=(m * m).sum(),
        )
        .sort("bot")
        .collect()
    )


def add_points(*tallies: pl.DataFrame) -> pl.DataFrame:
    """The sums of all groups together; no group may be in two of `tallies`.

    Raises:
        ValueError: there is nothing to add.
    """
    if not tallies:
        raise ValueError("nothing to add")
    return pl.concat(tallies).group_by("bot").agg(pl.all().sum()).sort("bot")


def relative_points(sums: pl.DataFrame) -> dict[str, Estimate]:
    """Each bot's mean score minus its table's mean, with the error by group.

    Raises:
        ValueError: a bot played no match.
    """
    return {row.pop("bot"): ratio_mean(Moments(**row)) for row in sums.iter_rows(named=True)}
