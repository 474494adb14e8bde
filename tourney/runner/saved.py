"""The plan of a run as its folder tells it, to play a piece of it again."""

import json
from pathlib import Path

from tourney.config.models import TournamentConfig
from tourney.errors import StoreError
from tourney.executors.base import PlannedBot, WorkPlan
from tourney.games.registry import make_game
from tourney.packages.archive import pack
from tourney.packages.digest import package_digest
from tourney.runner.terms import terms_of
from tourney.store import RunReader

__all__ = ("saved_plan",)


def saved_plan(
    reader: RunReader, name: str, package: Path | None, *, unsafe: bool
) -> tuple[WorkPlan, dict[str, bytes]]:
    """The run's plan and the archive of one bot.

    Args:
        reader: the run.
        name: the bot that will be played.
        package: another package to play in its place, None for the run's own.
        unsafe: no sandbox, whatever the run used.

    Raises:
        StoreError: the run lacks the secret, the config or the package.
        PackageError: `package` is wrong.
        GameError: the rules are not of the version that the run was played by.
    """
    values = reader.resolved()
    if not values:
        raise StoreError(f"{reader.folder} has no config.resolved.json, so it cannot be played")
    config = TournamentConfig.model_validate(values)
    make_game(config.tournament.game, config.rules, version=reader.info.game_version)
    bots, archives = [], {}
    for row in reader.scan("bots").collect().iter_rows(named=True):
        digest = row["digest"]
        if row["bot"] == name:
            if package is not None:
                digest = package_digest(package)
            archives[digest] = pack(package) if package else reader.package(digest)
        options = json.loads(row["options"])
        bots.append(PlannedBot(name=row["bot"], digest=digest, options=options))
    plan = WorkPlan(
        game=config.tournament.game,
        rules=config.rules,
        terms=terms_of(config.tournament, {}),
        bots=tuple(bots),
        limits=config.limits,
        names=config.tournament.names,
        secret=reader.secret(),
        sandbox="none" if unsafe else config.run.sandbox,
        restart="never",
    )
    return plan, archives
