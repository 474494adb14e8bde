"""What the rules cost: `turn`, `act`, `view` and encoding, microseconds of CPU per decision."""

import random
import time
from typing import Any

import msgspec
import pytest

from tourney.deals import Deals, group_key
from tourney.games.base import Chance, Decision, Over
from tourney.games.registry import make_game

pytestmark = pytest.mark.bench

GOALS_US = {"dam": 10.0, "rams": 14.0}
"""Bars of the project on its reference machine: reported, not asserted, for machines differ."""


def positions(name: str, options: dict[str, Any], seats: int, phase: str | None) -> list[Any]:
    """Decisions of random matches, with the action played: (state, decision, action)."""
    game = make_game(name, options)
    rng = random.Random(1)
    found = []
    for number in range(40):
        deals = Deals(group_key(b"bench", str(number)))
        state = game.start(seats)
        while not isinstance(turn := game.turn(state), Over):
            if isinstance(turn, Chance):
                state = game.drawn(state, deals.draw(turn)).state
                continue
            assert isinstance(turn, Decision)
            action = rng.choice(turn.legal)
            if phase is None or turn.phase == phase:
                found.append((state, turn.seat, action))
            state = game.act(state, action).state
        if len(found) > 20_000:
            break
    return found


@pytest.mark.parametrize(
    ("name", "options", "seats", "phase"),
    [("dam", {"rounds": 1}, 2, None), ("dam", {"rounds": 1}, 4, None), ("rams", {}, 4, "play")],
)
def test_cost_of_a_decision(
    name: str, options: dict[str, Any], seats: int, phase: str | None
) -> None:
    game = make_game(name, options)
    samples = positions(name, options, seats, phase)
    encode = msgspec.json.Encoder().encode
    best = {"turn": 9e9, "act": 9e9, "view+encode": 9e9}
    for _ in range(5):
        begin = time.process_time()
        for state, _, _ in samples:
            game.turn(state)
        turned = time.process_time()
        for state, _, action in samples:
            game.act(state, action)
        acted = time.process_time()
        for state, seat, _ in samples:
            encode(game.view(state, seat))
        viewed = time.process_time()
        n = len(samples) / 1e6
        best["turn"] = min(best["turn"], (turned - begin) / n)
        best["act"] = min(best["act"], (acted - turned) / n)
        best["view+encode"] = min(best["view+encode"], (viewed - acted) / n)
    total = sum(best.values())
    parts = ", ".join(f"{part} {cost:.2f}" for part, cost in best.items())
    print(
        f"\n{name}, {seats} seats, {phase or 'all phases'}: {total:.2f} µs a decision "
        f"({parts}); goal {GOALS_US[name]:.0f} µs"
    )
    assert total > 0
