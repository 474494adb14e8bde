"""What every format draws whose rounds wait for results: tables, byes, places. Pure values."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from tourney.schedule.groups import Group, circular_order

__all__ = ("Draw", "Known", "Place", "Result", "Round", "Seated", "Stage", "Table", "halves_won")

Table = tuple[str, ...]
FloatArray = npt.NDArray[np.float64]

Result = Mapping[str, tuple[int, int]]
"""What each bot of a table took in all its groups: what the game ranks bots by, and to break a tie
the other of wins and places. More is better; whole numbers, so that equals are equal."""


class Seated(msgspec.Struct, frozen=True, array_like=True):
    """A table of a round."""

    pairing: Table
    """Names in the config's order."""
    deal: int
    """The first deal of this pairing that it plays here: those before were played earlier."""


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """A round at one table size."""

    seats: int
    tables: tuple[Seated, ...]
    byes: tuple[str, ...] = ()
    """Bots that do not play in it."""
    how: str = ""
    """What kind of round it is, where the format has several: `balanced`, `adaptive`, `final`."""


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """A round as it was drawn, from nothing but whole rounds before it."""

    number: int
    """From 0."""
    first: int
    """Number of its first group."""
    deals: int
    """Groups of each table."""
    stages: tuple[Stage, ...]
    withdrawn: tuple[str, ...] = ()
    """Bots that are out of the run."""
    streaks: Mapping[str, int] = {}
    """Matches in a row that a bot had ended with a fault before this round, where there are any."""

    @property
    def tables(self) -> list[Seated]:
        """Of all stages; groups go over them deal by deal."""
        return [table for stage in self.stages for table in stage.tables]

    @property
    def groups(self) -> int:
        """How many groups it has."""
        return self.deals * sum(len(stage.tables) for stage in self.stages)

    @property
    def matches(self) -> int:
        """How many matches they hold."""
        return self.deals * sum(stage.seats * len(stage.tables) for stage in self.stages)

    def group(self, number: int) -> Group:
        """The group with this number in the run."""
        tables = self.tables
        turn, place = divmod(number - self.first, len(tables))
        pairing, deal = tables[place].pairing, tables[place].deal + turn
        return Group(number, pairing, deal, circular_order(pairing, deal))


class Place(msgspec.Struct, frozen=True):
    """A bot's place by the rules of the format, whatever its rating."""

    bot: str
    seats: int
    """Of the tables it is a place at."""
    what: str
    """Why, in words: `7.5 points`, `won the final`, `out in round 2`."""


class Known(NamedTuple):
    """What the rounds so far say about strengths, for tables that are to say more."""

    bots: tuple[str, ...]
    strengths: FloatArray
    """Log-odds scale."""
    covariance: FloatArray
    """Of the strengths."""
    by_wins: bool
    """Whether they are of who takes a match, and not of who finishes ahead of whom."""
    undecided: tuple[tuple[str, str], ...]
    """Neighbours that are not told apart at every look."""


class Draw(Protocol):
    """One format at one table size."""

    seats: int

    def draw(self, number: int, out: Collection[str], known: Known | None) -> Stage | None:
        """The next round without the bots in `out`, deals all 0; None when nothing is left."""
        ...

    def take(self, stage: Stage, results: Sequence[Result]) -> None:
        """A drawn round was played: the result of each of its tables, in order."""
        ...

    def tables_left(self, number: int, out: Collection[str]) -> int:
        """Tables that rounds from `number` on will have if nobody else goes out."""
        ...

    def places(self, out: Collection[str]) -> list[Place]:
        """Bots, the best first, by what was taken so far; empty where ratings say all."""
        ...


def halves_won(result: Result) -> dict[str, int]:
    """For each bot of a table the others it finished ahead of, in halves: an equal is one."""
    return {
        bot: sum(
            2 if own > others else int(own == others)
            for other, others in result.items()
            if other != bot
        )
        for bot, own in result.items()
    }
