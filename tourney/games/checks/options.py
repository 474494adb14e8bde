"""A spread of a game's options: every value once, and combinations of several.

Found from the types of the rules alone, so it works for any game. What the game refuses with a
GameError is left out; any other exception is the game's fault and goes through.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from tourney.errors import GameError
from tourney.games.base import Game, Rules
from tourney.games.checks.playing import Lot

__all__ = ("Make", "Options", "combinations", "leaves", "one_at_a_time", "values_of")

Options = Mapping[str, Any]

Make = Callable[[Options], Game[Any]]
"""Gives the game with these options, or raises GameError."""

SAMPLE_NUMBERS = (1, 2, 7)
"""Values tried for an option that is a number, besides its bounds."""

MAX_TRIES = 20
"""Random combinations tried for one that the game accepts."""


def values_of(rules_type: type[Rules]) -> dict[str, tuple[Any, ...]]:
    """Values to try for each option: every literal, both truths, some numbers; not the default."""
    fields = msgspec.inspect.type_info(rules_type)
    assert isinstance(fields, msgspec.inspect.StructType), "rules are a struct"
    return {
        field.name: tuple(
            value for value in dict.fromkeys(_values(field.type)) if value != field.default
        )
        for field in fields.fields
    }


def leaves(kind: msgspec.inspect.Type) -> Iterator[msgspec.inspect.Type]:
    """The plain types that an option's type is made of."""
    if isinstance(kind, msgspec.inspect.Metadata):
        yield from leaves(kind.type)
    elif isinstance(kind, msgspec.inspect.UnionType):
        for member in kind.types:
            yield from leaves(member)
    else:
        yield kind


def _values(kind: msgspec.inspect.Type) -> Iterator[Any]:
    for leaf in leaves(kind):
        if isinstance(leaf, msgspec.inspect.LiteralType):
            yield from leaf.values
        elif isinstance(leaf, msgspec.inspect.BoolType):
            yield from (False, True)
        elif isinstance(leaf, msgspec.inspect.IntType):
            least, most = leaf.ge, leaf.le
            for number in (least, most, *SAMPLE_NUMBERS):
                if number is not None and (least or number) <= number <= (most or number):
                    yield number


def _is_accepted(make: Make, options: Options) -> bool:
    try:
        make(options)
    except GameError:
        return False
    return True


def one_at_a_time(values: Mapping[str, tuple[Any, ...]], make: Make) -> list[Options]:
    """Each value of each option, alone or with the first other value that it needs."""
    single = [{name: value} for name, some in values.items() for value in some]
    chosen: list[Options] = []
    for options in single:
        pairs = ({**other, **options} for other in single if other.keys() != options.keys())
        fitting = next((it for it in (options, *pairs) if _is_accepted(make, it)), None)
        if fitting is not None:
            chosen.append(fitting)
    return chosen


def combinations(
    values: Mapping[str, tuple[Any, ...]], make: Make, count: int, seed: int
) -> list[Options]:
    """Up to `count` random sets of two to five options that go together."""
    lot = Lot(f"options/{seed}")
    names = [name for name, some in values.items() if some]
    found: list[Options] = []
    for _ in range(count if len(names) > 1 else 0):
        for _ in range(MAX_TRIES):
            size = 2 + lot.below(4)
            options = {
                name: lot.pick(values[name]) for name in (lot.pick(names) for _ in range(size))
            }
            if _is_accepted(make, options):
                found.append(options)
                break
    return found
