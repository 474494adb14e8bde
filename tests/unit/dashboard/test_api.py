"""The API: values, description and errors."""

import csv
import io
from typing import Any

import msgspec
import pytest

from tests.unit.dashboard.client import Client
from tourney.dashboard import values
from tourney.reports import PANELS

ADDRESSES = {
    "/api/v1/runs": "/api/v1/runs",
    "/api/v1/runs/duel": "/api/v1/runs/{run}",
    "/api/v1/runs/duel/ratings": "/api/v1/runs/{run}/ratings",
    "/api/v1/runs/duel/ratings?headline=placement": "/api/v1/runs/{run}/ratings",
    **{f"/api/v1/runs/four/{name}": f"/api/v1/runs/{{run}}/{name}" for name in PANELS},
    "/api/v1/runs/duel/matches": "/api/v1/runs/{run}/matches",
    "/api/v1/runs/four/matches/3": "/api/v1/runs/{run}/matches/{match}",
    "/api/v1/runs/four/faults": "/api/v1/runs/{run}/faults",
    "/api/v1/runs/four/faults?kind=crashed": "/api/v1/runs/{run}/faults",
}


@pytest.fixture(scope="module")
def document(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/api/openapi.json").json()
    return found


def test_the_server_is_well(client: Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_answer_is_what_the_description_says(
    client: Client, document: dict[str, Any], address: str
) -> None:
    response = client.get(address)
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    answers = document["paths"][ADDRESSES[address]]["get"]["responses"]
    schema = answers["200"]["content"]["application/json"]["schema"]
    declared = getattr(values, schema["$ref"].rpartition("/")[2])
    decoded = msgspec.json.decode(response.content, type=declared)
    assert msgspec.json.encode(decoded) == response.content
    assert set(response.json()) == set(
        document["components"]["schemas"][declared.__name__]["properties"]
    )


def test_every_address_of_the_api_is_described_and_checked(document: dict[str, Any]) -> None:
    described = {path for path in document["paths"] if not path.endswith(".csv")}
    assert described == set(ADDRESSES.values())


def test_every_field_has_its_meaning(document: dict[str, Any]) -> None:
    for name, schema in document["components"]["schemas"].items():
        if name in ("HTTPValidationError", "ValidationError"):
            continue
        for field, value in schema["properties"].items():
            assert value.get("description"), f"{name}.{field}"


def test_the_reference_page_names_every_address_and_field(
    client: Client, document: dict[str, Any]
) -> None:
    text = client.get("/api").text
    for path in document["paths"]:
        assert f"GET {path}<" in text
    for field in document["components"]["schemas"]["Line"]["properties"]:
        assert f"<code>{field}</code>" in text


@pytest.mark.parametrize(
    ("address", "status", "detail"),
    [
        ("/api/v1/runs/nobody", 404, "There is no run called 'nobody'"),
        ("/api/v1/runs/torn", 500, "Cannot read torn/run.json"),
        ("/api/v1/runs/duel/matches/999", 404, "no match 999"),
        ("/api/v1/runs/duel/matches/x", 422, "match: "),
        ("/api/v1/runs/four/faults?bot=nobody", 404, "No bot called 'nobody'"),
        ("/api/v1/runs/four/faults?kind=nonsense", 404, "No fault is called 'nonsense'"),
        ("/api/v1/runs/four/faults?page=2", 404, "no page 2"),
        ("/api/v1/nothing", 404, "/api/v1/nothing"),
    ],
)
def test_errors_are_problem_documents(
    client: Client, address: str, status: int, detail: str
) -> None:
    response = client.get(address)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    assert problem["title"]
    assert detail in problem["detail"]


def test_csv_and_json_carry_the_same_standings(client: Client) -> None:
    response = client.get("/api/v1/runs/duel/ratings.csv")
    assert response.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(response.text)))
    standings = client.get("/api/v1/runs/duel/ratings").json()["standings"]
    assert [
        {name: "" if value is None else str(value) for name, value in line.items()}
        for line in standings
    ] == rows


def test_the_headline_can_be_chosen_and_is_the_games_otherwise(client: Client) -> None:
    address = "/api/v1/runs/four/ratings"
    own, wins, places = (
        client.get(f"{address}{query}").json()
        for query in ("", "?headline=win", "?headline=placement")
    )
    assert own == wins
    assert (wins["headline"], places["headline"]) == ("win", "placement")
    assert all(line["rating"] == line["placement_rating"] for line in places["standings"])
    assert client.get(f"{address}?headline=luck").status_code == 422


def test_pages_of_matches_join_to_the_whole(client: Client) -> None:
    first = client.get("/api/v1/runs/duel/matches").json()
    second = client.get("/api/v1/runs/duel/matches?page=2").json()
    numbers = [row["match"] for part in (first, second) for row in part["matches"]]
    assert first["pages"] == 2
    assert first["total"] == 72
    assert numbers == list(range(72))


def test_matches_of_a_bot_are_those_it_sat_in(client: Client) -> None:
    found = client.get("/api/v1/runs/duel/matches?bot=chance").json()
    # Three of the six pairings of four bots hold it: half of the 72 matches.
    assert found["total"] == 36
    assert all("chance" in row["seating"] for row in found["matches"])


def test_a_running_run_keeps_its_secret(client: Client) -> None:
    detail = client.get("/api/v1/runs/live").json()
    assert detail["secret"] is None
    assert detail["commitment"]
    assert bytes(range(32)).hex() not in client.get("/api/v1/runs/live").text
