"""Gauntlets and balanced rounds: who meets whom, how often, and what that is worth."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from tourney.errors import ConfigError
from tourney.schedule.balanced import CYCLE, Balanced
from tourney.schedule.formats import Gauntlet, Sizes, fixed_schedule
from tourney.schedule.groups import RoundRobin, Schedule
from tourney.schedule.terms import Terms

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def names(count: int) -> list[str]:
    return [f"bot-{i:02d}" for i in range(count)]


def meetings(plan: Schedule, groups: int) -> Array:
    place = {bot: i for i, bot in enumerate(plan.bots)}
    met = np.zeros((len(place), len(place)))
    for number in range(groups):
        seated = [place[bot] for bot in plan.group(number).pairing]
        met[np.ix_(seated, seated)] += 1
    return met - np.diag(np.diag(met))


def efficiency(met: Array) -> float:
    """How well differences are known, against a design in which all pairs meet equally often."""
    values = np.linalg.eigvalsh(np.diag(met.sum(axis=1)) - met)[1:]
    return float(len(values) / (1 / values).sum() / values.mean())


@pytest.mark.parametrize(("rounds", "wanted"), [(10, 0.98), (17, 0.995), (40, 0.9985)])
def test_few_rounds_of_fifty_bots_are_nearly_a_perfect_design(rounds: int, wanted: float) -> None:
    plan = Balanced(names(50), 4, rounds)
    assert efficiency(meetings(plan, plan.groups)) >= wanted


def test_swaps_beat_tables_by_lot() -> None:
    lot = np.random.default_rng(1)
    met = np.zeros((50, 50))
    for _ in range(10):
        for table in lot.permutation(50)[:48].reshape(12, 4):
            met[np.ix_(table, table)] += 1
    random_tables = efficiency(met - np.diag(np.diag(met)))
    plan = Balanced(names(50), 4, 10)
    assert efficiency(meetings(plan, plan.groups)) > random_tables + 0.01


@pytest.mark.parametrize(("bots", "seats"), [(8, 2), (12, 4), (13, 4), (5, 5), (7, 3)])
def test_every_round_seats_each_bot_at_most_once_and_all_play_about_equally(
    bots: int, seats: int
) -> None:
    plan = Balanced(names(bots), seats, 30)
    assert plan.groups == 30 * (bots // seats)
    assert plan.matches == plan.groups * seats
    played: Counter[str] = Counter()
    for turn in range(30):
        seated = [
            bot
            for table in range(plan.tables)
            for bot in plan.group(turn * plan.tables + table).pairing
        ]
        assert len(set(seated)) == len(seated) == plan.tables * seats
        played.update(seated)
    assert max(played.values()) - min(played.values()) <= 1


def test_a_group_is_the_same_on_every_worker_in_whatever_order_it_asks() -> None:
    one, two = Balanced(names(13), 4, 50), Balanced(names(13), 4, 50)
    numbers = list(range(one.groups))
    forward = [one.group(number) for number in numbers]
    backward = [two.group(number) for number in reversed(numbers)]
    assert forward == backward[::-1]


def test_no_deal_of_a_pairing_comes_twice_even_when_tables_do() -> None:
    plan = Balanced(names(6), 3, 3 * CYCLE)
    deals = Counter((plan.group(n).pairing, plan.group(n).deal) for n in range(plan.groups))
    assert set(deals.values()) == {1}


def test_circular_orders_of_balanced_rounds_come_about_equally_often() -> None:
    plan = Balanced(names(4), 4, 1200)
    counts = Counter(plan.group(number).order for number in range(plan.groups))
    assert len(counts) == 6
    # Four standard errors of 200 of 1,200.
    assert all(abs(count - 200) < 4 * np.sqrt(1200 / 6 * 5 / 6) for count in counts.values())


def test_balanced_rounds_never_seat_two_bots_of_one_owner() -> None:
    bots = names(12)
    owners = {bot: f"owner-{i // 3}" for i, bot in enumerate(bots)}
    plan = Balanced(bots, 4, 40, owners=owners)
    for number in range(plan.groups):
        owned = [owners[bot] for bot in plan.group(number).pairing]
        assert len(set(owned)) == 4
    # Two of three tables of four: an owner of six bots can fill no more than one seat at each.
    crowded = names(14)
    owners = {bot: "big" if i < 8 else bot for i, bot in enumerate(crowded)}
    plan = Balanced(crowded, 4, 30, owners=owners)
    assert plan.tables == 2
    for number in range(plan.groups):
        assert sum(owners[bot] == "big" for bot in plan.group(number).pairing) <= 1
    with pytest.raises(ConfigError, match="too few owners"):
        Balanced(names(4), 4, 3, owners=dict.fromkeys(names(4), "one"))


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_round_robin_apart_has_every_other_set_and_no_more(seats: int) -> None:
    bots = names(7)
    owners = {"bot-00": "a", "bot-03": "a", "bot-04": "a", "bot-01": "b", "bot-06": "b"}
    plan = RoundRobin(bots, seats, 2, owners)
    wanted = {
        chosen
        for chosen in combinations(bots, seats)
        if len({owners.get(bot, bot) for bot in chosen}) == seats
    }
    groups = [plan.group(number) for number in range(plan.groups)]
    assert {group.pairing for group in groups} == wanted
    assert plan.groups == 2 * len(wanted)
    assert len({(group.pairing, group.deal) for group in groups}) == plan.groups


def test_a_challenger_does_not_meet_its_owners_other_bots() -> None:
    bots = ["a", "new", "b", "c", "d"]
    owners = {"new": "me", "a": "me", "b": "you", "c": "you"}
    plan = Gauntlet(bots, ["new"], 3, 1, owners)
    met = {plan.group(number).pairing for number in range(plan.groups)}
    assert met == {("new", "b", "d"), ("new", "c", "d")}
    with pytest.raises(ConfigError, match="new has 3 to choose from"):
        Gauntlet(bots, ["new"], 4, 1, owners)


def test_a_challenger_meets_every_set_of_the_others_and_no_challenger() -> None:
    plan = Gauntlet(["a", "new", "b", "c", "newer"], ["new", "newer"], 3, 4)
    assert plan.pairings == 2 * 3
    assert (plan.groups, plan.matches) == (24, 72)
    met = Counter((plan.group(n).pairing, plan.group(n).deal) for n in range(plan.groups))
    assert set(met.values()) == {1}
    pairings = {frozenset(pairing) for pairing, _ in met}
    assert pairings == {
        frozenset((challenger, *others))
        for challenger in ("new", "newer")
        for others in combinations("abc", 2)
    }
    # Names stay in the config's order, so that a deal is the one of any other format.
    assert plan.group(0).pairing == ("a", "new", "b")
    assert set(plan.group(5).order) == set(plan.group(5).pairing)


@pytest.mark.parametrize(
    ("challengers", "seats", "said"),
    [
        ([], 2, "needs challengers"),
        (["nobody"], 2, "not nobody"),
        (["a", "b"], 3, "name fewer challengers"),
    ],
)
def test_a_gauntlet_that_cannot_be_played_is_refused(
    challengers: list[str], seats: int, said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        Gauntlet(["a", "b", "c"], challengers, seats, 1)


def test_a_config_gets_the_format_it_asks_for() -> None:
    bots = names(6)
    assert isinstance(fixed_schedule(Terms(seats=(2,), deals=1), bots), RoundRobin)
    assert isinstance(fixed_schedule(Terms(form="balanced", seats=(2,), deals=1), bots), Balanced)
    challengers = (bots[0],)
    terms = Terms(form="gauntlet", seats=(2,), deals=1, challengers=challengers)
    assert isinstance(fixed_schedule(terms, bots), Gauntlet)
    with pytest.raises(ConfigError, match="3 seats but only 2 bots"):
        fixed_schedule(Terms(form="balanced", seats=(3,), deals=1), bots[:2])


def test_several_table_sizes_are_one_schedule_with_every_pairing_of_each() -> None:
    bots = names(6)
    plan = fixed_schedule(Terms(seats=(2, 3, 4), deals=5), bots)
    assert isinstance(plan, Sizes)
    # 15 pairs, 20 sets of three and 15 of four, five deals each.
    assert (plan.groups, plan.matches, plan.seats) == (250, 5 * (15 * 2 + 20 * 3 + 15 * 4), 4)
    groups = [plan.group(number) for number in range(plan.groups)]
    assert [group.number for group in groups] == list(range(250))
    met = Counter((group.pairing, group.deal) for group in groups)
    assert set(met.values()) == {1}
    wanted = {set_ for size in (2, 3, 4) for set_ in combinations(bots, size)}
    assert {pairing for pairing, _ in met} == wanted
    # A run that stops early has seen all sizes: the first 50 groups are deal 0 of everything.
    assert {group.deal for group in groups[:50]} == {0}


def test_a_size_plays_the_deals_that_it_would_play_alone() -> None:
    bots, terms = names(5), Terms(form="balanced", seats=(2, 4), deals=7)
    both, alone = fixed_schedule(terms, bots), Balanced(bots, 4, 7)
    of_four = [both.group(n) for n in range(both.groups) if both.group(n).seats == 4]
    assert [one[1:] for one in of_four] == [alone.group(n)[1:] for n in range(alone.groups)]
