"""Formats beside the round robin whose groups are known beforehand: gauntlet and balanced rounds.

As in `groups`, a group is worked out from its number, the same on every worker, and depends on no
result and no secret.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from tourney.errors import ConfigError
from tourney.schedule.groups import (
    Group,
    RoundRobin,
    Schedule,
    circular_order,
    combination,
    require_enough,
)

__all__ = ("Balanced", "Format", "Gauntlet", "make_schedule")

Format = Literal["round-robin", "balanced", "gauntlet"]

CYCLE = 128
"""Rounds after which tables come again (on new deals): by then every pair has met equally often
but for a thousandth, and a late round costs no more than an early one."""

KEPT_APART = 1e6
"""What two bots that must not meet weigh at a table, in meetings."""


class Gauntlet:
    """Each challenger meets every set of the other bots that fills its table; on `deals` deals."""

    def __init__(
        self, bots: Sequence[str], challengers: Sequence[str], seats: int, deals: int
    ) -> None:
        """Plan the schedule.

        Raises:
            ConfigError: there is no challenger, an unknown one, or too few others for a table.
        """
        unknown = sorted(set(challengers) - set(bots))
        if unknown or not challengers:
            named = ", ".join(unknown) or "nobody"
            raise ConfigError(
                f"a gauntlet needs challengers among the bots, not {named}: "
                'write challengers = ["name"] in [tournament]'
            )
        self.bots = tuple(bots)
        self.seats = seats
        self.challengers = tuple(bot for bot in bots if bot in set(challengers))
        self.others = tuple(bot for bot in bots if bot not in set(challengers))
        if len(self.others) < seats - 1:
            raise ConfigError(
                f"a challenger needs {seats - 1} others at its table and there are "
                f"{len(self.others)}: name fewer challengers or lower `seats`"
            )
        self._sets = math.comb(len(self.others), seats - 1)
        self.pairings = len(self.challengers) * self._sets
        self.groups = self.pairings * deals
        self.matches = self.groups * seats

    def group(self, number: int) -> Group:
        """The group with this number, 0 to `groups` - 1."""
        deal, index = divmod(number, self.pairings)
        challenger, chosen = divmod(index, self._sets)
        met = {self.others[i] for i in combination(len(self.others), self.seats - 1, chosen)}
        met.add(self.challengers[challenger])
        pairing = tuple(bot for bot in self.bots if bot in met)
        return Group(number, pairing, deal, circular_order(pairing, deal))


class Balanced:
    """Rounds of random tables, swapped until all pairs meet about equally often.

    For fields whose sets are too many to play: after ten rounds of 50 bots at tables of four the
    ratings are as well known as from 98 % of the matches of a perfect design. Each round every bot
    plays once; where tables do not come out even, those that played most sit out.
    """

    def __init__(
        self,
        bots: Sequence[str],
        seats: int,
        deals: int,
        *,
        owners: Mapping[str, str] | None = None,
    ) -> None:
        """Plan `deals` rounds.

        Args:
            bots: names in the config's order.
            seats: bots at a table.
            deals: rounds.
            owners: bots of one owner are kept apart as far as the field allows.

        Raises:
            ConfigError: there are fewer bots than seats.
        """
        require_enough(bots, seats)
        self.bots = tuple(bots)
        self.seats = seats
        self.tables = len(bots) // seats
        self.groups = self.tables * deals
        self.matches = self.groups * seats
        self._met = _apart(self.bots, owners or {})
        self._played = np.zeros(len(bots), dtype=np.int64)
        self._rounds: list[npt.NDArray[np.int64]] = []

    def group(self, number: int) -> Group:
        """The group with this number, 0 to `groups` - 1."""
        turn, table = divmod(number, self.tables)
        while len(self._rounds) <= turn % CYCLE:
            self._rounds.append(self._next_round())
        seated = self._rounds[turn % CYCLE][table]
        pairing = tuple(self.bots[i] for i in sorted(seated.tolist()))
        # A pairing meets once a round at most, so the round tells its deals apart.
        return Group(number, pairing, turn, self._order(pairing, turn))

    def _order(self, pairing: tuple[str, ...], turn: int) -> tuple[str, ...]:
        """A circular order by lot: pairings come too seldom here to go through all of them."""
        first, *rest = pairing
        return (first, *sorted(rest, key=lambda bot: _lot(turn, f"{'+'.join(pairing)}/{bot}")))

    def _next_round(self) -> npt.NDArray[np.int64]:
        turn, count = len(self._rounds), self.tables * self.seats
        by_lot = sorted(range(len(self.bots)), key=lambda bot: _lot(turn, self.bots[bot]))
        playing = sorted(by_lot, key=lambda bot: int(self._played[bot]))[:count]
        drawn = [bot for bot in by_lot if bot in set(playing)]
        tables = _swapped(np.array(drawn).reshape(self.tables, self.seats), self._met)
        for table in tables:
            self._met[np.ix_(table, table)] += 1
            self._played[table] += 1
        return tables


def _lot(turn: int, text: str) -> bytes:
    return hashlib.sha256(f"{turn}/{text}".encode()).digest()


def _apart(bots: Sequence[str], owners: Mapping[str, str]) -> npt.NDArray[np.float64]:
    """Meetings before the first round: none, but many between bots of one owner."""
    met = np.zeros((len(bots), len(bots)))
    for i, bot in enumerate(bots):
        for j, other in enumerate(bots):
            if i != j and bot in owners and owners[bot] == owners.get(other):
                met[i, j] = KEPT_APART
    return met


def _swapped(tables: npt.NDArray[np.int64], met: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Tables after the swaps of two bots that save most meetings of those who met before."""
    tables = tables.copy()
    met = met - np.diag(np.diag(met))
    seated, size = tables.ravel(), tables.shape[1]
    at = np.repeat(np.arange(len(tables)), size)
    while True:
        # How often each bot met those of each table.
        known = met[np.ix_(seated, seated)]
        with_table = known.reshape(len(seated), len(tables), size).sum(axis=2)
        move = with_table[:, at] - with_table[np.arange(len(seated)), at][:, None]
        saved = -(move + move.T - 2 * known)
        saved[at[:, None] == at[None, :]] = 0.0
        best = int(saved.argmax())
        one, two = divmod(best, len(seated))
        if saved[one, two] <= 0.5:
            return tables
        seated[one], seated[two] = seated[two], seated[one]


def make_schedule(
    form: Format,
    bots: Sequence[str],
    seats: int,
    deals: int,
    challengers: Sequence[str] = (),
) -> Schedule:
    """The schedule of a config.

    Raises:
        ConfigError: the bots do not fill it, or challengers do not go with it.
    """
    if form == "gauntlet":
        return Gauntlet(bots, challengers, seats, deals)
    if challengers:
        raise ConfigError(f'challengers go with format = "gauntlet", not with "{form}"')
    if form == "balanced":
        return Balanced(bots, seats, deals)
    return RoundRobin(bots, seats, deals)
