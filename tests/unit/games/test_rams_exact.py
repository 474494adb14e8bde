"""Rams against the exact numbers of RULES.md section E.1."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from math import comb

import pytest
from msgspec.structs import replace

from tests.unit.games.rams_positions import at_points, chance, dealt, decision, rams, table
from tourney.deals import Deals, group_key
from tourney.games.base import Decision
from tourney.games.cards import PACK
from tourney.games.rams import Rams, RamsState

RV_20 = ["8D QH 7H 2H JH", "AH 3D KD 6S KC", "7D AD 3S 9D 4D"]
RV_21 = ["KS 5S QH AC 2D", "AS 3S KH 9C 7D"]
FOUR = ["KH 9H 4C 6S 2D", "AH 3H QC 8S 5D", "JH 7H AC TS QD", "QH 2H KC AS KD"]

PERFT = [
    (
        RV_20,
        "D",
        False,
        "1 5 5 17 32 44 56 168 444 828 1656 3168 5040 5040 5040 5040",
        {(0, 0, 5): 1008, (0, 1, 4): 2160, (0, 2, 3): 1440, (1, 1, 3): 432},
    ),
    (
        RV_20,
        "D",
        True,
        "1 1 1 1 3 12 12 24 72 216 216 432 864 864 864 864",
        {(0, 0, 5): 576, (0, 1, 4): 288},
    ),
    (RV_21, "S", False, "1 5 5 14 16 44 46 92 92 92 92", {(2, 3): 92}),
    (RV_21, "S", True, "1 2 2 2 2 6 6 12 12 12 12", {(2, 3): 12}),
    (
        FOUR,
        "S",
        False,
        "1 5 5 7 11 41 42 42 45 113 116 116 125 232 235 235 244 244 244 244 244",
        {(0, 1, 1, 3): 58, (0, 1, 2, 2): 42, (1, 1, 1, 2): 144},
    ),
    (
        FOUR,
        "S",
        True,
        "1 1 1 1 1 4 5 5 8 24 25 25 28 56 57 57 60 60 60 60 60",
        {(0, 1, 1, 3): 18, (0, 1, 2, 2): 12, (1, 1, 1, 2): 30},
    ),
]


def plies(game: Rams, state: RamsState) -> tuple[list[int], Counter[tuple[int, ...]]]:
    """Positions after each card, and the complete playings by tricks taken."""
    counts, level = [1], [state]
    while level[0].deal.number == 1:
        level = [
            game.act(position, action).state
            for position in level
            for action in decision(game, position).legal
        ]
        counts.append(len(level))
    # Everybody began on at least 20 points, so what is missing is the tricks taken.
    taken = Counter(
        tuple(before - min(before, now) for before, now in zip(state.points, s.points, strict=True))
        for s in level
    )
    return counts, taken


@pytest.mark.parametrize(("hands", "trump", "forced", "nodes", "splits"), PERFT)
def test_play_phase_perft(
    hands: Sequence[str],
    trump: str,
    forced: bool,
    nodes: str,
    splits: dict[tuple[int, ...], int],
) -> None:
    game = rams(start=20, cap=30)
    state = table(game, hands, trump, points=(20,) * len(hands))
    if forced:  # the count of points does not enter, only that somebody stood on one
        before = (1, *state.deal.points_before[1:])
        state = replace(state, deal=replace(state.deal, points_before=before))
    counts, taken = plies(game, state)
    assert counts == [int(count) for count in nodes.split()]
    assert taken == Counter(splits)


TRUMPS = (".245101", ".420173", ".256772", ".069398", ".008218", ".000337")


def dealt_to(seats: int, deck: Sequence[str]) -> RamsState:
    game = rams()
    return dealt(game, at_points(game, (10,) * seats, dealer=seats - 1), " ".join(deck))


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_each_place_of_the_deck_goes_to_one_hand(seats: int) -> None:
    """So the deck's law is the hands' law: five of the 51 places that are not the upcard's."""
    deck = PACK[: 5 * seats + 1]
    hands = dealt_to(seats, deck).deal.hands
    assert sorted(card for hand in hands for card in hand) == sorted(deck)
    assert [len(hand) for hand in hands] == [5] * (seats - 1) + [6]
    assert hands[-1][-1] == deck[3 * seats]


def test_trumps_in_a_dealt_hand() -> None:
    law = [Fraction(comb(12, k) * comb(39, 5 - k), comb(51, 5)) for k in range(6)]
    assert law[0] == Fraction(27417, 111860)
    assert [f"{float(p):.6f}"[1:] for p in law] == list(TRUMPS)
    assert sum(k * p for k, p in enumerate(law)) == Fraction(20, 17)
    game, n = rams(), 4000
    seen = Counter[int]()
    for number in range(n):
        state = at_points(game, (10, 10, 10), dealer=2)
        cards = Deals(group_key(b"trumps", str(number))).draw(chance(game, state))
        deal = game.drawn(state, cards).state.deal
        seen.update(sum(card[1] == deal.trump for card in hand) for hand in deal.hands[:2])
    for k, p in enumerate(law):
        # Two hands of a deal hang together, so five standard errors are taken, not four.
        assert abs(seen[k] / (2 * n) - p) < 5 * (float(p) / (2 * n)) ** 0.5


def test_where_the_trump_ace_is_dealt() -> None:
    """By all places of the ace and of the upcard: other cards are alike for this question."""
    n = 3
    holders = Counter[int]()
    ways = 0
    places = {card: s for s, hand in enumerate(dealt_to(n, PACK[:16]).deal.hands) for card in hand}
    for ace, other in permutations(range(52), 2):
        # The upcard is the ace of its suit with 1/13, else another card of the ace's suit.
        for upcard, weight in ((ace, 1), (other, 12)):
            if upcard == 3 * n:
                ways += weight
                if ace < 5 * n + 1:
                    holders[places[PACK[ace]]] += weight
    assert Fraction(holders[0], ways) == Fraction(holders[1], ways) == Fraction(20, 221)
    assert Fraction(holders[2], ways) == Fraction(37, 221)
    # Some hand holds it with (17 + 20n)/221, the sum of the above.
    assert Fraction(sum(holders.values()), ways) == Fraction(17 + 20 * n, 221)


def test_a_talon_of_streams_and_of_one_pile_have_the_same_law() -> None:
    """Trumps that the second of two buyers draws, the first having thrown everything."""
    drawn = {}
    for stock in ("streams", "pile"):
        game, seen, n = rams(stock=stock), Counter[int](), 1500
        for number in range(n):
            deals = Deals(group_key(b"law", f"{stock}/{number}"))
            state = at_points(game, (10, 10, 10), dealer=2)
            state = game.drawn(state, deals.draw(chance(game, state))).state
            for action in ("stand", "knock", "knock", "pass"):
                state = game.act(state, action).state
            for seat in (0, 1):
                action = " ".join(("exchange", *state.deal.hands[seat]))
                state = game.act(state, action).state
                state = game.drawn(state, deals.draw(chance(game, state))).state
            assert isinstance(game.turn(state), Decision)
            seen[sum(card[1] == state.deal.trump for card in state.deal.hands[1])] += 1
        drawn[stock] = [seen[k] / n for k in range(4)]
    law = [comb(12, k) * comb(39, 5 - k) / comb(51, 5) for k in range(4)]
    for shares in drawn.values():
        for share, p in zip(shares, law, strict=True):
            assert abs(share - p) < 4.5 * (p * (1 - p) / n) ** 0.5
