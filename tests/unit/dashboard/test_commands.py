"""`tourney ratings` and `tourney serve` from the command line."""

import csv
import io
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.unit.dashboard.client import Client
from tests.unit.dashboard.synthetic import FAULTY, make_run
from tourney.cli.main import app
from tourney.cli.serve import ServeError
from tourney.errors import StoreError, TourneyError
from tourney.reports import PANELS


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "100", "NO_COLOR": "1"})


def test_ratings_prints_a_table_best_first(results: Path) -> None:
    result = call("ratings", str(results / "duel"))
    assert result.exit_code == 0
    order = [result.stdout.index(bot) for bot in ("memory", "flat-4", "flat-6", "chance")]
    assert order == sorted(order)
    assert "72 matches" in result.stdout
    assert "±" in result.stdout


def test_ratings_as_json_are_the_values_of_the_api(results: Path, client: Client) -> None:
    for run in ("duel", "four", "live"):
        for headline in ("win", "placement"):
            printed = call("ratings", str(results / run), "--json", "--headline", headline)
            answer = client.get(f"/api/v1/runs/{run}/ratings?headline={headline}").json()
            assert json.loads(printed.stdout) == answer["standings"]


@pytest.mark.parametrize("name", PANELS)
def test_panels_as_json_are_the_values_of_the_api(results: Path, client: Client, name: str) -> None:
    for run in ("duel", "four", "live"):
        printed = call("ratings", str(results / run), "--panel", name, "--json")
        assert json.loads(printed.stdout) == client.get(f"/api/v1/runs/{run}/{name}").json()


def test_ratings_as_csv_are_the_same(results: Path) -> None:
    result = call("ratings", str(results / "duel"), "--csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert rows[0]["bot"] == "memory"
    assert float(rows[0]["win_share"]) > 0.9


def test_ratings_of_a_folder_of_runs_are_those_of_the_newest(results: Path) -> None:
    newest = json.loads(call("ratings", str(results), "--json").stdout)
    assert newest == json.loads(call("ratings", str(results / "open"), "--json").stdout)


def test_ratings_refuse_two_formats_and_a_folder_without_a_run(tmp_path: Path) -> None:
    assert call("ratings", "--json", "--csv").exit_code == 2
    result = call("ratings", str(tmp_path))
    assert isinstance(result.exception, StoreError)
    assert "tourney run" in str(result.exception)


def test_a_name_is_not_markup_on_a_terminal(tmp_path: Path) -> None:
    writer = make_run(tmp_path / "odd", deals=1, finish=False)
    writer.info.id = "[red]odd[/red]"
    writer.save_info()
    assert "[red]odd[/red]" in call("ratings", str(tmp_path / "odd")).stdout


ONLY = "only memory, flat-6, flat-4, chance"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("faults", "duel", "--bot", "nobody"), f"no bot called 'nobody' plays in duel, {ONLY}"),
        (("logs", "duel", "--bot", "nobody"), f"no bot called 'nobody' plays in duel, {ONLY}"),
        (("logs", "duel", "3", "--bot", "nobody"), f"'nobody' plays in duel, {ONLY}"),
        (("logs", "duel", "3", "--bot", "chance"), "chance does not sit in match 3, only"),
        (("logs", "duel", "66666"), "duel holds no match 66666"),
        (("logs", "duel", "72"), "duel holds no match 72"),
        (("logs", "duel", str(10**30)), f"duel holds no match {10**30}"),
        # 24 matches are planned, of which 5 groups are played.
        (("logs", "open", "20"), "open holds no match 20"),
    ],
)
def test_faults_and_logs_of_what_a_run_does_not_have_are_errors(
    results: Path, arguments: tuple[str, ...], said: str
) -> None:
    command, run, *rest = arguments
    result = call(command, str(results / run), *rest)
    assert isinstance(result.exception, TourneyError)
    assert said in str(result.exception)
    assert not result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("duel", "--seat", "9"), "duel has seats 0 to 1"),
        (("duel", "--seat=-1"), "duel has seats 0 to 1"),
        (("four", "5", "--seat", "4"), "match 5 has seats 0 to 3"),
    ],
)
def test_logs_of_a_seat_that_is_not_there_are_a_usage_error(
    results: Path, arguments: tuple[str, ...], said: str
) -> None:
    run, *rest = arguments
    result = call("logs", str(results / run), *rest)
    assert result.exit_code == 2
    assert said in result.stderr


def test_faults_and_logs_of_what_a_run_has_are_no_errors(results: Path) -> None:
    found = call("faults", str(results / "duel"), "--bot", "chance")
    assert found.exit_code == 0
    assert "0 faults in 72 matches" in found.stdout
    faulty = json.loads(call("faults", str(results / "four"), "--bot", FAULTY, "--json").stdout)
    assert {fault["bot"] for fault in faulty} == {FAULTY}
    for rest in ((), ("3",), ("71", "--seat", "1"), ("--bot", "memory"), ("0", "--bot", "memory")):
        quiet = call("logs", str(results / "duel"), *rest)
        assert quiet.exit_code == 0
        assert "no bot wrote to standard error" in quiet.stderr


def test_a_taken_port_is_said_with_the_way_out(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = call("serve", str(tmp_path), "--port", str(port))
    assert isinstance(result.exception, ServeError)
    assert result.exception.exit_code == 4
    assert "--port" in str(result.exception)


def test_other_machines_are_let_in_only_by_decision(tmp_path: Path) -> None:
    result = call("serve", str(tmp_path), "--host", "0.0.0.0")
    assert isinstance(result.exception, ServeError)
    assert "--public-read" in str(result.exception)


def test_a_file_is_not_a_results_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert isinstance(call("serve", str(tmp_path / "file")).exception, ServeError)


def test_an_address_of_no_interface_is_a_plain_error(tmp_path: Path) -> None:
    result = call("serve", str(tmp_path), "--host", "192.0.2.1", "--public-read")
    assert isinstance(result.exception, ServeError)
    assert "cannot listen" in str(result.exception)


def test_serve_answers_until_it_is_interrupted(tmp_path: Path) -> None:
    code = "from tourney.cli.main import main; main()"
    arguments = ["serve", str(tmp_path / "none-yet"), "--port", "0"]
    server = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stderr=subprocess.PIPE, text=True
    )
    try:
        assert server.stderr is not None
        line = server.stderr.readline()
        url = next(word for word in line.split() if word.startswith("http://127.0.0.1:"))
        with urllib.request.urlopen(f"{url}healthz", timeout=20) as answer:
            assert json.load(answer) == {"status": "ok"}
        os.kill(server.pid, signal.SIGINT)
        assert server.wait(20) in (0, 130)
        assert "Traceback" not in server.stderr.read()
    finally:
        server.kill()
        server.wait()
        if server.stderr is not None:
            server.stderr.close()


@pytest.mark.parametrize("module", ["polars", "fastapi", "uvicorn", "ray"])
def test_the_command_line_starts_without_heavy_modules(module: str) -> None:
    code = (
        "import sys; import tourney.cli.ratings, tourney.cli.serve; "
        f"sys.exit({module!r} in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
