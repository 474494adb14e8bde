"""The exact figures of RULES.md E.1 for Dam, counted over every row with the game's own values."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb

import pytest

from tourney.games.dam import Dam, DamRules


def rows_by_sum(game: Dam, length: int) -> Counter[int]:
    """How many of the C(52, length) rows have each sum, by adding one card at a time."""
    counts: dict[tuple[int, int], int] = {(0, 0): 1}
    for value in game.values.values():
        for (cards, total), number in list(counts.items()):
            if cards < length:
                key = (cards + 1, total + value)
                counts[key] = counts.get(key, 0) + number
    return Counter({total: n for (cards, total), n in counts.items() if cards == length})


def test_the_pack() -> None:
    values = list(Dam(DamRules()).values.values())
    assert sum(values) == 303
    mean = Fraction(303, 52)
    assert sum((value - mean) ** 2 for value in values) / 52 == Fraction(39803, 2704)
    assert Counter(values) == {0: 5, 13: 3, **dict.fromkeys(range(1, 12), 4)}


@pytest.mark.parametrize(
    ("length", "rows", "mean", "sd", "low", "lows", "high", "highs", "p20", "p60"),
    [
        (4, 270725, Fraction(303, 13), 7.444235, 0, 5, 50, 4, 0.360772, 0.0),
        (5, 2598960, Fraction(1515, 52), 8.235755, 0, 1, 61, 6, 0.151716, 0.000008),
        (7, 133784560, Fraction(2121, 52), 9.535089, 2, 6, 83, 1, 0.014586, 0.025146),
    ],
)
def test_rows_of_every_length(
    length: int,
    rows: int,
    mean: Fraction,
    sd: float,
    low: int,
    lows: int,
    high: int,
    highs: int,
    p20: float,
    p60: float,
) -> None:
    counts = rows_by_sum(Dam(DamRules(row_len=length)), length)  # type: ignore[arg-type]
    assert counts.total() == rows == comb(52, length)
    assert Fraction(sum(s * n for s, n in counts.items()), rows) == mean
    variance = sum(n * (s - mean) ** 2 for s, n in counts.items()) / rows
    assert float(variance) ** 0.5 == pytest.approx(sd, abs=5e-7)
    assert (min(counts), counts[min(counts)]) == (low, lows)
    assert (max(counts), counts[max(counts)]) == (high, highs)
    assert sum(n for s, n in counts.items() if s <= 20) / rows == pytest.approx(p20, abs=5e-7)
    assert sum(n for s, n in counts.items() if s >= 60) / rows == pytest.approx(p60, abs=5e-7)


@pytest.mark.parametrize(
    ("length", "mean", "low", "lows"),
    [(4, 20.846154, -4, 1), (5, 26.057692, -4, 5), (7, 36.480769, -4, 10)],
)
def test_rows_with_minus_sevens(length: int, mean: float, low: int, lows: int) -> None:
    game = Dam(DamRules(row_len=length, minus_rank=7))  # type: ignore[arg-type]
    counts = rows_by_sum(game, length)
    total = sum(s * n for s, n in counts.items()) / counts.total()
    assert total == pytest.approx(mean, abs=5e-7)
    assert (min(counts), counts[min(counts)]) == (low, lows)


def test_two_freshly_dealt_rows() -> None:
    """P(equal), E|difference| and E[lower] for two rows of one pack, over all value contents."""
    values = Counter(Dam(DamRules()).values.values())
    pairs: dict[tuple[int, int, int, int], int] = {(0, 0, 0, 0): 1}
    for value, number in values.items():
        after: dict[tuple[int, int, int, int], int] = {}
        for (a, b, sum_a, sum_b), ways in pairs.items():
            for x, y in product(range(number + 1), repeat=2):
                if x + y <= number and a + x <= 7 and b + y <= 7:
                    key = (a + x, b + y, sum_a + x * value, sum_b + y * value)
                    more = ways * comb(number, x) * comb(number - x, y)
                    after[key] = after.get(key, 0) + more
        pairs = after
    total = comb(52, 7) * comb(45, 7)
    full = [(sa, sb, n) for (a, b, sa, sb), n in pairs.items() if a == b == 7]
    assert sum(n for _, _, n in full) == total
    assert sum(n for x, y, n in full if x == y) / total == pytest.approx(0.027060, abs=5e-7)
    difference = sum(abs(x - y) * n for x, y, n in full) / total
    assert difference == pytest.approx(11.626277, abs=5e-7)
    assert sum(min(x, y) * n for x, y, n in full) / total == pytest.approx(34.975323, abs=5e-7)


@pytest.mark.parametrize(
    ("threshold", "low_cards", "expected_keeps"),
    [(5, 25, 0.890547), (6, 29, 1.197639), (7, 33, 1.608488)],
)
def test_keeps_of_a_first_turn(threshold: int, low_cards: int, expected_keeps: float) -> None:
    """P(k >= j) = m(m-1)..(m-j+1) / (52*51*..) with m cards up to the threshold."""
    values = Dam(DamRules()).values.values()
    assert sum(value <= threshold for value in values) == low_cards
    at_least = [Fraction(1)]
    for j in range(7):
        at_least.append(at_least[-1] * Fraction(low_cards - j, 52 - j))
    assert float(sum(at_least[1:])) == pytest.approx(expected_keeps, abs=5e-7)
