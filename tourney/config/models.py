"""The config's tables and keys with their defaults and bounds. No file is read here."""

import math
from datetime import date, time
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

__all__ = ("BotEntry", "Limits", "RunOptions", "Stop", "Tournament", "TournamentConfig", "Variant")

DEALS_UNTIL_STOPPED = 10**6
"""More than any run reaches; a schedule costs nothing until it is played."""

ROUND_DEALS = 10
"""Groups of a table in a round whose tables wait for results: then others may be worth more."""

NAME = r"^[a-z0-9][a-z0-9-]{0,38}$"


def _as_sizes(given: Any) -> Any:
    if isinstance(given, list | tuple):
        return tuple(given)
    if isinstance(given, int) and not isinstance(given, bool):
        return (given,)
    raise ValueError("write a table size as 4, or several as [2, 3, 4]")


def _as_json(given: Any, place: str = "") -> Any:
    """TOML knows times, NaN and infinity; JSON, in which a bot is told, does not."""
    if isinstance(given, dict):
        return {key: _as_json(value, f"{place}.{key}") for key, value in given.items()}
    if isinstance(given, list):
        return [_as_json(value, place) for value in given]
    if isinstance(given, float) and not math.isfinite(given):
        raise ValueError(f"{place[1:]} = {given}: JSON has no such number, so no bot can be told")
    if isinstance(given, date | time):
        raise ValueError(f"{place[1:]} = {given}: JSON has no times; write it as a text")
    return given


Sizes = Annotated[
    tuple[Annotated[int, Field(ge=2, le=8)], ...],
    BeforeValidator(_as_sizes),
]
"""One table size or several."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Tournament(_Table):
    """What is played."""

    name: Annotated[str, Field(pattern=NAME, description="names the run's folder")]
    game: Annotated[str, Field(description="a registered game, as `dam`")]
    seats: Annotated[
        Sizes,
        Field(description="bots at a table; several sizes, as `[2, 3, 4]`, are played in one run"),
    ] = (2,)
    format: Annotated[
        Literal["round-robin", "balanced", "gauntlet", "swiss", "knockout", "adaptive"],
        Field(
            description="who meets: every set of `seats` bots; rounds of tables at which all pairs "
            "meet equally often; each challenger with every set of the others; or rounds drawn "
            "from results: [schedules.md](schedules.md)"
        ),
    ] = "round-robin"
    challengers: Annotated[
        tuple[str, ...], Field(description='names of the bots a "gauntlet" is about')
    ] = ()
    deals: Annotated[
        int,
        Field(
            ge=1,
            le=10**9,
            description="rotation groups a pairing, of `seats` matches each; rounds when balanced; "
            "groups a table in each round of a swiss, knockout or adaptive (there 10); with a "
            "[stop] table in the other formats at most so many, a million unless written",
        ),
    ] = 100
    rounds: Annotated[
        int | None,
        Field(
            ge=1,
            le=10**9,
            description="of a swiss (else until one bot at most has won all its tables) or an "
            "adaptive; with a [stop] table at most so many, a million unless written",
            validate_default=True,
        ),
    ] = None
    advance: Annotated[
        int | None,
        Field(ge=1, description="bots of a knockout table that go on; half of it unless written"),
    ] = None
    apart: Annotated[
        bool, Field(description="bots of one owner never sit at one table; see `[[bot]]` owner")
    ] = False
    seed: Annotated[
        int | None,
        Field(description="fixes the secret: reproducible, not secret; leave out for a contest"),
    ] = None
    names: Annotated[
        bool, Field(description="tell bots each other's names instead of seat0, seat1")
    ] = False

    @field_validator("seats")
    @classmethod
    def _sizes_differ(cls, seats: tuple[int, ...]) -> tuple[int, ...]:
        if not seats or len(set(seats)) < len(seats):
            raise ValueError("write each table size once, as [2, 3, 4]")
        return seats

    @field_validator("challengers")
    @classmethod
    def _only_gauntlets_have_challengers(
        cls, challengers: tuple[str, ...], info: ValidationInfo
    ) -> tuple[str, ...]:
        if challengers:
            _require_format("challengers", info, "gauntlet")
        return challengers

    @field_validator("rounds")
    @classmethod
    def _only_these_have_rounds(cls, rounds: int | None, info: ValidationInfo) -> int | None:
        if rounds is not None:
            _require_format("rounds", info, "swiss", "adaptive")
        elif info.data.get("format") == "adaptive":
            raise ValueError(
                "nothing ends this adaptive run: write `rounds` here, or what to wait for in [stop]"
            )
        return rounds

    @field_validator("advance")
    @classmethod
    def _some_go_on_and_some_out(cls, advance: int | None, info: ValidationInfo) -> int | None:
        if advance is None:
            return None
        _require_format("advance", info, "knockout")
        smallest = min(info.data.get("seats", (advance + 1,)))
        if advance >= smallest:
            raise ValueError(f"of {smallest} at a table at most {smallest - 1} can go on")
        return advance


def _require_format(key: str, info: ValidationInfo, *formats: str) -> None:
    """Refuse a key that says nothing in the config's format."""
    chosen = info.data.get("format")
    if chosen is not None and chosen not in formats:
        wanted = " or ".join(f'"{one}"' for one in formats)
        raise ValueError(f'`{key}` is for format = {wanted}, and this is "{chosen}"')


class Limits(_Table):
    """What a bot may use."""

    start_ms: Annotated[int, Field(ge=1, le=600_000, description="from start to `ready`")] = 10_000
    move_ms: Annotated[int, Field(ge=1, le=600_000, description="for each decision")] = 1_000
    bank_ms: Annotated[
        int | None, Field(ge=0, le=3_600_000, description="spare time a match, for slow moves")
    ] = None
    memory_mb: Annotated[
        int, Field(ge=16, le=65_536, description="memory of all its processes and its /tmp")
    ] = 256
    tmp_mb: Annotated[int, Field(ge=1, le=65_536, description="size of its private /tmp")] = 16
    processes: Annotated[int, Field(ge=2, le=4_096, description="processes and threads")] = 64
    cpu_seconds: Annotated[
        int, Field(ge=0, le=10**7, description="CPU of one process over its life; 0 for no limit")
    ] = 0
    stderr_kb: Annotated[
        int, Field(ge=1, le=1_048_576, description="kept of its log a match; the rest is dropped")
    ] = 64
    idle_cpu_ms: Annotated[
        int, Field(ge=0, description="CPU time a match outside its own turns; 0 for no limit")
    ] = 2_000
    grace_ms: Annotated[int, Field(ge=0, le=60_000, description="to exit after `quit`")] = 200


class RunOptions(_Table):
    """Where and how it is played."""

    workers: Annotated[
        Annotated[int, Field(ge=1)] | Literal["auto"],
        Field(description="matches at the same time; auto = one a core"),
    ] = "auto"
    min_workers: Annotated[
        int | None,
        Field(ge=1, description="asked of a cluster that grows by itself, before it has the cores"),
    ] = None
    max_workers: Annotated[
        int | None, Field(ge=1, description="at the most, however many cores a cluster has")
    ] = None
    address: Annotated[
        str,
        Field(
            description="`local`, or a running Ray cluster: `auto`, `HOST:6379`, `ray://HOST:10001`"
        ),
    ] = "local"
    sandbox: Annotated[str, Field(description="a registered sandbox")] = "bwrap"
    withdraw_after: Annotated[
        int, Field(ge=0, description="faults in a row after which a bot is withdrawn; 0 for never")
    ] = 20
    restart: Annotated[
        Literal["deal", "match", "block", "never"],
        Field(
            description="when a bot's process is started anew: deal = so that no process ever "
            "meets the same deal twice; never = trust bots not to remember cards"
        ),
    ] = "deal"
    block_seconds: Annotated[
        float,
        Field(
            gt=0,
            le=600,
            description="how much play one call to a worker should hold; up to ten times that "
            "where starting its bots would else be over a tenth",
        ),
    ] = 4.0
    commit_seconds: Annotated[
        float, Field(gt=0, le=600, description="longest time a finished block waits to be saved")
    ] = 2.0


class Stop(_Table):
    """When enough is known; what is set must all hold, but for the two caps."""

    pairs: Annotated[
        Literal["separated"] | None,
        Field(description="each bot is certainly better than the next one"),
    ] = None
    within: Annotated[
        float | None,
        Field(gt=0, le=1000, description="or certainly within so many rating points of it"),
    ] = None
    interval: Annotated[
        float | None, Field(gt=0, le=1000, description="each rating is known to ± so many points")
    ] = None
    max_matches: Annotated[int | None, Field(ge=1, description="a cap on matches")] = None
    wall: Annotated[
        str | None,
        Field(pattern=r"^[1-9]\d{0,5}[smh]$", description="a cap on time, as 90s, 10m, 2h"),
    ] = None

    @property
    def wall_seconds(self) -> float | None:
        """The cap on time in seconds."""
        if self.wall is None:
            return None
        return float(self.wall[:-1]) * {"s": 1, "m": 60, "h": 3600}[self.wall[-1]]


class BotEntry(_Table):
    """One entrant."""

    path: Annotated[str, Field(description="package: a folder, .zip or .tar.gz, from this file")]
    name: Annotated[
        str | None, Field(pattern=NAME, description="alias, for one package entered twice")
    ] = None
    options: Annotated[
        dict[str, Any],
        BeforeValidator(_as_json),
        Field(description="handed to the bot in `hello`, as it is"),
    ] = {}
    owner: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=200,
            description="whose it is, for `apart`; the author in its `bot.toml` unless written",
        ),
    ] = None


class Variant(_Table):
    """One of several rule sets that the same bots play, each as a run of its own."""

    name: Annotated[str, Field(pattern=NAME, description="added to the tournament's name")]
    rules: Annotated[dict[str, Any], Field(description="options besides those of [rules]")] = {}
    seats: Annotated[Sizes | None, Field(description="instead of the tournament's")] = None
    deals: Annotated[
        int | None, Field(ge=1, le=10**9, description="instead of the tournament's")
    ] = None


class TournamentConfig(_Table):
    """A whole config file."""

    tournament: Tournament
    rules: Annotated[dict[str, Any], Field(description="options of the game, by name")] = {}
    limits: Limits = Limits()
    run: RunOptions = RunOptions()
    stop: Stop = Stop()
    variant: tuple[Variant, ...] = ()
    bot: Annotated[tuple[BotEntry, ...], Field(min_length=2, description="the entrants")]

    @model_validator(mode="before")
    @classmethod
    def _length_by_format(cls, data: Any) -> Any:
        """How long a run is that does not say so: it depends on its format and stopping rule."""
        tournament = data.get("tournament") if isinstance(data, dict) else None
        if not isinstance(tournament, dict):
            return data
        form, stops = tournament.get("format"), bool(data.get("stop"))
        lengths: dict[str, int] = {}
        if form in {"swiss", "knockout", "adaptive"}:
            lengths["deals"] = ROUND_DEALS
            if form != "knockout" and stops:
                lengths["rounds"] = DEALS_UNTIL_STOPPED
        elif stops:
            lengths["deals"] = DEALS_UNTIL_STOPPED
        return {**data, "tournament": {**lengths, **tournament}}
