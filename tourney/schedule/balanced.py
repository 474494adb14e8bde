"""Rounds of random tables, swapped until all pairs meet about equally often."""

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tourney.schedule.groups import Group, require_enough, too_few_owners
from tourney.schedule.owners import Owners, dealt, most_tables, players

__all__ = ("CYCLE", "Balanced", "lot", "require_tables", "settled")

Table = tuple[str, ...]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

CYCLE = 128
"""Rounds after which tables come again (on new deals): by then every pair has met equally often
but for a thousandth, and a late round costs no more than an early one."""

KEPT_APART = 1e6
"""What two bots that must not meet weigh at a table, in meetings."""


class Balanced:
    """Rounds at whose tables all pairs meet about equally often.

    For fields whose sets are too many to play: after ten rounds of 50 bots at tables of four the
    ratings are as well known as from 98 % of the matches of a perfect design. Each round every bot
    plays at most once; where tables do not come out even, those that played most sit out.
    """

    def __init__(
        self, bots: Sequence[str], seats: int, deals: int, *, owners: Owners | None = None
    ) -> None:
        """Plan `deals` rounds.

        Args:
            bots: names in the config's order.
            seats: bots at a table.
            deals: rounds.
            owners: bots of one owner never sit together.

        Raises:
            Unplayable: the bots fill no table.
        """
        self.bots = tuple(bots)
        self.seats = seats
        self._owners = dict(owners or {})
        self.tables = self.turn = require_tables(bots, seats, self._owners)
        self.groups = self.drawn = self.tables * deals
        self.matches = self.groups * seats
        self._met = np.zeros((len(bots), len(bots)))
        self._played = dict.fromkeys(bots, 0)
        self._rounds: list[list[Table]] = []

    def group(self, number: int) -> Group:
        """The group with this number, 0 to `groups` - 1."""
        turn, table = divmod(number, self.tables)
        pairing = self.round(turn)[table]
        # A pairing meets once a round at most, so the round tells its deals apart.
        return Group(number, pairing, turn, _order(pairing, turn))

    def round(self, turn: int) -> list[Table]:
        """The tables of a round, from 0; their bots in the config's order."""
        while len(self._rounds) <= turn % CYCLE:
            self._rounds.append(self._next_round())
        return self._rounds[turn % CYCLE]

    def _next_round(self) -> list[Table]:
        turn = len(self._rounds)
        by_lot = sorted(self.bots, key=lambda bot: lot(turn, bot))
        wishes = sorted(by_lot, key=self._played.__getitem__)
        playing = players(wishes, self.tables, self.seats, self._owners)
        drawn = [bot for bot in by_lot if bot in playing]
        start = [drawn[i : i + self.seats] for i in range(0, len(drawn), self.seats)]
        tables = settled(self.bots, start, self._met, self._owners)
        place = {bot: i for i, bot in enumerate(self.bots)}
        for table in tables:
            seated = [place[bot] for bot in table]
            self._met[np.ix_(seated, seated)] += 1
            for bot in table:
                self._played[bot] += 1
        return tables


def require_tables(bots: Sequence[str], seats: int, owners: Owners) -> int:
    """How many tables can be filled at once.

    Raises:
        Unplayable: none.
    """
    require_enough(bots, seats)
    tables = most_tables(bots, seats, owners)
    if not tables:
        raise too_few_owners(seats)
    return tables


def lot(turn: int, text: str) -> bytes:
    """What bots or orders are sorted by, by lot: it depends on no result and no secret."""
    return hashlib.sha256(f"{turn}/{text}".encode()).digest()


def _order(pairing: Table, turn: int) -> Table:
    """A circular order by lot: pairings come too seldom here to go through all of them."""
    first, *rest = pairing
    return (first, *sorted(rest, key=lambda bot: lot(turn, f"{'+'.join(pairing)}/{bot}")))


def settled(
    bots: Sequence[str], tables: Sequence[Sequence[str]], weights: FloatArray, owners: Owners
) -> list[Table]:
    """Tables after the swaps of two bots that save most weight; none has two bots of one owner.

    Args:
        bots: names, in the order in which a table lists them.
        tables: to begin with, all of one size, with no more bots of an owner than tables.
        weights: of a pair at one table, bot by bot; the diagonal is not used.
        owners: of the bots.

    Returns:
        the tables in the order given, their bots in the order of `bots`.
    """
    place = {bot: i for i, bot in enumerate(bots)}
    weights = weights + _between_owners(bots, owners)
    for start in (tables, dealt([bot for table in tables for bot in table], len(tables), owners)):
        seated = _swapped(np.array([[place[bot] for bot in table] for table in start]), weights)
        out = [tuple(bots[i] for i in sorted(table)) for table in seated.tolist()]
        if all(_is_apart(table, owners) for table in out):
            break
    return out


def _is_apart(table: Table, owners: Mapping[str, str]) -> bool:
    owned = [owners[bot] for bot in table if bot in owners]
    return len(set(owned)) == len(owned)


def _between_owners(bots: Sequence[str], owners: Owners) -> FloatArray:
    """What bots of one owner weigh together, however seldom they met."""
    codes = {owner: code for code, owner in enumerate(sorted(set(owners.values())))}
    own = np.array([codes[owners[bot]] if bot in owners else -1 for bot in bots])
    alike = (own[:, None] == own[None, :]) & (own >= 0)[:, None]
    return np.where(alike, KEPT_APART, 0.0)


def _swapped(tables: IntArray, met: FloatArray) -> IntArray:
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
