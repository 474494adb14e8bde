"""Dam against exact figures (RULES.md E.1), through the same `Game` that tournaments use."""

import dataclasses
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any, NamedTuple

import pytest

from tourney.deals import Deals, group_key
from tourney.games.base import Chance, Decision, Over
from tourney.games.dam import Dam, DamRules, DamState

Policy = Callable[[Dam, DamState, Decision], str]


def always_stock_throw(game: Dam, state: DamState, decision: Decision) -> str:
    return "draw" if decision.phase == "source" else "throw"


def take_always(game: Dam, state: DamState, decision: Decision) -> str:
    return {"source": "take", "decide": "throw"}[decision.phase]


def threshold(t: int) -> Policy:
    def choose(game: Dam, state: DamState, decision: Decision) -> str:
        if decision.phase == "source":
            return "take" if game.values[state.discard[-1]] <= t else "draw"
        return "keep" if game.values[state.hand] <= t else "throw"

    return choose


def memory(t: int) -> Policy:
    """M_t: the known prefix of the row when the turn began, from the state's own knowledge."""

    def prefix(game: Dam, state: DamState, seat: int, start: int) -> list[int]:
        out = []
        for card in state.seen[seat][seat][start:]:
            if card is None:
                break
            out.append(game.values[card])
        return out

    def choose(game: Dam, state: DamState, decision: Decision) -> str:
        seat = decision.seat
        if decision.phase == "source":
            p = prefix(game, state, seat, 0)
            v = game.values[state.discard[-1]]
            return "take" if v <= t and (len(p) < game.row_len or max(p) > v) else "draw"
        # Slots from `keeps` on still hold what they held when the turn began.
        rest = prefix(game, state, seat, state.keeps)
        v, best = game.values[state.hand], max(rest, default=-1)
        if v > t and v >= best:
            return "throw"
        if best > v:
            return "keep"
        return "keep" if state.keeps + len(rest) < game.row_len else "throw"

    return choose


class MiniDam(Dam):
    """Eight cards, two slots: small enough for every order of the pack."""

    pack = tuple("QC AC 3C 5C 7C 9C JC KC".split())

    def __init__(self, **options: Any) -> None:
        super().__init__(DamRules(rounds=1, first="seat0", **options))
        self.row_len = self.chain_len = 2


class Totals(NamedTuple):
    sums: tuple[Fraction, Fraction]
    win_share: Fraction
    ties: int
    turns: Fraction
    takes: int
    choices: int
    max_turns: int
    overrides: int


def play_all_orders(policies: Sequence[Policy]) -> Totals:
    game = MiniDam()
    sums, wins2, ties, turns, takes, choices, longest, overrides = [0, 0], 0, 0, 0, 0, 0, 0, 0
    orders = 0
    start = game.start(2)
    for order in permutations(game.pack):
        orders += 1
        state = game.drawn(start, order[:4]).state
        upcoming = 4
        while True:
            turn = game.turn(state)
            if isinstance(turn, Over):
                break
            if isinstance(turn, Chance):
                state = game.drawn(state, order[upcoming : upcoming + 1]).state
                upcoming += 1
                continue
            if len(turn.legal) > 1:
                choices += 1
                action = policies[turn.seat](game, state, turn)
            else:
                action = turn.legal[0]
                overrides += turn.phase == "source" and bool(state.discard)
            takes += action == "take"
            state = game.act(state, action).state
        a, b = (int(score) for score in turn.scores)
        sums[0] += a
        sums[1] += b
        wins2 += 2 if a < b else 1 if a == b else 0
        ties += a == b
        turns += state.turns
        longest = max(longest, state.turns)
    return Totals(
        (Fraction(sums[0], orders), Fraction(sums[1], orders)),
        Fraction(wins2, 2 * orders),
        ties,
        Fraction(turns, orders),
        takes,
        choices,
        longest,
        overrides,
    )


F = Fraction
AD = always_stock_throw
T4, T6, M4, M6 = threshold(4), threshold(6), memory(4), memory(6)
MINI_DAM: list[Any] = [
    (AD, AD, (F(49, 4), F(49, 4)), F(1, 2), 2496, F(4), 0, 282240, 4, 0),
    (T4, AD, (F(793, 168), F(49, 4)), F(23, 28), 384, F(251, 56), 19440, 350640, 6, 0),
    (T4, T4, (F(387, 56), F(13, 2)), F(1, 2), 0, F(229, 56), 3600, 349920, 5, 0),
    (T6, T4, (F(863, 140), F(533, 105)), F(53, 160), 120, F(631, 140), 20448, 394272, 7, 0),
    (M4, T4, (F(289, 42), F(1097, 168)), F(1, 2), 0, F(229, 56), 3600, 349680, 5, 0),
    (M4, M4, (F(289, 42), F(13, 2)), F(1, 2), 0, F(229, 56), 3600, 349440, 5, 0),
    (M6, M4, (F(2381, 420), F(598, 105)), F(13, 32), 24, F(123, 28), 15840, 383280, 6, 0),
    (take_always, T4, (F(2081, 168), F(8, 3)), F(0), 0, F(223, 28), 159840, 642960, 14, 4320),
]


@pytest.mark.parametrize(
    "row", MINI_DAM, ids="AD-AD T4-AD T4-T4 T6-T4 M4-T4 M4-M4 M6-M4 take-T4".split()
)
def test_mini_dam_over_all_orders(row: Any) -> None:
    first, second, *expected = row
    assert play_all_orders((first, second)) == Totals(*expected)


def play_match(game: Dam, seats: int, key: bytes, policies: Sequence[Policy]) -> Over:
    deals = Deals(key)
    state = game.start(seats)
    while True:
        turn = game.turn(state)
        if isinstance(turn, Over):
            return turn
        if isinstance(turn, Chance):
            state = game.drawn(state, deals.draw(turn)).state
        elif len(turn.legal) > 1:
            state = game.act(state, policies[turn.seat](game, state, turn)).state
        else:
            state = game.act(state, turn.legal[0]).state


def blind(seed: int) -> Policy:
    """Looks at nothing but how far the turn has come: value-blind."""

    def choose(game: Dam, state: DamState, decision: Decision) -> str:
        if decision.phase == "source":
            return "take" if (state.turns + seed) % 3 else "draw"
        return "keep" if state.keeps < (state.turns * 7 + seed) % 5 else "throw"

    return choose


@pytest.mark.parametrize("stock", ["streams", "pile"])
def test_value_blind_rows_keep_the_dealt_distribution(stock: Any) -> None:
    """E.1: mean 2121/52 and tie rate 0.027060, whatever the sources and chains."""
    game = Dam(DamRules(rounds=1, stock=stock))
    n = 4000
    overs = [
        play_match(game, 2, group_key(b"blind", str(i)), (blind(1), blind(2))) for i in range(n)
    ]
    sums = [score for over in overs for score in over.scores]
    mean = sum(sums) / len(sums)
    # Standard error of a mean of 2n dealt rows: s.d. 9.535 (E.1); rows of one deal are almost
    # uncorrelated. Four of them leave 1 chance in 16,000.
    assert abs(mean - 2121 / 52) < 4 * 9.535089 / (2 * n) ** 0.5
    ties = sum(over.scores[0] == over.scores[1] for over in overs) / n
    assert abs(ties - 0.027060) < 4 * (0.02706 * 0.97294 / n) ** 0.5


def test_t6_against_a_thrower_wins_97_percent_with_a_mean_of_20() -> None:
    """E.1 saturation: a fully replaced threshold-6 row has mean 588/29."""
    game = Dam(DamRules(rounds=1))
    n = 1500
    overs = [play_match(game, 2, group_key(b"t6", str(i)), (T6, AD)) for i in range(n)]
    wins = sum((over.ranks[0] == 1) / over.ranks.count(1) for over in overs) / n
    assert wins == pytest.approx(0.97, abs=4 * (0.97 * 0.03 / n) ** 0.5)
    assert sum(over.scores[0] for over in overs) / n == pytest.approx(588 / 29, abs=0.5)
    assert sum(over.scores[1] for over in overs) / n == pytest.approx(2121 / 52, abs=1.0)


def test_seat_streams_and_one_pile_have_the_same_law() -> None:
    """DESIGN: by exchangeability a stream a seat changes nothing but the luck."""
    n = 3000
    means = []
    for stock in ("streams", "pile"):
        game = Dam(DamRules(rounds=1, stock=stock))
        overs = [play_match(game, 2, group_key(b"law", str(i)), (T6, M6)) for i in range(n)]
        means.append([sum(over.scores[s] for over in overs) / n for s in (0, 1)])
    # Standard deviations of these rows are below 6 points.
    for seat in (0, 1):
        assert abs(means[0][seat] - means[1][seat]) < 4 * 6 * (2 / n) ** 0.5


@pytest.mark.parametrize(
    ("cap", "free", "expected"),
    [(4, False, [3, 279, 25947]), (4, True, [3, 1089, 395307]), (2, False, [3, 63, 1323])],
)
def test_number_of_action_sequences_of_a_small_round(
    cap: int, free: bool, expected: list[int]
) -> None:
    """E.1: (L+1) * [(L+1) * sum of L^r]^(S-1) with L = 2, counted by walking the tree."""
    game = MiniDam(streak_cap=cap, discard_take="free" if free else "must_keep")

    def count(state: DamState) -> int:
        turn = game.turn(state)
        if isinstance(turn, Over):
            return 1
        if isinstance(turn, Chance):
            return count(game.drawn(state, [min(turn.cards)]).state)
        return sum(count(game.act(state, action).state) for action in turn.legal)

    for stock in range(1, 3 if free else 4):
        state = game.drawn(game.start(2), game.pack[:4]).state
        dealt = dataclasses.replace(state, stock=frozenset(game.pack[4 : 4 + stock]))
        assert count(dealt) == expected[stock - 1]
