"""The bundled bots of Rams: always legal, sensible where it can be told, and they beat chance."""

import importlib.util
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.unit.games.rams_positions import Policy, at_points, dealt, play_match, rams, table
from tourney.config import load_config
from tourney.games.base import Decision
from tourney.games.rams import Rams, RamsState
from tourney.sdk import tourney_bot

ROOT = Path(__file__).parents[3]


def module(package: str) -> ModuleType:
    path = ROOT / "bots" / package / "bot.py"
    spec = importlib.util.spec_from_file_location(package.replace("-", "_"), path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "tourney_bot", tourney_bot)
        spec.loader.exec_module(loaded)
    return loaded


SIMPLE = module("rams-simple")
RANDOM = module("rams-random")


def simple(game: Rams, state: RamsState, threshold: float = 1.0) -> str:
    turn = game.turn(state)
    assert isinstance(turn, Decision)
    view = game.view(state, turn.seat)
    action: str = SIMPLE.choose(turn.phase, view, list(turn.legal), threshold, game.rules.cap)
    assert action in turn.legal
    return action


def at_one_table(game: Rams, policies: Sequence[float | random.Random]) -> Policy:
    """A threshold for a seat of rams-simple, a generator for one of rams-random."""

    def choose(state: RamsState, turn: Decision) -> str:
        policy = policies[turn.seat]
        if isinstance(policy, random.Random):
            action: str = RANDOM.choose(list(turn.legal), policy)
            return action
        return simple(game, state, policy)

    return choose


@pytest.mark.parametrize(
    ("hand", "points", "action"),
    [
        ("AS KS 2H 3H 4D", 9, "knock"),
        ("3S 4S 2H 3H 4D", 9, "knock"),
        ("2C 3C 2H 3H 4D", 9, "pass"),
        ("2C 3C 2H 3H 4D", 10, "knock"),  # a flight is free on ten (RAMS-62)
    ],
)
def test_it_goes_in_with_a_trick_in_hand_or_nothing_to_lose(
    hand: str, points: int, action: str
) -> None:
    game = rams()
    state = table(game, [hand, "4C 5C 6C 7C 8C 9S"], "S", phase="knock", points=(points, 9))
    assert simple(game, state) == action
    assert simple(game, state, threshold=9.0) == ("knock" if points == 10 else "pass")


def test_it_throws_what_takes_no_trick() -> None:
    game = rams()
    hands = ["AS KS QH 3H 4D", "4C 5C 6C 7C 8C 9S"]
    state = table(game, hands, "S", phase="exchange")
    assert simple(game, state) == "exchange QH 3H 4D"
    # A dealer who would keep all six parts with the lowest (RAMS-42).
    hands = ["3H 4D", "AS KS QS JS TS 9S"]
    assert simple(game, table(game, hands, "S", phase="exchange", to_act=1)) == "exchange 9S"


@pytest.mark.parametrize(
    ("hand", "trick", "action"),
    [
        ("7H 2H", ["KH"], "play 2H"),
        ("AH KH 2S", ["QH"], "play AH"),
        ("AH KH 2S", ["3H", "QH"], "play KH"),
        ("2D 3C", ["QH"], "play 2D"),
    ],
)
def test_it_plays_high_to_win_and_low_to_lose(hand: str, trick: list[str], action: str) -> None:
    game = rams()
    hands = [hand, "4C", "5C"]
    laid = [(1 + place, card) for place, card in enumerate(trick)]
    assert simple(game, table(game, hands, "S", trick=laid)) == action


def test_it_offers_with_a_poor_hand_and_protects_a_good_one() -> None:
    game = rams()
    poor, good = "2C 3C 4C 2H 3H", "AD KD AC AS KS"
    for first, second, offered, voted in (
        (poor, good, "better", "reject"),
        (good, poor, "stand", "accept"),
    ):
        f, s = first.split(), second.split()
        deck = " ".join([*f[:3], *s[:3], "5D", *f[3:], *s[3:]])
        state = dealt(game, at_points(game, (10, 10), dealer=1), deck)
        assert simple(game, state, threshold=1.2) == offered
        assert simple(game, game.act(state, "swing").state, threshold=1.2) == voted


VARIANTS: list[dict[str, Any]] = [
    {},
    {"deck": 32, "undertrump": "free", "exchange": "immediate"},
    {"old_upcard": "dealer_keeps_discards_two", "offers": "individual", "maning": "off"},
    {"offers_per_deal": 2, "better_from": "talon", "lone": "dealer_must_play"},
]


@pytest.mark.parametrize("options", VARIANTS, ids=lambda options: "-".join(options) or "base")
@pytest.mark.parametrize("seats", [2, 3, 5])
def test_it_is_legal_in_every_variant(options: dict[str, Any], seats: int) -> None:
    game = rams(**options)
    play_match(game, seats, at_one_table(game, [1.0] * seats), "legal")


@pytest.mark.parametrize("seats", [2, 3, 5])
def test_it_beats_chance_by_far(seats: int) -> None:
    game, won = rams(), 0.0
    for number in range(6):
        dice = random.Random(number)
        policies: list[float | random.Random] = [1.0, *[dice] * (seats - 1)]
        over, _ = play_match(game, seats, at_one_table(game, policies), f"chance/{number}")
        won += over.scores[0]
    assert won >= 0.75 * 36


@pytest.mark.parametrize("name", ["rams", "rams-five"])
def test_configs_enter_packages_that_exist(name: str) -> None:
    loaded = load_config(ROOT / "configs" / f"{name}.toml")
    assert loaded.config.tournament.game == "rams"
    for entry in loaded.config.bot:
        assert (loaded.bot_path(entry.path) / "bot.toml").is_file()
