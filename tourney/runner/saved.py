"""The plan of a run as its folder tells it, to play a piece of it again."""

import json
from pathlib import Path

import msgspec

from tourney.config.models import TournamentConfig
from tourney.errors import StoreError
from tourney.executors.base import PlannedBot, WorkPlan
from tourney.packages.archive import pack
from tourney.packages.digest import package_digest
from tourney.store import RunReader, RunWriter
from tourney.store.writer import PACKAGES

__all__ = ("saved_plan",)


def saved_plan(
    writer: RunWriter, name: str, package: Path | None, *, unsafe: bool
) -> tuple[WorkPlan, dict[str, bytes]]:
    """The run's plan and the archive of one bot.

    Args:
        writer: the run.
        name: the bot that will be played.
        package: another package to play in its place, None for the run's own.
        unsafe: no sandbox, whatever the run used.

    Raises:
        StoreError: the folder lacks the secret or the package.
        PackageError: `package` is wrong.
    """
    text = (writer.folder / "config.resolved.json").read_bytes()
    config = TournamentConfig.model_validate(msgspec.json.decode(text)["values"])
    bots, archives = [], {}
    for row in RunReader(writer.folder).scan("bots").collect().iter_rows(named=True):
        digest = row["digest"]
        if row["bot"] == name:
            if package is not None:
                digest = package_digest(package)
            archives[digest] = pack(package) if package else _kept(writer.folder, digest)
        options = json.loads(row["options"])
        bots.append(PlannedBot(name=row["bot"], digest=digest, options=options))
    plan = WorkPlan(
        game=config.tournament.game,
        rules=config.rules,
        seats=config.tournament.seats,
        deals=config.tournament.deals,
        bots=tuple(bots),
        limits=config.limits,
        names=config.tournament.names,
        secret=writer.secret(),
        sandbox="none" if unsafe else config.run.sandbox,
        restart="never",
    )
    return plan, archives


def _kept(folder: Path, digest: str) -> bytes:
    try:
        return (folder / PACKAGES / digest).read_bytes()
    except OSError as error:
        raise StoreError(f"the bot's package is not in {folder}: name it with --bot") from error
