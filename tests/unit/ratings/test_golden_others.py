"""Other raters on the same results: choix and openskill as installed, others as they printed."""

import csv
import itertools
import math
from pathlib import Path

import choix
import numpy as np
import pytest
from openskill.models import PlackettLuce
from scipy.special import expit, logit

from tests.unit.ratings.simulated import Array
from tourney.ratings import ELO, Matches, fit_luce, log_odds, nash_average, rate, sketch, standings
from tourney.ratings.fits import fit_pairs
from tourney.ratings.matches import IntArray
from tourney.ratings.spread import covariance, meat

DATA = Path(__file__).parents[2] / "data" / "ratings"


def rankings(seed: int, bots: int, seats: int, matches: int) -> list[tuple[int, ...]]:
    lot = np.random.default_rng(seed)
    t = lot.normal(0, 0.7, bots)
    seated = np.argsort(lot.random((matches, bots)), axis=1)[:, :seats]
    order = np.argsort(-(t[seated] + lot.gumbel(size=seated.shape)), axis=1)
    return [tuple(row) for row in np.take_along_axis(seated, order, axis=1).tolist()]


def centred(values: Array) -> Array:
    shifted: Array = values - values.mean()
    return shifted


@pytest.mark.parametrize(
    ("method", "options", "off"),
    [
        ("ilsr_rankings", {"alpha": 0, "tol": 1e-13}, 1e-10),
        ("mm_rankings", {"alpha": 0, "tol": 1e-13, "max_iter": 10_000}, 1e-9),
        pytest.param("opt_rankings", {"alpha": 0, "tol": 1e-8}, 1e-9, marks=pytest.mark.slow),
    ],
)
def test_choix_finds_the_same_optimum(method: str, options: dict[str, float], off: float) -> None:
    """Twenty bots, two thousand matches of four."""
    matches = rankings(3, 20, 4, 2000)
    ours = fit_luce([[[bot] for bot in ranking] for ranking in matches]).worths
    theirs = getattr(choix, method)(20, matches, **options)
    assert centred(ours) == pytest.approx(centred(theirs), abs=off)


def test_alpha_of_choix_is_half_of_a_ridges_precision() -> None:
    """Of eight bots' random results at alpha = 0.5: the slope of theirs is that of a ridge of 1."""
    matches = rankings(8, 8, 4, 60)
    theirs = choix.opt_rankings(8, matches, alpha=0.5, tol=1e-12)
    slope = np.zeros(8)
    for ranking in matches:
        for place in range(3):
            left = list(ranking[place:])
            odds = np.exp(theirs[left])
            slope[left[0]] += 1
            slope[left] -= odds / odds.sum()
    for precision, stays in ((1.0, True), (0.5, False)):
        assert np.allclose(slope - precision * theirs, 0, atol=1e-6) == stays


def test_openskill_prints_its_vectors_and_its_tie() -> None:
    model = PlackettLuce()

    def rated(
        sizes: tuple[int, ...], ranks: list[float] | None = None
    ) -> list[tuple[float, float]]:
        teams = [[model.rating() for _ in range(size)] for size in sizes]
        return [(team[0].mu, team[0].sigma) for team in model.rate(teams, ranks=ranks)]

    assert rated((1, 1))[0] == pytest.approx((27.63538949, 8.06590141), abs=5e-9)
    assert rated((2, 2))[0] == pytest.approx((26.9642946218, 8.1779626044), abs=5e-11)
    four = [mu for mu, _ in rated((1, 1, 1, 1))]
    assert four == pytest.approx([27.7953, 26.5529, 24.6894, 20.9624], abs=5e-5)
    tie = [mu for mu, _ in rated((1,) * 5, [0, 0, 1, 2, 3])]
    # The third of five beats the joint winners, which is why ties are ours to get right.
    assert tie == pytest.approx([26.0, 26.0, 26.556, 24.9, 21.6], abs=0.05)


def test_joint_winners_come_before_the_third() -> None:
    """The same result in our ratings, in all rotations of one deal."""
    seating = np.array([np.roll(np.arange(5), -turn) for turn in range(5)]).T
    ranks = np.array([1, 1, 3, 4, 5])
    matches = Matches(
        bots=tuple("abcde"),
        groups=np.arange(1),
        starts=np.zeros(1, dtype=np.int64),
        seating=seating,
        ranks=ranks[seating].astype(np.uint8),
    )
    for headline in ("win", "placement"):
        lines = standings(rate(sketch(matches)), headline=headline)
        assert [line.bot for line in lines][:3] == ["a", "b", "c"]
        assert lines[0].rating == pytest.approx(lines[1].rating)
        assert lines[1].rating > lines[2].rating + 1


def arena() -> tuple[Array, list[dict[str, str]]]:
    """Pair counts of a million simulated matches of four, and arena-rank 0.1.1 of them."""
    ahead = np.zeros((20, 20))
    with (DATA / "arena_rank_pairs.csv").open(newline="") as lines:
        for row in csv.DictReader(lines):
            i, j = int(row["bot"]), int(row["other"])
            ahead[i, j] = int(row["wins"]) + int(row["ties"]) / 2
            ahead[j, i] = int(row["losses"]) + int(row["ties"]) / 2
    with (DATA / "arena_rank_fit.csv").open(newline="") as lines:
        return ahead, list(csv.DictReader(lines))


def test_arena_rank_has_the_same_ratings_of_six_million_pairs() -> None:
    ahead, printed = arena()
    assert ahead.sum() == 6_000_000
    ours = fit_pairs(ahead, prior=0).strengths * ELO
    theirs = np.array([float(row["rating"]) for row in printed])
    assert centred(ours) == pytest.approx(centred(theirs), abs=0.0006)


def ordo_scale(points: float) -> float:
    """Ordo's unit: so many points are an expected score of 76 %; ours has 200.24 there."""
    return points / (float(ELO) * float(logit(0.76)))


def test_ordos_scale() -> None:
    assert ordo_scale(202) == pytest.approx(1.0088, abs=5e-5)
    # Three engines at 75, 75 and 90 %, which Ordo printed on its own scale.
    assert 190.8485019 * ordo_scale(202) == pytest.approx(192.525, abs=2e-3)


@pytest.mark.slow
def test_errors_of_twenty_bots_in_a_hundred_thousand_duels_are_those_of_simulation() -> None:
    """Ordo's way: rate 200 simulated tournaments; it had 3.65 where Fisher's information has 3.64.

    Every duel is a deal of its own here, so that clusters are matches.
    """
    bots, duels, draws = 20, 100_000, 0.0
    lot = np.random.default_rng(1)
    t = np.linspace(-0.7, 0.7, bots)
    one, two = np.array(list(itertools.combinations(range(bots), 2))).T
    met = np.full(len(one), duels / len(one))
    p = expit(t[one] - t[two])
    found = []
    for _ in range(200):
        won = lot.binomial(met.astype(int), p * (1 - draws))
        ahead = np.zeros((bots, bots))
        ahead[one, two], ahead[two, one] = won, met.astype(int) - won
        found.append(centred(fit_pairs(ahead, prior=0).strengths) * ELO)
    simulated = float(np.sqrt(np.var(found, axis=0, ddof=1).mean()))
    expected = np.zeros((bots, bots))
    expected[one, two], expected[two, one] = met * p, met * (1 - p)
    spread = np.linalg.inv(fit_pairs(expected, prior=0).information)
    shift = np.eye(bots) - 1 / bots
    fisher = float(np.sqrt(np.diag(shift @ spread @ shift).mean()) * ELO)
    # Two and a half standard errors of a spread from 200 runs of 19 free ratings.
    assert simulated == pytest.approx(fisher, rel=2.5 / math.sqrt(2 * 200 * 19))
    assert clustered(one, two, met, p) == pytest.approx(fisher, rel=0.02)


def clustered(one: IntArray, two: IntArray, met: Array, p: Array) -> float:
    """The mean error of our sandwich over single duels as groups of one match."""
    lot = np.random.default_rng(2)
    seats = np.repeat(np.stack([one, two]), met.astype(int), axis=1)
    first = lot.random(seats.shape[1]) < np.repeat(p, met.astype(int))
    count = seats.shape[1]
    matches = Matches(
        bots=tuple(f"{bot:02d}" for bot in range(20)),
        groups=np.arange(count),
        starts=np.arange(count),
        seating=seats,
        ranks=np.stack([np.where(first, 1, 2), np.where(first, 2, 1)]).astype(np.uint8),
    )
    [table] = rate(sketch(matches), prior=0)
    [sums] = table.sketches
    fit = table.placement.fit
    spread = covariance(fit.information, meat(sums, fit.strengths, "placement"))
    assert spread is not None
    shift = np.eye(20) - 1 / 20
    return float(np.sqrt(np.diag(shift @ spread @ shift).mean()) * ELO)


# OpenSpiel's own cases of Nash averaging.

BETTER_AND_BETTER = np.array([[0.0, -1, -1], [1, 0, -1], [1, 1, 0]])
ROCK_PAPER_SCISSORS = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])
ONE_BEATS_ALL = np.array(
    [[0.0, 234, 34, -270], [-234, 0, -38, -464], [-34, 38, 0, -270], [270, 464, 270, 0]]
)


@pytest.mark.parametrize(
    ("payoffs", "weights", "scores"),
    [
        (BETTER_AND_BETTER, [0, 0, 1], [-1, -1, 0]),
        (ROCK_PAPER_SCISSORS, [1 / 3] * 3, [0, 0, 0]),
        (ONE_BEATS_ALL, [0, 0, 0, 1], [-270, -464, -270, 0]),
        (np.zeros((3, 3)), [1 / 3] * 3, [0, 0, 0]),
    ],
)
def test_open_spiel_nash_averages(
    payoffs: Array, weights: list[float], scores: list[float]
) -> None:
    found = nash_average(payoffs)
    assert found.weights == pytest.approx(weights, abs=1e-7)
    assert found.scores == pytest.approx(scores, abs=1e-5)


def test_a_bot_entered_twice_shares_its_weight_and_changes_no_other() -> None:
    twice = [0, 0, 1, 2]
    found = nash_average(ROCK_PAPER_SCISSORS[np.ix_(twice, twice)])
    assert found.weights == pytest.approx([1 / 6, 1 / 6, 1 / 3, 1 / 3], abs=1e-7)


def test_an_uneven_cycle_by_hand() -> None:
    # A beats B by 1, B beats C by 2, C beats A by 3: weights are what the other two play for.
    payoffs = np.array([[0.0, 1, -3], [-1, 0, 2], [3, -2, 0]])
    assert nash_average(payoffs).weights == pytest.approx([2 / 6, 3 / 6, 1 / 6], abs=1e-7)


def test_any_mixture_is_an_equilibrium() -> None:
    lot = np.random.default_rng(5)
    for bots in (2, 7, 30):
        half = lot.normal(size=(bots, bots))
        found = nash_average(half - half.T)
        assert found.weights.sum() == pytest.approx(1)
        assert found.scores.max() < 1e-6
        assert found.scores[found.weights > 0] == pytest.approx(0, abs=1e-6)


def test_log_odds_of_counts() -> None:
    found = log_odds(np.array([[0.0, 9.5], [0.5, 0.0]]))
    assert found == pytest.approx(np.array([[0, math.log(10)], [-math.log(10), 0]]))
    with pytest.raises(ValueError, match="antisymmetric"):
        nash_average(np.ones((2, 2)))
