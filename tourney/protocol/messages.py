"""The messages between runner and bot, protocol version 1 (docs/protocol.md).

The JSON Schema in `docs/` is generated from these types. Unknown fields are ignored both ways.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec

__all__ = (
    "PROTOCOL",
    "Act",
    "Answer",
    "Clock",
    "End",
    "Hello",
    "Quit",
    "Ready",
    "Start",
    "ToBot",
)

PROTOCOL = 1
"""The version of the protocol that `hello` names."""

NOTE_MAX_CHARS = 500
"""A longer note is cut, not refused: the move counts, the note is a courtesy."""

Seat = Annotated[int, msgspec.Meta(ge=0)]


class Hello(msgspec.Struct, tag_field="type", tag="hello", kw_only=True):
    """First message of a process: what it will play."""

    protocol: int
    game: str
    rules: Mapping[str, Any]
    """Every option of the game with its value."""
    limits: Mapping[str, Any]
    """The limits that the runner enforces: milliseconds, megabytes, counts."""
    options: Mapping[str, Any]
    """The table `options` of the bot's entry in the config, as it is."""


class Start(msgspec.Struct, tag_field="type", tag="start", kw_only=True):
    """A match begins. Not answered."""

    match: str
    seat: Seat
    players: list[str]
    """A name a seat: `seat0`, `seat1` ... unless the config says `names = true`."""
    seed: int
    """The bot's own, below 2**53; it says nothing about the deal."""


class Clock(msgspec.Struct):
    """Time for this decision, in milliseconds."""

    move_ms: int
    bank_ms: int | None


class Act(msgspec.Struct, tag_field="type", tag="act", kw_only=True):
    """The seat must choose. Answered by `Answer`."""

    match: str
    turn: int
    """Number of the action in the match, counted from 0 over all seats."""
    phase: str
    view: Mapping[str, Any]
    """All that this seat may know now."""
    events: Sequence[Mapping[str, Any]]
    """What this seat has seen since its last message of this match, in order."""
    legal: Sequence[str]
    """Every legal action, never empty."""
    clock: Clock


class End(msgspec.Struct, tag_field="type", tag="end", kw_only=True):
    """A match is over. Not answered."""

    match: str
    scores: list[float]
    ranks: list[int]
    outcome: list[str]
    """`finished` or the name of the fault, a seat."""
    reveal: Mapping[str, Any]
    """What the game shows everybody at the end."""


class Quit(msgspec.Struct, tag_field="type", tag="quit", kw_only=True):
    """The last message; end of input follows. The process exits within the grace time."""


ToBot = Hello | Start | Act | End | Quit
"""Every message that a runner sends."""


class Ready(msgspec.Struct, tag_field="type", tag="ready", kw_only=True):
    """The answer to `hello`, within the start-up limit."""

    batch: Annotated[int, msgspec.Meta(ge=1)] = 1
    """How many messages one line may hold; above 1 the bot accepts arrays."""
    name: str = ""
    version: str = ""


class Answer(msgspec.Struct, kw_only=True):
    """The answer to `act`, within the move limit."""

    action: str
    """One of `legal`, to the letter."""
    note: str = ""
    """Kept with the move and shown in the replay, up to 500 characters."""
