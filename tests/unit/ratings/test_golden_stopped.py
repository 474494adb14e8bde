"""Elo after a sequential test: fishtest's figures, and walks whose truth is known."""

import math

import numpy as np
import pytest
from scipy.special import expit, ndtr

from tests.unit.ratings.simulated import Array
from tourney.ratings import GroupMean, elo_statement, gate_bounds, stopped_elo
from tourney.ratings.gates import Bounds
from tourney.ratings.rate import ELO
from tourney.ratings.stopped import Scale, _left_of

PAIRS = [39, 2226, 31451, 2412, 40]


def group_mean(counts: list[int]) -> GroupMean:
    scores = np.linspace(0, 1, len(counts))
    return GroupMean(sum(counts), *(float(counts @ scores**n) for n in (1, 2, 3)))


@pytest.mark.parametrize(
    ("claims", "scale"), [((0.2, 0.9), "logistic"), ((0.764, 3.439), "normalised")]
)
def test_fishtest_estimate_after_its_test(claims: tuple[float, float], scale: Scale) -> None:
    found = stopped_elo(group_mean(PAIRS), claims, gate_bounds(0.05, 0.05), matches=2, scale=scale)
    assert found is not None
    # The upper end was printed as 1.5406 where both scales give 1.54065 to 1.54067.
    assert (found.elo, found.low, found.high) == pytest.approx((0.8652, 0.1683, 1.5406), abs=1e-4)
    assert found.superiority == pytest.approx(0.9920, abs=5e-5)


@pytest.mark.parametrize(
    ("counts", "elo", "error", "superiority", "normalised"),
    [
        ([10789, 19328, 33806, 19402, 10543], -0.77357734, 1.27757990, 0.11765886, -0.95162900),
        (PAIRS, 0.90298105, 0.66253149, 0.99622210, 3.45079961),
    ],
)
def test_fishtest_elo_without_a_stop(
    counts: list[int], elo: float, error: float, superiority: float, normalised: float
) -> None:
    said = elo_statement(group_mean(counts), matches=2)
    assert said is not None
    assert (said.elo, said.elo_error) == pytest.approx((elo, error), abs=1e-8)
    assert said.superiority == pytest.approx(superiority, abs=1e-8)
    assert said.normalised == pytest.approx(normalised, abs=1e-8)


def images(end: float, start: float, height: float, tilt: float, time: float) -> float:
    """The same chance by the method of images: who survives below `end`, and who went down.

    A path from `start` that is absorbed at 0 or `height` has the images start + 2 n height and,
    with the other sign, -start + 2 n height; a drift weighs each by its likelihood ratio.
    """
    root = math.sqrt(time)

    def below(x: float) -> float:
        total = 0.0
        for n in range(-40, 41):
            for sign, image in ((1, start + 2 * n * height), (-1, -start + 2 * n * height)):
                weight = math.exp(tilt * (image - start))
                mean = image + tilt * time
                total += sign * weight * float(ndtr((x - mean) / root) - ndtr((0 - mean) / root))
        return total

    # Down by now = down ever - (alive now, and down later).
    ever = (math.exp(-2 * tilt * start) - math.exp(-2 * tilt * height)) / (
        1 - math.exp(-2 * tilt * height)
    )
    cells = np.linspace(0, height, 4001)
    mass = np.diff([below(float(x)) for x in cells])
    middle = (cells[1:] + cells[:-1]) / 2
    later = (np.exp(-2 * tilt * middle) - math.exp(-2 * tilt * height)) / (
        1 - math.exp(-2 * tilt * height)
    )
    return float(ever - mass @ later + below(end))


@pytest.mark.parametrize(
    ("end", "tilt", "time"), [(3.0, 0.3, 2.0), (1.0, -0.4, 1.0), (5.5, 0.2, 9.0), (2.9, 0.8, 0.3)]
)
def test_the_series_is_the_method_of_images(end: float, tilt: float, time: float) -> None:
    assert _left_of(end, 2.944, 5.888, tilt, time) == pytest.approx(
        images(end, 2.944, 5.888, tilt, time), abs=1e-5
    )


def stopped(seed: int, elo: float, claims: tuple[float, float]) -> GroupMean:
    """A test of pairs, looked at after each, until it is decided."""
    lot = np.random.default_rng(seed)
    mean = float(expit(elo / ELO))
    bounds = gate_bounds(0.05, 0.05)
    values: Array = lot.choice(
        [0.0, 0.5, 1.0], p=[0.9 - mean + 0.05, 0.1, mean - 0.05], size=40_000
    )
    total, squares = values.cumsum(), (values**2).cumsum()
    n = np.arange(1, len(values) + 1)
    mu = total / n
    variance = np.maximum(squares / n - mu**2, 1e-9)
    low, high = (float(expit(claim / ELO)) for claim in claims)
    ratio = n * (mu - (low + high) / 2) * (high - low) / variance
    ratio[:20] = 0
    over = np.flatnonzero((ratio >= bounds.upper) | (ratio <= bounds.lower))
    at = int(over[0])
    return GroupMean(
        at + 1, float(total[at]), float(squares[at]), float((values[: at + 1] ** 3).sum())
    )


def test_after_a_stop_the_median_is_right_and_the_plain_estimate_is_not() -> None:
    truth, claims = 10.0, (0.0, 16.0)
    bounds = gate_bounds(0.05, 0.05)
    plain, corrected, held = [], [], 0
    for seed in range(300):
        scores = stopped(seed, truth, claims)
        said = elo_statement(scores, matches=1)
        found = stopped_elo(scores, claims, bounds, matches=1, scale="logistic")
        assert said is not None
        assert found is not None
        plain.append(said.elo > truth)
        corrected.append(found.elo > truth)
        held += found.low <= truth <= found.high
    # Two and a half standard errors of a half in 300, and of 95 %.
    assert abs(np.mean(corrected) - 0.5) < 0.075
    assert held / 300 > 0.95 - 0.032
    assert np.mean(plain) > np.mean(corrected)


def test_estimates_rise_with_the_score_and_lie_in_their_intervals() -> None:
    bounds, before = gate_bounds(0.05, 0.05), -math.inf
    for mean in np.linspace(0.46, 0.54, 17):
        scores = GroupMean(400, 400 * mean, 400 * (mean**2 + 0.04), 0.0)
        found = stopped_elo(scores, (0, 40), bounds, matches=2)
        said = elo_statement(scores, matches=2)
        if found is None:
            continue
        assert said is not None
        assert before < found.elo
        assert found.low < found.elo < found.high
        assert abs(found.elo - said.elo) < said.elo_error
        before = found.elo
    assert before > 0


def test_of_bots_far_apart_there_is_no_estimate() -> None:
    scores = GroupMean(60, 48.9, 43.0, 40.0)
    assert stopped_elo(scores, (0, 10), gate_bounds(0.05, 0.05), matches=2) is None


def test_where_play_went_on_there_is_nothing_to_correct() -> None:
    scores = GroupMean(8000, 4200.0, 2700.0, 2000.0)
    assert stopped_elo(scores, (0, 10), gate_bounds(0.05, 0.05), matches=2) is None
    assert stopped_elo(scores.flipped, (0, 10), gate_bounds(0.05, 0.05), matches=2) is None


def test_scores_without_spread_have_no_estimate() -> None:
    bounds = Bounds(-2.9, 2.9)
    assert stopped_elo(GroupMean(10, 5.0, 2.5, 1.25), (0, 10), bounds, matches=2) is None
    assert stopped_elo(GroupMean(1, 1.0, 1.0, 1.0), (0, 10), bounds, matches=2) is None
