"""From a config's `[[bot]]` tables to packages that can be shipped. Builds and starts nothing."""

from collections.abc import Mapping
from typing import Any

import msgspec

from tourney.config import LoadedConfig
from tourney.errors import ConfigError, PackageError
from tourney.packages.archive import pack
from tourney.packages.digest import package_digest
from tourney.packages.manifest import Manifest, load_manifest

__all__ = ("Entrant", "load_entrants")


class Entrant(msgspec.Struct, frozen=True, kw_only=True):
    """One bot of a tournament."""

    name: str
    """Its name in the run: the alias, or the package's name."""
    manifest: Manifest
    digest: str
    archive: bytes
    options: Mapping[str, Any]
    owner: str = ""
    """Whose it is; empty for nobody's."""

    def row(self) -> dict[str, Any]:
        """The bot's row in the records."""
        return {
            "bot": self.name,
            "digest": self.digest,
            "package": self.manifest.name,
            "version": self.manifest.version,
            "language": self.manifest.language,
            "author": self.manifest.author,
            "description": self.manifest.description,
            "owner": self.owner,
            "options": msgspec.json.encode(self.options).decode(),
        }


def load_entrants(loaded: LoadedConfig) -> list[Entrant]:
    """Read every bot of a config.

    Raises:
        PackageError: a package is missing or wrong.
        ConfigError: two bots have one name, or a bot does not play the game.
    """
    game = loaded.config.tournament.game
    entrants: list[Entrant] = []
    for entry in loaded.config.bot:
        path = loaded.bot_path(entry.path)
        if not path.exists():
            raise PackageError(
                f"{loaded.path}: bot path {entry.path!r} does not exist (looked at {path}; "
                "paths start at the config's folder)"
            )
        manifest = load_manifest(path)
        name = entry.name or manifest.name
        if game not in manifest.games:
            raise ConfigError(
                f"{name} does not play {game}: its bot.toml says games = "
                f"[{', '.join(manifest.games)}]"
            )
        if any(other.name == name for other in entrants):
            raise ConfigError(
                f"two bots are called {name!r}: give one of them another `name` in its [[bot]]"
            )
        entrants.append(
            Entrant(
                name=name,
                manifest=manifest,
                digest=package_digest(path),
                archive=pack(path),
                options=entry.options,
                owner=manifest.author if entry.owner is None else entry.owner,
            )
        )
    return entrants
