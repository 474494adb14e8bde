"""Knockout rounds: tables of k of which the best go on, until one table is left, the final.

Bots are seeded in the config's order. A round seats them to and fro as in a draft, so that with two
seats the first meets the last; where tables do not come out even, the best seeds have a bye. A
table is decided by all its groups; equals by the other of wins and places, then by the better seed.
When fewer than a table are left, the best of those that went out last fill it up for the final.
"""

from collections.abc import Collection, Sequence

import numpy as np

from tourney.schedule.balanced import require_tables, settled
from tourney.schedule.draws import Known, Place, Result, Seated, Stage, Table
from tourney.schedule.owners import Owners, most_tables, players
from tourney.schedule.terms import Unplayable

__all__ = ("Knockout", "drafted")

FINAL = "final"


class Knockout:
    """A knockout at one table size."""

    def __init__(
        self, bots: Sequence[str], seats: int, advance: int | None, owners: Owners
    ) -> None:
        """Plan it.

        Args:
            bots: names, the best seed first.
            seats: bots at a table.
            advance: how many of a table go on; None for half of them.
            owners: bots of one owner never sit together; a final that would is not played.

        Raises:
            Unplayable: the bots fill no table, or all of a table would go on.
        """
        require_tables(bots, seats, owners)
        self.seats = seats
        self._keep = max(1, seats // 2) if advance is None else advance
        if not 1 <= self._keep < seats:
            raise Unplayable(
                "advance",
                f"advance = {self._keep} at tables of {seats}: at least one goes on and one out",
            )
        self._owners = owners
        self._seed = {bot: place for place, bot in enumerate(bots)}
        self._left = list(bots)
        self._fallen: dict[str, tuple[int, tuple[int, int]]] = {}
        """Bots that went out: in which round, and with what."""
        self._round = 0
        self._over = False

    def draw(self, number: int, out: Collection[str], known: Known | None = None) -> Stage | None:
        """The next round; None after the final, or when no table can be filled."""
        del number, known
        field = self._field(out)
        tables = 0 if self._over else most_tables(field, self.seats, self._owners)
        if not tables:
            self._over = True
            return None
        # The lower a seed, the surer it plays: byes are for the best.
        playing = players(field[::-1], tables, self.seats, self._owners)
        drawn = drafted([bot for bot in field if bot in playing], tables)
        if self._owners:
            drawn = settled(field, drawn, np.zeros((len(field), len(field))), self._owners)
        seated = [Seated(tuple(sorted(one, key=self._seed.__getitem__)), 0) for one in drawn]
        byes = tuple(bot for bot in field if bot not in playing)
        is_final = tables == 1 and not byes
        return Stage(
            seats=self.seats, tables=tuple(seated), byes=byes, how=FINAL if is_final else ""
        )

    def _field(self, out: Collection[str]) -> list[str]:
        """Who plays on, by seed; filled up from those that went out last where they are too few."""
        left = [bot for bot in self._left if bot not in out]
        missing = self.seats - len(left)
        if missing <= 0 or not left:
            return left
        taken = {self._owners[bot] for bot in left if bot in self._owners}
        for bot in sorted(self._fallen, key=self._by_fall):
            if missing and bot not in out and self._owners.get(bot) not in taken:
                left.append(bot)
                missing -= 1
                taken.update({self._owners[bot]} if bot in self._owners else ())
        return sorted(left, key=self._seed.__getitem__)

    def _by_fall(self, bot: str) -> tuple[int, int, int, int]:
        """Those that went out last first, of one round those that took most."""
        turn, (most, next_most) = self._fallen[bot]
        return -turn, -most, -next_most, self._seed[bot]

    def take(self, stage: Stage, results: Sequence[Result]) -> None:
        """Let the best of each table go on."""
        self._round += 1
        self._over = stage.how == FINAL
        keep = 1 if self._over else self._keep
        through = set(stage.byes)
        for result in results:
            ranked = sorted(
                result, key=lambda bot: (-result[bot][0], -result[bot][1], self._seed[bot])
            )
            through.update(ranked[:keep])
            for bot in ranked[keep:]:
                self._fallen[bot] = (self._round, result[bot])
        for bot in through:
            self._fallen.pop(bot, None)
        self._left = sorted(through, key=self._seed.__getitem__)

    def tables_left(self, number: int, out: Collection[str]) -> int:
        """Tables of the rounds to come, if owners never stand in the way."""
        del number
        left, count = len([bot for bot in self._left if bot not in out]), 0
        while not self._over and left:
            tables = max(1, left // self.seats)
            count += tables
            if left <= self.seats:
                break
            left -= tables * (self.seats - self._keep)
        return count

    def places(self, out: Collection[str]) -> list[Place]:
        """Who is left by seed, then who went out, the latest first; those taken out last."""
        left = [bot for bot in self._left if bot not in out]
        won = "won the final" if self._over and len(left) == 1 else "not beaten"
        fallen = [bot for bot in sorted(self._fallen, key=self._by_fall) if bot not in out]
        said = [Place(bot, self.seats, won) for bot in left]
        said += [Place(bot, self.seats, f"out in round {self._fallen[bot][0]}") for bot in fallen]
        gone = [bot for bot in self._seed if bot in out]
        return said + [Place(bot, self.seats, "withdrawn") for bot in gone]


def drafted(seeded: Sequence[str], tables: int) -> list[Table]:
    """Tables filled to and fro, the best seeds at different ones."""
    out: list[list[str]] = [[] for _ in range(tables)]
    for turn in range(len(seeded) // tables):
        row = seeded[turn * tables : (turn + 1) * tables]
        for table, bot in zip(out, row if turn % 2 == 0 else row[::-1], strict=True):
            table.append(bot)
    return [tuple(table) for table in out]
