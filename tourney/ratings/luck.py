"""Scores without the part that known luck explains: a display, and a help for single matches.

A control variate is a number of a match whose mean is known exactly before it is played, such as
how many low cards a seat is dealt. What it predicts of a score is luck. Coefficients are fitted on
other groups than those they adjust, so the adjusted mean has no bias (after MIVAT, White and
Bowling 2009, with linear terms only).
"""

from typing import NamedTuple

import numpy as np

from tourney.ratings.matches import FloatArray, IntArray

__all__ = ("FOLDS", "Adjusted", "luck_adjusted")

FOLDS = 5


class Adjusted(NamedTuple):
    """Scores with known luck taken out."""

    scores: FloatArray
    explained: float
    """Share of the variance that went; below 0 where the controls say nothing."""


def luck_adjusted(
    scores: FloatArray,
    controls: FloatArray,
    means: FloatArray,
    groups: IntArray,
    *,
    folds: int = FOLDS,
) -> Adjusted:
    """Take out of each score what its controls predict.

    Args:
        scores: one a row, as one seat of one match.
        controls: row by control.
        means: exact mean of each control.
        groups: the rotation group of each row; a group is never adjusted by its own rows.
        folds: into how many parts the groups are dealt.

    Raises:
        ValueError: there are fewer groups than folds.
    """
    number = np.unique(groups, return_inverse=True)[1].reshape(-1)
    if number.max(initial=-1) + 1 < folds:
        raise ValueError(f"{folds} folds need as many groups")
    luck = controls - means
    fold = number % folds
    adjusted = scores.astype(np.float64)
    for part in range(folds):
        others, own = fold != part, fold == part
        # A column of ones takes the mean, so that coefficients see only co-variation.
        design = np.column_stack([np.ones(int(others.sum())), luck[others]])
        found = np.linalg.lstsq(design, scores[others], rcond=None)[0]
        adjusted[own] -= luck[own] @ found[1:]
    spread = float(np.var(scores))
    explained = 1 - float(np.var(adjusted)) / spread if spread else 0.0
    return Adjusted(adjusted, explained)
