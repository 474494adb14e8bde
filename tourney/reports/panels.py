"""Panels: what the matches of runs say besides the order of bots, each as one declared value.

A panel's sentence and lines are what the terminal prints, the page shows and the API answers.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal, get_args

import msgspec
import numpy as np
import polars as pl
from scipy.special import stdtr

from tourney.errors import ConfigError
from tourney.ratings import (
    ELO,
    Board,
    Cycle,
    GroupGain,
    Matches,
    Model,
    NeighbourEffect,
    NeighbourVerdict,
    PairResidual,
    PairStanding,
    SeatEffect,
    Sums,
    TieRates,
    Transitivity,
    arrange,
    effects_of,
    group_gain,
    head_to_head,
    neighbour_effects,
    outlook_of,
    seat_advantage,
    ties,
    transitivity,
)
from tourney.ratings.seats import SeatSums
from tourney.reports.boards import board_of, numbered, sums_of
from tourney.reports.luck import LuckLine, luck_lines
from tourney.store import RunReader
from tourney.store.derived import read_derived

__all__ = ("PANELS", "Evidence", "Panel", "PanelName", "panel")

PanelName = Literal[
    "head-to-head", "seats", "neighbours", "ties", "cycles", "luck", "gain", "outlook", "history"
]

ADVANTAGE_GROUPS = 100_000
"""The first so many groups fit what a seat is worth in rating points: it bounds the memory."""

MOST_PAIRS = 2000
"""The covariance of all pairs' residuals has this many rows at most: 63 bots."""


def _says(description: str) -> msgspec.Meta:
    return msgspec.Meta(description=description)


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """A panel; each has lines besides."""

    note: Annotated[str, _says("what it says, in a sentence")]


class PairLine(PairStanding, frozen=True, kw_only=True):
    """One bot against one other, and against what their ratings say of them."""

    superiority: Annotated[
        float | None, _says("likelihood that it is ahead more often than not, from their matches")
    ]
    expected: Annotated[float | None, _says("share of being ahead that the ratings predict")]
    z: Annotated[float | None, _says("what is above that, in standard errors by group")]
    odd: Annotated[bool, _says("too far off for chance, over all pairs (Holm)")]


class HeadToHead(Panel, frozen=True, kw_only=True):
    """How often each bot finishes ahead of each other one."""

    lines: Annotated[tuple[PairLine, ...], _says("every ordered pair that met")]


class SeatLine(SeatEffect, frozen=True, kw_only=True):
    """One seat of one table size."""

    seats: Annotated[int, _says("bots at the table")]
    rating: Annotated[float, _says("rating points of whoever sits there, against the mean seat")]
    rating_se: Annotated[float | None, _says("its standard error, by group")]


class Seats(Panel, frozen=True, kw_only=True):
    """What a seat is worth, whoever sits there."""

    lines: Annotated[tuple[SeatLine, ...], _says("by table size and seat")]


class NeighbourLine(NeighbourEffect, frozen=True, kw_only=True):
    """A bot's effect on whoever sits right after it."""

    seats: Annotated[int, _says("bots at the table")]


class Neighbours(Panel, frozen=True, kw_only=True):
    """What it is worth to sit right after each bot."""

    lines: Annotated[tuple[NeighbourLine, ...], _says("by table size and bot")]


class TieLine(TieRates, frozen=True, kw_only=True):
    """How often places are shared at one table size."""

    seats: Annotated[int, _says("bots at the table")]


class Ties(Panel, frozen=True, kw_only=True):
    """How often places are shared."""

    lines: Annotated[tuple[TieLine, ...], _says("by table size")]


class OrderLine(msgspec.Struct, frozen=True, kw_only=True):
    """Whether one order fits all pairs at one table size."""

    seats: Annotated[int, _says("bots at the table")]
    misfit: Annotated[float | None, _says("chi-square of all pairs' residuals")]
    degrees: Annotated[int, _says("its degrees of freedom")]
    p_value: Annotated[float | None, _says("chance of such a misfit by luck")]
    curl: Annotated[float, _says("share of the log-odds that no order explains")]
    cycles: Annotated[
        tuple[Cycle, ...], _says("three bots of which each is certainly ahead of the next")
    ]


class Cycles(Panel, frozen=True, kw_only=True):
    """Whether one order fits all pairs of bots."""

    lines: Annotated[tuple[OrderLine, ...], _says("by table size")]


class Luck(Panel, frozen=True, kw_only=True):
    """Scores without what the dealt cards explain."""

    lines: Annotated[tuple[LuckLine, ...], _says("by bot; empty where luck is not known")]


class Gain(Panel, frozen=True, kw_only=True):
    """What playing each deal in all rotations was worth."""

    lines: Annotated[tuple[GroupGain, ...], _says("by rating; empty where it cannot be told")]


class OutlookPanel(Panel, frozen=True, kw_only=True):
    """How far neighbours in the order are told apart, by intervals that hold at every look."""

    matches_left: Annotated[int | None, _says("about how many more; null for out of reach")]
    lines: Annotated[tuple[NeighbourVerdict, ...], _says("best pair first")]


class HistoryPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A bot's ratings at a moment of the run."""

    matches: Annotated[int, _says("matches of the run by then")]
    seconds: Annotated[float, _says("seconds of play by then")]
    bot: Annotated[str, _says("name of the bot in the run")]
    rating: Annotated[float, _says("headline rating")]
    rating_low: Annotated[float | None, _says("lower end of its 95 % interval")]
    rating_high: Annotated[float | None, _says("upper end of its 95 % interval")]
    placement_rating: Annotated[float, _says("rating by who finished ahead of whom")]
    win_rating: Annotated[float, _says("rating by who took the match")]


class History(Panel, frozen=True, kw_only=True):
    """How ratings came to be what they are."""

    lines: Annotated[tuple[HistoryPoint, ...], _says("in the order of the moments")]


class Evidence:
    """All that panels of some runs need, worked out once and only if it is asked for."""

    def __init__(self, readers: Sequence[RunReader], headline: Model | None = None) -> None:
        self.readers = readers
        self._headline = headline

    @cached_property
    def board(self) -> Board:
        """The leaderboard."""
        return board_of(self.readers, headline=self._headline)

    @cached_property
    def sums(self) -> Sums | None:
        """The sums of all rows."""
        return sums_of(self.readers)

    @cached_property
    def arranged(self) -> dict[int, Matches]:
        """The matches themselves, by table size."""
        return dict(arrange(pl.concat(numbered(self.readers))))

    @cached_property
    def orders(self) -> dict[int, Transitivity]:
        """Whether one order fits, by table size."""
        return {
            seats: transitivity(matches)
            for seats, matches in self.arranged.items()
            if len(matches.bots) * (len(matches.bots) - 1) // 2 <= MOST_PAIRS
        }


def panel(evidence: Evidence, name: PanelName) -> Panel:
    """One panel.

    Raises:
        ConfigError: the runs do not go together.
        PluginError, GameError: their game or rules are not those installed.
        StoreError: a run is damaged.
    """
    return PANELS[name][1](evidence)


def _head_to_head(evidence: Evidence) -> HeadToHead:
    found = head_to_head(evidence.sums.sketches) if evidence.sums is not None else []
    off: dict[tuple[str, str], PairResidual] = {}
    if len(evidence.orders) == 1:
        [order] = evidence.orders.values()
        off = {(one.bot, one.opponent): one for one in order.residuals}
    lines = tuple(_pair(one, off) for one in found)
    odd = sum(one.odd for one in lines) // 2
    said = "Every pair meets as often as the ratings predict, as far as chance can tell."
    if odd:
        pairs = "1 pair differs" if odd == 1 else f"{odd} pairs differ"
        said = f"{pairs} from what the ratings predict by more than chance."
    return HeadToHead(note=said if lines else "No two bots have met yet.", lines=lines)


def _pair(pair: PairStanding, off: dict[tuple[str, str], PairResidual]) -> PairLine:
    same, back = off.get((pair.bot, pair.opponent)), off.get((pair.opponent, pair.bot))
    expected, z, odd = None, None, False
    if same is not None:
        expected, z, odd = same.expected, same.z, same.odd
    elif back is not None:
        expected, z, odd = 1 - back.expected, -back.z, back.odd
    superior = None
    if pair.ahead_se:
        superior = float(stdtr(pair.groups - 1, (pair.ahead - 0.5) / pair.ahead_se))
    return PairLine(
        **msgspec.structs.asdict(pair), superiority=superior, expected=expected, z=z, odd=odd
    )


def _seats(evidence: Evidence) -> Seats:
    lines = [
        line
        for one in (evidence.sums.seats if evidence.sums is not None else ())
        for line in _seat_lines(one, evidence.arranged[one.seats])
    ]
    if not lines:
        return Seats(note="Nothing has been played to the end yet.", lines=())
    best = max(lines, key=lambda line: abs(line.win_share - 1 / line.seats))
    error = best.win_se
    share, fair = 100 * best.win_share, 100 / best.seats
    said = "Wins are spread evenly over the seats, as far as chance can tell."
    if error and abs(best.win_share - 1 / best.seats) > 3 * error:
        said = f"Seat {best.seat} takes {share:.1f} % of the wins where {fair:.1f} % is even."
    return Seats(note=said, lines=tuple(lines))


def _seat_lines(sums: SeatSums, matches: Matches) -> Iterator[SeatLine]:
    found = seat_advantage(matches.first(ADVANTAGE_GROUPS))
    errors = [None] * sums.seats if found.spread is None else np.sqrt(np.diag(found.spread))
    for effect, strength, error in zip(effects_of(sums), found.seats, errors, strict=True):
        yield SeatLine(
            seats=sums.seats,
            rating=float(ELO * strength),
            rating_se=None if error is None else float(ELO * error),
            **msgspec.structs.asdict(effect),
        )


def _neighbours(evidence: Evidence) -> Neighbours:
    lines = tuple(
        NeighbourLine(seats=seats, **msgspec.structs.asdict(effect))
        for seats, matches in evidence.arranged.items()
        for effect in neighbour_effects(matches)
    )
    if not lines:
        return Neighbours(note="It takes three seats for neighbours to differ.", lines=())
    sure = [one for one in lines if one.points_se and abs(one.points) > 3 * one.points_se]
    said = "Nobody gains or loses by a neighbour, as far as chance can tell."
    if sure:
        most = max(sure, key=lambda line: abs(line.points))
        said = f"Whoever sits right after {most.bot} scores {most.points:+.2f} by it."
    return Neighbours(note=said, lines=lines)


def _ties(evidence: Evidence) -> Ties:
    lines = tuple(
        TieLine(seats=seats, **msgspec.structs.asdict(ties(matches)))
        for seats, matches in evidence.arranged.items()
    )
    said = "; ".join(
        f"the first place is shared in {100 * one.first:.1f} % of matches of {one.seats}"
        for one in lines
    )
    return Ties(note=f"{said[:1].upper()}{said[1:]}." if said else "", lines=lines)


def _cycles(evidence: Evidence) -> Cycles:
    lines = tuple(
        OrderLine(
            seats=seats,
            misfit=found.misfit,
            degrees=found.degrees,
            p_value=found.p_value,
            curl=found.curl,
            cycles=found.cycles,
        )
        for seats, found in evidence.orders.items()
    )
    count = sum(len(one.cycles) for one in lines)
    said = "No three bots beat each other in a circle for certain: one order fits."
    if not lines:
        said = "Too many bots, or too few matches, to look at every three of them."
    elif count:
        said = f"{count} sets of three bots beat each other in a circle for certain."
        if count == 1:
            said = "Three bots beat each other in a circle for certain: no order fits all pairs."
    return Cycles(note=said, lines=lines)


def _luck(evidence: Evidence) -> Luck:
    note, lines = luck_lines(evidence.readers)
    return Luck(note=note, lines=lines)


def _gain(evidence: Evidence) -> Gain:
    tables = evidence.board.tables
    models: tuple[Model, ...] = get_args(Model)
    found = [group_gain(tables[0], model) for model in models] if tables else []
    known = evidence.board.gain
    said = "It takes fifty groups at tables of one size to tell what groups are worth."
    if known is not None:
        said = f"{known.sentence[:1].upper()}{known.sentence[1:]}."
    return Gain(note=said, lines=tuple(one for one in found if one is not None))


def _outlook(evidence: Evidence) -> OutlookPanel:
    stop = evidence.readers[0].info.stop if len(evidence.readers) == 1 else {}
    found = outlook_of(evidence.board, stop)
    if found is None:
        return OutlookPanel(note="Nothing has been played yet.", matches_left=None, lines=())
    said = f"{found.sentence[:1].upper()}{found.sentence[1:]}."
    return OutlookPanel(note=said, matches_left=found.matches_left, lines=found.neighbours)


def _history(evidence: Evidence) -> History:
    if len(evidence.readers) > 1:
        raise ConfigError("a history is that of one run: name one")
    known = read_derived(evidence.readers[0].folder, "history")
    rows: list[dict[str, Any]] = [] if known is None else known.to_dicts()
    try:
        lines = tuple(msgspec.convert(rows, list[HistoryPoint]))
    except msgspec.ValidationError:
        # Of another version: derived, so it is as good as none.
        lines = ()
    count = len({line.matches for line in lines})
    said = f"{count} moments of the run are kept." if lines else "No history was kept."
    return History(note=said, lines=lines)


PANELS: dict[PanelName, tuple[type[Panel], Callable[[Evidence], Panel]]] = {
    "head-to-head": (HeadToHead, _head_to_head),
    "seats": (Seats, _seats),
    "neighbours": (Neighbours, _neighbours),
    "ties": (Ties, _ties),
    "cycles": (Cycles, _cycles),
    "luck": (Luck, _luck),
    "gain": (Gain, _gain),
    "outlook": (OutlookPanel, _outlook),
    "history": (History, _history),
}
"""Every panel by its name: its value's type, and what makes it."""
