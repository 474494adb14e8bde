"""`tourney verify`: an honest run passes, and whatever is changed is named with its match."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

from tests.cli.test_commands import tourney
from tests.cli.verified_runs import (
    BOTS,
    SECRET,
    SEED,
    change,
    edit_info,
    load,
    make_verified_run,
    play_group,
    save,
    segment_path,
    set_seed,
    specs,
)
from tests.unit.dashboard.synthetic import FAULTY, make_run
from tourney.cli import verify
from tourney.deals import commitment
from tourney.games.registry import make_game
from tourney.protocol.faults import Fault
from tourney.records import SCHEMAS, frame
from tourney.referee.rows import Rows, add_unplayed
from tourney.schedule.groups import RoundRobin
from tourney.store import RunReader


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_verified_run(tmp_path_factory.mktemp("runs") / "honest", rounds=1)


@pytest.fixture
def run(honest: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    folder = tmp_path / "run"
    for path in honest.rglob("*"):
        target = folder / path.relative_to(honest)
        if path.is_dir():
            target.mkdir(parents=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    return folder


def differences(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = msgspec.to_builtins(verify._verify(RunReader(folder), 1))
    return found


def test_an_honest_run_is_verified(honest: Path) -> None:
    faults = pl.read_parquet(honest / "faults" / "*.parquet")
    assert faults.height > 0, "stand-ins are part of what is verified"
    result = tourney("verify", honest)
    assert result.returncode == 0, result.stdout
    assert "verified: the secret is the one committed to" in result.stdout
    told = json.loads(tourney("verify", honest, "--json").stdout)
    assert told["verified"]
    assert (told["matches"], told["groups"], told["groups_total"]) == (24, 8, 8)


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("hearts", {"limit": 20}),
        ("norrlandsknack", {"pots": 1}),
        ("rams", {"ramsar": 1}),
        ("rams-european", {}),
        ("svarta-maja", {}),
        ("svarte-petter", {}),
    ],
)
def test_runs_of_every_game_are_verified(
    tmp_path: Path, game: str, options: dict[str, Any]
) -> None:
    folder = make_verified_run(tmp_path / "run", game, 3, **options)
    assert pl.read_parquet(folder / "faults" / "*.parquet").height > 0
    assert differences(folder) == []


# --- what is changed is found ---


def last_to(word: str) -> Callable[[list[str]], list[str]]:
    return lambda items: [*items[:-1], word]


def turned(items: list[Any]) -> list[Any]:
    return [*items[1:], items[0]]


def more(value: Any) -> Any:
    return value + 1


CHANGES: Mapping[str, Mapping[str, Callable[[Any], Any]]] = {
    "matches": {
        "group": more,
        "pairing": lambda text: text[::-1],
        "deal": more,
        "rotation": lambda number: (number + 1) % 3,
        "seating": turned,
        "scores": lambda scores: [scores[0] - 1, *scores[1:]],
        "ranks": turned,
        "outcomes": lambda outcomes: ["timeout", *outcomes[1:]],
        "actions": last_to("keep"),
        "notes": lambda _: [{"turn": 999, "note": "hm"}],
        "decisions": more,
        "think_us": lambda times: [9_999_999 if us else 0 for us in times],
    },
    "seats": {
        "group": more,
        "pairing": lambda text: text[::-1],
        "seat": lambda number: (number + 1) % 3,
        "bot": lambda _: "nobody",
        "score": more,
        "rank": lambda rank: rank % 3 + 1,
        "win": lambda share: 0.5 if share != 0.5 else 1.0,
        "outcome": lambda _: "timeout",
        "decisions": more,
        "think_ms_total": lambda ms: 1.1 * ms + 1,
        "think_ms_max": lambda ms: 1.1 * ms + 1,
    },
    "faults": {
        "group": more,
        "seat": lambda number: (number + 1) % 3,
        "bot": lambda _: "nobody",
        "turn": lambda _: 60_000,
        "kind": lambda _: "timeout",
    },
}
REPORTED_AS = {
    ("matches", "think_us"): "think_ms_total",
    ("matches", "outcomes"): "kind",
    ("faults", "seat"): "kind",
}
"""Where two records contradict each other, the one that is named first."""


@pytest.mark.parametrize(
    ("table", "column"), [(table, column) for table, some in CHANGES.items() for column in some]
)
def test_a_changed_cell_is_found_in_its_match(run: Path, table: str, column: str) -> None:
    row = 0 if table == "faults" else 4
    match = change(run, table, column, CHANGES[table][column], row)
    found = [one for one in differences(run) if one["match"] is not None]
    assert {one["match"] for one in found} == {match}
    assert REPORTED_AS.get((table, column), column) in {one["column"] for one in found}


def test_the_command_names_the_match_and_exits_1(run: Path) -> None:
    match = change(run, "matches", "ranks", turned)
    text = tourney("verify", run)
    assert text.returncode == 1
    assert f"match {match}, matches.ranks: [" in text.stdout
    assert "NOT as it says" in text.stdout
    told = json.loads(tourney("verify", run, "--json").stdout)
    assert not told["verified"]
    assert match in {one["match"] for one in told["differences"]}


def test_many_differences_are_cut_on_a_terminal_and_not_in_json(run: Path) -> None:
    edit_info(run, secret=bytes(32).hex())
    text = tourney("verify", run).stdout
    assert text.count("differs   ") == 20
    assert "more (all with --json)" in text
    assert len(json.loads(tourney("verify", run, "--json").stdout)["differences"]) > 20


@pytest.mark.parametrize("table", ["matches", "seats"])
def test_a_changed_match_number_is_found(run: Path, table: str) -> None:
    match = change(run, table, "match", lambda number: number + 1)
    named = {one["match"] for one in differences(run)} | {
        3 * one["group"] + step
        for one in differences(run)
        if one["group"] is not None
        for step in range(3)
    }
    assert match in named


def test_every_column_is_changed_by_a_test() -> None:
    """All but what only a clock or a bot could say, which nothing can recompute."""
    untold = {"seconds", "match"}
    evidence = set(Fault.__struct_fields__) - {"kind"}
    for table, some in CHANGES.items():
        columns = {column.name for column in SCHEMAS[table]}
        assert columns - untold - evidence == set(some), table


def test_another_legal_action_is_found(run: Path) -> None:
    """The match stays a possible one; its scores or the thinking times betray the change."""
    match = change(run, "matches", "actions", lambda actions: [*actions[:-1], "keep", "throw"])
    assert {one["match"] for one in differences(run)} >= {match}


def test_the_stand_in_must_have_played_as_the_rules_say(run: Path) -> None:
    """A fault dated earlier makes the bot's own actions those of a stand-in."""
    match = change(run, "faults", "turn", lambda _: 0, row=0)
    found = differences(run)
    assert {one["match"] for one in found} == {match}
    assert any("after its fault" in one["what"] or "not asked" in one["what"] for one in found)


@pytest.mark.parametrize("table", ["matches", "seats", "faults"])
def test_a_lost_row_is_found(run: Path, table: str) -> None:
    rows = load(run, table)
    save(run, table, rows[1:])
    group = rows["match"][0] // 3
    found = differences(run)
    assert any(one["group"] == group for one in found), found


def test_a_row_that_is_there_twice_is_found(run: Path) -> None:
    rows = load(run, "matches")
    save(run, "matches", pl.concat([rows[:1], rows]))
    [one, *_] = differences(run)
    assert (one["group"], one["column"]) == (0, "match")


def test_a_file_that_is_gone_or_torn_is_said(run: Path) -> None:
    path = segment_path(run, "seats")
    for is_gone in (False, True):
        if is_gone:
            path.unlink()
        else:
            path.write_bytes(b"PAR1 torn")
        [one] = differences(run)
        assert one["table"] == "seats"
        assert "cannot be read" in one["what"]
        assert str(path) in one["what"] or f"seats/{path.name}" in one["what"]


def test_every_torn_file_is_named(run: Path) -> None:
    paths = [segment_path(run, "seats", number) for number in (0, 1)]
    for path in paths:
        path.write_bytes(path.read_bytes()[:100])
    found = differences(run)
    assert [str(path) in one["what"] for path, one in zip(paths, found, strict=True)] == [True] * 2


def test_commands_name_a_damaged_file_in_one_line_and_exit_4(run: Path) -> None:
    path = segment_path(run, "matches")
    whole = path.read_bytes()
    path.write_bytes(whole[:100])
    must_name(path, "ratings", run, "--panel", "luck")
    must_name(path, "reproduce", run, "1", "--seat", "0")
    # Its end is whole: what is wrong is found when the rows are read.
    path.write_bytes(whole[:4] + bytes(200) + whole[204:])
    must_name(path, "reproduce", run, "1", "--seat", "0")
    must_name(path, "verify", run)
    path.write_bytes(whole)
    journal = run / "journal.jsonl"
    journal.write_text("garbage\n")
    must_name(journal, "verify", run)
    must_name(journal, "faults", run)
    (run / "bots.parquet").unlink()
    must_name(run / "bots.parquet", "verify", run)


def must_name(path: Path, *command: str | Path) -> None:
    result = tourney(*command)
    assert result.returncode == 4, result.stderr
    [line] = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert f"{path} is " in line


def test_a_match_beyond_the_schedule_is_found(run: Path) -> None:
    change(run, "seats", "match", lambda _: 99)
    assert 99 in {one["match"] for one in differences(run)}


def test_rows_that_no_commit_names_are_found(run: Path) -> None:
    journal = run / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"[[0,4]]", b"[[0,3]]"))
    found = differences(run)
    assert (3, "matches") in {(one["group"], one["table"]) for one in found}
    assert any("no commit in the journal" in one["what"] for one in found)


def test_another_secret_than_the_one_committed_to_is_found(run: Path) -> None:
    edit_info(run, secret=bytes(32).hex())
    found = differences(run)
    assert "SHA-256" in found[0]["what"]
    assert {one["match"] for one in found} > set(range(24)), "no match was dealt with it"


def test_a_secret_chosen_afterwards_deals_other_cards(run: Path) -> None:
    """Secret and commitment fit each other, but no match was dealt by them."""
    edit_info(run, secret=bytes(32).hex(), commitment=commitment(bytes(32)))
    found = differences(run)
    assert {one["match"] for one in found} >= set(range(24))
    assert "SHA-256" not in found[0]["what"]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"digest": "0" * 64}, "the digest is 000"),
        ({"rules": {"rounds": 2}}, "rules is"),
        ({"bots": ["memory", "flat-6", FAULTY, "changed"]}, "bots is"),
        ({"counts": {"groups": 7, "groups_total": 8, "matches": 24}}, "counts.groups is 7"),
        ({"commitment": "ab"}, "the commitment is ab"),
    ],
)
def test_a_changed_run_json_is_found(run: Path, values: dict[str, Any], words: str) -> None:
    edit_info(run, **values)
    assert any(words in one["what"] for one in differences(run))


def test_a_group_left_out_of_a_finished_run_is_found(run: Path) -> None:
    """The second commit is taken away, with its files and in the counts."""
    journal = run / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().splitlines(keepends=True)[0])
    edit_info(run, counts={"groups_total": 8, "matches_total": 24, "groups": 4, "matches": 12})
    assert any("4 groups are not in the journal" in one["what"] for one in differences(run))


def test_a_group_committed_twice_is_found(run: Path) -> None:
    journal = run / "journal.jsonl"
    first, second = journal.read_bytes().splitlines(keepends=True)
    one, two = (commit.segment.encode() for commit in RunReader(run).commits())
    journal.write_bytes(first + second + first.replace(one, two))
    assert any("committed 2 times" in one["what"] for one in differences(run))


# --- runs that have not finished, and runs that cannot be verified ---


def test_an_unfinished_run_keeps_its_secret(tmp_path: Path) -> None:
    make_run(tmp_path / "run", seed=None, secret=SECRET, play=3, finish=False)
    result = tourney("verify", tmp_path / "run")
    assert result.returncode == 4
    assert "its secret is revealed when it has finished" in result.stderr


def test_an_unfinished_run_with_a_seed_can_be_verified(run: Path) -> None:
    journal = run / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().splitlines(keepends=True)[0])
    counts = json.loads((run / "run.json").read_bytes())["counts"]
    counts |= {"groups": 4, "matches": 12}
    counts["faults"] = json.loads(journal.read_bytes())["faults"]
    edit_info(run, secret=None, status="stopped", digest=None, counts=counts)
    set_seed(run, SEED)
    result = tourney("verify", run)
    assert result.returncode == 0, result.stdout
    assert "4 of 8 in the journal" in result.stdout
    change(run, "matches", "ranks", turned)
    assert differences(run)


def test_the_seed_of_the_config_must_be_the_secret_s(run: Path) -> None:
    set_seed(run, SEED + 1)
    [one] = differences(run)
    assert "not the one of the config's seed 8" in one["what"]


@pytest.mark.parametrize("content", [None, "{", "{}"])
def test_a_run_without_its_config_cannot_be_verified(run: Path, content: str | None) -> None:
    path = run / "config.resolved.json"
    path.unlink() if content is None else path.write_text(content)
    result = tourney("verify", run)
    assert result.returncode == 4
    assert "config.resolved.json is unreadable" in result.stderr


def test_a_run_of_a_game_that_is_not_here_cannot_be_verified(run: Path) -> None:
    path = run / "config.resolved.json"
    path.write_text(path.read_text().replace('"dam"', '"poker"'))
    result = tourney("verify", run)
    assert result.returncode == 4
    assert "poker" in result.stderr


def test_a_run_by_other_rules_is_not_judged_by_these(run: Path) -> None:
    edit_info(run, game_version=1)
    result = tourney("verify", run)
    assert result.returncode == 4
    assert "played by version 1 of the rules of dam, and these are version 2" in result.stderr


def test_no_run_is_exit_4(tmp_path: Path) -> None:
    assert tourney("verify", tmp_path).returncode == 4


# --- bots that were taken out ---


@pytest.fixture
def withdrawn(tmp_path: Path) -> Path:
    """The second half of the groups with one bot is recorded and not played."""
    folder = make_verified_run(tmp_path / "run", rounds=1)
    schedule = RoundRobin(BOTS, 3, 2)
    rows: Rows = {"matches": [], "seats": [], "faults": [], "logs": []}
    for number in range(4, 8):
        if "chance" in schedule.group(number).pairing:
            add_unplayed(rows, specs(schedule, number), {"chance"})
        else:
            play_group(rows, make_game("dam", {"rounds": 1}), schedule, number)
    for table in ("matches", "seats", "faults"):
        segment_path(folder, table, 1).unlink(missing_ok=True)
        if rows[table]:
            save(folder, table, frame(table, rows[table]), 1)
    edit_info(folder, withdrawn={"chance": "20 faults in a row"})
    return folder


def test_groups_of_a_withdrawn_bot_are_not_played_and_that_is_in_order(withdrawn: Path) -> None:
    """The digest and the number of faults are those of the run as it was, and are named."""
    columns = {one["column"] for one in differences(withdrawn)}
    assert columns == {""}


def test_a_group_cannot_be_left_out_without_a_withdrawal(withdrawn: Path) -> None:
    edit_info(withdrawn, withdrawn={})
    found = [one for one in differences(withdrawn) if one["column"]]
    assert {one["column"] for one in found} == {"outcomes"}
    assert {one["match"] for one in found} == {15, 16, 17, 18, 19, 20, 21, 22, 23}


# --- several processes ---


SHARED_OUT = """
import sys
from pathlib import Path
from tourney.cli import verify
from tourney.store import RunReader

if __name__ == "__main__":
    verify.WINDOW_MATCHES = 9
    reader = RunReader(Path(sys.argv[1]))
    alone = verify._verify(reader, 1)
    assert alone
    assert verify._verify(reader, 2) == alone
"""


def test_many_matches_are_shared_out_and_give_the_same_verdict(tmp_path: Path) -> None:
    """In a process of its own: Python's helper for process pools outlives them in its parent."""
    folder = make_verified_run(tmp_path / "run", rounds=1)
    change(folder, "matches", "ranks", turned)
    script = tmp_path / "shared_out.py"
    script.write_text(SHARED_OUT)
    subprocess.run([sys.executable, script, folder], check=True, timeout=50)
