"""The next round from results so far: Swiss, knockout, and tables chosen to separate neighbours.

Pure functions: whoever plays the round decides how many groups a table gets and what a group's
result counts. A table is a set of bots; its rotations take care of seats.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tourney.errors import ConfigError
from tourney.schedule.groups import require_enough

__all__ = ("adaptive_table", "apart", "knockout_tables", "survivors", "swiss_tables")

Table = tuple[str, ...]
FloatArray = npt.NDArray[np.float64]


def swiss_tables(
    points: Mapping[str, float],
    met: Collection[frozenset[str]],
    byes: Mapping[str, int],
    seats: int,
) -> tuple[list[Table], list[str]]:
    """Tables of bots with like points who have not met yet, and those that sit out.

    Args:
        points: of each bot so far; equals stay in the given order.
        met: pairs that met in an earlier round.
        byes: how often each bot sat out; the lowest of those that did least does next.
        seats: bots at a table.

    Raises:
        ConfigError: there are fewer bots than seats.
    """
    require_enough(list(points), seats)
    ranked = sorted(points, key=lambda bot: -points[bot])
    spare = len(ranked) % seats
    lowest_first = ranked[::-1]
    resting = sorted(lowest_first, key=lambda bot: byes.get(bot, 0))[:spare]
    waiting = [bot for bot in ranked if bot not in resting]
    tables = []
    while waiting:
        table = [waiting.pop(0)]
        while len(table) < seats:
            # The nearest in points with the fewest repeats.
            chosen = min(
                range(len(waiting)),
                key=lambda k: (sum(frozenset((waiting[k], one)) in met for one in table), k),
            )
            table.append(waiting.pop(chosen))
        tables.append(tuple(table))
    return tables, resting


def knockout_tables(seeded: Sequence[str], seats: int) -> tuple[list[Table], list[str]]:
    """Tables of a knockout round, and those that go on without play.

    The best seeds sit apart, filled to and fro as in a draft: with two seats the first meets the
    last. The best have a bye where tables do not come out even.

    Raises:
        ConfigError: there are fewer bots than seats.
    """
    require_enough(seeded, seats)
    spare = len(seeded) % seats
    byes, playing = list(seeded[:spare]), list(seeded[spare:])
    count = len(playing) // seats
    tables: list[list[str]] = [[] for _ in range(count)]
    for turn in range(seats):
        row = playing[turn * count : (turn + 1) * count]
        for table, bot in zip(tables, row if turn % 2 == 0 else reversed(row), strict=True):
            table.append(bot)
    return [tuple(table) for table in tables], byes


def survivors(
    results: Sequence[Mapping[str, float]], byes: Sequence[str], seeded: Sequence[str], keep: int
) -> list[str]:
    """The bots of the next knockout round in the order of their seeds.

    Args:
        results: points of each table's bots, over whole groups; equals go by seed.
        byes: bots that go on without play.
        seeded: all bots of this round, the best first.
        keep: how many of each table go on.

    Raises:
        ConfigError: nobody would go on, or nobody would go out.
    """
    place = {bot: number for number, bot in enumerate(seeded)}
    through = set(byes)
    for points in results:
        if not 1 <= keep < len(points):
            raise ConfigError(f"{keep} of {len(points)} at a table cannot go on")
        through.update(sorted(points, key=lambda bot: (-points[bot], place[bot]))[:keep])
    return [bot for bot in seeded if bot in through]


def apart(tables: Sequence[Table], owners: Mapping[str, str]) -> list[Table]:
    """The tables at which no two bots have one owner; a bot without an owner minds nobody."""
    kept = []
    for table in tables:
        known = [owners[bot] for bot in table if bot in owners]
        if len(set(known)) == len(known):
            kept.append(table)
    return kept


def adaptive_table(
    strengths: FloatArray,
    covariance: FloatArray,
    undecided: Sequence[tuple[int, int]],
    seats: int,
) -> tuple[int, ...]:
    """The table whose next group shrinks the doubt about `undecided` pairs most.

    With G = V C C^T V over the undecided contrasts C, a match of i and j is worth
    p q (G_ii + G_jj - 2 G_ij); the best pair is seated first, then whoever adds most. Measured to
    decide 11 to 14 % more pairs than balanced rounds (RATINGS.md section 4.7), of which at least
    one round in five must stay; only with confidence sequences.

    Args:
        strengths: of the bots.
        covariance: of the strengths.
        undecided: neighbours not told apart.
        seats: bots at the table.

    Raises:
        ConfigError: there are fewer bots than seats, or nothing is undecided.
    """
    bots = len(strengths)
    if not undecided or bots < seats:
        raise ConfigError(f"no table of {seats} among {bots} bots and {len(undecided)} open pairs")
    contrasts = np.zeros((bots, len(undecided)))
    for column, (one, two) in enumerate(undecided):
        contrasts[one, column], contrasts[two, column] = 1.0, -1.0
    moved = covariance @ contrasts
    worth = moved @ moved.T
    chance = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    own = np.diag(worth)
    gain = chance * (1 - chance) * (own[:, None] + own[None, :] - 2 * worth)
    np.fill_diagonal(gain, -np.inf)
    table = list(divmod(int(gain.argmax()), bots))
    np.fill_diagonal(gain, 0.0)
    while len(table) < seats:
        added = gain[:, table].sum(axis=1)
        added[table] = -np.inf
        table.append(int(added.argmax()))
    return tuple(sorted(table))
