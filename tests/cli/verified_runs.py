"""Small runs that `tourney verify` accepts, written as the runner writes them."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from tests.unit.dashboard.synthetic import FAULTY, play_match
from tourney.deals import Deals, bot_seed, commitment, group_key, secret_from_seed
from tourney.games.registry import make_game
from tourney.protocol.faults import Fault
from tourney.records import frame
from tourney.referee.match import Match
from tourney.referee.replay import group_id, match_id
from tourney.referee.rows import Rows, add_rows
from tourney.referee.specs import MatchSpec
from tourney.schedule.groups import RoundRobin
from tourney.store import RunCounts, RunInfo, RunReader, RunWriter
from tourney.store.codec import pack, unpack

SEED = 7
SECRET = secret_from_seed(SEED)
BOTS = ("memory", "flat-6", FAULTY, "chance")


def make_verified_run(folder: Path, game: str = "dam", seats: int = 3, **options: Any) -> Path:
    """A run of two deals a pairing as the runner writes it; in Dam one bot has faults."""
    rules = make_game(game, options)
    schedule = RoundRobin(BOTS, seats, 2)
    info = RunInfo(
        id=folder.name, name="t", status="running", game=game, seats=seats, bots=list(BOTS),
        rules=msgspec.to_builtins(rules.rules), sandbox="bwrap", workers=1,
        started="2026-01-01T00:00:00+00:00", updated="", commitment=commitment(SECRET),
        counts=RunCounts(groups_total=schedule.groups, matches_total=schedule.matches),
    )  # fmt: skip
    tournament = {
        "name": "t",
        "game": game,
        "seats": seats,
        "format": "round-robin",
        "deals": 2,
        "seed": None,
    }
    bots = [dict.fromkeys(("digest", "package", "version"), "") | {"bot": name} for name in BOTS]
    writer = RunWriter.create(
        folder, info, secret=SECRET, config_text="", bots=bots,
        resolved={"values": {"tournament": tournament, "rules": options}},
    )  # fmt: skip
    for half in (range(schedule.groups // 2), range(schedule.groups // 2, schedule.groups)):
        rows: Rows = {"matches": [], "seats": [], "faults": [], "logs": []}
        for number in half:
            play_group(rows, rules, schedule, number)
        writer.commit(list(half), {name: frame(name, kept) for name, kept in rows.items()}, 1.0)
    writer.finish()
    writer.close()
    return folder


def specs(schedule: RoundRobin, number: int) -> list[MatchSpec]:
    group = schedule.group(number)
    return [
        MatchSpec(
            match=number * schedule.seats + rotation, group=number, pairing=group.pairing,
            deal=group.deal, rotation=rotation, seating=group.seating(rotation),
        )
        for rotation in range(schedule.seats)
    ]  # fmt: skip


def play_group(rows: Rows, rules: Any, schedule: RoundRobin, number: int) -> None:
    for spec in specs(schedule, number):
        name = group_id(spec.pairing, spec.deal)
        wire_id = match_id(name, spec.rotation)
        seeds = [bot_seed(SECRET, wire_id, seat) for seat in range(schedule.seats)]
        match = Match(spec, rules, Deals(group_key(SECRET, name)), seeds=seeds)
        if rules.info.name == "dam":
            play_match(match, spec, seeds)
        else:
            play_anything(match)
        add_rows(rows, match, seconds=0.1)


def play_anything(match: Match) -> None:
    """Random actions; in every fourth match seat 1 has a fault on the way."""
    dice = random.Random(match.spec.match)
    while match.pending is not None:
        turn = match.question().turn
        if match.pending.seat == 1 and match.spec.match % 4 == 0 and turn > 5:
            match.fault(1, Fault(kind="timeout", detail="late"))
        else:
            assert match.answer(dice.choice(match.pending.legal), dice.randrange(1, 5000))


def segment_path(folder: Path, table: str, number: int = 0) -> Path:
    """The file of the first segment in the journal, or of a later one."""
    segment = RunReader(folder).commits()[number].segment
    return folder / table / f"{segment}.parquet"


def load(folder: Path, table: str) -> pl.DataFrame:
    """The rows of the first segment."""
    return unpack(pl.scan_parquet(segment_path(folder, table)), table).collect()


def save(folder: Path, table: str, rows: pl.DataFrame, number: int = 0) -> None:
    packed = pack(rows) if table == "matches" else rows
    packed.write_parquet(segment_path(folder, table, number))


def change(folder: Path, table: str, column: str, edit: Callable[[Any], Any], row: int = 4) -> int:
    """Edit one cell of a segment; returns the number of the row's match."""
    rows = load(folder, table)
    cells = rows.to_dicts()
    cells[row][column] = edit(cells[row][column])
    save(folder, table, pl.DataFrame(cells, schema=rows.schema))
    return int(rows["match"][row])


def edit_info(folder: Path, **values: Any) -> None:
    path = folder / "run.json"
    info = json.loads(path.read_bytes())
    path.write_text(json.dumps({**info, **values}))


def set_seed(folder: Path, seed: int) -> None:
    resolved = json.loads((folder / "config.resolved.json").read_bytes())
    resolved["values"]["tournament"]["seed"] = seed
    (folder / "config.resolved.json").write_text(json.dumps(resolved))
