"""Play a match of each game and write down everything: `python -m tests.golden.write`.

With names of games, only those: `python -m tests.golden.write dam rams`. Look at what changed
before you commit it; a golden file is right because somebody has read it.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from tourney.games.base import Chance, Decision, Game
from tourney.games.checks import play
from tourney.games.registry import make_game

__all__ = ("MATCHES", "file_of", "lines_of", "main")

FOLDER = Path(__file__).parent

SEED = 2026

MATCHES: Mapping[tuple[str, int], Mapping[str, Any]] = {
    ("dam", 2): {"rounds": 1, "ask": "nonbinding", "ask_object": "row", "turn_cap": 12},
    ("dam", 6): {"rounds": 1},
    ("hearts", 4): {"limit": 1},
    ("norrlandsknack", 3): {"pots": 1, "deal_cap": 3},
    ("rams", 2): {"ramsar": 1, "start": 6},
    ("rams", 4): {"ramsar": 1, "start": 6},
    ("rams-european", 4): {},
    ("svarta-maja", 4): {},
    ("svarte-petter", 3): {},
}
"""Options of each match, by game and seats; they keep it short."""


def file_of(name: str, seats: int) -> Path:
    """Where a match is kept."""
    return FOLDER / f"{name}_{seats}.txt"


def lines_of(name: str, seats: int, options: Mapping[str, Any]) -> list[str]:
    """The whole match under the policy `random`, in words."""
    game = make_game(name, options)
    return [
        f"game {name}, {seats} seats, seed {SEED}, policy random",
        f"options {_json(options)}",
        "a state and a view are shown whole at first, then what has changed; seats: all of them",
        *_moments(game, seats),
        "",
    ]


def _moments(game: Game[Any], seats: int) -> Iterator[str]:
    history = play(game, seats, "random", SEED)
    shown: dict[str, dict[str, Any]] = {}
    number = 0
    for moment in history.moments:
        yield ""
        turn = moment.turn
        if isinstance(turn, Decision):
            number += 1
            yield f"{number}. seat {turn.seat}, {turn.phase}{', prompt' * turn.prompt}"
        else:
            yield f"chance {turn.label}: {turn.count} of {len(turn.cards)}"
        yield from _position(game, moment.state, seats, shown)
        if isinstance(turn, Chance):
            yield f"  drawn    {' '.join(moment.answer)}"
        else:
            yield f"  legal    {', '.join(turn.legal)} (stand-in: {turn.fallback})"
            yield f"  action   {moment.answer}"
        for event in moment.events:
            yield f"  event    {_json(event.seen_by(None))}"
            others = [seat for seat in range(seats) if seat not in event.audience]
            if event.private and others:
                yield f"    to {', '.join(map(str, others))}: {_json(event.seen_by(others[0]))}"
    yield ""
    yield "over"
    yield from _position(game, history.state, seats, shown)
    yield f"  scores   {_json(history.over.scores)}"
    yield f"  ranks    {_json(history.over.ranks)}"
    yield f"  reveal   {_json(history.over.detail)}"


def _position(
    game: Game[Any], state: Any, seats: int, shown: dict[str, dict[str, Any]]
) -> Iterator[str]:
    """The state and every view, as far as they have changed; what all seats see, once."""
    yield from _changes("state", _flat(msgspec.to_builtins(state, order="deterministic")), shown)
    views = [_flat(game.view(state, seat)) for seat in range(seats)]
    public = {
        key: value
        for key, value in views[0].items()
        if all(view.get(key) == value for view in views)
    }
    yield from _changes("seats", public, shown)
    for seat, view in enumerate(views):
        own = {key: value for key, value in view.items() if key not in public}
        yield from _changes(f"seat {seat}", own, shown)


def _changes(
    who: str, values: Mapping[str, str], shown: dict[str, dict[str, Any]]
) -> Iterator[str]:
    before = shown.setdefault(who, {})
    for key, value in values.items():
        if before.get(key) != value:
            yield f"  {who:<8} {key} {value}"
    # A value that turns public, or stops being so, is written again by its new reader.
    shown[who] = dict(values)


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = _json(value)
    return flat


def _json(value: Any) -> str:
    return msgspec.json.encode(value, order="deterministic").decode()


def main(names: list[str]) -> None:
    """Write the matches of the games in `names`, or all."""
    for (name, seats), options in MATCHES.items():
        if not names or name in names:
            file_of(name, seats).write_text("\n".join(lines_of(name, seats, options)))


if __name__ == "__main__":
    main(sys.argv[1:])
