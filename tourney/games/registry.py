"""From a game's registered name and a table of options to a game that can be played."""

import difflib
from collections.abc import Mapping
from typing import Any

import msgspec

from tourney import plugins
from tourney.errors import GameError
from tourney.games.base import Game, Rules

__all__ = ("game_names", "make_game", "rules_type_of")


def game_names() -> tuple[str, ...]:
    """Every registered game."""
    return plugins.names("games")


def rules_type_of(name: str) -> type[Rules]:
    """The options of a game.

    Raises:
        PluginError: no game has that name.
    """
    rules: type[Rules] = plugins.load("games", name).rules_type
    return rules


def make_game(name: str, options: Mapping[str, Any], *, version: int | None = None) -> Game[Any]:
    """The game `name` with `options`; what is not named keeps its default.

    Args:
        name: as registered.
        options: by name.
        version: of the rules that a record was played by, None for whatever they are now.

    Raises:
        PluginError: no game has that name.
        GameError: an option is unknown, has a wrong value, or does not go with another; or the
            rules are of another version.
    """
    rules_type = rules_type_of(name)
    known = [field.name for field in msgspec.structs.fields(rules_type)]
    for option in options:
        if option not in known:
            close = difflib.get_close_matches(option, known, n=1)
            hint = f"did you mean `{close[0]}`?" if close else f"its options: {', '.join(known)}"
            raise GameError(f"{name} has no option `{option}`; {hint}")
    try:
        rules = msgspec.convert(options, rules_type)
    except msgspec.ValidationError as error:
        raise GameError(f"[rules] of {name}: {error}") from None
    game: Game[Any] = plugins.load("games", name)(rules)
    if version not in {None, game.info.version}:
        raise GameError(
            f"played by version {version} of the rules of {name}, and these are version "
            f"{game.info.version}: use the tourney that played it"
        )
    return game
