"""What a bot can do wrong, by name, with the evidence (PROTOCOL.md section 7)."""

from typing import Literal, get_args

import msgspec

__all__ = ("FAULT_KINDS", "FINISHED", "NOT_PLAYED", "WITHDRAWN", "Fault", "FaultKind")

FaultKind = Literal[
    "start_failed",
    "timeout",
    "crashed",
    "bad_message",
    "illegal_action",
    "output_limit",
    "memory_limit",
    "cpu_limit",
    "process_limit",
    "platform",
]
FAULT_KINDS: tuple[str, ...] = get_args(FaultKind)

FINISHED = "finished"
"""The outcome of a seat without a fault."""

WITHDRAWN = "withdrawn"
"""The outcome of a seat whose bot was taken out of the run before this match."""

NOT_PLAYED = "not_played"
"""The outcome of the other seats of such a match."""


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One misbehaviour of one bot, with what a person needs to understand it."""

    kind: FaultKind
    detail: str
    """One sentence: what was expected, what came, which limit."""
    last_sent: tuple[str, ...] = ()
    """The last lines to the bot, oldest first, each cut at a bound."""
    last_received: tuple[str, ...] = ()
    """The last lines from the bot, oldest first, each cut at a bound."""
    exit_status: str = ""
    """Exit code or signal in words, empty while the process lives."""
    cpu_ms: float = 0.0
    """CPU time of the process, milliseconds."""
    memory_mb: float = 0.0
    """Highest memory seen, mebibytes."""
    stderr_tail: str = ""
