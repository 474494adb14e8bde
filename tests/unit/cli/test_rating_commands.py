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
from tourney.errors import ConfigError


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
    assert "share a letter" in shown.stdout
    assert "neighbours" in shown.stdout


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
    seats = json.loads(call("ratings", run, "--by", "seat", "--json").stdout)
    assert [line["seat"] for line in seats] == list(range(seats[0]["seats"]))
    assert sum(line["win_share"] for line in seats) == pytest.approx(1)
    assert "win share" in call("ratings", run, "--by", "seat").stdout
    sizes = json.loads(call("ratings", run, "--by", "seats", "--json").stdout)
    assert {line["seats"] for line in sizes} == {seats[0]["seats"]}
    assert "seats" in call("ratings", run, "--by", "seats").stdout


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
