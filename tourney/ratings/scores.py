"""The leaderboard: mean score and win share of each bot, with errors clustered by group.

Pure: seat rows in, sums out, standings from the sums. The sums of disjoint sets of whole groups
add up to the sums of their union, so that workers, shards and refreshes never need the rows again.
"""

from typing import Annotated, Any

import msgspec
import polars as pl

from tourney.protocol.faults import FINISHED
from tourney.ratings.estimate import Moments, ratio_mean, share

__all__ = ("WIN_UNIT", "Standing", "leaderboard", "merge", "tally")

WIN_UNIT = 840
"""Shares of a win are counted in 1/840: whole numbers for every tie of up to eight seats, so that
sums are exact and do not depend on the order of the rows."""

_LARGEST = "think_ms_max"
"""The one column of a tally that is not a sum."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One bot's line in the leaderboard."""

    rank: Annotated[int, msgspec.Meta(description="1 is best; equal bots share a rank")]
    bot: Annotated[str, msgspec.Meta(description="name of the bot in the run")]
    matches: Annotated[int, msgspec.Meta(description="matches played")]
    groups: Annotated[int, msgspec.Meta(description="rotation groups: the evidence behind ±")]
    win_share: Annotated[float, msgspec.Meta(description="share of wins; a tie for first is split")]
    win_se: Annotated[float | None, msgspec.Meta(description="its standard error, by group")]
    win_low: Annotated[float | None, msgspec.Meta(description="lower end of its 95 % interval")]
    win_high: Annotated[float | None, msgspec.Meta(description="upper end of its 95 % interval")]
    mean_score: Annotated[float, msgspec.Meta(description="mean score of a match")]
    score_se: Annotated[float | None, msgspec.Meta(description="its standard error, by group")]
    score_low: Annotated[float | None, msgspec.Meta(description="lower end of its 95 % interval")]
    score_high: Annotated[float | None, msgspec.Meta(description="upper end of its 95 % interval")]
    faults: Annotated[int, msgspec.Meta(description="matches that it ended with a fault")]
    ms_mean: Annotated[float | None, msgspec.Meta(description="mean milliseconds of a decision")]
    ms_max: Annotated[float | None, msgspec.Meta(description="slowest decision, milliseconds")]


def tally(seats: pl.LazyFrame) -> pl.DataFrame:
    """Sums over the rows of the table `seats`, a row a bot; the rows must hold whole groups."""
    in_group = seats.group_by("bot", "group").agg(
        m=pl.len().cast(pl.Int64),
        score=pl.col("score").sum(),
        win=(pl.col("win") * WIN_UNIT).round().cast(pl.Int64).sum(),
        faults=(pl.col("outcome") != FINISHED).sum().cast(pl.Int64),
        decisions=pl.col("decisions").cast(pl.Int64).sum(),
        think_ms=pl.col("think_ms_total").cast(pl.Float64).sum(),
        think_ms_max=pl.col(_LARGEST).cast(pl.Float64).max(),
    )
    m, score, win = pl.col("m"), pl.col("score"), pl.col("win")
    return (
        in_group.group_by("bot")
        .agg(
            groups=pl.len().cast(pl.Int64),
            matches=m.sum(),
            matches_sq=(m * m).sum(),
            score=score.sum(),
            score_sq=(score * score).sum(),
            score_matches=(score * m).sum(),
            win=win.sum(),
            win_sq=(win * win).sum(),
            win_matches=(win * m).sum(),
            faults=pl.col("faults").sum(),
            decisions=pl.col("decisions").sum(),
            think_ms=pl.col("think_ms").sum(),
            think_ms_max=pl.col(_LARGEST).max(),
        )
        .sort("bot")
        .collect()
    )


def merge(*tallies: pl.DataFrame) -> pl.DataFrame:
    """The tally of all groups together; no group may be in two of `tallies`.

    Raises:
        ValueError: there is no tally to merge.
    """
    if not tallies:
        raise ValueError("nothing to merge")
    sums = pl.all().exclude("bot", _LARGEST).sum()
    return (
        pl.concat(tallies)
        .group_by("bot")
        .agg(sums, pl.col(_LARGEST).max())
        .sort("bot")
        .select(tallies[0].columns)
    )


def leaderboard(tally: pl.DataFrame, *, lower_is_better: bool) -> list[Standing]:
    """Standings, best first: by win share, then by mean score, then by name."""
    lines = [_standing(row) for row in tally.iter_rows(named=True)]
    sign = 1 if lower_is_better else -1

    def strength(line: Standing) -> tuple[float, float]:
        return -line.win_share, sign * line.mean_score

    lines.sort(key=lambda line: (strength(line), line.bot))
    ranked: list[Standing] = []
    for place, line in enumerate(lines, 1):
        equal = ranked and strength(ranked[-1]) == strength(line)
        ranked.append(msgspec.structs.replace(line, rank=ranked[-1].rank if equal else place))
    return ranked


def _standing(row: dict[str, Any]) -> Standing:
    matches, groups = row["matches"], row["groups"]
    score = ratio_mean(
        Moments(
            clusters=groups,
            m=matches,
            x=row["score"],
            xx=row["score_sq"],
            xm=row["score_matches"],
            mm=row["matches_sq"],
        )
    )
    win = share(
        Moments(
            clusters=groups,
            m=matches,
            x=row["win"] / WIN_UNIT,
            xx=row["win_sq"] / WIN_UNIT**2,
            xm=row["win_matches"] / WIN_UNIT,
            mm=row["matches_sq"],
        )
    )
    decisions = row["decisions"]
    return Standing(
        rank=0,
        bot=row["bot"],
        matches=matches,
        groups=groups,
        win_share=win.mean,
        win_se=win.se,
        win_low=win.low,
        win_high=win.high,
        mean_score=score.mean,
        score_se=score.se,
        score_low=score.low,
        score_high=score.high,
        faults=row["faults"],
        ms_mean=_microseconds(row["think_ms"] / decisions) if decisions else None,
        ms_max=_microseconds(row[_LARGEST]) if decisions else None,
    )


def _microseconds(ms: float) -> float:
    """Milliseconds to the resolution of the record."""
    return round(ms, 3)
