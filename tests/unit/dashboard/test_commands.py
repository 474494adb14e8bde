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
from tests.unit.dashboard.synthetic import make_run
from tourney.cli.main import app
from tourney.cli.serve import ServeError
from tourney.errors import StoreError
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
