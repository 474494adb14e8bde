"""What a schedule is made from: the part of a config that says who meets whom, how often."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from tourney.errors import ConfigError

__all__ = ("DRAWN", "Format", "Terms", "Unplayable")

Format = Literal["round-robin", "balanced", "gauntlet", "swiss", "knockout", "adaptive"]

DRAWN: frozenset[Format] = frozenset({"swiss", "knockout", "adaptive"})
"""Formats whose next round is drawn from the results of the rounds before."""


class Unplayable(ConfigError):
    """The bots do not fill the schedule that a config asks for."""

    def __init__(self, key: str, reason: str) -> None:
        """Say why, and which key of [tournament] it is about."""
        super().__init__(reason)
        self.key = key


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """How a field of bots is played."""

    form: Format = "round-robin"
    seats: tuple[int, ...]
    """Bots at a table; with several sizes the format is played at each."""
    deals: int
    """Groups of a pairing, rounds when balanced, groups of a table in a round that is drawn."""
    rounds: int | None = None
    """Of a Swiss or an adaptive tournament; None for as many as find a Swiss one's best bot."""
    advance: int | None = None
    """How many of a knockout table go on; None for half of it."""
    challengers: tuple[str, ...] = ()
    owners: Mapping[str, str] = {}
    """The owner of each bot that has one, if bots of one owner never sit together."""

    @property
    def is_drawn(self) -> bool:
        """Whether rounds wait for the results of earlier ones."""
        return self.form in DRAWN

    @property
    def stride(self) -> int:
        """Numbers that each group takes of the run's numbers of matches."""
        return max(self.seats)
