"""What playing a deal in every rotation was worth in this run: measured, not assumed.

The same ratings get two errors: one that takes groups for the evidence, as is right, and one that
takes each match for a deal of its own, as it would be right without groups. The ratio of the
variances of differences says how many independent matches one match of a group stands for. It
depends on game, rules and bots, from a half to a dozen (RATINGS.md sections 3 and 7).
"""

from typing import Annotated

import msgspec
import numpy as np

from tourney.ratings.matches import FloatArray
from tourney.ratings.order import differences_se
from tourney.ratings.rate import RatingTable
from tourney.ratings.spread import Model, covariance, meat

__all__ = ("GroupGain", "group_gain")


LEAST_GROUPS = 50
"""With fewer the ratio of two errors is mostly chance."""


class GroupGain(msgspec.Struct, frozen=True, kw_only=True):
    """How much a match of a group tells, against one on a deal of its own."""

    model: Annotated[Model, msgspec.Meta(description="the rating whose errors are compared")]
    matches: Annotated[int, msgspec.Meta(description="matches played")]
    groups: Annotated[int, msgspec.Meta(description="rotation groups")]
    gain: Annotated[float, msgspec.Meta(description="independent matches that one is worth")]
    worth: Annotated[int, msgspec.Meta(description="independent matches that all are worth")]

    @property
    def sentence(self) -> str:
        """For a person."""
        return f"these {self.matches:,} matches are worth {self.worth:,} independent ones"


def group_gain(table: RatingTable, model: Model = "win") -> GroupGain | None:
    """The gain of a table with one number of seats; the geometric mean over pairs of bots.

    None where it cannot be told: with few groups, bots that never differ, or tables of
    several sizes.
    """
    if len(table.sketches) != 1:
        return None
    [sketch] = table.sketches
    fit = table.by(model).fit
    errors: list[FloatArray] = []
    upper = np.triu_indices(len(table.bots), 1)
    for by_match in (True, False):
        spread = meat(sketch, fit.strengths, model, by_match=by_match)
        found = covariance(fit.information, spread)
        if found is None or sketch.groups < LEAST_GROUPS:
            return None
        errors.append(differences_se(found)[upper])
    alone, grouped = errors
    if not len(alone) or min(alone.min(), grouped.min()) <= 0:
        return None
    gain = float(np.exp(2 * (np.log(alone) - np.log(grouped)).mean()))
    return GroupGain(
        model=model,
        matches=sketch.matches,
        groups=sketch.groups,
        gain=gain,
        worth=round(gain * sketch.matches),
    )
