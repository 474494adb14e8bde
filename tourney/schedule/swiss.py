"""Swiss rounds: bots with like points meet, and nobody meets the same bot twice while that can be.

Points of a round are the bots of the table that one finished ahead of over all its groups, half
for an equal: with two seats 1, 1/2 and 0. Where tables do not come out even, the lowest of those
that sat out least often sit out; a bye is worth (k-1)/2, what a table gives on average.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from tourney.schedule.balanced import lot, require_tables, settled
from tourney.schedule.draws import Known, Place, Result, Seated, Stage, Table, halves_won
from tourney.schedule.owners import Owners, most_tables, players

__all__ = ("Swiss", "rounds_to_find_the_best", "swiss_tables")

Pair = frozenset[str]

SEARCH_STEPS = 10_000
"""After so many steps without a round free of repeats, one with few of them is taken."""

APART_IN_POINTS = 1e-3
"""What a difference of a point weighs beside a meeting, when repeats cannot be avoided."""


class Swiss:
    """A Swiss tournament at one table size."""

    def __init__(self, bots: Sequence[str], seats: int, rounds: int | None, owners: Owners) -> None:
        """Plan it.

        Raises:
            Unplayable: the bots fill no table.
        """
        require_tables(bots, seats, owners)
        self.seats = seats
        self.rounds = rounds_to_find_the_best(len(bots), seats) if rounds is None else rounds
        self._bots = tuple(bots)
        self._owners = owners
        self._halves = dict.fromkeys(bots, 0)
        self._met: Counter[Pair] = Counter()
        self._byes: Counter[str] = Counter()

    def draw(self, number: int, out: Collection[str], known: Known | None = None) -> Stage | None:
        """The next round; None after the last, or when too few are left."""
        del known
        playing = [bot for bot in self._bots if bot not in out]
        if number >= self.rounds or not most_tables(playing, self.seats, self._owners):
            return None
        by_lot = sorted(playing, key=lambda bot: lot(number, bot))
        ranked = sorted(by_lot, key=lambda bot: -self._halves[bot])
        tables, resting = swiss_tables(
            ranked, self._halves, self._met, self._byes, self.seats, self._owners
        )
        place = {bot: i for i, bot in enumerate(self._bots)}
        seated = [Seated(tuple(sorted(table, key=place.__getitem__)), 0) for table in tables]
        return Stage(seats=self.seats, tables=tuple(seated), byes=tuple(resting))

    def take(self, stage: Stage, results: Sequence[Result]) -> None:
        """Book the points of a round."""
        for table, result in zip(stage.tables, results, strict=True):
            for bot, halves in halves_won(result).items():
                self._halves[bot] += halves
            self._met.update(_pairs(table.pairing))
        for bot in stage.byes:
            self._halves[bot] += self.seats - 1
        self._byes.update(stage.byes)

    def tables_left(self, number: int, out: Collection[str]) -> int:
        """Tables of the rounds to come."""
        playing = [bot for bot in self._bots if bot not in out]
        return max(0, self.rounds - number) * most_tables(playing, self.seats, self._owners)

    def places(self, out: Collection[str]) -> list[Place]:
        """By points; equals in the config's order, those taken out last."""
        ranked = sorted(self._bots, key=lambda bot: (bot in out, -self._halves[bot]))
        return [
            Place(bot, self.seats, "withdrawn" if bot in out else f"{_in_words(self._halves[bot])}")
            for bot in ranked
        ]


def _in_words(halves: int) -> str:
    return f"{halves / 2:g} point{'s' if halves != 2 else ''}"


def rounds_to_find_the_best(bots: int, seats: int) -> int:
    """After so many rounds one bot at the most has won all its tables."""
    rounds = 1
    while seats**rounds < bots:
        rounds += 1
    return rounds


def swiss_tables(
    ranked: Sequence[str],
    points: Mapping[str, int],
    met: Mapping[Pair, int],
    byes: Mapping[str, int],
    seats: int,
    owners: Owners,
) -> tuple[list[Table], list[str]]:
    """Tables of bots with like points who have not met yet, and those that sit out.

    Args:
        ranked: the bots, the best first; equals in the order in which they are to be seated.
        points: of each bot so far, in any unit.
        met: how often pairs met.
        byes: how often each bot sat out; the lowest of those that did least does next.
        seats: bots at a table.
        owners: bots of one owner are never at one table.
    """
    tables = most_tables(ranked, seats, owners)
    # Sorting is stable: among bots with as many byes the higher one plays.
    wishes = sorted(ranked, key=lambda bot: -byes.get(bot, 0))
    playing = players(wishes, tables, seats, owners)
    waiting = [bot for bot in ranked if bot in playing]
    resting = [bot for bot in ranked if bot not in playing]

    def clash(one: str, two: str) -> bool:
        mine = owners.get(one)
        return frozenset((one, two)) in met or (mine is not None and mine == owners.get(two))

    found = _without_repeats(waiting, seats, clash)
    return found or _with_few_repeats(waiting, points, met, seats, owners), resting


def _without_repeats(
    waiting: Sequence[str], seats: int, clash: Callable[[str, str], bool]
) -> list[Table] | None:
    """Tables at which nobody clashes, the highest seated first, each with the next that can be.

    Depth first: a dead end undoes the last choice, so the upper tables change least.
    """
    count = len(waiting)
    seated: list[int] = []
    used = [False] * count
    following = [0]
    for _ in range(SEARCH_STEPS):
        depth = len(seated)
        if depth == count:
            names = [waiting[i] for i in seated]
            return [tuple(names[i : i + seats]) for i in range(0, count, seats)]
        table = seated[depth - depth % seats :]
        last = count if table or not following[-1] else 0
        free = (
            i
            for i in range(following[-1], last)
            if not used[i] and not any(clash(waiting[i], waiting[j]) for j in table)
        )
        chosen = next(free, None)
        if chosen is None:
            if not seated:
                return None
            following.pop()
            undone = seated.pop()
            used[undone] = False
            following[-1] = undone + 1
            continue
        seated.append(chosen)
        used[chosen] = True
        # A table's bots come in falling order; a new table begins with the highest who waits.
        following.append(chosen + 1 if len(seated) % seats else 0)
    return None


def _with_few_repeats(
    waiting: Sequence[str],
    points: Mapping[str, int],
    met: Mapping[Pair, int],
    seats: int,
    owners: Owners,
) -> list[Table]:
    """Tables in order of points after the swaps that save most meetings of those who met."""
    own = np.array([points[bot] for bot in waiting], dtype=np.float64)
    weights = APART_IN_POINTS * np.abs(own[:, None] - own[None, :])
    place = {bot: i for i, bot in enumerate(waiting)}
    for pair, times in met.items():
        one, two = pair
        if one in place and two in place:
            weights[place[one], place[two]] += times
            weights[place[two], place[one]] += times
    start = [waiting[i : i + seats] for i in range(0, len(waiting), seats)]
    return settled(waiting, start, weights, owners)


def _pairs(pairing: Table) -> list[Pair]:
    return [frozenset((one, two)) for i, one in enumerate(pairing) for two in pairing[i + 1 :]]
