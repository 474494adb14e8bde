"""Statistics of a run: frames in, standings out. Reads no file; knows no store and no game."""

from tourney.ratings.export import to_csv, to_json
from tourney.ratings.pairs import PairStanding, head_to_head
from tourney.ratings.scores import Standing, leaderboard, merge, tally

__all__ = (
    "PairStanding",
    "Standing",
    "head_to_head",
    "leaderboard",
    "merge",
    "tally",
    "to_csv",
    "to_json",
)
