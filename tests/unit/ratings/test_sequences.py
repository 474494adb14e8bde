"""Confidence sequences: the bets are fair to the last outcome, and long runs keep their word."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from tests.unit.ratings.simulated import Array
from tourney.ratings import GroupMean, interval, reach
from tourney.ratings.sequences import (
    BEST_SPREAD,
    BETS,
    FIRST_LOOK,
    LEAST_BET,
    MOST_BET,
    _gamble,
    certainly_above,
    groups_needed,
)


def mean_of(values: Array) -> GroupMean:
    return GroupMean(
        len(values), float(values.sum()), float((values**2).sum()), float((values**3).sum())
    )


def won_all(groups: int, share: float) -> GroupMean:
    """So many groups of which a share was all won and the rest all lost."""
    return GroupMean(groups, groups * share, groups * share, groups * share)


def wealth_of(scores: GroupMean, mean: float, error: float) -> float:
    return _gamble(scores, mean, error).log_wealth()


def bets(mean: float, error: float) -> tuple[Array, Array]:
    """Bets and their shares of the stake, written out anew for one side at `error`."""
    bets = np.geomspace(LEAST_BET, 0.999 * min(1 / mean, MOST_BET), BETS)
    lost = -2 * math.log(error)
    width = math.sqrt((lost + math.log(lost) + 1) / BEST_SPREAD)
    stakes = bets * np.exp(-((bets / width) ** 2) / 2)
    return bets, stakes / stakes.sum()


def expected_wealth(values: list[float], chances: list[float], groups: int) -> float:
    """Over every way in which `groups` values may come, when the mean is what was bet against."""
    mean = float(np.dot(values, chances))
    total = 0.0
    for counts in itertools.product(range(groups + 1), repeat=len(values)):
        if sum(counts) != groups:
            continue
        ways = gammaln(groups + 1) - sum(float(gammaln(count + 1)) for count in counts)
        chance = math.exp(ways) * math.prod(p**n for p, n in zip(chances, counts, strict=True))
        scores = mean_of(np.repeat(values, counts))
        total += chance * math.exp(wealth_of(scores, mean, 0.025))
    return total


@pytest.mark.parametrize("groups", [1, 7, 40])
@pytest.mark.parametrize("mean", [0.02, 0.5, 0.9, 0.98])
def test_bets_on_wins_ties_and_losses_are_exactly_fair(mean: float, groups: int) -> None:
    assert expected_wealth([0.0, 1.0], [1 - mean, mean], groups) == pytest.approx(1)
    assert expected_wealth([0.0, 0.5, 1.0], [0.5 - mean / 2, 0.5, mean / 2], groups) == (
        pytest.approx(1)
    )


@pytest.mark.parametrize(
    ("values", "chances"),
    [
        ([0.0, 0.5, 1.0], [0.2, 0.3, 0.5]),
        ([0.0, 0.5, 1.0], [0.01, 0.03, 0.96]),
        ([0.0, 0.45, 0.55], [0.02, 0.5, 0.48]),
        ([0.4, 0.5, 0.7], [0.3, 0.4, 0.3]),
    ],
)
def test_bets_on_any_values_never_pay(values: list[float], chances: list[float]) -> None:
    for groups in (1, 5, 20):
        assert expected_wealth(values, chances, groups) <= 1 + 1e-9


def test_sums_promise_no_more_than_the_values_themselves_pay() -> None:
    lot = np.random.default_rng(1)
    for _ in range(300):
        one, two = lot.uniform(0.2, 4, 2).tolist()
        values = lot.beta(one, two, size=int(lot.integers(1, 200)))
        mean = float(lot.uniform(0.01, 0.99))
        own, stakes = bets(mean, 0.01)
        paid = np.log1p(own[:, None] * (values - mean)).sum(axis=1)
        assert wealth_of(mean_of(values), mean, 0.01) <= logsumexp(paid, b=stakes) + 1e-9


def log_wealth(sums: Array, mean: float, error: float) -> Array:
    """As `_gamble` for many runs at once, from groups and the three sums; checked where used."""
    t, total, squares, cubes = sums
    inner = np.maximum(total - squares, 1e-9)
    value = np.clip((squares - cubes) / inner, 1e-9, 1 - 1e-9)
    there = np.where(inner > 1e-9 * t, inner / (value * (1 - value)), 0)
    ones = np.maximum(total - there * value, 0)
    wealth = np.full(total.shape, -np.inf)
    for bet, stake in zip(*bets(mean, error), strict=True):
        paid = np.maximum(t - there - ones, 0) * math.log1p(-bet * mean)
        paid += ones * math.log1p(bet * (1 - mean)) + there * np.log1p(bet * (value - mean))
        wealth = np.logaddexp(wealth, paid + math.log(stake))
    return wealth


def ever_missed(values: Array, truth: float, error: float) -> float:
    """Share of rows whose sequence misses the truth at any look."""
    t = np.broadcast_to(np.arange(1, values.shape[1] + 1.0), values.shape)
    missed = np.zeros(values.shape, dtype=bool)
    for side, mean in ((values, truth), (1 - values, 1 - truth)):
        sums = np.stack([t, *(np.cumsum(side**power, axis=1) for power in (1, 2, 3))])
        found = log_wealth(sums, mean, error / 2)
        missed |= (found >= math.log(2 / error)) & (sums[1] > t * mean)
        for look in (FIRST_LOOK, values.shape[1]):
            scores = mean_of(side[0, :look])
            assert found[0, look - 1] == pytest.approx(wealth_of(scores, mean, error / 2))
            assert certainly_above(scores, mean, error) == (
                found[0, look - 1] >= math.log(2 / error) and scores.mean > mean
            )
    return float(missed[:, FIRST_LOOK - 1 :].any(axis=1).mean())


SHARES = [(0.25, 0.5, 0.25), (0.2, 0.1, 0.7), (0.05, 0.1, 0.85), (0.02, 0.0, 0.98)]


@pytest.mark.slow
@pytest.mark.parametrize("chances", SHARES)
def test_the_sequence_misses_the_truth_in_at_most_5_percent_of_runs_looked_at_all_the_time(
    chances: tuple[float, float, float],
) -> None:
    lot = np.random.default_rng(1)
    values = lot.choice([0.0, 0.5, 1.0], size=(500, 3000), p=chances)
    truth = chances[1] / 2 + chances[2]
    assert ever_missed(values, truth, 0.05) <= 0.05
    # One pair of seven neighbours: two standard errors of a share of 0.05 / 7 in 500.
    assert ever_missed(values, truth, 0.05 / 7) <= 0.05 / 7 + 0.0076


@pytest.mark.parametrize("chances", SHARES)
def test_the_first_looks_miss_in_at_most_5_percent(chances: tuple[float, float, float]) -> None:
    lot = np.random.default_rng(2)
    values = lot.choice([0.0, 0.5, 1.0], size=(600, 300), p=chances)
    assert ever_missed(values, chances[1] / 2 + chances[2], 0.05) <= 0.05


def test_looking_all_the_time_at_a_fixed_interval_would_be_wrong_in_half_of_all_runs() -> None:
    lot = np.random.default_rng(2)
    values = lot.choice([0.0, 1.0], size=(500, 4000))
    t = np.arange(1, 4001)
    z = np.abs(values.cumsum(axis=1) / t - 0.5) / (0.5 / np.sqrt(t))
    assert (z[:, 49:] > 1.96).any(axis=1).mean() > 0.35


def test_an_interval_ends_where_certainty_does() -> None:
    lot = np.random.default_rng(3)
    for share in (0.03, 0.4, 0.55, 0.97):
        scores = mean_of(
            lot.choice([0.0, 0.5, 1.0], size=200, p=[0.9 - 0.9 * share, 0.1, 0.9 * share])
        )
        low, high = interval(scores, 0.05)
        assert 0 <= low < scores.mean < high <= 1
        assert certainly_above(scores, low - 1e-5, 0.05)
        assert not certainly_above(scores, low + 1e-5, 0.05)
        assert certainly_above(scores.flipped, 1 - high - 1e-5, 0.05)
        assert not certainly_above(scores.flipped, 1 - high + 1e-5, 0.05)


def test_the_ends_of_an_interval() -> None:
    assert interval(won_all(FIRST_LOOK - 1, 0.6), 0.05) == (0, 1)
    low, high = interval(won_all(200, 1.0), 0.05)
    # All won: a bettor of everything has mean^-200, and a mixture of bettors a little less.
    assert 0.025 ** (1 / 200) - 0.02 < low < 0.025 ** (1 / 200)
    assert high == 1
    assert interval(won_all(200, 0.0), 0.05) == pytest.approx((0, 1 - low))


def test_near_even_the_price_of_certainty_is_small() -> None:
    """Against the asymptotic sequence, which is what the sums would give if they were normal."""
    for values, most in (((0.0, 0.55, 1.0), 1.1), ((0.3, 0.55, 0.8), 1.15)):
        scores = mean_of(np.repeat(values, (250, 500, 250)))
        low, high = interval(scores, 0.05)
        assert 0.95 < (high - low) / (2 * scores.sd * reach(1000, 0.05)) < most


def test_a_forecast_comes_true_when_values_go_on_as_they_were() -> None:
    counts = {0.5: (16, 22, 22), 0.45: (12, 36, 12), 0.7: (10, 20, 30)}
    for against, count in counts.items():
        values = np.array([0.0, 0.5, 1.0])
        needed = groups_needed(mean_of(np.repeat(values, count)), against, 0.05)
        assert FIRST_LOOK < needed < 1e5
        for groups, enough in ((math.ceil(1.01 * needed), True), (int(0.99 * needed), False)):
            times = groups / 60
            sums = [times * float(np.dot(count, values**power)) for power in (1, 2, 3)]
            low, high = interval(GroupMean(groups, *sums), 0.05)
            assert (not low <= against <= high) == enough
    assert groups_needed(won_all(60, 1.0), 0.5, 0.05) == pytest.approx(FIRST_LOOK)
    assert groups_needed(won_all(60, 0.5), 0.5, 0.05) == math.inf
    assert groups_needed(won_all(60, 0.5 + 1e-9), 0.5, 0.05) == math.inf


def test_the_reach_by_hand() -> None:
    # r = (-2 ln a + ln(-2 ln a) + 1) / 500 with a = 0.05; at t = 500.
    lost = -2 * math.log(0.05)
    r = (lost + math.log(lost) + 1) / 500
    by_hand = math.sqrt(2 * (500 * r + 1) / (500**2 * r) * math.log(math.sqrt(500 * r + 1) / 0.05))
    assert reach(500, 0.05) == pytest.approx(by_hand)
    assert reach(FIRST_LOOK - 1, 0.05) == math.inf


def test_a_group_mean_is_that_of_its_values() -> None:
    values = np.array([0.0, 0.5, 1.0, 1.0, 0.25])
    scores = mean_of(values)
    assert scores.mean == pytest.approx(values.mean())
    assert scores.sd == pytest.approx(values.std(ddof=1))
    assert scores.flipped == pytest.approx(mean_of(1 - values))
    assert GroupMean(1, 0.5, 0.25, 0.125).sd == math.inf
