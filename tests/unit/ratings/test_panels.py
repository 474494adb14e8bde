"""Panels against loops, against effects that were put in, and against chance."""

import numpy as np
import pytest

from tests.unit.ratings.simulated import Array, rows_of, simulate
from tourney.ratings import (
    Matches,
    add_points,
    group_gain,
    luck_adjusted,
    neighbour_effects,
    rate,
    relative_points,
    seat_advantage,
    seat_effects,
    sketch,
    tally_points,
    ties,
    transitivity,
)

FIVE = (0.4, 0.2, 0.0, -0.2, -0.4)


def with_seat_bonus(matches: Matches, bonus: Array) -> Matches:
    """The same tables where a seat's score is better by its bonus, and ranks follow."""
    assert matches.scores is not None
    scores = matches.scores - bonus[:, None]
    ranks = 1 + (scores[:, None, :] > scores[None, :, :]).sum(axis=1)
    return Matches(
        matches.bots,
        matches.groups,
        matches.starts,
        matches.seating,
        ranks.astype(np.uint8),
        scores,
    )


# Points


def test_relative_points_are_the_distance_to_the_tables_mean() -> None:
    matches = simulate(1, FIVE, 3, 40)
    assert matches.scores is not None
    rows = rows_of(matches).lazy()
    found = relative_points(tally_points(rows))
    own = matches.scores - matches.scores.mean(axis=0)
    for code, bot in enumerate(matches.bots):
        mine = own[matches.seating == code]
        assert found[bot].mean == pytest.approx(mine.mean())
    halves = [tally_points(rows.filter(rows.collect()["group"] % 2 == part)) for part in (0, 1)]
    added = relative_points(add_points(*halves))
    for bot, whole in found.items():
        assert added[bot] == pytest.approx(whole, abs=1e-9)
    with pytest.raises(ValueError, match="nothing to add"):
        add_points()


# What a group is worth


def test_without_luck_in_the_deal_a_match_is_worth_one() -> None:
    [table] = rate(sketch(simulate(2, FIVE, 3, 5000)))
    for model in ("win", "placement"):
        gain = group_gain(table, model)
        assert gain is not None
        assert gain.gain == pytest.approx(1, abs=0.06)


def test_luck_of_seats_that_every_bot_meets_makes_groups_worth_more() -> None:
    [table] = rate(sketch(simulate(3, FIVE, 3, 2000, luck=3.0)))
    gain = group_gain(table, "placement")
    assert gain is not None
    assert gain.gain > 1.7
    assert gain.worth == round(gain.gain * 6000)
    assert gain.sentence == f"these 6,000 matches are worth {gain.worth:,} independent ones"


def test_the_gain_is_what_repeated_tournaments_show() -> None:
    """The spread of ratings over many tournaments, in groups and in single deals of one law."""
    found: dict[bool, list[Array]] = {True: [], False: []}
    for seed in range(300):
        grouped = simulate(seed, FIVE, 3, 60, luck=2.0)
        found[True].append(rate(sketch(grouped))[0].placement.strengths)
        alone = simulate(seed + 10**5, FIVE, 3, 180, luck=2.0)
        # One match of each deal: as many matches, and no deal twice.
        first = Matches(
            alone.bots,
            alone.groups,
            np.arange(180),
            alone.seating[:, ::3],
            alone.ranks[:, ::3],
        )
        found[False].append(rate(sketch(first))[0].placement.strengths)
    spread = {kind: np.var(np.array(rows), axis=0).sum() for kind, rows in found.items()}
    gains = [
        gain.gain
        for seed in range(50)
        if (gain := group_gain(rate(sketch(simulate(seed, FIVE, 3, 60, luck=2.0)))[0], "placement"))
    ]
    assert np.mean(gains) == pytest.approx(spread[False] / spread[True], rel=0.15)


def test_a_gain_that_cannot_be_told_is_none() -> None:
    [one] = rate(sketch(simulate(4, FIVE[:2], 2, 1)))
    assert group_gain(one) is None
    [pooled] = rate(sketch(simulate(5, FIVE, 2, 50)), sketch(simulate(6, FIVE, 3, 50)))
    assert group_gain(pooled) is None


# Seats


def test_seats_without_an_effect_have_none() -> None:
    for line in seat_effects(simulate(7, FIVE, 4, 4000)):
        assert line.win_se is not None
        assert line.ahead_se is not None
        assert line.points is not None
        assert line.points_se is not None
        assert abs(line.win_share - 1 / 4) < 4 * line.win_se
        assert abs(line.ahead - 1 / 2) < 4 * line.ahead_se
        assert abs(line.points) < 4 * line.points_se


def test_the_effect_of_a_seat_is_found_with_its_error() -> None:
    bonus = np.array([0.5, 0.0, -0.5])
    matches = with_seat_bonus(simulate(8, FIVE, 3, 6000), bonus)
    lines = seat_effects(matches)
    assert lines[0].win_share > 1 / 3 > lines[2].win_share
    for line, own in zip(lines, bonus, strict=True):
        assert line.points is not None
        assert line.points_se is not None
        # Lower is better in these scores.
        assert abs(line.points + own) < 4 * line.points_se
    found = seat_advantage(matches)
    assert found.seats.sum() == pytest.approx(0, abs=1e-9)
    assert found.spread is not None
    z = (found.seats - bonus) / np.sqrt(np.diag(found.spread))
    assert float(np.abs(z).max()) < 4


def test_seats_of_ranks_alone_have_no_points() -> None:
    matches = simulate(9, FIVE, 2, 20)
    bare = Matches(matches.bots, matches.groups, matches.starts, matches.seating, matches.ranks)
    assert seat_effects(bare)[0].points is None
    assert neighbour_effects(bare) == []


def test_an_empty_table_is_refused() -> None:
    nothing = Matches(
        ("a", "b"),
        np.empty(0, np.int64),
        np.empty(0, np.int64),
        np.empty((2, 0), np.int64),
        np.empty((2, 0), np.uint8),
    )
    for panel in (seat_advantage, ties, transitivity):
        with pytest.raises(ValueError, match="no match"):
            panel(nothing)


def test_tie_rates_by_loops() -> None:
    matches = simulate(10, FIVE, 3, 200, ties=True)
    found = ties(matches)
    shared = first = 0
    for column in matches.ranks.T.tolist():
        shared += sum(column[i] == column[j] for i in range(3) for j in range(i))
        first += column.count(1) > 1
    assert found.pairs == pytest.approx(shared / (3 * 600))
    assert found.first == pytest.approx(first / 600)


# Neighbours


def test_who_sits_behind_a_feeder_profits() -> None:
    matches = simulate(11, FIVE, 4, 3000)
    assert matches.scores is not None
    scores = matches.scores.copy()
    # Whoever sits right after bot 2 scores 0.6 lower, which is better.
    for seat in range(4):
        scores[seat] -= 0.6 * (matches.seating[seat - 1] == 2)
    fed = Matches(
        matches.bots, matches.groups, matches.starts, matches.seating, matches.ranks, scores
    )
    effects = {line.bot: line for line in neighbour_effects(fed)}
    for bot, line in effects.items():
        assert line.points_se is not None
        # Relative to the table's mean 3/4 of a gift stay; behind another one, the gift is missed.
        if bot == "bot-002":
            assert line.points == pytest.approx(-0.6, abs=4 * line.points_se)
            assert line.points < -8 * line.points_se
        else:
            assert line.points > -4 * line.points_se
    assert neighbour_effects(simulate(12, FIVE, 2, 20)) == []


def test_without_feeding_no_neighbour_matters() -> None:
    for line in neighbour_effects(simulate(13, FIVE, 3, 3000)):
        assert line.points_se is not None
        assert abs(line.points) < 4 * line.points_se


# One order for all pairs?


def test_the_misfit_of_a_true_model_is_chi_square() -> None:
    found = [transitivity(simulate(seed, FIVE, 3, 300)) for seed in range(200)]
    misfits = [one.misfit for one in found if one.misfit is not None]
    assert len(misfits) == 200
    assert {one.degrees for one in found} == {10 - 5 + 1}
    # Mean and 95 % point of chi-square with six degrees, within their errors over 200 runs.
    assert np.mean(misfits) == pytest.approx(6, abs=4 * np.sqrt(12 / 200))
    rejected = np.mean([one.p_value is not None and one.p_value < 0.05 for one in found])
    assert rejected < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
    assert sum(len(one.cycles) for one in found) == 0


def cycle_of_three(groups: int) -> Matches:
    """Rock beats paper's loser and so on: each wins 70 % against the next one."""
    lot = np.random.default_rng(14)
    pairs = [(0, 1), (1, 2), (2, 0)]
    seating, ranks = [], []
    for group in range(groups):
        first, second = pairs[group % 3]
        for turn in range(2):
            ahead = lot.random() < 0.7
            seated = (first, second) if turn == 0 else (second, first)
            seating.append(seated)
            ranks.append((1, 2) if ahead == (turn == 0) else (2, 1))
    return Matches(
        ("paper", "rock", "scissors"),
        np.arange(groups),
        np.arange(groups) * 2,
        np.array(seating).T,
        np.array(ranks).T.astype(np.uint8),
    )


def test_a_certain_cycle_is_reported_and_explains_all_of_the_odds() -> None:
    found = transitivity(cycle_of_three(600))
    assert [cycle.bots for cycle in found.cycles] == [("paper", "rock", "scissors")]
    assert all(side > 0.975 for side in found.cycles[0].superiority)
    assert found.curl > 0.9
    assert found.p_value is not None
    assert found.p_value < 1e-6
    assert all(line.odd for line in found.residuals)
    for line in found.residuals:
        assert line.ahead == pytest.approx(
            0.7 if line.bot != "paper" or line.opponent == "rock" else 0.3, abs=0.07
        )


def test_an_uncertain_cycle_is_not_reported() -> None:
    assert transitivity(cycle_of_three(15)).cycles == ()


def test_too_few_groups_have_residuals_but_no_test() -> None:
    found = transitivity(simulate(15, FIVE, 3, 28))
    assert found.misfit is None
    assert found.p_value is None
    assert len(found.residuals) == 10


# Luck that is known


def test_known_luck_is_taken_out_without_moving_the_mean() -> None:
    lot = np.random.default_rng(16)
    groups = np.repeat(np.arange(400), 4)
    cards = lot.binomial(10, 0.3, 1600).astype(float)
    skill = lot.normal(0, 1, 1600)
    scores = 20 + 2 * (cards - 3) + skill
    found = luck_adjusted(scores, cards[:, None], np.array([3.0]), groups)
    assert found.explained == pytest.approx(1 - np.var(skill) / np.var(scores), abs=0.02)
    assert np.var(found.scores) < 1.1
    # The luck that there was leaves the mean, and nothing else does.
    assert found.scores.mean() == pytest.approx(20 + skill.mean(), abs=0.01)


def test_adjusted_means_have_no_bias() -> None:
    means = []
    for seed in range(400):
        lot = np.random.default_rng(seed)
        luck = lot.normal(0, 1, (60, 2))
        scores = 5 + luck[:, 0] + lot.normal(0, 1, 60)
        found = luck_adjusted(scores, luck, np.zeros(2), np.arange(60))
        means.append(found.scores.mean())
    assert np.mean(means) == pytest.approx(5, abs=4 * np.std(means) / 20)


def test_controls_that_say_nothing_explain_nothing() -> None:
    lot = np.random.default_rng(17)
    found = luck_adjusted(
        lot.normal(0, 1, 500), lot.normal(0, 1, (500, 3)), np.zeros(3), np.arange(500)
    )
    assert abs(found.explained) < 0.05
    with pytest.raises(ValueError, match="folds"):
        luck_adjusted(np.zeros(3), np.zeros((3, 1)), np.zeros(1), np.arange(3))


def test_a_rare_loss_that_did_not_happen_is_not_odd() -> None:
    """Of 168 matches 0.7 should be lost: that none was is 0.8 standard errors off, as a count."""
    spotless = []
    for seed in range(40):
        found = transitivity(simulate(seed, (2.75, 0.0, -2.75), 2, 84))
        ends = {"bot-000", "bot-002"}
        [rare] = [one for one in found.residuals if {one.bot, one.opponent} == ends]
        spotless += [abs(rare.z)] if rare.ahead in (0, 1) else []
    assert len(spotless) > 20
    assert max(spotless) < 1
