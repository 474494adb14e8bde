"""What adaptive tables are worth: neighbours told apart, against balanced rounds as long.

Bots with strengths by lot (normal, on the scale of log-odds) play matches whose order is that of
strength plus Gumbel noise, which is the model of ratings by wins, exactly; rounds are drawn and
judged by the code of real runs. `python -m tests.bench.measured_adaptive FIELDS win|placement`.
"""

import sys

import numpy as np
import polars as pl

from tourney.ratings import (
    Model,
    NeighbourVerdict,
    Sketch,
    StopRule,
    add_sketches,
    outlook,
    sketches,
)
from tourney.runner.rounds import known_from
from tourney.schedule.draws import Round
from tourney.schedule.rounds import Rounds
from tourney.schedule.terms import Terms

BOTS, SEATS, DEALS, ROUNDS = 12, 4, 30, 80
SPREAD = 1.2
LOOKS = (ROUNDS // 2, ROUNDS)

Strengths = dict[str, float]


def played(drawn: Round, strengths: Strengths, lot: np.random.Generator) -> pl.DataFrame:
    """Rows of the table `seats` for a round."""
    rows = []
    for number in range(drawn.first, drawn.first + drawn.groups):
        group = drawn.group(number)
        for rotation in range(group.seats):
            seating = group.seating(rotation)
            took = np.array([strengths[bot] for bot in seating]) + lot.gumbel(size=group.seats)
            ranks = (-took).argsort().argsort() + 1
            match = number * group.seats + rotation
            rows += [(match, number, s, bot, int(ranks[s])) for s, bot in enumerate(seating)]
    kinds = {"match": pl.UInt64, "group": pl.UInt64, "seat": pl.UInt8, "bot": pl.String}
    return pl.DataFrame(rows, schema={**kinds, "rank": pl.UInt8}, orient="row")


def wrong(verdict: NeighbourVerdict, strengths: Strengths) -> bool:
    """Whether a verdict is against the truth."""
    lead = strengths[verdict.bot] - strengths[verdict.other]
    return {"above": lead < 0, "below": lead > 0}.get(verdict.verdict, False)


def decided(seed: int, headline: Model, *, adaptive: bool) -> tuple[list[int], int]:
    """Neighbours told apart at each look, and how many wrongly at the last."""
    lot = np.random.default_rng(seed)
    bots = [f"b{i:02d}" for i in range(BOTS)]
    strengths = dict(zip(bots, lot.normal(0, SPREAD, BOTS).tolist(), strict=True))
    rounds = Rounds(Terms(form="adaptive", seats=(SEATS,), deals=DEALS, rounds=ROUNDS), bots)
    known_sums: tuple[Sketch, ...] = ()
    counts, mistakes = [], 0
    while True:
        # Without knowledge every round is balanced.
        known = known_from(known_sums, StopRule(), headline) if adaptive else None
        drawn = rounds.draw(known=known)
        if drawn is None:
            return counts, mistakes
        rounds.add(drawn)
        rounds.take([])
        known_sums = add_sketches(known_sums, sketches(played(drawn, strengths, lot)))
        if len(rounds.rounds) in LOOKS:
            pairs = outlook(known_sums, StopRule(), headline=headline).neighbours
            counts.append(sum(pair.verdict != "open" for pair in pairs))
            mistakes = sum(wrong(pair, strengths) for pair in pairs)


def main(fields: int, headline: Model) -> None:
    """Print a line for each length."""
    both = [
        [decided(seed, headline, adaptive=adaptive) for seed in range(fields)]
        for adaptive in (True, False)
    ]
    told = np.array([[counts for counts, _ in one] for one in both], dtype=float)
    for look, rounds in enumerate(LOOKS):
        matches = rounds * (BOTS // SEATS) * DEALS * SEATS
        ours, theirs = told[0, :, look], told[1, :, look]
        error = (ours - theirs).std(ddof=1) / np.sqrt(fields)
        print(
            f"{headline}: {matches} matches, of {BOTS - 1} neighbours told apart: adaptive "
            f"{ours.mean():.1f}, balanced {theirs.mean():.1f} (difference ±{error:.1f})"
        )
    print("wrong at the end:", [sum(mistakes for _, mistakes in one) for one in both])


if __name__ == "__main__":
    main(int(sys.argv[1]), "placement" if sys.argv[2] == "placement" else "win")
