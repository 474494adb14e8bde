"""Rams as played in Mattmar: five tricks, a promise to take one, and a countdown from ten.

Rule ids are those of docs/rules/rams.md. A module for each part of a deal, in the order of play:
`dealing`, `offers`, `knocks`, `exchange`, `play`; then `scoring`. A part has a `..._turn` that says
what is legal and a function that plays it; `game` calls them by the phase of the state. Each takes
the rules and the state and gives a new state, nothing here changes anything.
"""

from tourney.games.rams.game import Rams
from tourney.games.rams.options import RamsRules
from tourney.games.rams.state import Deal, Play, RamsState

__all__ = ("Deal", "Play", "Rams", "RamsRules", "RamsState")
