"""What is played by whom, and how it ended: plain values that travel."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tourney.sandbox.base import ProcessLimits

__all__ = ("BotSpec", "MatchSpec", "Result")


class BotSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A bot that is ready to be started on this machine."""

    name: str
    folder: Path
    """The unpacked and built package."""
    command: Sequence[str]
    options: Mapping[str, Any]
    limits: ProcessLimits
    log_bytes: int = 64 * 1024
    """Kept of its standard error a match."""


class MatchSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One scheduled match: who sits where, on which deal."""

    match: int
    """Number in the run."""
    group: int
    """Number of its rotation group."""
    pairing: tuple[str, ...]
    """Names of the bots that meet, in the schedule's order."""
    deal: int
    rotation: int
    seating: tuple[str, ...]
    """Name of the bot in each seat."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """How a match ended."""

    scores: tuple[float, ...]
    ranks: tuple[int, ...]
    outcomes: tuple[str, ...]
    reveal: Mapping[str, Any]

    def win_share(self, seat: int) -> float:
        """1 for a sole first rank, 1/m where m seats share it, else 0."""
        first = min(self.ranks)
        return 1 / self.ranks.count(first) if self.ranks[seat] == first else 0.0
