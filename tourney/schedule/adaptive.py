"""Rounds of tables that say most about neighbours not told apart yet (RATINGS.md section 4.7).

With G = V C C^T V over the undecided contrasts C and the covariance V of strengths, what is known
of i against j in a match is worth D_ij = G_ii + G_jj - 2 G_ij times its information: p(1-p) where
places count, and the product of both bots' chances to win at that very table where wins count (at
a table of two that is the same). A table is worth the sum over its pairs. It is begun with each
pair in doubt and with the one worth most, and filled with whoever adds most; the best is taken.
The tables of a round are chosen one after another, each as if those before it were played. The
first two rounds and every fifth are balanced: every bot plays, and no verdict rests on chosen
tables alone. Verdicts come from confidence sequences, which hold however tables are chosen.
"""

from collections.abc import Collection, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from tourney.schedule.balanced import Balanced, require_tables
from tourney.schedule.draws import Known, Place, Result, Seated, Stage, Table
from tourney.schedule.owners import Owners, most_tables

__all__ = ("BALANCED_EVERY", "Adaptive", "adaptive_tables")

FloatArray = npt.NDArray[np.float64]

FIRST_BALANCED = 2
"""Rounds before anything is known."""

BALANCED_EVERY = 5
"""One round in so many is balanced."""

DIGITS = 9
"""Gains are compared to so many digits, so that rounding decides nothing."""


class Adaptive:
    """Adaptive rounds at one table size."""

    def __init__(
        self, bots: Sequence[str], seats: int, rounds: int, deals: int, owners: Owners
    ) -> None:
        """Plan `rounds` rounds, in which a table plays `deals` groups.

        Raises:
            Unplayable: the bots fill no table.
        """
        require_tables(bots, seats, owners)
        self.seats = seats
        self._bots = tuple(bots)
        self._rounds = rounds
        self._matches = deals * seats
        self._owners = owners
        self._balanced = Balanced(bots, seats, rounds, owners=owners)
        self._turn = 0
        """Balanced rounds so far."""

    def draw(self, number: int, out: Collection[str], known: Known | None) -> Stage | None:
        """The next round; None after the last, or when too few are left."""
        playing = [bot for bot in self._bots if bot not in out]
        tables = most_tables(playing, self.seats, self._owners)
        if number >= self._rounds or not tables:
            return None
        chosen: list[Table] = []
        if number >= FIRST_BALANCED and number % BALANCED_EVERY and known is not None:
            chosen = adaptive_tables(
                known, playing, self.seats, tables, self._matches, self._owners
            )
        how = "adaptive" if chosen else "balanced"
        seated = tuple(Seated(table, 0) for table in chosen or self._evenly(playing))
        return Stage(seats=self.seats, tables=seated, how=how)

    def _evenly(self, playing: Sequence[str]) -> list[Table]:
        if tuple(playing) != self._balanced.bots:
            self._balanced = Balanced(playing, self.seats, self._rounds, owners=self._owners)
        return self._balanced.round(self._turn)

    def take(self, stage: Stage, results: Sequence[Result]) -> None:
        """Count balanced rounds; results come as what is known."""
        del results
        self._turn += stage.how == "balanced"

    def tables_left(self, number: int, out: Collection[str]) -> int:
        """Tables of the rounds to come."""
        playing = [bot for bot in self._bots if bot not in out]
        return max(0, self._rounds - number) * most_tables(playing, self.seats, self._owners)

    def places(self, out: Collection[str]) -> list[Place]:
        """None: the ratings are the result."""
        del out
        return []


def adaptive_tables(
    known: Known,
    playing: Sequence[str],
    seats: int,
    tables: int,
    matches: int,
    owners: Owners,
) -> list[Table]:
    """The tables that shrink the doubt about undecided pairs most.

    Args:
        known: strengths and the pairs in doubt.
        playing: who may be seated; each must have a strength.
        seats: bots at a table.
        tables: how many; a bot may sit at several.
        matches: that each table will play.
        owners: bots of one owner are never at one table.

    Returns:
        none if no pair of those playing is in doubt, or one of them has no strength.
    """
    place = {bot: i for i, bot in enumerate(known.bots)}
    if not set(playing) <= place.keys():
        return []
    rows = [place[bot] for bot in playing]
    column = {bot: i for i, bot in enumerate(playing)}
    pairs = [
        (column[one], column[two])
        for one, two in known.undecided
        if one in column and two in column and not _is_banned(one, two, owners)
    ]
    if not pairs:
        return []
    contrasts = np.zeros((len(playing), len(pairs)))
    for at, (i, j) in enumerate(pairs):
        contrasts[i, at], contrasts[j, at] = 1.0, -1.0
    chances = _Chances(known.strengths[rows], by_wins=known.by_wins)
    spread = known.covariance[np.ix_(rows, rows)]
    banned = _banned(playing, owners)
    out = []
    for _ in range(tables):
        table = _best_table(chances, _doubt(spread, contrasts), pairs, banned, seats)
        if table is None:
            break
        out.append(tuple(playing[i] for i in table))
        spread = _after(spread, matches * chances.information(table))
    return out


class _Chances:
    """What a match of a table tells about the strengths at it."""

    def __init__(self, strengths: FloatArray, *, by_wins: bool) -> None:
        self._by_wins = by_wins
        self._odds = np.exp(strengths - strengths.max())
        ahead = self._odds[:, None] / (self._odds[:, None] + self._odds[None, :])
        self._pairs = ahead * (1 - ahead)

    def worth_with(self, doubt: FloatArray, table: Sequence[int]) -> FloatArray:
        """The worth of a table with each one of all bots added to it."""
        at = np.ix_(table, table)
        if not self._by_wins:
            gain = self._pairs * doubt
            added: FloatArray = gain[at].sum() / 2 + gain[:, table].sum(axis=1)
            return added
        odds = self._odds
        own = odds[list(table)]
        among = float(own @ doubt[at] @ own) / 2
        shared: FloatArray = (among + odds * (doubt[:, table] @ own)) / (own.sum() + odds) ** 2
        return shared

    def information(self, table: Sequence[int]) -> FloatArray:
        """Of one match, about all strengths."""
        out = np.zeros(self._pairs.shape)
        at = np.ix_(table, table)
        if self._by_wins:
            share = self._odds[list(table)] / self._odds[list(table)].sum()
            between = np.outer(share, share)
        else:
            # The pairs of a match of k seats overlap by (k+1)/3.
            between = self._pairs[at] * 3 / (len(table) + 1)
        np.fill_diagonal(between, 0.0)
        out[at] = np.diag(between.sum(axis=1)) - between
        return out


def _doubt(spread: FloatArray, contrasts: FloatArray) -> FloatArray:
    """What is to be learned from each pair, for one unit of information about it."""
    moved = spread @ contrasts
    value = moved @ moved.T
    own = np.diag(value)
    return own[:, None] + own[None, :] - 2 * value


def _is_banned(one: str, two: str, owners: Owners) -> bool:
    return one in owners and owners[one] == owners.get(two)


def _banned(bots: Sequence[str], owners: Owners) -> npt.NDArray[np.bool_]:
    """Who may not sit with whom: oneself, and bots of one's owner."""
    banned = np.eye(len(bots), dtype=bool)
    for i, j in combinations(range(len(bots)), 2):
        banned[i, j] = banned[j, i] = _is_banned(bots[i], bots[j], owners)
    return banned


def _best_table(
    chances: _Chances,
    doubt: FloatArray,
    starts: Sequence[tuple[int, int]],
    banned: npt.NDArray[np.bool_],
    seats: int,
) -> list[int] | None:
    """Places of a table's bots, rising; None if owners leave no full one."""
    # Compared to so many digits of the largest, so that rounding decides nothing.
    unit = max(float(doubt.max()), np.finfo(float).tiny)
    best, most = None, -np.inf
    alone = np.stack([chances.worth_with(doubt, [bot]) for bot in range(len(doubt))])
    nearest = divmod(int(np.where(banned, -np.inf, alone).argmax()), len(doubt))
    for start in (nearest, *starts):
        table = list(start)
        worth = float(alone[start])
        while len(table) < seats:
            added = np.round(chances.worth_with(doubt, table) / unit, DIGITS)
            added[banned[:, table].any(axis=1)] = -np.inf
            place = int(added.argmax())
            if added[place] == -np.inf:
                break
            table.append(place)
            worth = float(added[place]) * unit
        if len(table) == seats and round(worth / unit, DIGITS) > most:
            best, most = sorted(table), round(worth / unit, DIGITS)
    return best


def _after(spread: FloatArray, information: FloatArray) -> FloatArray:
    """The covariance as it would be with this information more."""
    size = len(spread)
    return np.linalg.solve(np.eye(size) + spread @ information, spread).astype(np.float64)
