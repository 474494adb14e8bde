"""Runs and files of results to rated lines: what `tourney ratings` and the end of a run print."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tourney.errors import ConfigError, StoreError

if TYPE_CHECKING:
    # Loading polars takes longer than `tourney --help` may.
    import polars as pl

    from tourney.ratings import Model, Outlook, Rated, RatingTable, Sketch, Standing
    from tourney.store import RunReader

__all__ = ("Leaderboard", "imported", "of_runs")


class Leaderboard:
    """Ratings, scores and what they are worth, from sums over whole groups."""

    def __init__(
        self,
        sums: "Sequence[Sketch]",
        scores: "Sequence[Standing]" = (),
        relative: "Mapping[str, Any] | None" = None,
        *,
        headline: "Model" = "win",
        anchor: str | None = None,
    ) -> None:
        """Rate.

        Raises:
            ConfigError: there is no bot called `anchor`.
        """
        from tourney.ratings import rate, standings

        self.sums, self.headline = tuple(sums), headline
        self.scores = {line.bot: line for line in scores}
        self._relative = relative or {}
        self.tables: list[RatingTable] = []
        if any(one.rows.height for one in self.sums):
            try:
                self.tables = rate(*self.sums, anchor=anchor)
            except ValueError as error:
                raise ConfigError(str(error)) from error
        self.rated: list[Rated] = standings(self.tables, headline=headline)

    def lines(self) -> list[dict[str, Any]]:
        """A line a bot, the best first: ratings and, where there are any, scores."""
        import msgspec

        out = []
        for rated in self.rated:
            line = msgspec.structs.asdict(rated)
            if rated.bot in self.scores:
                scores = msgspec.structs.asdict(self.scores[rated.bot])
                line |= {name: scores[name] for name in scores if name not in line}
                points = self._relative.get(rated.bot)
                line["relative_score"] = None if points is None else points.mean
                line["relative_se"] = None if points is None else points.se
            out.append(line)
        return out

    def outlook(self, stop: Mapping[str, Any]) -> "Outlook | None":
        """How far neighbours are told apart; None without a group."""
        from tourney.ratings import StopRule, outlook

        if not self.tables:
            return None
        rule = StopRule(
            separated=stop.get("pairs") == "separated",
            within=stop.get("within"),
            interval=stop.get("interval"),
        )
        return outlook(self.sums, rule, headline=self.headline)

    def worth(self) -> str | None:
        """How many independent matches the groups are worth, in a sentence."""
        from tourney.ratings import group_gain

        gain = group_gain(self.tables[0], self.headline) if self.tables else None
        return None if gain is None else gain.sentence


def of_runs(
    readers: "Sequence[RunReader]",
    *,
    headline: "Model" = "win",
    anchor: str | None = None,
    by_version: bool = False,
) -> Leaderboard:
    """The leaderboard of runs of one game, taken together.

    Raises:
        ConfigError: the runs are of different games or rules, or there is no bot called `anchor`.
        PluginError: their game is not installed.
        GameError: their rules are not those of the installed game.
        StoreError: a run is damaged.
    """
    from tourney.games.registry import make_game
    from tourney.ratings import (
        add_points,
        add_sketches,
        leaderboard,
        merge,
        relative_points,
        sketches,
        tally,
        tally_points,
    )

    first = readers[0].info
    for reader in readers[1:]:
        if (reader.info.game, dict(reader.info.rules)) != (first.game, dict(first.rules)):
            raise ConfigError(
                f"{reader.info.id} and {first.id} are of different games or rules: rate them apart"
            )
    game = make_game(first.game, first.rules).info
    rows = [_seats(reader, by_version=by_version) for reader in readers]
    scores = leaderboard(merge(*(tally(one) for one in rows)), lower_is_better=game.lower_is_better)
    points = relative_points(add_points(*(tally_points(one) for one in rows)))
    try:
        sums = add_sketches(*(sketches(one) for one in rows))
    except ValueError as error:
        raise StoreError(f"the run {first.id} is damaged: {error}") from error
    return Leaderboard(sums, scores, points, headline=headline, anchor=anchor)


def _seats(reader: "RunReader", *, by_version: bool) -> "pl.LazyFrame":
    import polars as pl

    rows = reader.scan("seats")
    if not by_version:
        return rows
    bots = reader.scan("bots").select("bot", "digest").collect()
    named = {bot: f"{bot}@{digest[:8]}" for bot, digest in bots.iter_rows()}
    return rows.with_columns(pl.col("bot").replace(named))


def imported(path: Path, *, headline: "Model", anchor: str | None) -> Leaderboard:
    """The leaderboard of another program's results: PGN by its ending, else CSV.

    Raises:
        ConfigError: the file cannot be read, or there is no bot called `anchor`.
    """
    from tourney.ratings import from_csv, from_pgn, sketches

    read = from_pgn if path.suffix.lower() == ".pgn" else from_csv
    try:
        text = path.read_text(encoding="utf-8-sig")
        sums = sketches(read(text), rotations=False)
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot rate {path}: {error}") from error
    return Leaderboard(sums, headline=headline, anchor=anchor)
