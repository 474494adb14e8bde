"""Statistics of a run: frames in, ratings out. Reads no file; knows no store and no game."""

from tourney.ratings.advantage import Advantage, seat_advantage
from tourney.ratings.board import Board, Line, board_of_sums
from tourney.ratings.cycles import Cycle, PairResidual, Transitivity, transitivity
from tourney.ratings.duels import Duel, Outcomes, duel, pair_outcomes
from tourney.ratings.export import to_csv, to_json
from tourney.ratings.gain import GroupGain, group_gain
from tourney.ratings.gates import (
    Decision,
    EloStatement,
    decide,
    elo_statement,
    gate_bounds,
    logistic_ratio,
    normalised_ratio,
    t_ratio,
)
from tourney.ratings.imports import from_csv, from_pgn
from tourney.ratings.luce import LuceFit, fit_luce
from tourney.ratings.luck import Adjusted, luck_adjusted
from tourney.ratings.matches import Matches, arrange
from tourney.ratings.nash import NashAverage, log_odds, nash_average
from tourney.ratings.pairs import PairStanding, head_to_head
from tourney.ratings.points import add_points, relative_points, tally_points
from tourney.ratings.rate import ELO, MEAN_RATING, Estimates, RatingTable, rate
from tourney.ratings.report import Report, facts_of, from_facts, outlook_of, report
from tourney.ratings.scores import Standing, leaderboard, merge, tally
from tourney.ratings.seats import (
    NeighbourEffect,
    SeatEffect,
    TieRates,
    effects_of,
    neighbour_effects,
    seat_effects,
    ties,
)
from tourney.ratings.sequences import GroupMean, interval, reach
from tourney.ratings.sketch import Sketch, add_sketches, sketch, sketches
from tourney.ratings.spread import Model
from tourney.ratings.standings import Rated, standings
from tourney.ratings.stopped import StoppedElo, stopped_elo
from tourney.ratings.stopping import NeighbourVerdict, Outlook, StopRule, outlook
from tourney.ratings.sums import Sums, add_sums, sums

__all__ = (
    "ELO",
    "MEAN_RATING",
    "Adjusted",
    "Advantage",
    "Board",
    "Cycle",
    "Decision",
    "Duel",
    "EloStatement",
    "Estimates",
    "GroupGain",
    "GroupMean",
    "Line",
    "LuceFit",
    "Matches",
    "Model",
    "NashAverage",
    "NeighbourEffect",
    "NeighbourVerdict",
    "Outcomes",
    "Outlook",
    "PairResidual",
    "PairStanding",
    "Rated",
    "RatingTable",
    "Report",
    "SeatEffect",
    "Sketch",
    "Standing",
    "StopRule",
    "StoppedElo",
    "Sums",
    "TieRates",
    "Transitivity",
    "add_points",
    "add_sketches",
    "add_sums",
    "arrange",
    "board_of_sums",
    "decide",
    "duel",
    "effects_of",
    "elo_statement",
    "facts_of",
    "fit_luce",
    "from_csv",
    "from_facts",
    "from_pgn",
    "gate_bounds",
    "group_gain",
    "head_to_head",
    "interval",
    "leaderboard",
    "log_odds",
    "logistic_ratio",
    "luck_adjusted",
    "merge",
    "nash_average",
    "neighbour_effects",
    "normalised_ratio",
    "outlook",
    "outlook_of",
    "pair_outcomes",
    "rate",
    "reach",
    "relative_points",
    "report",
    "seat_advantage",
    "seat_effects",
    "sketch",
    "sketches",
    "standings",
    "stopped_elo",
    "sums",
    "t_ratio",
    "tally",
    "tally_points",
    "ties",
    "to_csv",
    "to_json",
    "transitivity",
)
