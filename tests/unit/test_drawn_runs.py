"""Whole runs of every format: the same games however they are played, and nobody wedges a round."""

import json
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

from tests.unit.drawn_runs import Killed, Players, config, play, played
from tourney.config.load import config_from
from tourney.errors import ConfigError, StoreError
from tourney.ratings import rate, sketches
from tourney.runner.redrawn import redrawn
from tourney.runner.stopping import stop_rule
from tourney.runner.terms import terms_of
from tourney.schedule.draws import Round, Seated
from tourney.schedule.rounds import Rounds
from tourney.store import RunReader
from tourney.store.rounds import RoundBook

FORMATS: dict[str, dict[str, Any]] = {
    "round-robin": {"bots": 5, "seats": [2, 3, 4], "deals": 3},
    "balanced": {"bots": 9, "seats": 4, "deals": 8, "format": "balanced"},
    "gauntlet": {"bots": 5, "seats": [2, 3], "deals": 4, "format": "gauntlet",
                 "challengers": ["bot-02"]},
    "swiss": {"bots": 9, "seats": 2, "deals": 4, "rounds": 4, "format": "swiss"},
    "swiss-sizes": {"bots": 9, "seats": [2, 4], "deals": 2, "rounds": 3, "format": "swiss"},
    "knockout": {"bots": 11, "seats": 4, "deals": 3, "format": "knockout"},
    "knockout-sizes": {"bots": 7, "seats": [3, 2], "deals": 3, "format": "knockout"},
    "adaptive": {"bots": 8, "seats": 3, "deals": 3, "rounds": 9, "format": "adaptive"},
    "adaptive-sizes": {"bots": 7, "seats": [2, 3], "deals": 4, "rounds": 8, "format": "adaptive"},
}  # fmt: skip


def rounds_of(reader: RunReader) -> list[Round]:
    return RoundBook(reader.folder, Round).rounds


def digest(reader: RunReader) -> str:
    assert reader.info.status == "finished"
    assert reader.info.digest is not None
    return reader.info.digest


Whole = Callable[[str], RunReader]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """A run of a format by one worker without a stop, played when it is first asked for."""
    made: dict[str, RunReader] = {}

    def run(name: str) -> RunReader:
        if name not in made:
            made[name] = played(tmp_path_factory.mktemp(name) / "r", config(**FORMATS[name]))
        return made[name]

    return run


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("after", [1, 9])
def test_workers_order_and_death_change_no_game(
    name: str, after: int, whole: Whole, tmp_path: Path
) -> None:
    data = config(**FORMATS[name])
    with pytest.raises(Killed):
        play(tmp_path / "r", data, Players(3, dies_after=after))
    again = played(tmp_path / "r", data, workers=7)
    assert digest(again) == digest(whole(name))
    assert rounds_of(again) == rounds_of(whole(name))


@pytest.mark.parametrize("name", FORMATS)
def test_counts_numbers_and_deals_are_whole_and_unique(name: str, whole: Whole) -> None:
    reader = whole(name)
    rows = reader.scan("matches").collect()
    counts = reader.info.counts
    assert rows.height == counts.matches == counts.matches_total
    assert rows["match"].n_unique() == rows.height
    assert rows["group"].n_unique() == counts.groups == counts.groups_total
    assert rows.select("pairing", "deal", "rotation").n_unique() == rows.height
    for row in rows.iter_rows(named=True):
        assert row["match"] == row["group"] * reader.info.seats + row["rotation"]
        assert sorted(row["seating"]) == row["pairing"].split("+")


@pytest.mark.parametrize("name", [name for name, how in FORMATS.items() if "rounds" in how])
def test_what_was_drawn_follows_from_the_rows(name: str, whole: Whole) -> None:
    assert check(whole(name), config(**FORMATS[name])) == []


def test_tables_that_the_results_do_not_give_are_found(tmp_path: Path) -> None:
    data = config(**FORMATS["swiss"])
    reader = played(tmp_path / "r", data)
    first, second, *others = rounds_of(reader)
    [stage] = second.stages
    one, two, *tables = stage.tables
    # The first two tables exchange a bot.
    crossed = (Seated((one.pairing[0], two.pairing[0]), 0),
               Seated((one.pairing[1], two.pairing[1]), 0))  # fmt: skip
    changed = msgspec.structs.replace(stage, tables=(*crossed, *tables))
    second = msgspec.structs.replace(second, stages=(changed,))
    lines = [msgspec.json.encode(drawn) + b"\n" for drawn in (first, second, *others)]
    (tmp_path / "r" / "rounds-000000.jsonl").write_bytes(b"".join(lines))
    assert check(reader, data)[0] == "round 2 is not the one that the results give"


def check(reader: RunReader, data: dict[str, Any]) -> list[str]:
    loaded = config_from(dict(data)).config
    schedule = Rounds(terms_of(loaded.tournament, {}), reader.info.bots)
    return redrawn(reader, schedule, "win", 4, stop_rule(loaded.stop))


def test_swiss_winners_meet_winners(tmp_path: Path) -> None:
    """After round one, whoever took more of its four groups is in the upper half."""
    reader = played(tmp_path / "r", config(8, seats=2, deals=4, rounds=2, format="swiss"))
    first, second = rounds_of(reader)
    seats = reader.scan("seats").filter(pl.col("group") < second.first).collect()
    wins = dict(seats.group_by("bot").agg(pl.col("win").sum()).iter_rows())
    points = {}
    for table in first.tables:
        one, two = table.pairing
        points[one] = 2 * (wins[one] > wins[two]) + (wins[one] == wins[two])
        points[two] = 2 - points[one]
    apart = [abs(points[t.pairing[0]] - points[t.pairing[1]]) for t in second.tables]
    assert sum(apart) == 0 or 1 in points.values()
    assert not {frozenset(t.pairing) for t in first.tables} & {
        frozenset(t.pairing) for t in second.tables
    }


def test_a_knockout_advances_those_that_took_most(tmp_path: Path) -> None:
    reader = played(tmp_path / "r", config(8, seats=4, deals=6, format="knockout"))
    first, final = rounds_of(reader)
    assert (first.stages[0].how, final.stages[0].how) == ("", "final")
    seats = reader.scan("seats").filter(pl.col("group") < final.first).collect()
    wins = dict(seats.group_by("bot").agg(pl.col("win").sum()).iter_rows())
    finalists = set(final.tables[0].pairing)
    for table in first.tables:
        through = finalists & set(table.pairing)
        assert len(through) == 2
        assert min(wins[bot] for bot in through) >= max(
            wins[bot] for bot in set(table.pairing) - through
        )
    last = reader.scan("seats").filter(pl.col("group") >= final.first).collect()
    best = last.group_by("bot").agg(pl.col("win").sum()).sort("win", descending=True)["bot"][0]
    assert reader.info.places[0].bot == best
    assert reader.info.places[0].what == "won the final"


def test_sizes_play_what_each_would_play_alone_and_pool_in_the_ratings(whole: Whole) -> None:
    """Five bots: 10 pairs, 10 sets of three, 5 of four; three deals of each."""
    reader = whole("round-robin")
    rows = reader.scan("matches").collect()
    by_size = Counter(len(seating) for seating in rows["seating"].to_list())
    assert by_size == {2: 10 * 3 * 2, 3: 10 * 3 * 3, 4: 5 * 3 * 4}
    assert reader.info.table_sizes == [2, 3, 4]
    assert reader.info.seats_text == "2, 3 and 4 seats"
    known = sketches(reader.scan("seats"))
    assert [one.seats for one in known] == [2, 3, 4]
    [table] = rate(*known)
    assert sum(table.matches) == 2 * 60 + 3 * 90 + 4 * 60


@pytest.mark.parametrize("name", ["swiss", "knockout", "adaptive", "swiss-sizes"])
def test_a_bot_that_faults_goes_out_between_rounds_and_wedges_none(
    name: str, tmp_path: Path
) -> None:
    data = config(**FORMATS[name])
    broken = frozenset({"bot-01", "bot-04"})
    one = played(tmp_path / "one", data, broken=broken)
    assert set(one.info.withdrawn) == broken
    assert all("faults in a row" in reason for reason in one.info.withdrawn.values())
    later = rounds_of(one)[1:]
    gone_at = {bot: next(r.number for r in later if bot in r.withdrawn) for bot in broken}
    for drawn in later:
        seated = {bot for table in drawn.tables for bot in table.pairing}
        assert not {bot for bot in broken if drawn.number >= gone_at[bot]} & seated
    # Nothing is recorded as not played: who is out is not drawn.
    outcomes = one.scan("matches").select(pl.col("outcomes").explode()).collect()["outcomes"]
    assert set(outcomes) == {"finished", "crash"}
    with pytest.raises(Killed):
        play(tmp_path / "killed", data, Players(2, dies_after=9, broken=broken))
    assert digest(played(tmp_path / "killed", data, workers=3, broken=broken)) == digest(one)


def test_a_field_that_all_faults_ends(tmp_path: Path) -> None:
    data = config(4, seats=2, deals=4, rounds=5, format="swiss")
    reader = played(tmp_path / "r", data, broken=frozenset(f"bot-{i:02d}" for i in range(4)))
    assert len(rounds_of(reader)) == 1
    assert reader.info.counts.matches == reader.info.counts.matches_total == 16


@pytest.mark.parametrize("form", ["swiss", "adaptive", "knockout"])
def test_a_stopping_rule_ends_a_run_of_rounds(form: str, tmp_path: Path) -> None:
    data = config(6, stop={"max_matches": 90}, seats=3, format=form, deals=5)
    reader = played(tmp_path / "r", data, workers=2)
    if form == "knockout":
        # Two tables of three, and one of their two winners and the best loser: 45 matches.
        assert reader.info.counts.matches == 45
        assert reader.info.reason == ""
    else:
        assert 90 <= reader.info.counts.matches < 150
        assert "90 matches" in reader.info.reason


def test_adaptive_rounds_seat_those_in_doubt_together(tmp_path: Path) -> None:
    """Two equals among bots far apart: their pair meets more often than any other."""
    data = config(6, seats=2, deals=10, rounds=20, format="adaptive")
    reader = played(tmp_path / "r", data)
    drawn = rounds_of(reader)
    how = Counter(one.stages[0].how for one in drawn)
    assert how["balanced"] >= 4
    met = Counter(t.pairing for one in drawn for t in one.tables if one.stages[0].how == "adaptive")
    neighbours = sum(met[pair] for pair in combinations(sorted(reader.info.bots), 2)
                     if int(pair[1][-2:]) - int(pair[0][-2:]) == 1)  # fmt: skip
    assert neighbours > met.total() / 2, "five of fifteen pairs are neighbours"


def test_a_run_goes_on_after_a_stop_between_rounds(whole: Whole, tmp_path: Path) -> None:
    data = config(**FORMATS["swiss"])
    first_round = rounds_of(whole("swiss"))[0].groups
    with pytest.raises(Killed):
        play(tmp_path / "r", data, Players(1, dies_after=0))
    assert len(rounds_of(RunReader(tmp_path / "r"))) == 1, "drawn before anything is played"
    # One group a block, so just after the last of the round the next one is drawn, and not played.
    opened, data["run"]["block_seconds"] = tmp_path / "edge", 1e-9
    with pytest.raises(Killed):
        play(opened, data, Players(1, dies_after=first_round))
    reader = RunReader(opened)
    assert (len(rounds_of(reader)), reader.info.counts.groups) == (2, first_round)
    assert digest(played(opened, data)) == digest(whole("swiss"))


def test_a_run_does_not_go_on_by_other_rules(tmp_path: Path) -> None:
    data = config(**FORMATS["swiss"])
    with pytest.raises(Killed):
        play(tmp_path / "r", data, Players(1, dies_after=3))
    path = tmp_path / "r" / "run.json"
    info = json.loads(path.read_text())
    assert info["game_version"] == 2
    path.write_text(json.dumps({**info, "game_version": 1}))
    with pytest.raises(ConfigError, match="begun by version 1 of the rules of dam"):
        play(tmp_path / "r", data, Players(1))


def test_a_damaged_journal_of_rounds_is_said(tmp_path: Path) -> None:
    data = config(**FORMATS["swiss"])
    with pytest.raises(Killed):
        play(tmp_path / "r", data, Players(1, dies_after=3))
    (tmp_path / "r" / "rounds-000000.jsonl").write_text("{")
    with pytest.raises(StoreError, match=r"rounds of .* are unreadable"):
        play(tmp_path / "r", data, Players(1))
