"""The leaderboard as everybody shows it: terminal, pages, files and API print these lines.

A line has a bot's ratings, what they prove of its rank, and its scores. Sums in, lines out.
"""

import itertools
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated

import msgspec

from tourney.ratings.estimate import Estimate
from tourney.ratings.gain import GroupGain, group_gain
from tourney.ratings.points import relative_points
from tourney.ratings.rate import RatingTable, rate
from tourney.ratings.scores import Standing, leaderboard
from tourney.ratings.sketch import Sketch
from tourney.ratings.spread import Model
from tourney.ratings.standings import Rated, standings
from tourney.ratings.stopping import Outlook, StopRule, outlook
from tourney.ratings.sums import Sums

__all__ = ("Board", "Line", "board_of_sums")


class Line(Rated, frozen=True, kw_only=True):
    """One bot's line in the leaderboard."""

    superiority: Annotated[
        float | None, msgspec.Meta(description="likelihood that it is better than the next bot")
    ] = None
    win_share: Annotated[
        float | None, msgspec.Meta(description="share of wins; a tie for first is split")
    ] = None
    win_se: Annotated[float | None, msgspec.Meta(description="its standard error, by group")] = None
    win_low: Annotated[float | None, msgspec.Meta(description="lower end of its interval")] = None
    win_high: Annotated[float | None, msgspec.Meta(description="upper end of its interval")] = None
    mean_score: Annotated[float | None, msgspec.Meta(description="mean score of a match")] = None
    score_se: Annotated[float | None, msgspec.Meta(description="its standard error, by group")] = (
        None
    )
    score_low: Annotated[float | None, msgspec.Meta(description="lower end of its interval")] = None
    score_high: Annotated[float | None, msgspec.Meta(description="upper end of its interval")] = (
        None
    )
    relative_score: Annotated[
        float | None, msgspec.Meta(description="mean score minus its tables' mean")
    ] = None
    relative_se: Annotated[
        float | None, msgspec.Meta(description="its standard error, by group")
    ] = None
    faults: Annotated[int | None, msgspec.Meta(description="matches it ended with a fault")] = None
    ms_mean: Annotated[
        float | None, msgspec.Meta(description="mean milliseconds of a decision")
    ] = None
    ms_max: Annotated[float | None, msgspec.Meta(description="slowest decision, milliseconds")] = (
        None
    )


_SCORES = (
    "win_share",
    "win_se",
    "win_low",
    "win_high",
    "mean_score",
    "score_se",
    "score_low",
    "score_high",
    "faults",
    "ms_mean",
    "ms_max",
)
"""Fields of a line that come from the scores."""


class Board:
    """A leaderboard and what it is worth."""

    def __init__(
        self,
        sketches: Sequence[Sketch],
        *,
        headline: Model = "win",
        anchor: str | None = None,
        scores: Sequence[Standing] = (),
        relative: Mapping[str, Estimate] | None = None,
    ) -> None:
        """Rate.

        Args:
            sketches: who finished where.
            headline: what bots are ranked by.
            anchor: a bot that is put at 1500 instead of the field's mean.
            scores: of the same bots, where there are any.
            relative: their scores against their tables' mean.

        Raises:
            ValueError: there is no bot called `anchor`.
        """
        self.sketches, self.headline = tuple(sketches), headline
        self.tables: list[RatingTable] = []
        if any(one.rows.height for one in sketches):
            self.tables = rate(*sketches, anchor=anchor)
        by_bot = {line.bot: line for line in scores}
        better = self._better_than_next()
        self.lines = tuple(
            _line(rated, better[rated.bot], by_bot.get(rated.bot), (relative or {}).get(rated.bot))
            for rated in standings(self.tables, headline=headline)
        )

    @property
    def matches(self) -> int:
        """Matches behind it."""
        return sum(one.matches for one in self.sketches)

    def _better_than_next(self) -> dict[str, float | None]:
        out: dict[str, float | None] = {}
        for table in self.tables:
            chosen = table.by(self.headline)
            superior = chosen.superiority
            for one, other in itertools.zip_longest(chosen.ranking, chosen.ranking[1:]):
                if superior is None or other is None:
                    out[chosen.bots[one]] = None
                else:
                    out[chosen.bots[one]] = float(superior[one, other])
        return out

    def outlook(self, rule: StopRule | None = None) -> Outlook | None:
        """How far neighbours are told apart; None without a group."""
        if not self.tables:
            return None
        return outlook(self.sketches, rule or StopRule(), headline=self.headline)

    @cached_property
    def gain(self) -> GroupGain | None:
        """What groups were worth in the largest table, None where it cannot be told."""
        return group_gain(self.tables[0], self.headline) if self.tables else None


def _line(
    rated: Rated, superiority: float | None, scores: Standing | None, relative: Estimate | None
) -> Line:
    own = {} if scores is None else {name: getattr(scores, name) for name in _SCORES}
    return Line(
        **msgspec.structs.asdict(rated),
        superiority=superiority,
        relative_score=None if relative is None else relative.mean,
        relative_se=None if relative is None else relative.se,
        **own,
    )


def board_of_sums(
    sums: Sums,
    *,
    headline: Model,
    lower_is_better: bool,
    anchor: str | None = None,
) -> Board:
    """The leaderboard of a run's sums.

    Raises:
        ValueError: there is no bot called `anchor`.
    """
    return Board(
        sums.sketches,
        headline=headline,
        anchor=anchor,
        scores=leaderboard(sums.scores, lower_is_better=lower_is_better),
        relative=relative_points(sums.points),
    )
