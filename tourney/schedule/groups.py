"""Rotation groups: pairings, circular orders and seatings, each worked out from its number alone.

A group is one deal played in every rotation of one circular order of its pairing. Group numbers
run deal by deal over all pairings, so a tournament that stops early is still balanced. Nothing is
listed: a schedule of 10**9 matches costs no memory.
"""

import hashlib
import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from tourney.schedule.owners import Owners, Sets
from tourney.schedule.terms import Unplayable

__all__ = (
    "FixedSchedule",
    "Group",
    "RoundRobin",
    "Schedule",
    "circular_order",
    "permutation",
    "require_enough",
    "too_few_owners",
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

    @property
    def seats(self) -> int:
        """Bots at its table, and matches in the group."""
        return len(self.pairing)

    def seating(self, rotation: int) -> tuple[str, ...]:
        """The bot in each seat."""
        return self.order[rotation:] + self.order[:rotation]


class Schedule(Protocol):
    """What is played: every group by its number."""

    bots: tuple[str, ...]

    @property
    def seats(self) -> int:
        """Bots at the largest table; a group takes so many of the run's numbers of matches."""
        ...

    @property
    def groups(self) -> int:
        """How many groups there are; a forecast while rounds are still to be drawn."""
        ...

    @property
    def matches(self) -> int:
        """How many matches they hold."""
        ...

    @property
    def drawn(self) -> int:
        """How many groups are known by now: all, unless rounds wait for results."""
        ...

    def group(self, number: int) -> Group:
        """The group with this number, 0 to `drawn` - 1."""
        ...


class FixedSchedule(Schedule, Protocol):
    """A schedule known before anything is played."""

    turn: int
    """Groups after which every part of it has come equally often: those of one deal or round."""


class RoundRobin:
    """Every set of `seats` bots, without two of one owner, meets on `deals` deals."""

    def __init__(
        self, bots: Sequence[str], seats: int, deals: int, owners: Owners | None = None
    ) -> None:
        """Plan the schedule.

        Raises:
            Unplayable: the bots fill no table.
        """
        require_enough(bots, seats)
        self.bots = tuple(bots)
        self.seats = seats
        self._sets = Sets(bots, seats, owners or {})
        self.pairings = self.turn = self._sets.count
        if not self.pairings:
            raise too_few_owners(seats)
        self.groups = self.drawn = self.pairings * deals
        self.matches = self.groups * seats

    def group(self, number: int) -> Group:
        """The group with this number, 0 to `groups` - 1."""
        deal, index = divmod(number, self.pairings)
        pairing = self._sets[index]
        return Group(number, pairing, deal, circular_order(pairing, deal))


def too_few_owners(seats: int) -> Unplayable:
    """What to raise where owners leave no table."""
    return Unplayable(
        "apart",
        f"no table of {seats} without two bots of one owner: there are too few owners; take "
        "`apart` out or lower `seats`",
    )


def require_enough(bots: Sequence[str], seats: int) -> None:
    """Raise Unplayable unless the bots fill a table."""
    if len(bots) < seats:
        raise Unplayable(
            "seats",
            f"{seats} seats but only {len(bots)} bots: add [[bot]] entries or lower `seats`",
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


def permutation(n: int, index: int) -> tuple[int, ...]:
    """The `index`-th permutation of range(n) in lexicographic order."""
    items = list(range(n))
    out = []
    for left in range(n - 1, -1, -1):
        place, index = divmod(index, math.factorial(left))
        out.append(items.pop(place))
    return tuple(out)
