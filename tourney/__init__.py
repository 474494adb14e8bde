"""Tournaments for bots that play hidden-information card games."""

from tourney import compiled

__version__ = "0.1.0"

compiled.use()
