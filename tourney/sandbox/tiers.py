"""The kinds of isolation that bubblewrap can give, from which a person chooses by name.

Values only. No kind is ever replaced by another without being asked for.
"""

from dataclasses import dataclass

__all__ = ("NO_PROC", "ROOT", "STRICT", "TIERS", "Tier")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """One kind of isolation."""

    name: str
    """As in `[run] sandbox` and in the run's record."""
    user_namespace: bool
    """The bot lives in a user namespace of its own. Else root makes the other namespaces, and the
    bot becomes a user of its own inside."""
    proc: bool
    """The bot has a /proc, which shows its own processes only."""
    when: str
    """Where it is of use."""
    gives_up: str
    """What it lacks that `bwrap` has; empty for `bwrap`."""


STRICT = Tier(
    name="bwrap",
    user_namespace=True,
    proc=True,
    when="an ordinary user, or root",
    gives_up="",
)

ROOT = Tier(
    name="bwrap-root",
    user_namespace=False,
    proc=True,
    when="root with CAP_SYS_ADMIN where user namespaces are forbidden",
    gives_up="process 1 of the sandbox, which runs no byte of the bot, is the kernel's root "
    "without capabilities, and what keeps the bot from new user namespaces is the filter alone",
)

NO_PROC = Tier(
    name="bwrap-noproc",
    user_namespace=True,
    proc=False,
    when="a container that masks /proc",
    gives_up="bots have no /proc, so Java does not start and others may miss it, and what keeps "
    "them from new user namespaces is the filter alone",
)

TIERS = (STRICT, ROOT, NO_PROC)
