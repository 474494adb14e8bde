"""Verdicts on neighbours and gates, against long random walks."""

import itertools
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.unit.ratings.simulated import rows_of, simulate
from tourney.ratings import (
    ELO,
    GroupMean,
    Matches,
    Outcomes,
    Sketch,
    StopRule,
    add_sketches,
    arrange,
    decide,
    duel,
    elo_statement,
    gate_bounds,
    normalised_ratio,
    outlook,
    pair_outcomes,
    rate,
    sketch,
    t_ratio,
)


def power_sums(values: Sequence[float | np.floating[Any]]) -> list[float]:
    """Of powers 0 to 3."""
    return [float(np.sum(np.asarray(values) ** n)) for n in range(4)]


def test_a_duel_is_the_mean_over_groups_in_loops() -> None:
    matches = simulate(3, (0.5, 0.2, 0.0, -0.4), 3, 60, ties=True)
    placement, wins = [], []
    one, two = 1, 3
    for group, start in enumerate(matches.starts):
        assert group == matches.groups[group]
        leads, won = [], []
        for match in range(start, start + 3):
            seated = matches.seating[:, match].tolist()
            if one not in seated or two not in seated:
                continue
            ranks = matches.ranks[:, match].tolist()
            mine, other = ranks[seated.index(one)], ranks[seated.index(two)]
            leads.append(1.0 if mine < other else 0.5 if mine == other else 0.0)
            share = 1 / ranks.count(1)
            won.append((1 + share * (mine == 1) - share * (other == 1)) / 2)
        if leads:
            placement.append(np.mean(leads))
            wins.append(np.mean(won))
    sums = [sketch(matches)]
    found = duel(sums, "bot-001", "bot-003")
    assert found.scores == pytest.approx(power_sums(placement))
    by_wins = duel(sums, "bot-001", "bot-003", "win")
    assert by_wins.scores == pytest.approx(power_sums(wins))
    back = duel(sums, "bot-003", "bot-001")
    assert back.scores.mean == pytest.approx(1 - found.scores.mean)
    assert back.scores == pytest.approx(found.scores.flipped)
    assert 0 < by_wins.stake < 1
    assert found.stake == 1
    assert duel(sums, "bot-001", "nobody").scores.groups == 0


def test_groups_of_unequal_size_have_no_score() -> None:
    rows = rows_of(simulate(4, (0.0, 0.1), 2, 10))
    matches = arrange(rows.filter(rows["match"] != 3), rotations=False)[2]
    with pytest.raises(ValueError, match="unequal size"):
        duel([sketch(matches)], "bot-000", "bot-001")
    assert pair_outcomes({2: matches}, "bot-000", "bot-001") is None


def test_outcomes_of_pairs_count_every_group_once() -> None:
    matches = simulate(5, (0.3, 0.0, -0.2), 2, 90, ties=True)
    counted = pair_outcomes({2: matches}, "bot-000", "bot-002")
    back = pair_outcomes({2: matches}, "bot-002", "bot-000")
    met = duel([sketch(matches)], "bot-000", "bot-002")
    assert counted is not None
    assert back == Outcomes(counted.counts[::-1], 2)
    assert sum(counted.counts) == met.scores.groups
    scores = np.linspace(0, 1, 5)
    assert float(counted.counts @ scores) == pytest.approx(met.scores.total)
    four = pair_outcomes({4: simulate(6, (0.1,) * 5, 4, 40)}, "bot-000", "bot-001")
    assert four is not None
    assert (len(four.counts), four.matches) == (9, 4)
    assert pair_outcomes({2: matches}, "bot-000", "nobody") is None


def test_neighbours_far_apart_are_told_apart_and_the_run_may_stop() -> None:
    sums = [sketch(simulate(7, (1.5, 0.0, -1.5), 2, 1500))]
    look = outlook(sums, StopRule(separated=True))
    assert [pair.verdict for pair in look.neighbours] == ["above", "above"]
    assert look.enough
    assert look.matches_left == 0
    assert look.sentence == "every neighbour is told apart"


def test_twins_are_never_separated_but_equal_within_a_margin() -> None:
    sums = [sketch(simulate(8, (0.0, 0.0), 2, 12_000))]
    waiting = outlook(sums, StopRule(separated=True))
    assert not waiting.enough
    assert waiting.neighbours[0].verdict == "open"
    assert "more matches to separate 1 pair of neighbours" in waiting.sentence or (
        "no number of matches" in waiting.sentence
    )
    done = outlook(sums, StopRule(within=20))
    assert done.neighbours[0].verdict == "equal"
    assert done.enough


def test_an_interval_rule_waits_for_every_rating() -> None:
    few, many = (sketch(simulate(9, (0.3, 0.0, -0.3), 2, n)) for n in (300, 20_000))
    assert not outlook([few], StopRule(interval=10)).enough
    look = outlook([many], StopRule(interval=10))
    assert look.enough
    assert all(width is not None and width <= 10 for _, width in look.reaches)
    tight = outlook([many], StopRule(interval=2))
    assert not tight.enough
    assert tight.matches_left is not None
    assert tight.matches_left > 100_000


def test_nothing_is_decided_before_the_first_look() -> None:
    look = outlook([sketch(simulate(10, (5.0, -5.0), 2, 40))], StopRule(separated=True))
    assert not look.enough
    assert look.neighbours[0].verdict == "open"


def test_a_forecast_is_about_what_it_takes() -> None:
    """A gap of 0.25 in strength at a quarter of the way: the forecast is right within a factor."""
    strengths = (0.125, -0.125)
    early = outlook([sketch(simulate(11, strengths, 2, 150))], StopRule(separated=True))
    assert early.matches_left is not None
    needed = [
        n
        for n in range(100, 3000, 50)
        if outlook([sketch(simulate(11, strengths, 2, n))], StopRule(separated=True)).enough
    ]
    assert needed
    total = 300 + early.matches_left
    assert needed[0] * 2 / 6 < total < needed[0] * 2 * 6


def test_a_run_without_a_rule_is_never_enough_but_has_a_forecast() -> None:
    look = outlook([sketch(simulate(12, (0.1, 0.0), 2, 100))], StopRule())
    assert not look.enough
    assert not StopRule().waits
    assert look.matches_left is None or look.matches_left > 0


def test_bots_that_hardly_met_have_an_open_verdict() -> None:
    matches = simulate(13, (0.3, 0.0, -0.3), 2, 2)
    look = outlook([sketch(matches)], StopRule(separated=True))
    assert {pair.verdict for pair in look.neighbours} == {"open"}
    assert look.sentence.endswith("no number of matches in reach would")


def round_robin(bots: int, groups: int, better: set[int]) -> Matches:
    """Every pair once in each of so many passes; `better` always win, the others win in turns."""
    pairs = list(itertools.combinations(range(bots), 2)) * groups
    seats = [seated for a, b in pairs for seated in ((a, b), (b, a))]
    ranks = [(2, 1) if b in better and a not in better else (1, 2) for a, b in seats]
    return Matches(
        bots=tuple(f"bot-{i:03d}" for i in range(bots)),
        groups=np.arange(len(pairs)),
        starts=np.arange(len(pairs)) * 2,
        seating=np.array(seats).T.copy(),
        ranks=np.array(ranks, dtype=np.uint8).T.copy(),
        scores=np.zeros((2, len(seats))),
    )


def test_one_hopeless_pair_does_not_make_the_others_hopeless() -> None:
    """The best wins all; whoever sits first wins among the rest, so they are even for ever."""
    look = outlook([sketch(round_robin(3, 20, {0}))], StopRule())
    assert [pair.verdict for pair in look.neighbours] == ["open", "open"]
    first, second = look.neighbours
    assert first.bot == "bot-000"
    assert second.groups_left is None
    assert look.matches_left is None
    # Both seats of all three pairs are played for each group that the first pair needs.
    assert first.groups_left is not None
    needed = round(6 * first.groups_left)
    assert look.pairs_left == (needed, None)
    said = re.fullmatch(
        "2 pairs of neighbours not told apart: about (.*) more matches would tell 1 of them "
        "apart, no number in reach the other",
        look.sentence,
    )
    assert said
    assert needed <= int(said[1].replace(",", "")) <= needed * 1.1
    # Played on by as much, the run keeps the promise, and not much earlier.
    for groups, verdict in ((first.groups_left, "above"), (first.groups_left - 5, "open")):
        later = outlook([sketch(round_robin(3, 20 + round(groups), {0}))], StopRule())
        assert [pair.verdict for pair in later.neighbours] == [verdict, "open"]


def test_several_hopeless_pairs_are_counted() -> None:
    look = outlook([sketch(round_robin(4, 15, {0}))], StopRule())
    assert look.pairs_left[1:] == (None, None)
    assert look.sentence.startswith("3 pairs of neighbours not told apart: about ")
    assert look.sentence.endswith("would tell 1 of them apart, no number in reach the other 2")


def test_only_hopeless_pairs_have_no_number() -> None:
    look = outlook([sketch(round_robin(3, 20, set()))], StopRule())
    assert look.sentence == (
        "2 pairs of neighbours not told apart, and no number of matches in reach would"
    )


def test_a_rule_about_intervals_does_not_change_what_is_said_of_neighbours() -> None:
    """A bot that wins all has no interval ever, yet it will be told apart; and a fulfilled rule
    tells no neighbours apart."""
    sums = [sketch(round_robin(2, 20, {0}))]
    look = outlook(sums, StopRule(interval=10))
    assert look.matches_left is None
    assert look.sentence == outlook(sums, StopRule()).sentence
    assert look.sentence.endswith("more matches to separate 1 pair of neighbours")
    twins = [sketch(simulate(8, (0.0, 0.0), 2, 12_000))]
    done = outlook(twins, StopRule(interval=50))
    assert done.enough
    assert done.neighbours[0].verdict == "open"
    assert "1 pair of neighbours" in done.sentence


def gate(strength: float, seed: int) -> tuple[str, int]:
    """The gate of a bot so much stronger, looked at after every ten groups."""
    matches = simulate(seed, (strength, 0.0), 2, 4000)
    bounds = gate_bounds(0.05, 0.05)
    ahead = np.where(matches.seating[0] == 0, 1, -1) * np.where(
        matches.ranks[0] < matches.ranks[1], 1, -1
    )
    halves = np.add.reduceat(1 + ahead, matches.starts)
    for groups in range(10, 4001, 10):
        counts = np.bincount(halves[:groups], minlength=5).tolist()
        said = decide(normalised_ratio(counts, 0, 40), bounds)
        if said != "open":
            return said, groups
    return "open", 4000


@pytest.mark.parametrize(("strength", "wrong"), [(0.0, "accepted"), (0.25, "rejected")])
def test_a_gate_is_wrong_in_about_5_percent(strength: float, wrong: str) -> None:
    said = [gate(strength, seed)[0] for seed in range(200)]
    # Two standard errors of a proportion of 0.05 in 200; the stronger bot is at 44 normalised Elo.
    assert said.count(wrong) / 200 <= 0.05 + 0.031
    assert said.count("open") == 0


def test_bounds_are_walds() -> None:
    bounds = gate_bounds(0.05, 0.1)
    assert bounds == pytest.approx((math.log(0.1 / 0.95), math.log(0.9 / 0.05)))
    assert decide(0.0, bounds) == "open"
    assert decide(bounds.upper, bounds) == "accepted"
    assert decide(bounds.lower, bounds) == "rejected"


def test_scores_without_spread_prove_nothing() -> None:
    equal = GroupMean(20, 10.0, 5.0, 2.5)
    assert t_ratio(equal, 0, 10, matches=4) == 0.0
    assert elo_statement(equal, matches=4) is None


def test_t_and_the_exact_ratio_agree_on_groups_of_four() -> None:
    found = pair_outcomes({4: simulate(14, (0.05, 0.0, 0.0, 0.0), 4, 3000)}, "bot-000", "bot-001")
    assert found is not None
    scores = np.linspace(0, 1, len(found.counts))
    counts = np.array(found.counts)
    mean = GroupMean(int(counts.sum()), *(float(counts @ scores**n) for n in (1, 2, 3)))
    exact = normalised_ratio(found.counts, 0, 10, matches=4)
    assert t_ratio(mean, 0, 10, matches=4) == pytest.approx(exact, rel=0.01, abs=0.01)


def test_matches_know_their_groups() -> None:
    matches: Matches = simulate(15, (0.0, 0.0, 0.0), 3, 4)
    assert matches.group_of.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


@pytest.mark.slow
def test_a_ratings_sequence_holds_at_every_look() -> None:
    """Six bots at tables of four whose wins follow the model: all six, at 35 looks."""
    strengths = np.array([0.8, 0.4, 0.1, -0.1, -0.4, -0.8])
    truth = 1500 + ELO * (strengths - strengths.mean())
    missed = 0
    for seed in range(100):
        sums: tuple[Sketch, ...] = ()
        off = False
        for part in range(40):
            played = simulate(1000 * seed + part, strengths.tolist(), 4, 10)
            sums = add_sketches(sums, [sketch(played)])
            if part < 5:
                continue
            found = rate(*sums)[0].win.ratings
            widths = dict(outlook(sums, StopRule(interval=1.0)).reaches)
            for place, bot in enumerate(sorted(widths)):
                width = widths[bot]
                off |= width is not None and abs(found[place] - truth[place]) > width
        missed += off
    # Two standard errors of 5 % in a hundred.
    assert missed <= 5 + 4
