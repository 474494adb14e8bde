"""`tourney ratings` and `tourney compare` on runs and on other programs' results."""

import csv
import io
import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from tests.unit.dashboard.synthetic import make_run
from tourney.cli.main import app
from tourney.cli.ratings import PanelChoice
from tourney.errors import ConfigError
from tourney.reports import PANELS


def call(*arguments: str | Path) -> Result:
    texts = [str(argument) for argument in arguments]
    return CliRunner().invoke(app, texts, env={"COLUMNS": "100", "NO_COLOR": "1"})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "duel"
    make_run(folder, deals=12)
    return folder


def test_the_table_shows_ranges_ratings_and_what_is_left(run: Path) -> None:
    shown = call("ratings", run)
    assert shown.exit_code == 0
    assert "rating" in shown.stdout
    assert "neighbours" in shown.stdout
    assert "independent ones" in shown.stdout


def test_json_csv_and_parquet_hold_the_same_lines(run: Path) -> None:
    lines = json.loads(call("ratings", run, "--json").stdout)
    from_csv = list(csv.DictReader(io.StringIO(call("ratings", run, "--csv").stdout)))
    parquet = pl.read_parquet(io.BytesIO(call("ratings", run, "--parquet").stdout_bytes))
    assert [line["bot"] for line in lines] == [row["bot"] for row in from_csv]
    assert parquet["bot"].to_list() == [line["bot"] for line in lines]
    assert list(lines[0]) == parquet.columns == list(from_csv[0])
    assert [line["rank"] for line in lines] == sorted(line["rank"] for line in lines)
    assert {"win_share", "relative_score", "win_rating", "placement_rating"} <= set(lines[0])
    assert sum(line["relative_score"] * line["matches"] for line in lines) == pytest.approx(0)


def test_two_runs_are_rated_together_and_versions_apart(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "again"
    make_run(other, deals=12)
    one = json.loads(call("ratings", run, "--json").stdout)
    both = json.loads(call("ratings", run, other, "--json").stdout)
    assert {line["bot"]: 2 * line["matches"] for line in one} == {
        line["bot"]: line["matches"] for line in both
    }
    versions = json.loads(call("ratings", run, "--by", "version", "--json").stdout)
    assert all("@" in line["bot"] for line in versions)


def test_a_line_a_seat_and_a_table_a_size(run: Path) -> None:
    seats = json.loads(call("ratings", run, "--by", "seat", "--json").stdout)["lines"]
    assert [line["seat"] for line in seats] == list(range(seats[0]["seats"]))
    assert sum(line["win_share"] for line in seats) == pytest.approx(1)
    assert "left behind" in call("ratings", run, "--by", "seat").stdout
    sizes = json.loads(call("ratings", run, "--by", "seats", "--json").stdout)
    assert {line["seats"] for line in sizes} == {seats[0]["seats"]}
    assert "seats" in call("ratings", run, "--by", "seats").stdout


@pytest.fixture(scope="module")
def two_games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("games")
    make_run(folder / "rows", deals=2)
    make_run(folder / "rams", game_name="rams", rules={"ramsar": 1}, bots=("ada", "bo"), deals=2)
    make_run(folder / "other-rules", deals=2, rules={"rounds": 2})
    return folder


def test_runs_of_several_games_are_not_pooled_unless_one_is_named(two_games: Path) -> None:
    runs = (two_games / "rows", two_games / "rams")
    refused = call("ratings", *runs)
    assert isinstance(refused.exception, ConfigError)
    assert "several games (dam, rams): choose with --game" in str(refused.exception)
    for game, bots in (("dam", {"memory", "flat-6", "flat-4", "chance"}), ("rams", {"ada", "bo"})):
        lines = json.loads(call("ratings", *runs, "--game", game, "--json").stdout)
        assert {line["bot"] for line in lines} == bots
        # Of a folder of runs it is the newest one of that game.
        newest = json.loads(call("ratings", two_games, "--game", game, "--json").stdout)
        assert {line["bot"] for line in newest} == bots
    none = call("ratings", *runs, "--game", "hearts")
    assert isinstance(none.exception, ConfigError)
    assert "no run of hearts" in str(none.exception)


def test_runs_by_other_rules_are_not_pooled(two_games: Path) -> None:
    refused = call("ratings", two_games / "rows", two_games / "other-rules")
    assert isinstance(refused.exception, ConfigError)
    assert "by different rules" in str(refused.exception)


@pytest.mark.parametrize("name", PANELS)
def test_every_panel_prints_its_sentence_and_fits_eighty_columns(run: Path, name: str) -> None:
    found = json.loads(call("ratings", run, "--panel", name, "--json").stdout)
    texts = [str(run), "--panel", name]
    shown = CliRunner().invoke(app, ["ratings", *texts], env={"COLUMNS": "80", "NO_COLOR": "1"})
    assert found["note"] in " ".join(shown.stdout.split())
    assert max(map(len, shown.stdout.splitlines())) <= 80
    assert "…" not in shown.stdout
    rows = list(csv.DictReader(io.StringIO(call("ratings", run, "--panel", name, "--csv").stdout)))
    assert len(rows) == len(found["lines"])


def test_the_panels_of_the_command_are_those_there_are() -> None:
    assert [choice.value for choice in PanelChoice] == list(PANELS)


def test_a_panel_takes_the_place_of_the_leaderboard(run: Path) -> None:
    assert call("ratings", run, "--panel", "gain", "--by", "seats").exit_code == 2
    assert call("ratings", run, "--panel", "beauty").exit_code == 2
    by_seat = call("ratings", run, "--by", "seat", "--json").stdout
    assert by_seat == call("ratings", run, "--panel", "seats", "--json").stdout
    refused = call("ratings", run, run, "--panel", "history")
    assert isinstance(refused.exception, ConfigError)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_the_leaderboard_fits_the_terminal(run: Path, width: int) -> None:
    environment = {"COLUMNS": str(width), "NO_COLOR": "1"}
    shown = CliRunner().invoke(app, ["ratings", str(run)], env=environment).stdout
    assert max(map(len, shown.splitlines())) <= width
    assert "…" not in shown
    assert ("> next" in shown) == (width >= 80)
    assert ("points" in shown.splitlines()[2]) == (width >= 60)
    for bot in ("memory", "flat-4", "flat-6", "chance"):
        assert bot in shown


def test_headline_and_anchor(run: Path) -> None:
    placed = json.loads(call("ratings", run, "--headline", "placement", "--json").stdout)
    assert all(line["rating"] == line["placement_rating"] for line in placed)
    anchored = json.loads(call("ratings", run, "--anchor", "chance", "--json").stdout)
    [chance] = [line for line in anchored if line["bot"] == "chance"]
    assert chance["rating"] == pytest.approx(1500)
    refused = call("ratings", run, "--anchor", "nobody")
    assert isinstance(refused.exception, ConfigError)


def test_results_of_others_are_imported(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("match,bot,rank\n1,a,1\n1,b,2\n2,b,1\n2,a,2\n3,b,1\n3,a,1\n")
    lines = json.loads(call("ratings", "--import", file, "--json").stdout)
    assert {line["bot"]: line["rating"] for line in lines} == pytest.approx({"a": 1500, "b": 1500})
    assert "by place" in call("ratings", "--import", file).stdout
    pgn = tmp_path / "x.pgn"
    pgn.write_text('[White "a"]\n[Black "b"]\n[Result "1-0"]\n\n1-0\n')
    assert "a" in call("ratings", "--import", pgn).stdout
    assert call("ratings", tmp_path, "--import", file).exit_code == 2
    broken = call("ratings", "--import", tmp_path / "none.csv")
    assert isinstance(broken.exception, ConfigError)


def test_compare_tells_a_strong_bot_from_a_weak_one(run: Path) -> None:
    found = json.loads(call("compare", "memory", "chance", run, "--json").stdout)
    assert found["score"] > 0.9
    assert found["score_low"] <= found["score"] <= found["score_high"]
    assert found["llr"] > 0
    back = json.loads(call("compare", "chance", "memory", run, "--json").stdout)
    assert back["score"] == pytest.approx(1 - found["score"])
    shown = call("compare", "memory", "chance", run).stdout
    assert "verdict" in shown
    assert "not to stop by" in shown or found["elo"] is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("memory", "nobody"), "no bot called 'nobody'"),
        (("memory", "memory"), "no whole group together"),
        (("memory", "chance", "--low", "5", "--high", "5"), "must be below"),
    ],
)
def test_compare_says_what_it_cannot_do(run: Path, arguments: tuple[str, ...], said: str) -> None:
    first, second, *options = arguments
    result = call("compare", first, second, run, *options)
    assert isinstance(result.exception, ConfigError)
    assert said in str(result.exception)
