"""Rounds of tables that say most about neighbours not told apart yet (RATINGS.md section 4.7).

With G = V C C^T V over the undecided contrasts C and the covariance V of strengths, a match of i
and j is worth p q (G_ii + G_jj - 2 G_ij). The best pair is seated first, then whoever adds most.
The tables of a round are drawn one after another, each as if those before it were played. The
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
    pairs = [(one, two) for one, two in known.undecided if one in column and two in column]
    if not pairs:
        return []
    contrasts = np.zeros((len(playing), len(pairs)))
    for at, (one, two) in enumerate(pairs):
        contrasts[column[one], at], contrasts[column[two], at] = 1.0, -1.0
    strengths = known.strengths[rows]
    chance = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    worth = chance * (1 - chance)
    spread = known.covariance[np.ix_(rows, rows)]
    banned = _banned(playing, owners)
    out = []
    for _ in range(tables):
        table = _best_table(worth, spread, contrasts, banned, seats)
        if len(table) < seats:
            break
        out.append(tuple(playing[i] for i in table))
        spread = _after(spread, worth, table, matches)
    return out


def _banned(bots: Sequence[str], owners: Owners) -> npt.NDArray[np.bool_]:
    """Who may not sit with whom: oneself, and bots of one's owner."""
    banned = np.eye(len(bots), dtype=bool)
    for i, j in combinations(range(len(bots)), 2):
        if bots[i] in owners and owners[bots[i]] == owners.get(bots[j]):
            banned[i, j] = banned[j, i] = True
    return banned


def _best_table(
    worth: FloatArray,
    spread: FloatArray,
    contrasts: FloatArray,
    banned: npt.NDArray[np.bool_],
    seats: int,
) -> list[int]:
    """Places of a table's bots, rising; fewer than `seats` if owners leave no more."""
    moved = spread @ contrasts
    value = moved @ moved.T
    own = np.diag(value)
    gain = worth * (own[:, None] + own[None, :] - 2 * value)
    gain = np.round(gain / max(float(gain.max()), np.finfo(float).tiny), DIGITS)
    table = list(divmod(int(np.where(banned, -np.inf, gain).argmax()), len(gain)))
    while len(table) < seats:
        added = gain[:, table].sum(axis=1)
        added[banned[:, table].any(axis=1)] = -np.inf
        best = int(added.argmax())
        if added[best] == -np.inf:
            break
        table.append(best)
    return sorted(table)


def _after(spread: FloatArray, worth: FloatArray, table: Sequence[int], matches: int) -> FloatArray:
    """The covariance as it would be after the table's matches, by Woodbury's identity.

    A match of k seats counts 3/(k+1) for each of its pairs: they overlap by that factor.
    """
    pairs = list(combinations(table, 2))
    told = np.zeros((len(spread), len(pairs)))
    for at, (i, j) in enumerate(pairs):
        told[i, at], told[j, at] = 1.0, -1.0
    weight = matches * 3 / (len(table) + 1) * np.array([worth[i, j] for i, j in pairs])
    moved = spread @ told
    return spread - moved @ np.linalg.solve(np.diag(1 / weight) + told.T @ moved, moved.T)
