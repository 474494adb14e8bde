"""A tournament in rounds that are drawn one by one, each from the whole results of those before.

Nothing here depends on the order in which results arrive: a round is drawn when every group of the
round before is there. Deals go on where a pairing met before, so that no deal is played twice.
"""

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence

from tourney.schedule.adaptive import Adaptive
from tourney.schedule.draws import Draw, Known, Place, Result, Round, Seated, Stage, Table
from tourney.schedule.formats import fixed_schedule
from tourney.schedule.groups import FixedSchedule, Group
from tourney.schedule.knockout import Knockout
from tourney.schedule.swiss import Swiss
from tourney.schedule.terms import Terms

__all__ = ("Rounds", "make_schedule")


class Rounds:
    """A schedule that grows round by round."""

    def __init__(self, terms: Terms, bots: Sequence[str]) -> None:
        """Plan it.

        Raises:
            Unplayable: the bots fill no table, or the terms do not fit the tables.
        """
        self.bots = tuple(bots)
        self.seats = terms.stride
        self.rounds: list[Round] = []
        """Those drawn so far."""
        self.needs_estimates = terms.form == "adaptive"
        """Whether tables are chosen by what is known of strengths, and not by results."""
        self._deals = terms.deals
        self._draws = [_draw(terms, bots, seats) for seats in terms.seats]
        self._next_deal: dict[Table, int] = {}
        self._taken = 0
        self._out: frozenset[str] = frozenset()

    @property
    def drawn(self) -> int:
        """Groups of the rounds so far."""
        return self.rounds[-1].first + self.rounds[-1].groups if self.rounds else 0

    @property
    def groups(self) -> int:
        """Groups of all rounds, those to come as if nobody else goes out."""
        return self.drawn + self._deals * sum(self._tables_left())

    @property
    def matches(self) -> int:
        """Matches of all rounds, likewise."""
        to_come = zip(self._draws, self._tables_left(), strict=True)
        drawn = sum(one.matches for one in self.rounds)
        return drawn + self._deals * sum(draw.seats * tables for draw, tables in to_come)

    def _tables_left(self) -> list[int]:
        """Tables at each size that are not drawn yet."""
        waiting = self.rounds[self._taken :]
        left = []
        for place, draw in enumerate(self._draws):
            tables = draw.tables_left(self._taken, self._out)
            # A round that was drawn and not taken is still among those to come.
            drawn = sum(len(one.stages[place].tables) for one in waiting)
            left.append(max(0, tables - drawn))
        return left

    def group(self, number: int) -> Group:
        """The group with this number, 0 to `drawn` - 1."""
        place = bisect_right(self.rounds, number, key=lambda one: one.first) - 1
        return self.rounds[place].group(number)

    def add(self, drawn: Round) -> None:
        """A round that was drawn, now or in an earlier session."""
        self.rounds.append(drawn)
        self._out = frozenset(drawn.withdrawn)
        for table in drawn.tables:
            self._next_deal[table.pairing] = table.deal + drawn.deals

    def take(self, results: Sequence[Result]) -> None:
        """The next round that was added has been played: the result of each of its tables."""
        played = self.rounds[self._taken]
        start = 0
        for draw, stage in zip(self._draws, played.stages, strict=True):
            if stage.tables:
                draw.take(stage, results[start : start + len(stage.tables)])
            start += len(stage.tables)
        self._taken += 1

    def draw(
        self,
        out: Collection[str] = (),
        streaks: Mapping[str, int] | None = None,
        known: Known | None = None,
    ) -> Round | None:
        """The next round, which `add` then takes; None when the tournament is over.

        Args:
            out: bots that were withdrawn.
            streaks: kept in the round, for whoever goes on from it.
            known: what adaptive tables are chosen by.
        """
        self._out = frozenset(out)
        number = len(self.rounds)
        drawn = [draw.draw(number, self._out, known) for draw in self._draws]
        if not any(drawn):
            return None
        return Round(
            number=number,
            first=self.drawn,
            deals=self._deals,
            stages=self._with_deals(drawn),
            withdrawn=tuple(sorted(out)),
            streaks=streaks or {},
        )

    def _with_deals(self, stages: Sequence[Stage | None]) -> tuple[Stage, ...]:
        """The stages with the first deal of each table that none of its bots has met before."""
        following = dict[Table, int]()
        out = []
        for draw, stage in zip(self._draws, stages, strict=True):
            tables = []
            for table in stage.tables if stage else ():
                known = self._next_deal.get(table.pairing, 0)
                deal = following.get(table.pairing, known)
                following[table.pairing] = deal + self._deals
                tables.append(Seated(table.pairing, deal))
            byes, how = (stage.byes, stage.how) if stage else ((), "over")
            out.append(Stage(seats=draw.seats, tables=tuple(tables), byes=byes, how=how))
        return tuple(out)

    def places(self) -> list[Place]:
        """Bots by the rules of the format, size by size, from the rounds taken so far."""
        return [place for draw in self._draws for place in draw.places(self._out)]


def _draw(terms: Terms, bots: Sequence[str], seats: int) -> Draw:
    if terms.form == "swiss":
        return Swiss(bots, seats, terms.rounds, terms.owners)
    if terms.form == "knockout":
        return Knockout(bots, seats, terms.advance, terms.owners)
    return Adaptive(bots, seats, terms.rounds or 1, terms.deals, terms.owners)


def make_schedule(terms: Terms, bots: Sequence[str]) -> FixedSchedule | Rounds:
    """The schedule of a config.

    Raises:
        Unplayable: the bots do not fill it.
    """
    return Rounds(terms, bots) if terms.is_drawn else fixed_schedule(terms, bots)
