"""Rotation groups: pairings, circular orders and seatings, each worked out from its number alone.

A group is one deal played in every rotation of one circular order of its pairing. Group numbers
run deal by deal over all pairings, so a tournament that stops early is still balanced. Nothing is
listed: a schedule of 10**9 matches costs no memory.
"""

import hashlib
import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from tourney.errors import ConfigError

__all__ = (
    "Group",
    "RoundRobin",
    "Schedule",
    "circular_order",
    "combination",
    "permutation",
    "require_enough",
)


class Group(NamedTuple):
    """One rotation group."""

    number: int
    pairing: tuple[str, ...]
    """Names in the config's order."""
    deal: int
    """Which deal of this pairing, from 0."""
    order: tuple[str, ...]
    """The circular order: in rotation r, seat s holds `order[(s + r) % k]`."""

    def seating(self, rotation: int) -> tuple[str, ...]:
        """The bot in each seat."""
        return self.order[rotation:] + self.order[:rotation]


class Schedule(Protocol):
    """What is played, known before anything is: every group by its number."""

    bots: tuple[str, ...]
    seats: int
    groups: int
    """How many groups there are."""
    matches: int
    """How many matches they hold."""

    def group(self, number: int) -> Group:
        """The group with this number, 0 to `groups` - 1."""
        ...


class RoundRobin:
    """Every set of `seats` bots meets on `deals` deals."""

    def __init__(self, bots: Sequence[str], seats: int, deals: int) -> None:
        """Plan the schedule.

        Raises:
            ConfigError: there are fewer bots than seats.
        """
        require_enough(bots, seats)
        self.bots = tuple(bots)
        self.seats = seats
        self.pairings = math.comb(len(bots), seats)
        self.groups = self.pairings * deals
        self.matches = self.groups * seats

    def group(self, number: int) -> Group:
        """The group with this number, 0 to `groups` - 1."""
        deal, index = divmod(number, self.pairings)
        pairing = tuple(self.bots[i] for i in combination(len(self.bots), self.seats, index))
        return Group(number, pairing, deal, circular_order(pairing, deal))


def require_enough(bots: Sequence[str], seats: int) -> None:
    """Raise ConfigError unless the bots fill a table."""
    if len(bots) < seats:
        raise ConfigError(
            f"{seats} seats but only {len(bots)} bots: add [[bot]] entries or lower `seats`"
        )


def circular_order(pairing: tuple[str, ...], deal: int) -> tuple[str, ...]:
    """A circular order; over each run of (k-1)! deals every order comes once, shuffled.

    One fixed order would let each bot always play behind the same neighbour, which biases
    ratings (RATINGS.md, finding 4). The order says nothing about the cards.
    """
    orders = math.factorial(len(pairing) - 1)
    run, place = divmod(deal, orders)
    text = f"{'+'.join(pairing)}/{run}"

    def rank(order: int) -> bytes:
        return hashlib.sha256(f"{text}/{order}".encode()).digest()

    chosen = sorted(range(orders), key=rank)[place]
    rest = permutation(len(pairing) - 1, chosen)
    return (pairing[0], *(pairing[1 + i] for i in rest))


def combination(n: int, k: int, index: int) -> tuple[int, ...]:
    """The `index`-th k-subset of range(n) in lexicographic order, without listing the others."""
    chosen = []
    start = 0
    for left in range(k, 0, -1):
        for item in range(start, n):
            count = math.comb(n - item - 1, left - 1)
            if index < count:
                chosen.append(item)
                start = item + 1
                break
            index -= count
    return tuple(chosen)


def permutation(n: int, index: int) -> tuple[int, ...]:
    """The `index`-th permutation of range(n) in lexicographic order."""
    items = list(range(n))
    out = []
    for left in range(n - 1, -1, -1):
        place, index = divmod(index, math.factorial(left))
        out.append(items.pop(place))
    return tuple(out)
