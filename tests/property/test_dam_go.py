"""A go in Dam as its rules put it, over whole random matches: DAM-1, 4, 7, 15, 17 and 22."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tourney.games.base import Chance, Decision
from tourney.games.cards import PACK
from tourney.games.checks import Moment, play
from tourney.games.registry import make_game


class Go(NamedTuple):
    """What one seat does between two throws."""

    before: Any
    """The state when it chose its source."""
    card: str
    keeps: int
    thrown: str
    after: Any
    actions: list[str]


def goes(seats: int, policy: str, seed: int) -> Iterator[Go]:
    """Every go of a match of one deal."""
    history = play(make_game("dam", {"rounds": 1}), seats, policy, seed)
    states = [moment.state for moment in history.moments] + [history.state]
    own: list[tuple[int, Moment]] = []
    for number, moment in enumerate(history.moments):
        if moment.state.phase in {"source", "draw", "decide"}:
            own.append((number, moment))
        if moment.answer == "throw":
            actions = [m.answer for _, m in own if isinstance(m.turn, Decision)]
            first = next(m.state for _, m in own if m.state.phase == "decide")
            yield Go(
                before=own[0][1].state,
                card=first.hand,
                keeps=actions.count("keep"),
                thrown=moment.state.hand,
                after=states[number + 1],
                actions=actions,
            )
            own = []


matches = {
    "seats": st.integers(2, 6),
    "policy": st.sampled_from(["random", "habit", "stall", "last"]),
    "seed": st.integers(0, 10**6),
}


@settings(max_examples=60, deadline=None)
@given(**matches)
def test_a_go_pushes_its_card_in_at_the_front(seats: int, policy: str, seed: int) -> None:
    """DAM-22: k keeps put the new card first and throw what is at index k of the row with it."""
    for go in goes(seats, policy, seed):
        seat = go.before.to_act
        longer = [go.card, *go.before.rows[seat]]
        assert go.thrown == longer.pop(go.keeps)
        assert list(go.after.rows[seat]) == longer
        assert go.after.discard[-1] == go.thrown
        others = [s for s in range(seats) if s != seat]
        assert [go.after.rows[s] for s in others] == [go.before.rows[s] for s in others]


@settings(max_examples=60, deadline=None)
@given(**matches)
def test_a_go_is_a_source_some_keeps_and_one_throw(seats: int, policy: str, seed: int) -> None:
    """DAM-15, DAM-17: at most seven keeps, nothing but keep or throw, nothing taken back."""
    for go in goes(seats, policy, seed):
        assert go.actions[0] in {"draw", "take"}
        assert go.actions[1:] == ["keep"] * go.keeps + ["throw"]
        assert go.keeps <= 7


@settings(max_examples=60, deadline=None)
@given(**matches)
def test_goes_follow_each_other_clockwise(seats: int, policy: str, seed: int) -> None:
    """DAM-7: from the starter on, each seat in its turn."""
    actors = [go.before.to_act for go in goes(seats, policy, seed)]
    assert actors == [(actors[0] + step) % seats for step in range(len(actors))]


@pytest.mark.parametrize(("seats", "stock"), [(2, 38), (3, 31), (4, 24), (5, 17), (6, 10)])
def test_one_pack_is_dealt_and_the_rest_is_the_stock(seats: int, stock: int) -> None:
    """DAM-1, DAM-4."""
    moments = play(make_game("dam", {"rounds": 1}), seats, "first", 1).moments
    deal = next(m for m in moments if isinstance(m.turn, Chance) and m.turn.count > 1)
    assert sorted(deal.turn.cards) == sorted(PACK)  # type: ignore[union-attr]
    assert len(set(PACK)) == 52
    dealt = moments[moments.index(deal) + 1].state
    assert len(dealt.stock) == stock
    assert dealt.stock.isdisjoint(deal.answer)
