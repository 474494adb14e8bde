"""The options of Rams as a whole (RULES.md section G): names, values, pages and refusals."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.unit.games.rams_positions import rams
from tourney.errors import GameError
from tourney.games import rams as rams_package
from tourney.games.rams import RamsRules
from tourney.games.registry import make_game

ROOT = Path(__file__).parents[3]

PROFILE: dict[str, tuple[Any, ...]] = {
    "start": (10,),
    "ramsar": (6,),
    "fly": (5,),
    "cap": (10,),
    "floor": (0, "none"),
    "deck": (52, 32),
    "offers": ("unanimous", "majority", "dealer_only", "individual", "off"),
    "offers_per_deal": (1,),
    "swing_needs_vote": (True, False),
    "better_from": ("reshuffle", "talon"),
    "old_upcard": ("out", "dealer_keeps_discards_two"),
    "offerer_must_knock": (False, True),
    "lone": ("five_tricks", "dealer_must_play"),
    "exchange": ("after_round", "immediate"),
    "maning": ("all_leaders", "first_lead", "opponents", "off"),
    "maning_when": ("start", "live"),
    "trump_order": ("ace_high", "king_over_ace"),
    "undertrump": ("forced", "free"),
    "overtake_in_suit_when_trumped": (False, True),
    "first_zero": ("trick_order", "lowest_raw"),
    "deal_cap": (200,),
    "next_dealer": ("rotate", "rams_winner", "rams_loser"),
    "match": ("rams_wins", "sum_of_end_points"),
    "stock": ("streams", "pile"),
}
"""Section G's names, values and defaults (first), and the talon's two ways."""


def test_the_options_are_those_of_the_profile() -> None:
    assert msgspec.structs.asdict(RamsRules()) == {
        option: values[0] for option, values in PROFILE.items()
    }
    for option, values in PROFILE.items():
        for value in values:
            rules = make_game("rams", {option: value}).rules
            assert getattr(rules, option) == value


@pytest.mark.parametrize("page", ["rams.md", "rams.sv.md"])
def test_the_pages_list_every_option_value_and_rule(page: str) -> None:
    text = (ROOT / "docs" / "rules" / page).read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \| [A-Z]+-\d+", text, re.MULTILINE))
    assert list(rows) == list(PROFILE)
    for option, values in PROFILE.items():
        listed = re.findall(r"`([^` ]+)`", rows[option].split(" (")[0])
        assert [json.loads(value) for value in listed if value != "start"] == list(values)
    rules = (Path(rams_package.__file__).parent).glob("*.py")
    cited = set(re.findall(r"(?:RAMS|EUR)-\d+", "".join(path.read_text() for path in rules)))
    assert cited <= set(re.findall(r"\*\*((?:RAMS|EUR)-\d+)\*\*", text))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"cap": 9}, ("cap", "start")),
        ({"start": 12}, ("cap", "start")),
        ({"offers": "off", "offers_per_deal": 2}, ("offers", "offers_per_deal")),
        ({"offers": "off", "swing_needs_vote": False}, ("offers", "swing_needs_vote")),
        ({"offers": "off", "better_from": "talon"}, ("offers", "better_from")),
        ({"offers": "off", "offerer_must_knock": True}, ("offers", "offerer_must_knock")),
        (
            {"old_upcard": "dealer_keeps_discards_two", "offers_per_deal": 2},
            ("old_upcard", "offers_per_deal"),
        ),
        ({"maning": "off", "maning_when": "live"}, ("maning", "maning_when")),
    ],
)
def test_options_that_do_not_go_together_are_refused_by_name(
    options: dict[str, Any], named: tuple[str, str]
) -> None:
    with pytest.raises(GameError) as refused:
        make_game("rams", options)
    assert all(f"{option} = " in str(refused.value) for option in named)


@pytest.mark.parametrize(
    "options",
    [{"offers": "never"}, {"deck": 40}, {"ramsar": 0}, {"fly": -1}, {"floor": 1}, {"start": 0}],
)
def test_values_outside_the_profile_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(GameError, match=next(iter(options))):
        make_game("rams", options)


@pytest.mark.parametrize("seats", [1, 6])
def test_rams_2_two_to_five_seats(seats: int) -> None:
    with pytest.raises(GameError, match="2 to 5 seats"):
        rams().start(seats)


def test_better_cards_need_a_talon_that_can_serve_everybody() -> None:
    game = rams(deck=32, better_from="talon")
    assert game.start(3).phase == "lot"
    with pytest.raises(GameError, match=r"deck = 32.*4 seats.*better_from"):
        game.start(4)
