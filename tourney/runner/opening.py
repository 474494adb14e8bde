"""Open a run: from a config to a folder and a plan, or from an unfinished folder on."""

import os
import re
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from tourney.config import LoadedConfig
from tourney.deals import commitment, secret_from_seed
from tourney.errors import BotRefused, ConfigError, GameError, PluginError, StoreError
from tourney.executors.base import PlannedBot, WorkPlan
from tourney.executors.worker import TableWorker
from tourney.games.base import Game
from tourney.games.registry import make_game
from tourney.packages.entrants import Entrant, load_entrants
from tourney.protocol.faults import Fault
from tourney.runner.rounds import RoundKeeper
from tourney.runner.stopping import stop_rule
from tourney.runner.terms import terms_of
from tourney.schedule.groups import Schedule
from tourney.schedule.rounds import Rounds, make_schedule
from tourney.schedule.scheduler import Scheduler
from tourney.schedule.terms import Unplayable
from tourney.store import (
    Host,
    Location,
    NoRun,
    RunCounts,
    RunInfo,
    RunReader,
    RunWriter,
    Storage,
    list_runs,
    storage_at,
)
from tourney.store.heartbeat import now

__all__ = ("OpenRun", "Prepared", "open_run", "preflight", "prepare")


class Prepared(NamedTuple):
    """A config that fits together; nothing is written or started yet."""

    loaded: LoadedConfig
    game: Game[Any]
    entrants: list[Entrant]
    schedule: Schedule
    """Rounds that are drawn one by one are still to be drawn."""

    @property
    def archives(self) -> dict[str, bytes]:
        """Packed packages by digest."""
        return {entrant.digest: entrant.archive for entrant in self.entrants}

    def plan(self, secret: bytes) -> WorkPlan:
        """What workers are told."""
        config = self.loaded.config
        return WorkPlan(
            game=config.tournament.game,
            rules=config.rules,
            terms=terms_of(config.tournament, _owners(self.entrants)),
            bots=tuple(
                PlannedBot(name=bot.name, digest=bot.digest, options=bot.options)
                for bot in self.entrants
            ),
            limits=config.limits,
            names=config.tournament.names,
            secret=secret,
            sandbox=config.run.sandbox,
            restart=config.run.restart,
        )


class OpenRun(NamedTuple):
    """A run's folder and what is left of its schedule."""

    writer: RunWriter
    plan: WorkPlan
    scheduler: Scheduler
    resumed: bool
    rounds: RoundKeeper | None = None
    """Of a format that draws them one by one."""


def prepare(loaded: LoadedConfig) -> Prepared:
    """Check that game, rules, seats and bots go together, and read the bots.

    Raises:
        GameError: the game cannot be played with these rules, by an option that is not in the file.
        PackageError: a bot's package is wrong.
        ConfigError: there is no such game, or not with these rules; the game has no such table, the
            bots do not fill the schedule, or a bot does not play this game.
    """
    config = loaded.config
    game = _game(loaded)
    for seats in config.tournament.seats:
        try:
            game.start(seats)
        except GameError as error:
            raise loaded.refused("tournament.seats", str(error)) from error
    entrants = load_entrants(loaded)
    try:
        terms = terms_of(config.tournament, _owners(entrants))
        schedule = make_schedule(terms, [entrant.name for entrant in entrants])
    except Unplayable as error:
        raise loaded.refused(f"tournament.{error.key}", str(error)) from error
    return Prepared(loaded, game, entrants, schedule)


def _game(loaded: LoadedConfig) -> Game[Any]:
    """The config's game; what is wrong with it is shown at its place."""
    config = loaded.config
    try:
        return make_game(config.tournament.game, config.rules)
    except PluginError as error:
        raise loaded.refused("tournament.game", str(error)) from error
    except GameError as error:
        named = [option for option in config.rules if re.search(rf"\b{option}\b", str(error))]
        if not named:
            raise
        raise loaded.refused(f"rules.{named[0]}", str(error)) from error


def _owners(entrants: Sequence[Entrant]) -> dict[str, str]:
    return {entrant.name: entrant.owner for entrant in entrants}


def preflight(prepared: Prepared) -> None:
    """Build every bot and shake hands with it on this machine, before anything counts.

    Raises:
        SandboxUnavailable: bots cannot be confined here.
        BotRefused: a bot cannot be built or started; the text holds its evidence.
    """
    worker = TableWorker(prepared.plan(b""), prepared.archives)
    try:
        faults = worker.handshake()
    finally:
        worker.close()
    if faults:
        raise BotRefused("\n".join(_refusal(name, fault) for name, fault in faults.items()))


def _refusal(name: str, fault: Fault) -> str:
    lines = [f"{name} did not start: {fault.detail}"]
    lines += [f"  it was sent  {line[:300]}" for line in fault.last_sent]
    lines += [f"  it answered  {line[:300]}" for line in fault.last_received]
    if fault.stderr_tail:
        lines.append("  its log ends:")
        lines += [f"    {line}" for line in fault.stderr_tail.splitlines()[-20:]]
    return "\n".join(lines)


def open_run(
    prepared: Prepared, results: Location, out: Location | None, *, resume: bool
) -> OpenRun:
    """Make a new run's folder, or open an unfinished one.

    Args:
        prepared: the tournament.
        results: where runs land when `out` is None.
        out: the run's own folder.
        resume: go on with the run in `out`, or with the newest unfinished run of this name.

    Raises:
        ConfigError: the run to be resumed was begun with another config.
        StoreError: the folder cannot be used, another process plays the run, or there is nothing
            to resume.
    """
    config = prepared.loaded.config
    name = config.tournament.name
    own = None if out is None else storage_at(out)
    folder = _existing(storage_at(results), name, own) if resume else None
    if folder is None:
        writer = _create(prepared, own or _new_folder(storage_at(results), name))
    else:
        writer = RunWriter.reopen(folder)
    try:
        if folder is not None:
            _require_same(prepared, RunReader(folder))
            writer.recount()
        plan = prepared.plan(writer.secret())
        scheduler, rounds = _scheduled(prepared, writer)
    except BaseException:
        writer.close()
        raise
    return OpenRun(writer, plan, scheduler, folder is not None, rounds)


def _scheduled(prepared: Prepared, writer: RunWriter) -> tuple[Scheduler, RoundKeeper | None]:
    """What is left to play; the first round is drawn here, and one that a stop left undrawn."""
    config, schedule = prepared.loaded.config, prepared.schedule
    if not isinstance(schedule, Rounds):
        return Scheduler(schedule.groups, writer.groups(), config.run.block_seconds), None
    keeper = RoundKeeper(
        schedule,
        writer,
        headline=prepared.game.info.headline,
        withdraw_after=config.run.withdraw_after,
        rule=stop_rule(config.stop),
    )
    scheduler = Scheduler(schedule.drawn, writer.groups(), config.run.block_seconds, schedule.group)
    if scheduler.left == 0 and writer.info.status != "finished" and keeper.next() is not None:
        scheduler.extend(schedule.drawn)
        writer.save_info()
    return scheduler, keeper


def _existing(results: Storage, name: str, out: Storage | None) -> Storage | None:
    """The folder to resume; None when `out` is not there yet, which then starts a new run."""
    if out is not None:
        try:
            return RunReader(out).folder
        except NoRun:
            return None
    unfinished = [
        run.folder
        for run in list_runs(results)
        if run.info.name == name and run.info.status != "finished"
    ]
    if not unfinished:
        raise StoreError(
            f"no unfinished run of {name!r} in {results}: leave --resume out to start one, "
            "or name its folder with --out"
        )
    return unfinished[0]


def _new_folder(results: Storage, name: str) -> Storage:
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    folder = results.child(f"{name}-{stamp}")
    number = 2
    while folder.names():
        folder = results.child(f"{name}-{stamp}-{number}")
        number += 1
    return folder


def _create(prepared: Prepared, folder: Storage) -> RunWriter:
    loaded, schedule = prepared.loaded, prepared.schedule
    tournament = loaded.config.tournament
    seed = tournament.seed
    secret = secrets.token_bytes(32) if seed is None else secret_from_seed(seed)
    moment = now()
    info = RunInfo(
        id=folder.name,
        name=tournament.name,
        status="running",
        game=tournament.game,
        rules=msgspec.to_builtins(prepared.game.rules),
        game_version=prepared.game.info.version,
        seats=max(tournament.seats),
        format=tournament.format,
        table_sizes=sorted(tournament.seats) if len(tournament.seats) > 1 else [],
        bots=[entrant.name for entrant in prepared.entrants],
        sandbox=loaded.config.run.sandbox,
        workers=0,
        started=moment,
        updated=moment,
        commitment=commitment(secret),
        counts=RunCounts(groups_total=schedule.groups, matches_total=schedule.matches),
        stop=loaded.config.stop.model_dump(exclude_none=True),
        host=Host(cores=os.cpu_count() or 0),
    )
    return RunWriter.create(
        folder,
        info,
        secret=secret,
        config_text=loaded.text,
        resolved=loaded.resolved(),
        bots=[entrant.row() for entrant in prepared.entrants],
        archives=prepared.archives,
    )


def _require_same(prepared: Prepared, reader: RunReader) -> None:
    """A resumed run goes on with what it began: same game, schedule, bots and limits."""
    game, version = prepared.game.info, reader.info.game_version
    if version not in {None, game.version}:
        raise ConfigError(
            f"cannot resume {reader.folder}: it was begun by version {version} of the rules of "
            f"{game.name}, and these are version {game.version}; use the tourney that began it"
        )
    old = reader.resolved()
    new = prepared.loaded.resolved()["values"]
    for section in ("tournament", "rules", "limits"):
        if old[section] != new[section]:
            changed = [key for key in new[section] if old[section].get(key) != new[section][key]]
            raise ConfigError(
                f"cannot resume {reader.folder}: [{section}] has changed "
                f"({', '.join(changed) or 'an option was taken out'}); put it back, or start a "
                "new run"
            )
    rows = reader.scan("bots").select("bot", "digest", "options").collect().rows()
    ours = [
        (row["bot"], row["digest"], row["options"])
        for row in (bot.row() for bot in prepared.entrants)
    ]
    for before, after in zip(rows, ours, strict=False):
        if before != after:
            raise ConfigError(
                f"cannot resume {reader.folder}: the bot {before[0]!r} is not what it was "
                "(its package, options or place changed); a changed bot needs a new run"
            )
    if len(rows) != len(ours):
        raise ConfigError(f"cannot resume {reader.folder}: the number of bots has changed")
