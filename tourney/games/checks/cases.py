"""The cases that make up the check of a registered game: options, seats, policy and seed."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from tourney.errors import GameError
from tourney.games.base import Game
from tourney.games.checks.battery import Report, check_match, check_rules
from tourney.games.checks.options import Options, combinations, one_at_a_time, values_of
from tourney.games.checks.playing import POLICIES, Lot
from tourney.games.checks.steps import Witness
from tourney.games.registry import make_game, rules_type_of

__all__ = ("Case", "cases_of", "option_sets", "seat_counts")

COMBINATIONS = 40
"""Random sets of options among the sets that a game is checked with."""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One match of a game's check; the same case always plays the same."""

    game: str
    options: Mapping[str, Any] = {}
    seats: int
    policy: str
    seed: int

    def run(self, witness: Witness[Any] | None = None) -> Report:
        """Play and check it.

        Raises:
            CheckFailed: the game breaks its contract.
            GameError: the game refuses the options or the seats.
            PluginError: no game has that name.
        """
        game = make_game(self.game, self.options)
        check_rules(game, rules_type_of(self.game))
        return check_match(game, self.seats, self.policy, self.seed, witness=witness)


def seat_counts(game: Game[Any]) -> list[int]:
    """The numbers of seats that these rules are played with."""
    found = []
    for seats in range(game.info.min_seats, game.info.max_seats + 1):
        try:
            game.start(seats)
        except GameError:
            continue
        found.append(seats)
    return found


def option_sets(name: str, fixed: Options, seed: int = 0) -> list[Options]:
    """The defaults, each value of each option, and random combinations, all over `fixed`."""

    def make(options: Options) -> Game[Any]:
        return make_game(name, {**options, **fixed})

    values = {
        option: some
        for option, some in values_of(rules_type_of(name)).items()
        if option not in fixed
    }
    sets = ({}, *one_at_a_time(values, make), *combinations(values, make, COMBINATIONS, seed))
    return [{**options, **fixed} for options in sets]


def cases_of(
    name: str,
    *,
    fixed: Options | None = None,
    seats: int | None = None,
    policy: str | None = None,
    seed: int = 0,
) -> Iterator[Case]:
    """Cases without end: the base game at every table with every policy, then option by option.

    Args:
        name: a registered game.
        fixed: options that every case has.
        seats: play at tables of this size alone.
        policy: play this policy alone.
        seed: seed of the first case; each next one counts up.

    Raises:
        GameError: `fixed` or `seats` is refused.
        PluginError: no game has that name.
    """
    fixed = fixed or {}
    case = partial(Case, game=name)
    policies = tuple(POLICIES) if policy is None else (policy,)
    game = make_game(name, fixed)
    if seats is not None:
        game.start(seats)
    for size in _tables(game, seats):
        for chosen in policies:
            yield case(options=fixed, seats=size, policy=chosen, seed=seed)
            seed += 1
    sets, lot = option_sets(name, fixed, seed), Lot(f"cases/{seed}")
    while True:
        for options in sets:
            sizes = _tables(make_game(name, options), seats)
            if sizes:
                size, chosen = lot.pick(sizes), lot.pick(policies)
                yield case(options=options, seats=size, policy=chosen, seed=seed)
                seed += 1


def _tables(game: Game[Any], seats: int | None) -> list[int]:
    return [size for size in seat_counts(game) if seats in {None, size}]
