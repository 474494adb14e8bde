"""Who may sit together: no two bots of one owner, where that is asked for.

A bot without an owner minds nobody. Where owners are not asked for, all maps here are empty and
every set of bots may sit.
"""

from collections.abc import Mapping, Sequence

__all__ = ("Owners", "Sets", "dealt", "divided", "most_tables", "players")

Owners = Mapping[str, str]


class Sets:
    """All sets of `size` bots without two of one owner, each by its number, none of them listed.

    They come in lexicographic order of the bots' owners in the order of their first bots; without
    owners that is the order of the bots.
    """

    def __init__(self, bots: Sequence[str], size: int, owners: Owners) -> None:
        self._size = size
        self._clubs = divided(bots, owners)
        self._place = {bot: place for place, bot in enumerate(bots)}
        # ways[i][j]: sets of j bots, at most one from each club from the i-th on.
        row = [1] + [0] * size
        self._ways = [row]
        for club in reversed(self._clubs):
            row = [1, *(row[j] + len(club) * row[j - 1] for j in range(1, size + 1))]
            self._ways.append(row)
        self._ways.reverse()
        self.count = self._ways[0][size]

    def __getitem__(self, number: int) -> tuple[str, ...]:
        """The set with this number, its bots in the given order."""
        chosen: list[str] = []
        for place, club in enumerate(self._clubs):
            left = self._size - len(chosen)
            if not left:
                break
            each = self._ways[place + 1][left - 1]
            if number < len(club) * each:
                member, number = divmod(number, each)
                chosen.append(club[member])
            else:
                number -= len(club) * each
        return tuple(sorted(chosen, key=self._place.__getitem__))


def divided(bots: Sequence[str], owners: Owners) -> list[list[str]]:
    """Bots by owner, in the order of each owner's first; one without an owner is alone."""
    clubs: dict[tuple[bool, str], list[str]] = {}
    for bot in bots:
        clubs.setdefault((bot in owners, owners.get(bot, bot)), []).append(bot)
    return list(clubs.values())


def most_tables(bots: Sequence[str], seats: int, owners: Owners) -> int:
    """The most tables that can be filled at the same time."""
    sizes = [len(club) for club in divided(bots, owners)]
    tables = len(bots) // seats
    while tables and sum(min(size, tables) for size in sizes) < tables * seats:
        tables -= 1
    return tables


def players(wishes: Sequence[str], tables: int, seats: int, owners: Owners) -> set[str]:
    """Who fills so many tables: the first of `wishes`, no more of one owner than there are tables.

    Args:
        wishes: bots, who should play most surely first.
        tables: no more than `most_tables`.
        seats: bots at a table.
        owners: of the bots.
    """
    chosen: set[str] = set()
    taken: dict[str, int] = {}
    for bot in wishes:
        owner = owners.get(bot)
        if len(chosen) == tables * seats:
            break
        if owner is not None:
            if taken.get(owner, 0) == tables:
                continue
            taken[owner] = taken.get(owner, 0) + 1
        chosen.add(bot)
    return chosen


def dealt(bots: Sequence[str], tables: int, owners: Owners) -> list[list[str]]:
    """Tables without two bots of one owner, of whom there are no more than tables.

    Dealt like cards, owner by owner: whoever follows an owner's bot sits at the next table.
    """
    in_turn = [bot for club in divided(bots, owners) for bot in club]
    return [in_turn[table::tables] for table in range(tables)]
