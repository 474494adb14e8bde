"""What a seat is worth, whoever sits there, and who profits from sitting behind whom.

In whole rotation groups every bot sits in every seat equally often, so plain means over seats are
fair comparisons; the error is by group. Seats have additive sums; neighbours and ties need the
matches themselves.
"""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import msgspec
import numpy as np

from tourney.ratings.estimate import Estimate, Moments, moments_of, ratio_mean
from tourney.ratings.matches import FloatArray, IntArray, Matches

__all__ = (
    "NeighbourEffect",
    "SeatEffect",
    "SeatSums",
    "TieRates",
    "add_seats",
    "effects_of",
    "neighbour_effects",
    "seat_effects",
    "tally_seats",
    "ties",
)


class SeatEffect(msgspec.Struct, frozen=True, kw_only=True):
    """One seat against the mean of its table."""

    seat: Annotated[int, msgspec.Meta(description="0 to n-1 clockwise")]
    win_share: Annotated[float, msgspec.Meta(description="share of wins of whoever sat there")]
    win_se: Annotated[float | None, msgspec.Meta(description="its standard error, by group")]
    ahead: Annotated[float, msgspec.Meta(description="share of the others left behind")]
    ahead_se: Annotated[float | None, msgspec.Meta(description="its standard error, by group")]
    points: Annotated[float | None, msgspec.Meta(description="score minus the table's mean")]
    points_se: Annotated[float | None, msgspec.Meta(description="its standard error, by group")]


class NeighbourEffect(msgspec.Struct, frozen=True, kw_only=True):
    """What it is worth to sit right after a bot."""

    bot: Annotated[str, msgspec.Meta(description="the bot that acts before")]
    groups: Annotated[int, msgspec.Meta(description="groups in which somebody sat after it")]
    points: Annotated[float, msgspec.Meta(description="score of who sits after it, against others")]
    points_se: Annotated[float | None, msgspec.Meta(description="its standard error, by group")]


class TieRates(msgspec.Struct, frozen=True, kw_only=True):
    """How often places are shared."""

    first: Annotated[float, msgspec.Meta(description="share of matches with a shared first rank")]
    pairs: Annotated[float, msgspec.Meta(description="share of pairs of seats with one rank")]


class SeatSums(NamedTuple):
    """What the seats of one table size gained, summed over whole groups; additive."""

    clusters: int
    matches: float
    matches_sq: float
    win: FloatArray
    """Seat by (sum, sum of squares, sum times the group's matches), as the next two."""
    ahead: FloatArray
    points: FloatArray | None
    """None where there are no scores."""

    @property
    def seats(self) -> int:
        """Bots at a table."""
        return len(self.win)


def tally_seats(matches: Matches) -> SeatSums:
    """The sums of wins, of others left behind and of points, for every seat."""
    seats, sizes = matches.seats, matches.sizes.astype(np.float64)
    ahead = np.zeros(matches.ranks.shape)
    for other in range(seats):
        step = matches.ranks[other].astype(np.int64) - matches.ranks
        ahead += (np.sign(step) + 1) / 2
    # Everybody ties with himself, which is half.
    ahead = (ahead - 0.5) / (seats - 1)

    def moments(values: FloatArray) -> FloatArray:
        x = np.add.reduceat(values, matches.starts, axis=1)
        return np.column_stack([x.sum(axis=1), (x * x).sum(axis=1), x @ sizes])

    points = _relative(matches)
    return SeatSums(
        clusters=len(sizes),
        matches=float(sizes.sum()),
        matches_sq=float(sizes @ sizes),
        win=moments(_win_shares(matches)),
        ahead=moments(ahead),
        points=None if points is None else moments(points),
    )


def add_seats(*parts: Sequence[SeatSums]) -> tuple[SeatSums, ...]:
    """The sums of all parts together, one for each number of seats; no group may be in two."""
    out: dict[int, SeatSums] = {}
    for one in (one for part in parts for one in part):
        known = out.get(one.seats)
        if known is None:
            out[one.seats] = one
            continue
        points = None
        if known.points is not None and one.points is not None:
            points = known.points + one.points
        out[one.seats] = SeatSums(
            clusters=known.clusters + one.clusters,
            matches=known.matches + one.matches,
            matches_sq=known.matches_sq + one.matches_sq,
            win=known.win + one.win,
            ahead=known.ahead + one.ahead,
            points=points,
        )
    return tuple(out[seats] for seats in sorted(out))


def effects_of(sums: SeatSums) -> list[SeatEffect]:
    """Wins, places and points of every seat."""

    def mean(moments: FloatArray, seat: int) -> Estimate:
        x, xx, xm = moments[seat].tolist()
        return ratio_mean(Moments(sums.clusters, sums.matches, x, xx, xm, sums.matches_sq))

    out = []
    for seat in range(sums.seats):
        won, left = mean(sums.win, seat), mean(sums.ahead, seat)
        made = None if sums.points is None else mean(sums.points, seat)
        out.append(
            SeatEffect(
                seat=seat,
                win_share=won.mean,
                win_se=won.se,
                ahead=left.mean,
                ahead_se=left.se,
                points=None if made is None else made.mean,
                points_se=None if made is None else made.se,
            )
        )
    return out


def seat_effects(matches: Matches) -> list[SeatEffect]:
    """Wins, places and points of every seat, from the matches themselves."""
    return effects_of(tally_seats(matches))


def _win_shares(matches: Matches) -> FloatArray:
    first = matches.ranks == matches.ranks.min(axis=0)
    shares: FloatArray = first / first.sum(axis=0)
    return shares


def _relative(matches: Matches) -> FloatArray | None:
    if matches.scores is None:
        return None
    relative: FloatArray = matches.scores - matches.scores.mean(axis=0)
    return relative


def ties(matches: Matches) -> TieRates:
    """Rates over all matches.

    Raises:
        ValueError: there is no match.
    """
    if not matches.ranks.size:
        raise ValueError("no match, no rate")
    first = (matches.ranks == matches.ranks.min(axis=0)).sum(axis=0)
    shared = [
        (matches.ranks[i] == matches.ranks[j]).mean()
        for i in range(matches.seats)
        for j in range(i)
    ]
    return TieRates(first=float((first > 1).mean()), pairs=float(np.mean(shared)))


def neighbour_effects(matches: Matches) -> list[NeighbourEffect]:
    """The points of whoever sits right after each bot, against the same bots after another one.

    A group has one circular order, so in all its matches the same bot sits after the same other.
    What a bot makes there is compared with what it makes in all groups of the same pairing. At a
    table of two there is one order only, and nothing to compare: the list is empty.
    """
    relative, seats = _relative(matches), matches.seats
    if relative is None or seats < 3:
        return []
    first = matches.seating[:, matches.starts].astype(np.int64)
    made = _by_place(matches, relative, first)
    number = _pairing_number(first)
    effect: list[FloatArray] = []
    for place in range(seats):
        key = number * len(matches.bots) + first[place]
        unique, index = np.unique(key, return_inverse=True)
        count = np.bincount(index, minlength=len(unique))
        mean = np.bincount(index, weights=made[place], minlength=len(unique)) / count
        effect.append(np.where(count[index] > 1, made[place] - mean[index], np.nan))
    # A bot is before another in one of k-1 orders: its own groups pull the mean towards it.
    own_part = (seats - 1) / (seats - 2)
    out = []
    for code, bot in enumerate(matches.bots):
        after = (
            np.concatenate([effect[(p + 1) % seats][first[p] == code] for p in range(seats)])
            * own_part
        )
        after = after[~np.isnan(after)]
        if len(after):
            found = ratio_mean(moments_of(after, np.ones(len(after))))
            out.append(
                NeighbourEffect(bot=bot, groups=len(after), points=found.mean, points_se=found.se)
            )
    return out


def _by_place(matches: Matches, values: FloatArray, first: IntArray) -> FloatArray:
    """Each bot's mean over its group, at the seat it had in the group's first match."""
    of_bot = np.take_along_axis(values, matches.by_bot().seats.astype(np.int64), axis=0)
    means = np.add.reduceat(of_bot, matches.starts, axis=1) / matches.sizes
    out = np.empty(first.shape)
    np.put_along_axis(out, np.argsort(first, axis=0), means, axis=0)
    return out


def _pairing_number(first: IntArray) -> IntArray:
    _, number = np.unique(np.sort(first, axis=0), axis=1, return_inverse=True)
    return number.reshape(-1).astype(np.int64)
