"""A tournament's config: TOML in, frozen values out, errors with line and column."""

from tourney.config.load import LoadedConfig, load_config
from tourney.config.models import BotEntry, Limits, RunOptions, Tournament, TournamentConfig

__all__ = (
    "BotEntry",
    "Limits",
    "LoadedConfig",
    "RunOptions",
    "Tournament",
    "TournamentConfig",
    "load_config",
)
