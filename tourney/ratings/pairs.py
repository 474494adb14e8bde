"""Head to head: how often each bot finishes ahead of each other one. Pure, as `scores`."""

from typing import Annotated

import msgspec
import polars as pl

from tourney.ratings.estimate import Moments, share

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


def head_to_head(seats: pl.LazyFrame) -> list[PairStanding]:
    """Every ordered pair of bots that met, by name; rows must hold whole groups."""
    places = seats.select("match", "group", "bot", rank=pl.col("rank").cast(pl.Int64))
    others = places.select("match", opponent="bot", other_rank="rank")
    # In half wins, so that the sums are whole numbers and exact.
    halves = 1 + (pl.col("other_rank") - pl.col("rank")).sign()
    met = (
        places.join(others, on="match")
        .filter(pl.col("bot") != pl.col("opponent"))
        .group_by("bot", "opponent", "group")
        .agg(m=pl.len().cast(pl.Int64), x=halves.sum())
    )
    m, x = pl.col("m"), pl.col("x")
    sums = met.group_by("bot", "opponent").agg(
        clusters=pl.len().cast(pl.Int64),
        m=m.sum(),
        x=x.sum() / 2,
        xx=(x * x).sum() / 4,
        xm=(x * m).sum() / 2,
        mm=(m * m).sum(),
    )
    lines = []
    for row in sums.sort("bot", "opponent").collect().iter_rows(named=True):
        bot, opponent = row.pop("bot"), row.pop("opponent")
        moments = Moments(**row)
        ahead = share(moments)
        lines.append(
            PairStanding(
                bot=bot,
                opponent=opponent,
                matches=int(moments.m),
                groups=moments.clusters,
                ahead=ahead.mean,
                ahead_se=ahead.se,
                ahead_low=ahead.low,
                ahead_high=ahead.high,
            )
        )
    return lines
