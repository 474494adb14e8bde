"""Published fits and other programs' printed numbers, to the digits in which they were printed."""

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, log_expit, ndtr

from tourney.ratings import (
    GroupMean,
    LuceFit,
    elo_statement,
    fit_luce,
    logistic_ratio,
    normalised_ratio,
    t_ratio,
)
from tourney.ratings.advantage import Duels, fit_advantage
from tourney.ratings.fits import Fit, fit_pairs
from tourney.ratings.order import quasi_variances
from tourney.ratings.rate import ELO

DATA = Path(__file__).parents[2] / "data" / "ratings"

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def table(name: str) -> list[dict[str, Any]]:
    with (DATA / name).open(newline="") as lines:
        return list(csv.DictReader(lines))


def against_first(fit: Fit) -> tuple[Array, Array]:
    """Strengths and errors with the first bot at 0; the inverse information, nothing clustered."""
    spread = np.linalg.inv(fit.information)
    error = np.sqrt(np.diag(spread) + spread[0, 0] - 2 * spread[0])
    return fit.strengths - fit.strengths[0], error


# Baseball 1987 (Agresti 1990, as in R's BradleyTerry2).

TEAMS = ["Baltimore", "Boston", "Cleveland", "Detroit", "Milwaukee", "New York", "Toronto"]


def baseball() -> tuple[Duels, Array]:
    rows = table("baseball1987.csv")
    home = np.array([TEAMS.index(row["home.team"]) for row in rows])
    away = np.array([TEAMS.index(row["away.team"]) for row in rows])
    won = np.array([float(row["home.wins"]) for row in rows])
    lost = np.array([float(row["away.wins"]) for row in rows])
    ahead = np.zeros((7, 7))
    np.add.at(ahead, (home, away), won)
    np.add.at(ahead, (away, home), lost)
    return Duels((home, away), (home * 0, home * 0 + 1), won, won + lost), ahead


def test_baseball() -> None:
    fit = fit_pairs(baseball()[1], prior=0)
    strengths, errors = against_first(fit)
    assert strengths[1:] == pytest.approx(
        [1.1076977054, 0.6838527692, 1.4364084318, 1.5813558767, 1.2476178451, 1.2944851239],
        abs=6e-11,
    )
    # R's glm inverts the information of its last step but one, which the last digit shows.
    assert errors[1:] == pytest.approx(
        [0.3338779, 0.3318764, 0.3395682, 0.3432557, 0.3358606, 0.3366691], abs=4e-7
    )


def test_baseball_likelihood_with_its_binomial_constants() -> None:
    duels, ahead = baseball()
    fit = fit_pairs(ahead, prior=0)
    gap = fit.strengths[duels.bots[0]] - fit.strengths[duels.bots[1]]
    log_choose = np.array(
        [math.log(math.comb(int(m), int(w))) for w, m in zip(duels.ahead, duels.met, strict=True)]
    )
    lost = duels.met - duels.ahead
    total = float((duels.ahead * log_expit(gap) + lost * log_expit(-gap) + log_choose).sum())
    assert total == pytest.approx(-64.2593005, abs=5e-8)
    assert fit.log_likelihood == pytest.approx(total - float(log_choose.sum()), abs=1e-9)


def test_baseball_with_a_home_effect() -> None:
    fit = fit_advantage(baseball()[0], 7, 2, prior=0)
    spread = np.linalg.inv(fit.information)
    at_home = fit.strengths[7] - fit.strengths[8]
    assert at_home == pytest.approx(0.3022606555, abs=6e-11)
    assert math.sqrt(spread[7, 7] + spread[8, 8] - 2 * spread[7, 8]) == pytest.approx(
        0.1309436425, abs=1e-7
    )
    assert at_home * ELO == pytest.approx(52.51, abs=5e-3)
    assert fit.strengths[4] - fit.strengths[0] == pytest.approx(1.6195549936, abs=6e-11)


# Citations among four journals (Stigler 1994).


def test_citations() -> None:
    cited = np.array(
        [
            [714, 730, 498, 221],
            [33, 425, 68, 17],
            [320, 813, 1072, 142],
            [284, 276, 325, 188],
        ],
        dtype=float,
    )
    np.fill_diagonal(cited, 0)
    strengths, errors = against_first(fit_pairs(cited, prior=0))
    assert strengths[1:] == pytest.approx([-2.9490724968, -0.4795697698, 0.2689540558], abs=6e-11)
    assert errors[1:] == pytest.approx([0.1025453354, 0.0605887292, 0.0708299651], abs=2e-10)


def test_the_worked_example_of_wikipedia() -> None:
    ahead = np.array([[0, 2, 0, 1], [3, 0, 5, 0], [0, 3, 0, 1], [4, 0, 3, 0]], dtype=float)
    worth = np.exp(fit_pairs(ahead, prior=0).strengths)
    assert worth == pytest.approx([0.6398348, 1.0433144, 0.6598102, 2.2703766], abs=5e-8)
    assert float(np.prod(worth)) == pytest.approx(1)


def test_three_engines_at_75_75_and_90_percent() -> None:
    ahead = np.array([[0, 75, 90], [25, 0, 75], [10, 25, 0]], dtype=float)
    ratings = fit_pairs(ahead, prior=0).strengths * ELO
    assert ratings == pytest.approx([190.8485019, 0, -190.8485019], abs=5e-8)


def test_a_bot_that_always_wins_gets_a_floor_and_never_infinity() -> None:
    ahead = np.full((10, 10), 10.0)
    ahead[0, 1:], ahead[1:, 0] = 20, 0
    np.fill_diagonal(ahead, 0)
    strengths = fit_pairs(ahead).strengths
    assert (strengths[0] - strengths[1]) * ELO == pytest.approx(1023, abs=0.5)


def test_the_prior_moves_a_rating_by_less_than_a_fifth_of_a_point() -> None:
    lot = np.random.default_rng(1)
    t = lot.normal(0, 0.3, 8)
    p = expit(t[:, None] - t[None, :])
    ahead = 200 * p
    np.fill_diagonal(ahead, 0)
    with_prior, without = (fit_pairs(ahead, prior=k).strengths for k in (1.0, 0.0))
    moved = (with_prior - with_prior.mean()) - (without - without.mean())
    assert float(np.abs(moved).max() * ELO) < 0.2


# NASCAR 2002 (Hunter 2004; standard errors of R's PlackettLuce).


def nascar() -> tuple[list[str], list[list[int]]]:
    with (DATA / "nascar2002_drivers.csv").open(newline="") as lines:
        names = [row[1] for row in list(csv.reader(lines))[1:]]
    with (DATA / "nascar2002_orderings.csv").open(newline="") as lines:
        races = [[int(cell) - 1 for cell in row if cell] for row in list(csv.reader(lines))[1:]]
    return names, races


def test_nascar_without_the_drivers_who_were_always_last() -> None:
    names, races = nascar()
    published = {row["name"]: row for row in table("nascar2002_fit_83.csv")}
    kept = [name for name in names if name in published]
    assert len(kept) == 83
    number = {names.index(name): place for place, name in enumerate(kept)}
    fit = fit_luce([[[number[d]] for d in race if d in number] for race in races])
    found = dict(zip(kept, fit.worths.tolist(), strict=True))
    assert {n: round(found[n], 2) for n in ("PJ Jones", "Scott Pruett", "Mark Martin")} == {
        "PJ Jones": 4.15,
        "Scott Pruett": 3.62,
        "Mark Martin": 2.08,
    }
    assert {n: round(found[n], 2) for n in ("Dave Marcis", "Dick Trickle", "Joe Varde")} == {
        "Dave Marcis": 0.03,
        "Dick Trickle": -0.31,
        "Joe Varde": -0.15,
    }
    for name, row in published.items():
        assert found[name] == pytest.approx(float(row["coef"]), abs=1e-8)
        error = math.sqrt(fit.covariance[kept.index(name), kept.index(name)])
        if row["se"] != "NA":
            assert error == pytest.approx(float(row["se"]), abs=1e-8)
    jones = kept.index("PJ Jones")
    assert math.sqrt(fit.covariance[jones, jones]) == pytest.approx(1.567628082, abs=1e-8)
    assert fit.log_likelihood == pytest.approx(-4191.097285, abs=1e-6)


def races_only(fit: LuceFit) -> Array:
    """The covariance without the pseudo-comparisons' information, the first driver at 0."""
    s = expit(fit.worths)
    information = np.linalg.inv(fit.covariance) - np.diag(s * (1 - s))
    spread = np.zeros(information.shape)
    spread[1:, 1:] = np.linalg.inv(information[1:, 1:])
    return spread


def test_nascar_quasi_variances() -> None:
    _, races = nascar()
    spread = races_only(fit_luce([[[driver] for driver in race] for race in races], prior=1.0))
    bars = quasi_variances(spread)
    assert bars is not None
    one, two = np.triu_indices(len(bars), 1)
    own = np.diag(spread)
    true = np.sqrt(own[one] + own[two] - 2 * spread[one, two])
    off = np.sqrt(bars[one] + bars[two]) / true - 1
    # Published: errors of differences come out -0.7 to +6.7 % off.
    assert (float(off.min()), float(off.max())) == pytest.approx((-0.007, 0.067), abs=5e-4)


def test_nascar_with_half_a_pseudo_win_and_half_a_pseudo_loss() -> None:
    names, races = nascar()
    fit = fit_luce([[[driver] for driver in race] for race in races], prior=1.0)
    worths = fit.worths - fit.worths[0]
    for row in table("nascar2002_fit_87_npseudo05.csv"):
        assert worths[names.index(row["name"])] == pytest.approx(float(row["coef"]), abs=2e-7)
    assert worths[names.index("PJ Jones")] == pytest.approx(3.195986155, abs=2e-7)
    hillenburg = names.index("Andy Hillenburg")
    assert worths[hillenburg] == pytest.approx(-2.171064957, abs=2e-7)
    assert fit.log_likelihood == pytest.approx(-4193.592342, abs=2e-6)
    # The published errors leave the pseudo-comparisons out of the information.
    error = math.sqrt(races_only(fit)[hillenburg, hillenburg])
    assert error == pytest.approx(1.812993593, abs=1e-7)


# Ties of two and more (Davidson 1970; the example of R's PlackettLuce).


def test_pudding() -> None:
    rankings, counts = [], []
    for row in table("pudding.csv"):
        i, j = int(row["i"]) - 1, int(row["j"]) - 1
        rankings += [[[i], [j]], [[j], [i]], [[i, j]]]
        counts += [float(row[name]) for name in ("w_ij", "w_ji", "t_ij")]
    fit = fit_luce(rankings, counts)
    worth = np.exp(fit.worths) / np.exp(fit.worths).sum()
    assert worth == pytest.approx(
        [0.1388034, 0.1730015, 0.1617474, 0.1653730, 0.1586854, 0.2023893], abs=6e-8
    )
    assert fit.ties[2] == pytest.approx(-0.2919270864, abs=2e-10)
    assert math.exp(fit.ties[2]) == pytest.approx(0.7468230, abs=5e-8)
    assert fit.log_likelihood == pytest.approx(-809.7095101, abs=6e-8)


def test_fruit_with_ties_of_three() -> None:
    ranks = [(1, 2, 0, 0), (4, 1, 2, 3), (2, 1, 1, 1), (1, 2, 3, 0), (2, 1, 1, 0), (1, 0, 3, 2)]
    rankings = [
        [[fruit for fruit, own in enumerate(row) if own == rank] for rank in sorted({*row} - {0})]
        for row in ranks
    ]
    fit = fit_luce(rankings)
    assert fit.worths == pytest.approx([0, 0.2942874881, -0.7335112666, -0.1190960216], abs=8e-8)
    assert fit.ties == pytest.approx({2: -1.861946719, 3: -0.7369734711}, abs=6e-8)
    assert fit.log_likelihood == pytest.approx(-14.56973929, abs=5e-9)
    errors = np.sqrt(np.diag(fit.covariance))[1:]
    assert errors == pytest.approx([1.04996, 1.15098, 1.07982, 1.07411, 1.13721], abs=6e-6)


# Sequential tests: fastchess's own vectors, and fishtest's code.


@pytest.mark.parametrize(
    ("pairs", "low", "high", "expected"),
    [
        ([365, 16618, 36229, 16974, 390], 0, 2, 2.25),
        ([127, 4883, 10712, 5150, 104], -1.75, 0.25, 3.01),
    ],
)
def test_fastchess_pairs_by_normalised_elo(
    pairs: list[int], low: float, high: float, expected: float
) -> None:
    assert normalised_ratio(pairs, low, high) == pytest.approx(expected, abs=5e-3)


@pytest.mark.parametrize(
    ("pairs", "low", "high", "expected"),
    [
        ([223, 9863, 21279, 10037, 246], 0.5, 2.5, -3.07),
        ([871, 26175, 55983, 26678, 821], 0, 2, -4.98),
    ],
)
def test_fastchess_pairs_by_logistic_elo(
    pairs: list[int], low: float, high: float, expected: float
) -> None:
    assert logistic_ratio(pairs, low, high) == pytest.approx(expected, abs=5e-3)


@pytest.mark.parametrize(
    ("won", "lost", "drawn", "low", "high", "expected"),
    [
        (36433, 36027, 68692, 0, 2, 0.92),
        (10871, 10650, 20431, -1.75, 0.25, 2.30),
    ],
)
def test_fastchess_single_matches_by_normalised_elo(
    won: int, lost: int, drawn: int, low: float, high: float, expected: float
) -> None:
    assert normalised_ratio([lost, drawn, won], low, high, matches=1) == pytest.approx(
        expected, abs=5e-3
    )


@pytest.mark.parametrize(
    ("won", "lost", "drawn", "low", "high", "expected"),
    [
        (21404, 21184, 40708, 0.5, 2.5, -1.57),
        (57433, 57030, 106593, 0, 2, -2.59),
    ],
)
def test_fastchess_single_matches_by_logistic_elo(
    won: int, lost: int, drawn: int, low: float, high: float, expected: float
) -> None:
    assert logistic_ratio([lost, drawn, won], low, high) == pytest.approx(expected, abs=5e-3)


def test_where_everything_was_won_the_likeliest_losses_are_worked_out_by_hand() -> None:
    # All at 1 or 0: mean p and t = (p - 1/2) / sqrt(p (1 - p)), so p = 1/2 + t / (2 sqrt(1 + t^2)).
    for groups, matches, high, printed in ((5550, 2, 5, 111.82), (4250, 1, 10, 120.56)):
        t = high * math.sqrt(matches) / (800 / math.log(10))
        exact = groups * math.log(1 + t / math.sqrt(1 + t * t))
        counts = [0] * (2 * matches) + [groups]
        found = normalised_ratio(counts, 0, high, matches=matches)
        assert found == pytest.approx(exact, abs=1e-3)
        # fastchess stops its iteration early and prints a ten-thousandth more.
        assert found == pytest.approx(printed, rel=3e-4)


PAIRS = [39, 2226, 31451, 2412, 40]


def test_fishtest_ratios() -> None:
    assert logistic_ratio([10789, 19328, 33806, 19402, 10543], -3, 1) == pytest.approx(
        2.1310678, abs=6e-8
    )
    assert normalised_ratio(PAIRS, 0.764, 3.439) == pytest.approx(2.1629409, abs=6e-8)
    assert logistic_ratio(PAIRS, 0.2, 0.9) == pytest.approx(2.1625425, abs=1e-7)


@pytest.mark.parametrize(
    ("pairs", "low", "high", "expected"),
    [
        (PAIRS, 0, 5, 2.847898594083),
        (PAIRS, -5, 0, 17.832223595824992),
        (PAIRS, 0.764, 3.439, 2.1629408695845367),
        ([10789, 19328, 33806, 19402, 10543], -5, 0, 12.039751536817539),
        ([10789, 19328, 33806, 19402, 10543], 0.764, 3.439, -12.701291983706488),
        ([10789, 19328, 33806, 19402, 10543], -3, 1, 0.3008697854813657),
        ([100, 200, 400, 250, 150], 0, 20, 7.004863094500454),
    ],
)
def test_ratios_of_pairs_to_ten_digits(
    pairs: list[int], low: float, high: float, expected: float
) -> None:
    """Cases that fishtest's users test their own programs with, in normalised Elo."""
    assert normalised_ratio(pairs, low, high) == pytest.approx(expected, abs=2e-9)


def group_mean(counts: list[int]) -> GroupMean:
    scores = np.linspace(0, 1, len(counts))
    return GroupMean(sum(counts), *(float(counts @ scores**n) for n in (1, 2, 3)))


def test_the_closed_form_for_groups_of_any_size_is_near_the_exact_one() -> None:
    assert t_ratio(group_mean(PAIRS), 0.764, 3.439, matches=2) == pytest.approx(2.1629409, rel=3e-4)


@pytest.mark.parametrize(
    ("counts", "matches", "elo", "error", "normalised", "normalised_error"),
    [
        ([34, 54, 31 + 32, 64, 75], 2, 55.58, 27.65, 57.94, 28.28),
        ([332, 433, 457 + 41, 333, 334], 2, -8.64, 10.33, -9.17, 10.96),
        ([7895, 8757, 5485 + 200, 568, 9999], 2, -21.04, 2.95, None, None),
        ([96, 111, 136], 1, 40.70, 30.43, 49.77, 36.77),
        ([89, 123, 76], 1, None, None, -20.76, 40.13),
    ],
)
def test_fastchess_elo(
    counts: list[int],
    matches: int,
    elo: float | None,
    error: float | None,
    normalised: float | None,
    normalised_error: float | None,
) -> None:
    said = elo_statement(group_mean(counts), matches=matches)
    assert said is not None
    if elo is not None:
        assert (said.elo, said.elo_error) == pytest.approx((elo, error), abs=5.1e-3)
    if normalised is not None:
        assert (said.normalised, said.normalised_error) == pytest.approx(
            (normalised, normalised_error), abs=5.1e-3
        )


@pytest.mark.parametrize(
    ("counts", "matches", "expected"),
    [
        ([332, 433, 457 + 41, 333, 334], 2, 0.0505),
        ([96, 111, 136], 1, 0.9960),
        ([10789, 19328, 33806, 19402, 10543], 2, 0.1177),
    ],
)
def test_superiority_as_match_programs_print_it(
    counts: list[int], matches: int, expected: float
) -> None:
    said = elo_statement(group_mean(counts), matches=matches)
    assert said is not None
    assert said.superiority == pytest.approx(expected, abs=5.1e-5)


def test_fishtest_elo() -> None:
    said = elo_statement(group_mean([10789, 19328, 33806, 19402, 10543]), matches=2)
    assert said is not None
    assert (said.elo, said.elo_error) == pytest.approx((-0.7736, 1.2776), abs=6e-5)


@pytest.mark.parametrize(
    ("difference", "sd", "printed"), [(6, 11, 71), (23, 10, 99), (-35, 9, 0), (44, 8, 100)]
)
def test_superiority_is_the_one_of_ordos_manual(difference: float, sd: float, printed: int) -> None:
    from tourney.ratings.order import superiority

    errors = np.array([[0.0, sd], [sd, 0.0]])
    found = superiority(np.array([float(difference), 0.0]), errors, 10**9)
    assert round(100 * float(found[0, 1])) == printed
    assert float(found[0, 1]) == pytest.approx(float(ndtr(difference / sd)), abs=1e-6)
