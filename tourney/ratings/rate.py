"""Ratings of a run from its sketches: two models, their errors, and who is comparable.

A rating is 400 / ln 10 times a strength, as in chess: 100 points more is 64 % against 36 %.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tourney.ratings.fits import Fit, fit_pairs, fit_winners, scatter
from tourney.ratings.matches import FloatArray
from tourney.ratings.order import differences_se, superiority
from tourney.ratings.parts import Bound, bounds, tables
from tourney.ratings.scores import WIN_UNIT
from tourney.ratings.sketch import Sketch
from tourney.ratings.spread import Model, Spread, covariance, meat

__all__ = ("ELO", "MEAN_RATING", "Estimates", "RatingTable", "rate")

ELO = 400 / np.log(10)
"""Rating points of one unit of strength."""

MEAN_RATING = 1500.0
"""Where the field's mean, or the anchor, is put."""


MOST_COINS = 1000
"""Beyond this a power of one half is 0 anyway."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """One model's ratings of one table."""

    model: Model
    bots: tuple[str, ...]
    fit: Fit
    strengths: FloatArray
    """Against the field's mean or the anchor."""
    spread: FloatArray | None
    """Covariance of `strengths`; None with a single group."""
    groups: int
    """Clusters behind it."""
    own_groups: tuple[int, ...]
    """Groups in which each bot sat."""
    bounds: tuple[Bound, ...]

    @property
    def ratings(self) -> FloatArray:
        """A rating a bot."""
        ratings: FloatArray = MEAN_RATING + ELO * self.strengths
        return ratings

    @property
    def errors(self) -> FloatArray | None:
        """Standard error of each rating against the mean or the anchor."""
        if self.spread is None:
            return None
        errors: FloatArray = ELO * np.sqrt(np.maximum(np.diag(self.spread), 0.0))
        return errors

    @property
    def superiority(self) -> FloatArray | None:
        """Likelihood that each bot (row) is better than each other.

        Never nearer to certain than a coin that fell alike in every group of the one with fewer:
        a bot that wins all of a few groups shows no spread, but proves no more than that.
        """
        if self.spread is None:
            return None
        own = np.array(self.own_groups)
        least = 0.5 ** np.minimum(np.minimum(own[:, None], own[None, :]), MOST_COINS)
        found = superiority(self.strengths, differences_se(self.spread), self.groups)
        capped: FloatArray = np.clip(found, least, 1 - least)
        return capped

    @property
    def ranking(self) -> list[int]:
        """Places of the bots, best first; equals by name."""
        rounded = np.round(self.strengths, 9)
        return sorted(range(len(self.bots)), key=lambda bot: (-rounded[bot], self.bots[bot]))

    @property
    def ranks(self) -> list[int]:
        """Rank of each bot, 1 is best; equals share the better one."""
        rounded = np.round(self.strengths, 9)
        return [1 + int((rounded > own).sum()) for own in rounded]


@dataclass(frozen=True, slots=True)
class RatingTable:
    """Bots that are linked by matches, rated by both models."""

    sketches: tuple[Sketch, ...]
    """Of these bots alone, one for each number of seats."""
    placement: Estimates
    win: Estimates
    matches: tuple[int, ...]
    """Matches of each bot."""

    @property
    def bots(self) -> tuple[str, ...]:
        """Names, sorted."""
        return self.placement.bots

    def by(self, model: Model) -> Estimates:
        """The estimates of a model."""
        return self.win if model == "win" else self.placement


def rate(*sketches: Sketch, anchor: str | None = None, prior: float = 1.0) -> list[RatingTable]:
    """Rate all bots, those that never met apart; the largest table is first.

    Args:
        sketches: sums of disjoint groups, one for each number of seats. A match of k seats weighs
            3/(k+1) in a pooled placement rating: its pairs overlap by that factor.
        anchor: a bot that is put at 1500 instead of the field's mean.
        prior: phantom matches a bot.

    Raises:
        ValueError: there is no match, or no bot called `anchor`.
    """
    names = tuple(sorted({bot for sketch in sketches for bot in sketch.bots}))
    if not any(sketch.rows.height for sketch in sketches):
        raise ValueError("no whole group to rate")
    if anchor is not None and anchor not in names:
        raise ValueError(f"no bot called {anchor!r} to anchor the ratings at")
    unified = [sketch.among(names) for sketch in sketches]
    met = sum((sketch.finishes for sketch in unified), np.zeros((len(names), len(names))))
    labels = tables(met + met.T)
    played = (met + met.T).sum(axis=1) > 0
    out = []
    for label in np.unique(labels[played]).tolist():
        members = tuple(name for name, own in zip(names, labels, strict=True) if own == label)
        own = [sketch.among(members) for sketch in unified]
        out.append(_table([sketch for sketch in own if sketch.rows.height], anchor, prior))
    out.sort(key=lambda table: (-len(table.bots), table.bots))
    return out


def _table(sketches: Sequence[Sketch], anchor: str | None, prior: float) -> RatingTable:
    played = np.sum([_of_bots(s, "matches") for s in sketches], axis=0)
    placement = _placement(sketches, anchor, prior)
    return RatingTable(
        sketches=tuple(sketches),
        placement=placement,
        win=_win(sketches, anchor, prior, placement.fit.strengths),
        matches=tuple(int(count) for count in played),
    )


def _of_bots(sketch: Sketch, name: str) -> FloatArray:
    """A column's sum over the pairings of each bot."""
    values = np.tile(sketch.column(name), sketch.seats)
    return np.bincount(sketch.pairings.ravel(), values, len(sketch.bots)).astype(np.float64)


def _weights(sketches: Sequence[Sketch]) -> list[float]:
    """How much a match counts in pairs, by its seats; alone in a rating it counts whole."""
    return [3 / (s.seats + 1) if len(sketches) > 1 else 1.0 for s in sketches]


def _placement(sketches: Sequence[Sketch], anchor: str | None, prior: float) -> Estimates:
    bots = sketches[0].bots
    weights = _weights(sketches)
    ahead = sum(
        (w * s.finishes for w, s in zip(weights, sketches, strict=True)),
        np.zeros((len(bots), len(bots))),
    )
    fit = fit_pairs(ahead, prior=prior)
    spreads = [meat(sketch, fit.strengths, "placement") for sketch in sketches]
    spread = Spread(
        sum(
            (w * w * one.squares for w, one in zip(weights, spreads, strict=True)),
            np.zeros(ahead.shape),
        ),
        sum(one.clusters for one in spreads),
    )
    return _estimates("placement", sketches, fit, spread, anchor, bounds(ahead, fit.strengths))


def _win(
    sketches: Sequence[Sketch], anchor: str | None, prior: float, guess: FloatArray
) -> Estimates:
    bots = sketches[0].bots
    fit = fit_winners(
        [(s.pairings, s.column("matches")) for s in sketches],
        sum((_wins(s) for s in sketches), np.zeros(len(bots))),
        prior=prior,
        start=guess,
    )
    spreads = [meat(sketch, fit.strengths, "win") for sketch in sketches]
    spread = Spread(
        sum((one.squares for one in spreads), np.zeros((len(bots), len(bots)))),
        sum(one.clusters for one in spreads),
    )
    beaten = sum((_beaten(s) for s in sketches), np.zeros((len(bots), len(bots))))
    return _estimates("win", sketches, fit, spread, anchor, bounds(beaten, fit.strengths))


def _wins(sketch: Sketch) -> FloatArray:
    gained = sketch.vector("win") / WIN_UNIT
    return np.bincount(sketch.pairings.ravel(), gained.ravel(), len(sketch.bots)).astype(np.float64)


def _beaten(sketch: Sketch) -> FloatArray:
    """Wins of each bot (row) in matches in which each other sat and did not win alone."""
    gained = sketch.vector("win")
    zero = np.zeros(sketch.rows.height)
    return scatter(
        sketch.cells,
        lambda i, j: gained[i] if i != j else zero,
        len(sketch.bots),
        symmetric=False,
    )


def _estimates(
    model: Model,
    sketches: Sequence[Sketch],
    fit: Fit,
    spread: Spread,
    anchor: str | None,
    bound: list[Bound],
) -> Estimates:
    bots = sketches[0].bots
    count = len(bots)
    origin = np.full(count, 1 / count)
    if anchor in bots:
        origin = np.zeros(count)
        origin[bots.index(str(anchor))] = 1.0
    # Strengths against the origin, and so their covariance.
    shift = np.eye(count) - origin
    raw = covariance(fit.information, spread)
    return Estimates(
        model=model,
        bots=bots,
        fit=fit,
        strengths=shift @ fit.strengths,
        spread=None if raw is None else shift @ raw @ shift.T,
        groups=spread.clusters,
        own_groups=tuple(
            int(own) for own in np.sum([_of_bots(s, "groups") for s in sketches], axis=0)
        ),
        bounds=tuple(bound),
    )
