"""A replay shows each perspective what it saw and not a card more."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.dashboard.client import Client, client_of
from tests.unit.dashboard.synthetic import FAULTY, make_run
from tests.unit.dashboard.test_pages import Page, page_of
from tourney.dashboard.replays import common
from tourney.games.cards import PACK

NAMES = ("ace", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
COURT = ("jack", "queen", "king")
WORDS = dict(zip("A23456789TJQK", NAMES + COURT, strict=True))
SUITS = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}
CODES = {f"{WORDS[card[0]]} of {SUITS[card[1]]}": card for card in PACK}


def moments_of(client: Client, run: str, match: int, seat: str = "all") -> list[dict[str, Any]]:
    replay = client.get(f"/api/v1/runs/{run}/matches/{match}?seat={seat}").json()
    found: list[dict[str, Any]] = replay["moments"]
    return found


def cards_in(value: Any) -> set[str]:
    """Every card named anywhere in a JSON value or in a page's text or labels."""
    if isinstance(value, Page):
        said = [value.text, *(str(attrs.get("aria-label")) for _, attrs in value.tags)]
        names = [name for text in said for name in re.findall(r"[a-z]+ of [a-z]+", text)]
        return {CODES[name] for name in names if name in CODES} | codes_in(value.text)
    return codes_in(json.dumps(value))


def codes_in(text: str) -> set[str]:
    return set(re.findall(r"\b[A2-9TJQK][CDHS]\b", text))


def seen_by_step(moments: list[dict[str, Any]], seats: int) -> Iterator[list[set[str]]]:
    """What each seat, and last the public, has seen in this deal, told from the open table.

    A card is seen by whoever has it in hand, and by all when it lies on the discard pile or is
    taken from there, or when a deal has ended. No view of a seat is consulted.
    """
    seen: list[set[str]] = [set() for _ in range(seats + 1)]
    deal = 1
    for moment in moments:
        view = moment["view"]
        if view["round"] != deal:
            # The rows of the deal before were just shown, and its last throw with them.
            deal = view["round"]
            shown = cards_in(moment["events"])
            seen = [set(shown) for _ in range(seats + 1)]
        if view["hand"] is not None:
            seen[moment["to_act"]].add(view["hand"])
            if view["from"] == "discard":
                for known in seen:
                    known.add(view["hand"])
        ended = cards_in(view["rows"]) if moment["to_act"] is None else set()
        for known in seen:
            known.update(view["discard"])
            known.update(ended)
        yield seen


@pytest.mark.parametrize(("run", "match", "seats"), [("duel", 4, 2), ("four", 3, 4)])
def test_no_perspective_is_told_a_card_it_has_not_seen(
    client: Client, run: str, match: int, seats: int
) -> None:
    opened = moments_of(client, run, match)
    for number in range(seats + 1):
        name = "public" if number == seats else str(number)
        shown = moments_of(client, run, match, name)
        hidden_steps = 0
        for seen, open_moment, moment in zip(
            seen_by_step(opened, seats), opened, shown, strict=True
        ):
            assert cards_in(moment) <= seen[number], (name, moment["step"])
            hidden_steps += cards_in(open_moment) > cards_in(moment)
        # The check above would pass on an empty replay.
        assert hidden_steps > len(shown) / 2
        assert set.union(*map(cards_in, shown))


def test_the_page_of_a_perspective_holds_no_hidden_card(client: Client) -> None:
    opened = moments_of(client, "duel", 4)
    for step in (0, 1, 5, 17, 30, len(opened) - 1):
        seen = list(seen_by_step(opened[: step + 1], 2))[-1]
        for number, name in enumerate(("0", "1", "public")):
            page = page_of(client, f"/runs/duel/matches/4?step={step}&seat={name}")
            assert cards_in(page) <= seen[number], (step, name)


def test_all_cards_are_shown_to_whoever_asks_for_all(client: Client) -> None:
    page = page_of(client, "/runs/duel/matches/4?step=9")
    assert len(cards_in(page)) >= 14


def test_legal_actions_and_notes_are_for_those_who_may_see_them(client: Client) -> None:
    opened = moments_of(client, "duel", 4)
    own = moments_of(client, "duel", 4, "1")
    public = moments_of(client, "duel", 4, "public")
    assert any(moment["note"] for moment in opened)
    for everything, mine, shared in zip(opened, own, public, strict=True):
        assert shared["note"] == ""
        assert shared["legal"] == []
        assert mine["note"] == (everything["note"] if everything["seat"] == 1 else "")
        assert mine["legal"] == (everything["legal"] if everything["to_act"] == 1 else [])


def test_evidence_of_a_fault_is_not_shown_to_other_seats(client: Client) -> None:
    replay = client.get("/api/v1/runs/four/matches/6").json()
    (fault,) = replay["faults"]
    others = [s["seat"] for s in replay["seats"] if s["seat"] != fault["seat"]]
    for name in ("public", *map(str, others)):
        assert client.get(f"/api/v1/runs/four/matches/6?seat={name}").json()["faults"] == []
        page = page_of(client, f"/runs/four/matches/6?step=3&seat={name}")
        assert "KeyError" not in page.text
    assert "KeyError" in page_of(client, f"/runs/four/matches/6?seat={fault['seat']}").text


def test_a_replay_ends_where_the_record_does(client: Client) -> None:
    replay = client.get("/api/v1/runs/duel/matches/4").json()
    last = replay["moments"][-1]
    assert last["to_act"] is None
    assert last["view"]["totals"] == [seat["score"] for seat in replay["seats"]]
    assert [moment["step"] for moment in replay["moments"]] == list(range(last["step"] + 1))


def test_a_fault_is_marked_where_it_happened_and_the_stand_in_after_it(client: Client) -> None:
    replay = client.get("/api/v1/runs/four/matches/6").json()
    (fault,) = replay["faults"]
    assert fault["bot"] == FAULTY
    marked = [moment for moment in replay["moments"] if moment["fault"]]
    assert [moment["step"] for moment in marked] == [fault["turn"] + 1]
    assert marked[0]["seat"] == fault["seat"]
    for moment in replay["moments"][1:]:
        after = moment["seat"] == fault["seat"] and moment["step"] > fault["turn"]
        assert moment["stand_in"] is after
        if after:
            assert moment["think_us"] == 0
    page = page_of(client, f"/runs/four/matches/6?step={fault['turn'] + 1}")
    assert "crashed" in page.text
    assert "the stand-in plays on" in page.text


def test_the_next_fault_is_a_link_away(client: Client) -> None:
    (fault,) = client.get("/api/v1/runs/four/matches/6").json()["faults"]
    links = {
        attrs["data-go"]: attrs["href"]
        for _, attrs in page_of(client, "/runs/four/matches/6?step=2&seat=1").tags
        if attrs.get("data-go")
    }
    base = "/runs/four/matches/6"
    assert links["fault"] == f"{base}?step={fault['turn'] + 1}&seat=1#replay"
    assert links["prev"] == f"{base}?step=1&seat=1#replay"
    assert links["next"] == f"{base}?step=3&seat=1#replay"
    assert set(links) == {"first", "go-back", "prev", "next", "go-on", "last", "fault"}


def test_a_go_ends_where_another_seat_acts(client: Client) -> None:
    moments = moments_of(client, "duel", 4)
    start = 7
    seat = moments[start]["seat"]
    following = next(m["step"] for m in moments[start:] if m["seat"] != seat)
    page = page_of(client, f"/runs/duel/matches/4?step={start}")
    (link,) = (attrs["href"] for _, attrs in page.tags if attrs.get("data-go") == "go-on")
    assert link == f"/runs/duel/matches/4?step={following}&seat=all#replay"


def test_a_secret_run_opens_its_replays_when_it_has_finished(client: Client) -> None:
    replay = client.get("/api/v1/runs/live/matches/0").json()
    assert replay["moments"] == []
    assert "until it has finished" in replay["locked"]
    page = page_of(client, "/runs/live/matches/0")
    assert "until it has finished" in page.text
    assert cards_in(page) == set()


def test_a_run_with_a_seed_is_open_while_it_is_played(client: Client) -> None:
    replay = client.get("/api/v1/runs/open/matches/0").json()
    assert replay["locked"] == ""
    assert replay["moments"] == client.get("/api/v1/runs/duel/matches/0").json()["moments"]


@pytest.mark.parametrize("secret", ["00" * 32, "no hex", ""])
def test_a_secret_that_was_not_committed_to_is_not_believed(tmp_path: Path, secret: str) -> None:
    writer = make_run(tmp_path / "forged", deals=1)
    writer.info.secret = secret
    writer.save_info()
    page = page_of(client_of(tmp_path), "/runs/forged/matches/0")
    assert "not the one it was committed to" in page.text
    assert cards_in(page) == set()


def test_a_record_that_is_not_a_match_is_said_to_be_none(tmp_path: Path) -> None:
    writer = make_run(tmp_path / "odd", deals=1)
    writer.info.rules = {**writer.info.rules, "rounds": 2}
    writer.save_info()
    assert "cannot be replayed" in page_of(client_of(tmp_path), "/runs/odd/matches/0").text


def test_common_keeps_what_all_say_alike() -> None:
    left = {"a": 1, "b": [1, None, 3], "c": {"x": "QH"}, "only": 1, "n": [1]}
    right = {"a": 1, "b": [1, 2, 3], "c": {"x": "KS"}, "n": [1, 2]}
    assert common([left, right]) == {"a": 1, "b": [1, None, 3], "c": {"x": None}, "n": None}
    assert common([left]) == left
