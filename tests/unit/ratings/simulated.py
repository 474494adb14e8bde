"""Made-up matches whose truth is known, as rows or arrays."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from tourney.ratings import Matches

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def simulate(
    seed: int,
    strengths: Sequence[float],
    seats: int,
    groups: int,
    *,
    luck: float = 0.0,
    ties: bool = False,
    by_wins: bool = True,
) -> Matches:
    """Groups of random pairings in every rotation of a random order.

    Performance is strength + noise; `luck` is the deal's, the same for a seat in all rotations.
    Gumbel noise makes wins follow the top-1 model and pairs the Bradley-Terry model exactly.
    """
    lot = np.random.default_rng(seed)
    bots = len(strengths)
    order = np.argsort(lot.random((groups, bots)), axis=1)[:, :seats]
    seating = np.stack(
        [np.roll(order, -rotation, axis=1) for rotation in range(seats)], axis=1
    ).reshape(-1, seats)
    noise = lot.gumbel(size=seating.shape) if by_wins else lot.logistic(size=seating.shape)
    deal = np.repeat(lot.normal(0, luck, (groups, seats)), seats, axis=0) if luck else 0.0
    played = np.asarray(strengths)[seating] + noise + deal
    if ties:
        played = np.round(played)
    ranks = 1 + (played[:, None, :] > played[:, :, None]).sum(axis=2)
    return Matches(
        bots=tuple(f"bot-{i:03d}" for i in range(bots)),
        groups=np.arange(groups),
        starts=np.arange(groups) * seats,
        seating=seating.T.copy(),
        ranks=ranks.T.astype(np.uint8),
        scores=-played.T.copy(),
    )


def rows_of(matches: Matches) -> pl.DataFrame:
    """The same matches as rows of the table `seats`, without what ratings do not read."""
    seats, count = matches.seating.shape
    assert matches.scores is not None
    return pl.DataFrame(
        {
            "match": np.repeat(np.arange(count), seats).astype(np.uint64),
            "group": np.repeat(matches.groups[matches.group_of], seats).astype(np.uint64),
            "seat": np.tile(np.arange(seats), count).astype(np.uint8),
            "bot": [matches.bots[code] for code in matches.seating.T.ravel()],
            "rank": matches.ranks.T.ravel(),
            "score": matches.scores.T.ravel(),
        }
    )
