"""Pairings, circular orders and seatings, against itertools and hand counts."""

from collections import Counter
from itertools import combinations, permutations

import pytest

from tourney.errors import ConfigError
from tourney.schedule.groups import RoundRobin, permutation
from tourney.schedule.owners import Sets


@pytest.mark.parametrize(("n", "k"), [(4, 2), (6, 3), (7, 5), (5, 5)])
def test_sets_come_in_lexicographic_order(n: int, k: int) -> None:
    bots = [f"bot-{i}" for i in range(n)]
    sets, expected = Sets(bots, k, {}), list(combinations(bots, k))
    assert sets.count == len(expected)
    assert [sets[i] for i in range(sets.count)] == expected


def test_permutations_come_in_lexicographic_order() -> None:
    expected = list(permutations(range(4)))
    assert [permutation(4, i) for i in range(24)] == expected


def test_every_pairing_meets_on_every_deal() -> None:
    plan = RoundRobin(["a", "b", "c", "d"], 3, 5)
    assert (plan.pairings, plan.groups, plan.matches) == (4, 20, 60)
    met = Counter((plan.group(g).pairing, plan.group(g).deal) for g in range(plan.groups))
    assert set(met.values()) == {1}
    assert {pairing for pairing, _ in met} == set(combinations("abcd", 3))


def test_a_tournament_that_stops_early_is_balanced() -> None:
    """Deal by deal over all pairings: after any whole deal all pairings met equally often."""
    plan = RoundRobin(["a", "b", "c", "d"], 2, 10)
    first = [plan.group(g) for g in range(plan.pairings)]
    assert {group.deal for group in first} == {0}
    assert {group.pairing for group in first} == set(combinations("abcd", 2))


def test_rotations_put_every_bot_in_every_seat_once() -> None:
    group = RoundRobin(["a", "b", "c", "d"], 4, 9).group(5)
    seatings = [group.seating(r) for r in range(4)]
    for seat in range(4):
        assert {seating[seat] for seating in seatings} == set("abcd")
    ring = "".join(group.order) * 2
    assert all("".join(seating) in ring for seating in seatings)


@pytest.mark.parametrize(("seats", "orders"), [(3, 2), (4, 6)])
def test_all_circular_orders_come_equally_often(seats: int, orders: int) -> None:
    bots = list("abcd")[:seats]
    plan = RoundRobin(bots, seats, orders * 20)
    counts = Counter(plan.group(g).order for g in range(plan.groups))
    assert len(counts) == orders
    assert set(counts.values()) == {20}
    # Each run of (k-1)! deals holds every order, in another shuffle.
    runs = [tuple(plan.group(r * orders + i).order for i in range(orders)) for r in range(20)]
    assert all(len(set(run)) == orders for run in runs)
    assert len(set(runs)) > 1


def test_a_schedule_of_a_thousand_million_matches_is_not_listed() -> None:
    plan = RoundRobin([f"bot-{i}" for i in range(50)], 4, 1100)
    assert plan.matches > 10**9
    last = plan.group(plan.groups - 1)
    assert last.pairing == ("bot-46", "bot-47", "bot-48", "bot-49")
    assert last.deal == 1099


def test_too_few_bots_for_the_table() -> None:
    with pytest.raises(ConfigError, match="3 seats but only 2 bots"):
        RoundRobin(["a", "b"], 3, 1)
