"""Every page: it answers, keeps the headers, asks nobody else, and says what the API says."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest

from tests.unit.dashboard.client import Client, client_of
from tests.unit.dashboard.synthetic import FAULTY, LATE, make_run
from tourney.dashboard import create_app
from tourney.dashboard.security import CONTENT_SECURITY_POLICY
from tourney.dashboard.templating import number
from tourney.reports import PANELS
from tourney.store import RunReader

PAGES = [
    "/",
    "/?refresh=5",
    "/runs/duel",
    "/runs/four",
    "/runs/live?refresh=5",
    "/runs/live?refresh=5&headline=placement",
    "/runs/duel/analysis",
    "/runs/four/analysis",
    "/runs/live/analysis",
    "/runs/duel/matches",
    "/runs/duel/matches?bot=memory&page=1",
    "/runs/duel/matches/3",
    "/runs/duel/matches/3?step=5&seat=1",
    "/runs/four/matches/3?step=40&seat=public",
    "/runs/live/matches/0",
    "/runs/four/faults",
    f"/runs/four/faults?bot={FAULTY}&kind=crashed",
    "/runs/duel/faults",
    "/api",
]
VOID = frozenset(("meta", "link", "br", "img", "input", "hr"))


class Page(HTMLParser):
    """What tests ask of a page: well nested, addresses, forbidden attributes, labels."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


def page_of(client: Client, address: str, status: int = 200) -> Page:
    response = client.get(address)
    assert response.status_code == status
    return Page(response.text)


@pytest.mark.parametrize("address", [*PAGES, "/nowhere", "/runs/torn", "/runs/nobody"])
def test_a_page_is_well_formed_and_keeps_to_itself(client: Client, address: str) -> None:
    response = client.get(address)
    assert response.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "no-referrer"
    page = Page(response.text)
    assert page.open == []
    ids = [attrs["id"] for _, attrs in page.tags if attrs.get("id")]
    assert len(ids) == len(set(ids))
    for tag, attrs in page.tags:
        assert "style" not in attrs
        assert not any(name.startswith("on") for name in attrs)
        assert tag != "style"
        if tag == "script":
            assert (attrs.get("src") or "").startswith("/static/")
        for name in ("href", "src", "action"):
            assert re.match(r"[/#]", attrs.get(name) or "/"), (tag, attrs)
        if tag == "th":
            assert "scope" in attrs
    tables = sum(tag == "table" for tag, _ in page.tags)
    assert sum(tag == "caption" for tag, _ in page.tags) == tables
    assert sum(tag == "h1" for tag, _ in page.tags) == 1


def test_every_link_leads_somewhere(client: Client) -> None:
    seen: set[str] = set()
    todo = ["/"]
    while todo:
        address = todo.pop()
        response = client.get(address)
        assert response.status_code == 200 or address == "/runs/torn", address
        if not response.headers["content-type"].startswith("text/html"):
            continue
        for tag, attrs in Page(response.text).tags:
            link = (attrs.get("href") or "").partition("#")[0]
            # A replay links every go from every step: one match of each run is enough.
            many = re.search(r"/matches/(?!3\b)\d|step=(?!1&|12&)", link)
            if tag in ("a", "link") and link and link not in seen and not many:
                seen.add(link)
                todo.append(link)
    assert "/api/v1/runs/duel/ratings.csv" in seen
    assert "/runs/four/faults" in seen


def test_runs_are_listed_newest_first_and_the_damaged_one_with_its_reason(
    client: Client,
) -> None:
    page = page_of(client, "/")
    heads = re.findall(r"(duel|four|live|open|torn) (?:finished|running|unreadable)", page.text)
    assert heads == ["open", "live", "four", "duel", "torn"]
    assert "cannot read torn/run.json" in page.text
    assert "notes" not in page.text


def test_an_empty_folder_invites(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "not-yet"):
        client = client_of(folder)
        assert "tourney run configs/quickstart.toml" in page_of(client, "/").text


def test_one_runs_folder_is_a_results_folder_too(results: Path) -> None:
    client = client_of(results / "duel")
    assert "memory" in page_of(client, "/runs/duel").text


def test_the_leaderboard_prints_the_values_of_the_api(client: Client) -> None:
    page = page_of(client, "/runs/duel")
    standings = client.get("/api/v1/runs/duel/ratings").json()["standings"]
    assert len(standings) == 4
    places = []
    for line in standings:
        ranks = sorted({line["rank_best"], line["rank_worst"]})
        reach = line["rating_high"] - line["rating"] if line["rating_high"] else 0
        rating = f"{number(line['rating'])} ± {number(reach)}"
        shown = (
            f"{'–'.join(map(str, ranks))}{'≠' * line['orders_differ']} {line['bot']} python "
            f"{line['bound'] + ' ' + number(line['rating']) if line['bound'] else rating}"
        )
        rest = (
            f"{100 * line['win_share']:.1f} % ± {100 * line['win_se']:.1f} "
            f"{line['mean_score']:.2f} ± {line['score_se']:.2f} {line['matches']} {line['faults']}"
        )
        places.append(page.text.index(" ".join(shown.split())))
        assert page.text.index(rest) > places[-1]
    assert places == sorted(places)
    bars = [attrs["aria-label"] for _, attrs in page.tags if "between" in str(attrs)]
    assert bars == [
        f"between {number(line['rating_low'])} and {number(line['rating_high'])}"
        for line in standings
        if line["rating_low"] is not None
    ]
    for note in client.get("/api/v1/runs/duel/ratings").json()["notes"]:
        assert note[1:] in page.text


def test_the_headline_is_switched_by_a_link_and_kept_when_reloading(client: Client) -> None:
    page = page_of(client, "/runs/live?refresh=5&headline=placement")
    assert "by who finishes ahead of whom" in page.text
    links = {attrs.get("href") for tag, attrs in page.tags if tag == "a"}
    assert "/runs/live?refresh=5" in links
    assert "/runs/live?headline=placement" in links
    assert "by who takes the match" in page_of(client, "/runs/live").text


def test_a_bot_whose_two_ranks_differ_has_a_badge_that_says_so(client: Client) -> None:
    page = page_of(client, "/runs/four")
    lines = client.get("/api/v1/runs/four/ratings").json()["standings"]
    said = [
        attrs["title"]
        for _, attrs in page.tags
        if attrs.get("class") == "badge" and "title" in attrs
    ]
    assert said == [
        f"by places it ranks {line['placement_rank']}" for line in lines if line["orders_differ"]
    ]
    assert ("ranked elsewhere" in page.text) == bool(said)


def test_a_history_is_drawn_where_one_was_kept(client: Client) -> None:
    page = page_of(client, "/runs/four")
    lines = client.get("/api/v1/runs/four/history").json()["lines"]
    assert len({line["matches"] for line in lines}) > 2
    drawn = [attrs for tag, attrs in page.tags if tag == "polyline"]
    assert len(drawn) == len({line["bot"] for line in lines}) == 5
    last = {line["bot"]: line["rating"] for line in lines}
    for bot, rating in last.items():
        assert " ".join(f"{bot} {number(rating)}".split()) in page.text
    assert not any(tag == "polyline" for tag, _ in page_of(client, "/runs/duel").tags)


@pytest.mark.parametrize("run", ["duel", "four", "live"])
def test_every_panel_says_on_the_page_what_the_api_says(client: Client, run: str) -> None:
    text = page_of(client, f"/runs/{run}/analysis").text
    for name in PANELS:
        if name != "history":
            assert client.get(f"/api/v1/runs/{run}/{name}").json()["note"] in text


def test_the_pairs_table_prints_the_values_of_the_api(client: Client) -> None:
    text = page_of(client, "/runs/four/analysis").text
    for pair in client.get("/api/v1/runs/four/head-to-head").json()["lines"]:
        assert f"{100 * pair['ahead']:.1f} ±{100 * pair['ahead_se']:.1f}" in text
        assert f"z {number(pair['z'], 1)}" in text


def test_a_page_reloads_itself_only_when_asked_and_only_while_the_run_is_played(
    client: Client,
) -> None:
    def reloads(address: str) -> bool:
        return any(a.get("http-equiv") == "refresh" for _, a in page_of(client, address).tags)

    assert not reloads("/runs/live")
    assert reloads("/runs/live?refresh=5")
    assert not reloads("/runs/duel?refresh=5")


def test_texts_of_bots_are_never_markup(client: Client) -> None:
    for address in ("/runs/duel", "/runs/four/faults", "/runs/duel/matches/3?step=6"):
        text = client.get(address).text
        assert "<b>anna" not in text
        assert "<script>alert" not in text
        assert "<i>" not in text
    assert "<b>anna</b>" in page_of(client, "/runs/duel").text


def links(page: Page) -> dict[str, str]:
    """Addresses by `rel`, and of filters and faults by what they show."""
    return {
        str(attrs.get("rel") or attrs["href"]): str(attrs["href"])
        for tag, attrs in page.tags
        if tag == "a"
    }


def test_faults_fill_pages_that_link_to_each_other(many_faults: Client) -> None:
    address, seen, pages = "/runs/many/faults", [], 0
    while address:
        page = page_of(many_faults, address)
        pages += 1
        assert f"page {pages} of 3" in page.text
        assert ("prev" in links(page)) == (pages > 1)
        seen += re.findall(r"match (\d+), seat", page.text)
        address = links(page).get("next", "")
    expected = [str(match) for match in range(180) if match % 6 != 2]
    assert seen == expected
    api = [many_faults.get(f"/api/v1/runs/many/faults?page={n}").json() for n in (1, 2, 3)]
    assert [str(fault["match"]) for part in api for fault in part["faults"]] == expected
    assert {(part["total"], part["pages"]) for part in api} == {(150, 3)}
    assert "the faults fill 3" in page_of(many_faults, "/runs/many/faults?page=4", 404).text


def test_faults_are_filtered_by_bot_and_kind_and_pages_keep_the_filter(
    many_faults: Client,
) -> None:
    own = f"/runs/many/faults?{urlencode({'bot': LATE})}"
    assert own in links(page_of(many_faults, "/runs/many"))
    page = page_of(many_faults, own)
    assert f"Faults of {LATE} 90 faults" in page.text
    assert links(page)["next"] == f"{own}&page=2"
    both = f"{own}&kind=timeout"
    assert both in links(page)
    narrow = page_of(many_faults, both)
    assert "60 faults of the kind timeout" in narrow.text
    assert links(narrow)["next"] == f"{both}&page=2"
    assert {own, "/runs/many/faults?kind=timeout", f"/api/v1{both}"} <= set(links(narrow))
    chosen = [attrs["href"] for _, attrs in narrow.tags if attrs.get("aria-current") == "true"]
    assert chosen == [both, both]
    last = page_of(many_faults, f"{both}&page=2")
    assert links(last)["prev"] == f"{both}&page=1"
    found = [many_faults.get(f"/api/v1{both}&page={n}").json() for n in (1, 2)]
    faults = [fault for part in found for fault in part["faults"]]
    assert {(fault["bot"], fault["kind"]) for fault in faults} == {(LATE, "timeout")}
    assert [fault["match"] for fault in faults] == list(range(1, 180, 3))
    crashed = "/runs/many/faults?kind=crashed"
    assert f"all bots {LATE} 30 {FAULTY} 60 all kinds" in page_of(many_faults, crashed).text
    assert found[0]["counts"] == [
        {"bot": LATE, "kind": "timeout", "faults": 60},
        {"bot": FAULTY, "kind": "crashed", "faults": 60},
        {"bot": LATE, "kind": "crashed", "faults": 30},
    ]


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ("bot=nobody", 404, "No bot called 'nobody' plays in four."),
        ("kind=nonsense", 404, "No fault is called 'nonsense'."),
        ("page=9", 404, "There is no page 9: the faults fill 1."),
        ("bot=chance", 200, "chance has no fault in this run."),
        ("kind=bad_message", 200, "No bot has a fault of the kind bad message in this run."),
        ("bot=chance&kind=crashed", 200, "chance has no fault of the kind crashed in this run."),
    ],
)
def test_a_filter_that_leaves_nothing_says_so_and_offers_the_others(
    client: Client, query: str, status: int, said: str
) -> None:
    page = page_of(client, f"/runs/four/faults?{query}", status)
    assert said in page.text
    assert "Evidence" not in page.text
    assert "/runs/four/faults" in {address.partition("?")[0] for address in links(page).values()}
    assert "nobody" not in " ".join(links(page))
    response = client.get(f"/api/v1/runs/four/faults?{query}")
    assert response.status_code == status
    assert response.json()["detail"] == said if status == 404 else not response.json()["faults"]


def test_a_run_without_faults_says_so(client: Client) -> None:
    assert "No bot has done anything wrong" in page_of(client, "/runs/duel/faults").text


def test_a_growing_run_is_shown_as_it_grows(tmp_path: Path) -> None:
    writer = make_run(tmp_path / "grows", deals=2, play=1, finish=False)
    client = client_of(tmp_path)
    assert "2 of 24 matches" in page_of(client, "/runs/grows").text
    assert client.get("/api/v1/runs/grows/ratings").json()["standings"][0]["matches"] == 2
    writer.info.counts.matches = 24
    writer.info.status = "finished"
    writer.save_info()
    assert "24 matches" in page_of(client, "/runs/grows").text


def test_a_run_before_its_first_result_says_so(tmp_path: Path) -> None:
    make_run(tmp_path / "fresh", play=0, finish=False)
    client = client_of(tmp_path)
    assert "Nothing has been played" in page_of(client, "/runs/fresh").text
    assert "No match has been played" in page_of(client, "/runs/fresh/matches").text


def test_a_game_that_is_not_installed_costs_only_the_leaderboard(tmp_path: Path) -> None:
    writer = make_run(tmp_path / "foreign", deals=1)
    writer.info.game = "tarot"
    writer.save_info()
    client = client_of(tmp_path)
    assert "no games plug-in is called" in page_of(client, "/runs/foreign").text
    assert "cannot be replayed" in page_of(client, "/runs/foreign/matches/0").text
    assert client.get("/api/v1/runs/foreign/ratings").status_code == 500


@pytest.mark.parametrize("table", ["matches", "seats", "bots"])
@pytest.mark.parametrize("harm", ["garbage", "gone"])
def test_a_damaged_file_costs_only_its_run(tmp_path: Path, table: str, harm: str) -> None:
    make_run(tmp_path / "good", deals=1)
    make_run(tmp_path / "hurt", deals=1)
    [commit] = RunReader(tmp_path / "hurt").commits()
    name = "bots.parquet" if table == "bots" else f"{table}/{commit.segment}.parquet"
    path = tmp_path / "hurt" / name
    if harm == "gone":
        path.unlink()
    else:
        path.write_bytes(b"not parquet")
    addresses = {"matches": "/runs/hurt/matches", "seats": "/runs/hurt", "bots": "/runs/hurt"}
    client = client_of(tmp_path)
    said = page_of(client, addresses[table], 500).text
    assert "is damaged" in said or "hurt/bots.parquet is missing" in said
    assert str(tmp_path) not in client.get(addresses[table]).text
    page_of(client, "/")
    page_of(client, "/runs/good")


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/runs/duel/matches/999", 404),
        ("/runs/duel/matches/3?step=9999", 404),
        ("/runs/duel/matches/3?seat=2", 404),
        ("/runs/duel/matches/3?seat=²", 404),
        ("/runs/duel/matches/3?step=-1", 422),
        ("/runs/duel/matches/x", 422),
        (f"/runs/duel/matches/{10**30}", 422),
        ("/runs/duel/matches?page=0", 422),
        ("/runs/duel/matches?page=99", 404),
        ("/runs/duel/matches?bot=nobody", 404),
        ("/runs/four/faults?page=0", 422),
        ("/runs/nobody/faults", 404),
        ("/runs/%2e%2e", 404),
        ("/runs/..%2fduel", 404),
        ("/runs/duel%00", 404),
        ("/nowhere", 404),
    ],
)
def test_a_wrong_address_gets_a_friendly_page(client: Client, address: str, status: int) -> None:
    page = page_of(client, address, status)
    assert "All runs" in page.text


def test_a_fault_of_ours_is_a_page_with_the_headers_too(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = create_app(results)

    def broken() -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(app.state.library, "runs", broken)
    response = Client(httpx.ASGITransport(app=app, raise_app_exceptions=False)).get("/")
    assert response.status_code == 500
    assert response.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert "boom" not in response.text


def test_a_foreign_host_name_is_not_answered(client: Client) -> None:
    assert client.get("/", headers={"host": "evil.example"}).status_code == 400
    assert client.get("/", headers={"host": "localhost:8000"}).status_code == 200


def test_nothing_can_be_changed(client: Client) -> None:
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert client.request(method, "/runs/duel").status_code == 405
        assert client.request(method, "/api/v1/runs").status_code == 405
