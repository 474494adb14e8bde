"""Any game, any options that go together, any number of seats, any policy: the battery holds.

Hypothesis chooses; what it finds it makes small and prints as a `Case`. The slow part leaves the
matches at their full length and looks longer.
"""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.property.witnesses import SHORT, WITNESSES
from tourney.errors import GameError
from tourney.games.checks import POLICIES, Case, option_sets, seat_counts
from tourney.games.registry import game_names, make_game

SETS = {name: option_sets(name, SHORT.get(name, {})) for name in game_names()}
FULL_SETS = {name: option_sets(name, {}, seed=1) for name in game_names()}


@st.composite
def cases(draw: st.DrawFn, name: str, sets: Mapping[str, Any]) -> Case:
    """A base set of options, perhaps with another one over it where the game allows that."""
    options = draw(st.sampled_from(sets[name]))
    both = {**options, **draw(st.sampled_from(sets[name]))}
    try:
        make_game(name, both)
    except GameError:
        both = options
    return Case(
        game=name,
        options=both,
        seats=draw(st.sampled_from(seat_counts(make_game(name, both)))),
        policy=draw(st.sampled_from(list(POLICIES))),
        seed=draw(st.integers(0, 2**32)),
    )


@pytest.mark.parametrize("name", game_names())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_game_passes_the_battery(name: str, data: st.DataObject) -> None:
    data.draw(cases(name, SETS)).run(WITNESSES.get(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", game_names())
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_game_passes_the_battery_at_full_length(name: str, data: st.DataObject) -> None:
    data.draw(cases(name, FULL_SETS)).run(WITNESSES.get(name))
