"""Runs, or a file of another program's results, to one leaderboard."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from tourney.errors import ConfigError, StoreError
from tourney.games.base import GameInfo
from tourney.games.registry import make_game
from tourney.ratings import (
    Board,
    Model,
    Sums,
    add_sums,
    board_of_sums,
    from_csv,
    from_pgn,
    sketches,
    sums,
)
from tourney.store import RunReader

__all__ = ("board_of", "chosen", "game_of", "imported", "numbered", "sums_of")

GROUP_SPACE = 1 << 40
"""Runs number their groups from 0 each; together each gets its own part of the numbers."""


def chosen(readers: Sequence[RunReader], game: str | None) -> list[RunReader]:
    """The runs of `game`, or all of them if they are of one game.

    Raises:
        ConfigError: the runs are of several games and none is named, or none is of that one.
    """
    games = sorted({one.info.game for one in readers})
    if game is None:
        if len(games) > 1:
            raise ConfigError(
                f"these runs are of several games ({', '.join(games)}): choose with --game NAME"
            )
        return list(readers)
    kept = [one for one in readers if one.info.game == game]
    if not kept:
        raise ConfigError(f"no run of {game} among these, only of {', '.join(games)}")
    return kept


def game_of(readers: Sequence[RunReader]) -> GameInfo:
    """The one game of these runs, with its rules.

    Raises:
        ConfigError: the runs are of different games or rules.
        PluginError: the game is not installed.
        GameError: the rules are not those of the installed game.
    """
    first = chosen(readers, None)[0].info
    for reader in readers[1:]:
        if dict(reader.info.rules) != dict(first.rules):
            raise ConfigError(
                f"{reader.info.id} and {first.id} play {first.game} by different rules: "
                "rate them apart"
            )
    return make_game(first.game, first.rules).info


def numbered(readers: Sequence[RunReader], *, by_version: bool = False) -> Iterator[pl.LazyFrame]:
    """Each run's rows of `seats`, with group and match numbers that no other run has."""
    for place, reader in enumerate(readers):
        rows = reader.scan("seats")
        if by_version:
            bots = reader.scan("bots").select("bot", "digest").collect()
            named = {bot: f"{bot}@{digest[:8]}" for bot, digest in bots.iter_rows()}
            rows = rows.with_columns(pl.col("bot").replace(named))
        if place:
            offset = place * GROUP_SPACE
            rows = rows.with_columns(pl.col("group") + offset, pl.col("match") + offset)
        yield rows


def sums_of(readers: Sequence[RunReader], *, by_version: bool = False) -> Sums | None:
    """The sums of all committed rows, None where there are none.

    Raises:
        StoreError: a run is damaged.
    """
    try:
        return add_sums(sums(rows) for rows in numbered(readers, by_version=by_version))
    except ValueError as error:
        raise StoreError(f"the run {readers[0].info.id} is damaged: {error}") from error


def board_of(
    readers: Sequence[RunReader],
    *,
    headline: Model | None = None,
    anchor: str | None = None,
    by_version: bool = False,
) -> Board:
    """The leaderboard of runs of one game, taken together.

    Args:
        readers: the runs, at least one.
        headline: what bots are ranked by; None for what the game pays.
        anchor: a bot that is put at 1500 instead of the field's mean.
        by_version: a line for each version of a bot's package.

    Raises:
        ConfigError: the runs do not go together, or there is no bot called `anchor`.
        PluginError: their game is not installed.
        GameError: their rules are not those of the installed game.
        StoreError: a run is damaged.
    """
    game = game_of(readers)
    known = sums_of(readers, by_version=by_version)
    if known is None:
        return Board((), headline=headline or game.headline)
    try:
        return board_of_sums(
            known,
            headline=headline or game.headline,
            lower_is_better=game.lower_is_better,
            anchor=anchor,
        )
    except ValueError as error:
        raise ConfigError(str(error)) from error


def imported(path: Path, *, headline: Model = "win", anchor: str | None = None) -> Board:
    """The leaderboard of another program's results: PGN by its ending, else CSV.

    Raises:
        ConfigError: the file cannot be read, or there is no bot called `anchor`.
    """
    read = from_pgn if path.suffix.lower() == ".pgn" else from_csv
    try:
        text = path.read_text(encoding="utf-8-sig")
        found = sketches(read(text), rotations=False)
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot rate {path}: {error}") from error
    try:
        return Board(found, headline=headline, anchor=anchor)
    except ValueError as error:
        raise ConfigError(str(error)) from error
