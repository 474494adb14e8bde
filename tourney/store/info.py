"""What `run.json` holds: the facts of a run that are not rows."""

import platform
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from tourney import __version__
from tourney.records import SCHEMA_VERSION

__all__ = ("Host", "PlaceInfo", "RunCounts", "RunInfo", "RunStatus")

RunStatus = Literal["running", "stopped", "finished", "failed"]


class Host(msgspec.Struct, kw_only=True):
    """The machine that drove the run."""

    python: str = msgspec.field(default_factory=platform.python_version)
    system: str = msgspec.field(default_factory=platform.platform)
    cores: int = 0


class RunCounts(msgspec.Struct, kw_only=True):
    """How far the run is."""

    groups_total: int = 0
    groups: int = 0
    matches_total: int = 0
    matches: int = 0
    faults: int = 0
    rounds: int = 0
    """Rounds drawn so far, where they are drawn one by one."""


class PlaceInfo(msgspec.Struct, frozen=True):
    """A bot's place by the rules of a Swiss or knockout tournament, whatever its rating."""

    bot: str
    seats: int
    """Of the tables it is a place at."""
    what: str
    """Why, in words: `7.5 points`, `won the final`, `out in round 2`."""


class RunInfo(msgspec.Struct, kw_only=True):
    """The content of `run.json`; rewritten whole, atomically."""

    id: str
    """Name of the run's folder."""
    name: str
    """Name of the tournament in the config."""
    status: RunStatus
    game: str
    rules: Mapping[str, Any]
    """Every option with its value."""
    game_version: int | None = None
    """Of the game's rules: those of another version do not replay its matches. None in runs that
    are older than this field."""
    seats: int
    """Bots at the largest table; each group takes so many of the numbers of matches."""
    bots: list[str]
    """Names in the config's order."""
    sandbox: str
    """How bots were confined: `bwrap`, or `none` when somebody asked for that."""
    workers: int
    started: str
    """UTC, ISO 8601."""
    updated: str
    commitment: str
    """SHA-256 of the secret that fixes every card."""
    secret: str | None = None
    """The secret in hex, once the run has finished."""
    counts: RunCounts = msgspec.field(default_factory=RunCounts)
    digest: str | None = None
    """SHA-256 over the games in order (no times), once finished: equal runs have equal digests."""
    seconds: float = 0.0
    """Wall time of play, over all resumes."""
    withdrawn: Mapping[str, str] = {}
    """Bots that were taken out, with the reason; their later matches were not played."""
    noisy: Mapping[str, int] = {}
    """Workers whose node was too busy to be fair, with the number of blocks played again."""
    stop: Mapping[str, Any] = {}
    """The stopping rule, as in the config; empty when the schedule was to be played to its end."""
    reason: str = ""
    """Why the run stopped, in a sentence."""
    format: str = "round-robin"
    """Who met whom, as in the config."""
    table_sizes: list[int] = []
    """Bots at a table, where there are several sizes."""
    at_once: int = 0
    """Matches that a worker may have in play at the same time; 0 before the first block."""
    places: list[PlaceInfo] = []
    """Bots by the rules of the format, the best first, where it ranks them itself."""
    host: Host = msgspec.field(default_factory=Host)
    tourney: str = __version__
    schema: int = SCHEMA_VERSION

    @property
    def clock_text(self) -> str:
        """How bots share the clock, for people; empty before the first block."""
        if self.at_once == 1:
            return "one match at a time a worker, so each bot has the core while it thinks"
        return f"up to {self.at_once} matches at once a worker, by arrays" if self.at_once else ""

    @property
    def most_matches(self) -> int:
        """Matches that the run will have at the most: of its schedule, or until it is stopped."""
        cap = self.stop.get("max_matches")
        total = self.counts.matches_total
        return total if cap is None else min(total, max(cap, self.counts.matches))

    @property
    def seats_text(self) -> str:
        """How many sit at a table, for people: `4 seats`, `2, 3 and 4 seats`."""
        *others, last = self.table_sizes or [self.seats]
        listed = ", ".join(map(str, others))
        return f"{listed} and {last} seats" if others else f"{last} seats"
