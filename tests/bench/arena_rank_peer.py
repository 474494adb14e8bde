"""arena-rank on matches that the bench saved, in an environment of its own: it pins an older numpy.

    uv run --no-project --with arena-rank==0.1.1 tests/bench/arena_rank_peer.py MATCHES.npz

Prints seconds for its table of pairs, for ratings with intervals, and for both a second time, when
its functions are compiled.
"""

import json
import sys
import time

import numpy as np
import pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset


def rated(frame: pd.DataFrame) -> tuple[float, float]:
    """Seconds for the data set and for the ratings."""
    start = time.perf_counter()
    data = PairDataset.from_pandas(frame)
    loaded = time.perf_counter()
    BradleyTerry(len(data.competitors)).compute_ratings_and_cis(data)
    return loaded - start, time.perf_counter() - loaded


def main() -> None:
    """Every pair of every match as a row of names, as it wants them."""
    saved = np.load(sys.argv[1])
    seating, ranks = saved["seating"], saved["ranks"]
    names = np.array([f"bot-{i:02d}" for i in range(int(seating.max()) + 1)])
    parts = []
    for i in range(len(seating)):
        for j in range(i + 1, len(seating)):
            ahead = np.sign(ranks[j].astype(int) - ranks[i])
            winner = np.array(["model_b", "tie", "model_a"])[ahead + 1]
            columns = {"model_a": names[seating[i]], "model_b": names[seating[j]], "winner": winner}
            parts.append(pd.DataFrame(columns))
    frame = pd.concat(parts, ignore_index=True)
    first, again = rated(frame), rated(frame)
    print(json.dumps({"load": first[0], "fit": first[1], "again": sum(again)}))


if __name__ == "__main__":
    main()
