"""Schedules whose groups are known beforehand: the gauntlet, a format at several table sizes.

As in `groups`, a group is worked out from its number, the same on every worker, and depends on no
result and no secret.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from tourney.schedule.balanced import Balanced
from tourney.schedule.groups import FixedSchedule, Group, RoundRobin, circular_order
from tourney.schedule.owners import Owners, Sets
from tourney.schedule.terms import Terms, Unplayable

__all__ = ("Gauntlet", "Sizes", "fixed_schedule")


class Gauntlet:
    """Each challenger meets every set of the other bots that fills its table; on `deals` deals."""

    def __init__(
        self,
        bots: Sequence[str],
        challengers: Sequence[str],
        seats: int,
        deals: int,
        owners: Owners | None = None,
    ) -> None:
        """Plan the schedule.

        Raises:
            Unplayable: there is no challenger, an unknown one, or one without a full table.
        """
        unknown = sorted(set(challengers) - set(bots))
        if unknown or not challengers:
            named = ", ".join(unknown) or "nobody"
            raise Unplayable(
                "challengers",
                f"a gauntlet needs challengers among the bots, not {named}: "
                'write challengers = ["name"] in [tournament]',
            )
        owners = owners or {}
        self.bots = tuple(bots)
        self.seats = seats
        self.challengers = tuple(bot for bot in bots if bot in set(challengers))
        self.others = tuple(bot for bot in bots if bot not in set(challengers))
        self._sets = [self._sets_for(challenger, owners) for challenger in self.challengers]
        self._firsts = [0, *accumulate(sets.count for sets in self._sets)]
        self.pairings = self.turn = self._firsts[-1]
        self.groups = self.drawn = self.pairings * deals
        self.matches = self.groups * seats

    def _sets_for(self, challenger: str, owners: Owners) -> Sets:
        owner = owners.get(challenger)
        met = [bot for bot in self.others if owner is None or owners.get(bot) != owner]
        sets = Sets(met, self.seats - 1, owners)
        if not sets.count:
            raise Unplayable(
                "challengers",
                f"a challenger needs {self.seats - 1} others at its table and {challenger} has "
                f"{len(met)} to choose from: name fewer challengers or lower `seats`",
            )
        return sets

    def group(self, number: int) -> Group:
        """The group with this number, 0 to `groups` - 1."""
        deal, index = divmod(number, self.pairings)
        turn = bisect_right(self._firsts, index) - 1
        met = {self.challengers[turn], *self._sets[turn][index - self._firsts[turn]]}
        pairing = tuple(bot for bot in self.bots if bot in met)
        return Group(number, pairing, deal, circular_order(pairing, deal))


class Sizes:
    """A format at several table sizes; they take turns deal by deal."""

    def __init__(self, parts: Sequence[FixedSchedule]) -> None:
        """Join schedules of the same bots and deals, one a size."""
        self._parts = tuple(parts)
        self._firsts = [0, *accumulate(part.turn for part in parts)]
        self.bots = parts[0].bots
        self.seats = max(part.seats for part in parts)
        self.turn = self._firsts[-1]
        self.groups = self.drawn = sum(part.groups for part in parts)
        self.matches = sum(part.matches for part in parts)

    def group(self, number: int) -> Group:
        """The group with this number, 0 to `groups` - 1."""
        deal, index = divmod(number, self.turn)
        place = bisect_right(self._firsts, index) - 1
        part = self._parts[place]
        inner = part.group(deal * part.turn + index - self._firsts[place])
        return inner._replace(number=number)


def fixed_schedule(terms: Terms, bots: Sequence[str]) -> FixedSchedule:
    """The schedule of terms that need no result.

    Raises:
        Unplayable: the bots do not fill it.
    """
    parts = [_at_size(terms, bots, seats) for seats in terms.seats]
    return parts[0] if len(parts) == 1 else Sizes(parts)


def _at_size(terms: Terms, bots: Sequence[str], seats: int) -> FixedSchedule:
    if terms.form == "gauntlet":
        return Gauntlet(bots, terms.challengers, seats, terms.deals, terms.owners)
    if terms.form == "balanced":
        return Balanced(bots, seats, terms.deals, owners=terms.owners)
    return RoundRobin(bots, seats, terms.deals, terms.owners)
