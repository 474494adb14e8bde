"""What can go wrong on our side of the table.

A bot's misbehaviour is a `tourney.protocol.faults.Fault` value, never an exception. Everything
here is ours: a wrong config, a missing sandbox, a lost worker. Each message says what is wrong,
where, and what to do next.
"""

__all__ = (
    "BotRefused",
    "ConfigError",
    "GameError",
    "NodeNoisy",
    "PackageError",
    "PluginError",
    "SandboxUnavailable",
    "StoreError",
    "TourneyError",
    "WorkerLost",
)


class TourneyError(Exception):
    """Base of every error that a user of tourney can meet; `str()` is meant to be shown."""

    exit_code = 70


class ConfigError(TourneyError):
    """The tournament's config is wrong; nothing was started."""

    exit_code = 2


class GameError(TourneyError):
    """A rule set cannot be played as asked: a bad option, seat count or illegal action."""

    exit_code = 2


class PluginError(TourneyError):
    """A registered game, sandbox or executor cannot be found or imported."""

    exit_code = 2


class PackageError(TourneyError):
    """A bot package is unreadable or breaks the rules for packages."""

    exit_code = 3


class BotRefused(TourneyError):
    """A bot cannot be built or started here, so the run was not begun."""

    exit_code = 3


class SandboxUnavailable(TourneyError):
    """The wanted isolation does not work on this machine; never a bot's fault."""

    exit_code = 4


class WorkerLost(TourneyError):
    """A worker or its node died; its block is played again elsewhere."""

    exit_code = 4


class NodeNoisy(WorkerLost):
    """A node was too busy for a fair clock; the block is void and played again."""


class StoreError(TourneyError):
    """A run's folder cannot be read or written as promised."""

    exit_code = 4
