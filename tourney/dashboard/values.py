"""What pages and API show: one declared value for each view, every field with its meaning.

A page and its JSON are made from the same value. Nothing is computed here.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from tourney.errors import StoreError
from tourney.ratings import Report
from tourney.reports.panels import (
    Cycles,
    Gain,
    HeadToHead,
    History,
    Luck,
    Neighbours,
    OutlookPanel,
    Seats,
    Ties,
)

__all__ = (
    "Absent",
    "BotRow",
    "Cycles",
    "FaultCount",
    "FaultPage",
    "FaultRow",
    "Gain",
    "HeadToHead",
    "History",
    "Luck",
    "MatchPage",
    "MatchRow",
    "Moment",
    "Neighbours",
    "OutlookPanel",
    "Perspective",
    "Problem",
    "Ratings",
    "Replay",
    "RunDetail",
    "RunList",
    "RunSummary",
    "SeatView",
    "Seats",
    "Ties",
    "Value",
)

Perspective = int | Literal["all", "public"]
"""Whose knowledge a replay shows: everything, one seat's, or what all seats share."""


def _says(description: str) -> msgspec.Meta:
    return msgspec.Meta(description=description)


class Absent(StoreError):
    """What was asked for is not in the results folder."""


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """Base of every shown value."""


class RunSummary(Value, frozen=True, kw_only=True):
    """A run in the list."""

    id: Annotated[str, _says("name of the run's folder")]
    problem: Annotated[str, _says("why it cannot be read; empty for a sound run")] = ""
    name: Annotated[str, _says("name of the tournament in its config")] = ""
    status: Annotated[
        str, _says("running, stopped, finished, failed, or unreadable with a problem")
    ] = "unreadable"
    game: Annotated[str, _says("registered name of the game")] = ""
    format: Annotated[str, _says("who meets whom, as in the config")] = ""
    seats: Annotated[int, _says("bots at the largest table")] = 0
    seats_text: Annotated[str, _says("bots at a table, in words")] = ""
    bots: Annotated[tuple[str, ...], _says("entrants in the config's order")] = ()
    matches: Annotated[int, _says("matches played so far")] = 0
    matches_total: Annotated[int, _says("matches of the whole schedule")] = 0
    groups: Annotated[int, _says("rotation groups played so far")] = 0
    groups_total: Annotated[int, _says("rotation groups of the whole schedule")] = 0
    faults: Annotated[int, _says("faults of bots so far")] = 0
    seconds: Annotated[float, _says("wall time of play")] = 0.0
    started: Annotated[str, _says("UTC, ISO 8601")] = ""
    updated: Annotated[str, _says("last sign of life, UTC, ISO 8601")] = ""
    reason: Annotated[str, _says("why the run stopped, in a sentence")] = ""
    rounds: Annotated[int, _says("rounds drawn so far, where they wait for results")] = 0
    places: Annotated[
        tuple[str, ...], _says("the order by the format's own rules, a line for each table size")
    ] = ()


class RunList(Value, frozen=True, kw_only=True):
    """Every run in the results folder, newest first."""

    runs: Annotated[tuple[RunSummary, ...], _says("readable runs, then unreadable ones")]


class Ratings(Report, frozen=True, kw_only=True):
    """The leaderboard of a run."""

    run: Annotated[str, _says("name of the run's folder")]
    score_name: Annotated[str, _says("what the score counts")]
    lower_is_better: Annotated[bool, _says("whether a low score is good")]


class BotRow(Value, frozen=True, kw_only=True):
    """An entrant of a run."""

    bot: Annotated[str, _says("name of the bot in the run")]
    package: Annotated[str, _says("name in its manifest")]
    version: Annotated[str, _says("version in its manifest, free text")]
    language: Annotated[str, _says("language in its manifest")]
    author: Annotated[str, _says("author in its manifest")]
    description: Annotated[str, _says("description in its manifest")]
    options: Annotated[str, _says("options given in the config, as JSON")]
    digest: Annotated[str, _says("SHA-256 of the package: the identity of the version")]


class RunDetail(Value, frozen=True, kw_only=True):
    """Everything about a run but its rows."""

    summary: Annotated[RunSummary, _says("as in the list")]
    bots: Annotated[tuple[BotRow, ...], _says("entrants with their versions")]
    withdrawn: Annotated[Mapping[str, str], _says("bots that were taken out, and why")]
    rules: Annotated[Mapping[str, Any], _says("every option of the game with its value")]
    limits: Annotated[Mapping[str, Any], _says("what a bot may use, as resolved")]
    sandbox: Annotated[str, _says("how bots were confined")]
    workers: Annotated[int, _says("workers that played")]
    clock: Annotated[str, _says("how bots share the clock, empty before the first block")]
    commitment: Annotated[str, _says("SHA-256 of the secret that fixes every card")]
    secret: Annotated[str | None, _says("the secret in hex, once the run has finished")]
    seed: Annotated[int | None, _says("seed in the config, where the run is reproducible")]
    digest: Annotated[str | None, _says("SHA-256 over the games in order, once finished")]
    tourney: Annotated[str, _says("version of tourney that played")]
    python: Annotated[str, _says("version of Python that played")]
    system: Annotated[str, _says("system that drove the run")]
    cores: Annotated[int, _says("cores of that machine")]


class MatchRow(Value, frozen=True, kw_only=True):
    """A match in a list."""

    match: Annotated[int, _says("number in the run")]
    group: Annotated[int, _says("number of its rotation group")]
    deal: Annotated[int, _says("which deal of this pairing")]
    rotation: Annotated[int, _says("which rotation of the group")]
    seating: Annotated[tuple[str, ...], _says("bot in each seat")]
    scores: Annotated[tuple[float, ...], _says("score of each seat")]
    ranks: Annotated[tuple[int, ...], _says("rank of each seat, 1 is best")]
    outcomes: Annotated[tuple[str, ...], _says("finished, or the fault, of each seat")]
    decisions: Annotated[int, _says("actions that a bot was asked for")]
    seconds: Annotated[float, _says("wall time")]


class MatchPage(Value, frozen=True, kw_only=True):
    """Some of a run's matches."""

    run: Annotated[str, _says("name of the run's folder")]
    bot: Annotated[str, _says("only matches of this bot; empty for all")]
    page: Annotated[int, _says("this page, from 1")]
    pages: Annotated[int, _says("number of pages")]
    total: Annotated[int, _says("matches on all pages")]
    matches: Annotated[tuple[MatchRow, ...], _says("in the order of their numbers")]


class FaultRow(Value, frozen=True, kw_only=True):
    """One misbehaviour of one bot, with its evidence."""

    match: Annotated[int, _says("number of the match")]
    seat: Annotated[int, _says("seat of the bot, from 0")]
    bot: Annotated[str, _says("name of the bot")]
    turn: Annotated[int, _says("actions played before it")]
    kind: Annotated[str, _says("name of the fault")]
    detail: Annotated[str, _says("what was expected, what came, which limit")]
    last_sent: Annotated[tuple[str, ...], _says("last lines to the bot, oldest first")]
    last_received: Annotated[tuple[str, ...], _says("last lines from the bot, oldest first")]
    exit_status: Annotated[str, _says("exit code or signal in words; empty while it lived")]
    cpu_ms: Annotated[float, _says("CPU time of the process")]
    memory_mb: Annotated[float, _says("highest memory seen")]
    stderr_tail: Annotated[str, _says("the end of what it wrote to standard error")]


class FaultCount(Value, frozen=True, kw_only=True):
    """How often a bot did one thing wrong."""

    bot: Annotated[str, _says("name of the bot")]
    kind: Annotated[str, _says("name of the fault")]
    faults: Annotated[int, _says("how many in the run")]


class FaultPage(Value, frozen=True, kw_only=True):
    """Some of a run's faults."""

    run: Annotated[str, _says("name of the run's folder")]
    bot: Annotated[str, _says("only faults of this bot; empty for all")]
    kind: Annotated[str, _says("only faults of this kind; empty for all")]
    page: Annotated[int, _says("this page, from 1")]
    pages: Annotated[int, _says("number of pages")]
    total: Annotated[int, _says("faults on all pages")]
    counts: Annotated[
        tuple[FaultCount, ...], _says("all faults of the run by bot and kind, most first")
    ]
    faults: Annotated[tuple[FaultRow, ...], _says("in the order of the matches")]


class Moment(Value, frozen=True, kw_only=True):
    """The table after one action, as one perspective sees it."""

    step: Annotated[int, _says("actions played so far; 0 is the moment before the first")]
    seat: Annotated[int | None, _says("who acted")]
    action: Annotated[str | None, _says("the action; its first word where cards are hidden")]
    forced: Annotated[bool, _says("it was the only legal action, so no bot was asked")]
    stand_in: Annotated[bool, _says("played for a seat that had a fault")]
    think_us: Annotated[int, _says("microseconds from question to answer, 0 if not asked")]
    note: Annotated[str, _says("the bot's note on this action, for those who may see it")]
    fault: Annotated[str, _says("name of the fault that happened here, or empty")]
    events: Annotated[tuple[Mapping[str, Any], ...], _says("what was seen since the last step")]
    view: Annotated[Mapping[str, Any], _says("the table now")]
    to_act: Annotated[int | None, _says("who chooses next; null at the end")]
    phase: Annotated[str, _says("what is to be chosen next")]
    legal: Annotated[tuple[str, ...], _says("legal actions, for those who may see them")]


class SeatView(Value, frozen=True, kw_only=True):
    """A seat of the match and how it ended."""

    seat: Annotated[int, _says("from 0, clockwise")]
    bot: Annotated[str, _says("name of the bot")]
    score: Annotated[float, _says("score as booked")]
    rank: Annotated[int, _says("1 is best")]
    outcome: Annotated[str, _says("finished, or the name of the fault")]


class Replay(Value, frozen=True, kw_only=True):
    """A match, step by step, from one perspective."""

    run: Annotated[str, _says("name of the run's folder")]
    match: Annotated[int, _says("number in the run")]
    group: Annotated[int, _says("number of its rotation group")]
    deal: Annotated[int, _says("which deal of this pairing")]
    rotation: Annotated[int, _says("which rotation of the group")]
    game: Annotated[str, _says("registered name of the game")]
    perspective: Annotated[Perspective, _says("all, public, or a seat's number")]
    seats: Annotated[tuple[SeatView, ...], _says("seat 0 first")]
    faults: Annotated[tuple[FaultRow, ...], _says("faults of this match")]
    locked: Annotated[str, _says("why there are no moments to show, or empty")]
    moments: Annotated[tuple[Moment, ...], _says("one more than there are actions")]


class Problem(Value, frozen=True, kw_only=True):
    """An error as RFC 9457 wants it."""

    title: Annotated[str, _says("what kind of error")]
    status: Annotated[int, _says("HTTP status")]
    detail: Annotated[str, _says("what to do about it")]
    type: Annotated[str, _says("always about:blank")] = "about:blank"
