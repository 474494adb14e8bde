"""`tourney play`: one match between bots, shown action by action. No Ray, nothing saved."""

import secrets
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tourney.cli.text import cards_in, plain

if TYPE_CHECKING:
    # Loading polars takes longer than `tourney --help` may.
    from tourney.config import LoadedConfig
    from tourney.referee.match import Match
    from tourney.referee.replay import Frame

__all__ = ("play",)


def play(
    bots: Annotated[list[Path], typer.Argument(help="Bot packages, one a seat from seat 0.")],
    game: Annotated[str, typer.Option("--game", "-g", help="A registered game.")] = "dam",
    seed: Annotated[
        int | None, typer.Option(help="Same seed, same cards. [default: random, printed]")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SECTION.KEY=VALUE", help="As in `run`: rules.rounds=1."),
    ] = None,
    unsafe: Annotated[
        bool,
        typer.Option("--unsafe-no-sandbox", help="No confinement at all; only for your own bots."),
    ] = False,
) -> None:
    """Play one match in this process and print it card by card.

    Raises:
        TourneyError: a bot, the game's options or the sandbox stood in the way.
    """
    from tourney.config.load import config_from

    if len(bots) < 2:
        raise typer.BadParameter("a match needs at least two bots", param_hint="BOTS")
    seed = secrets.randbelow(2**32) if seed is None else seed
    data = {
        "tournament": {"name": "play", "game": game, "seats": len(bots), "deals": 1, "seed": seed},
        "run": {"sandbox": "none" if unsafe else "bwrap"},
        "bot": [
            {"path": str(path.absolute()), "name": name}
            for path, name in zip(bots, _names(bots), strict=True)
        ],
    }
    loaded = config_from(data, overrides or [])
    match, frames = _play(loaded)
    _Printer(match).show(frames)
    print(f"seed {seed}")
    raise typer.Exit(1 if match.faults else 0)


def _names(bots: Sequence[Path]) -> list[str]:
    """The packages' own names; a package entered twice gets numbers."""
    from tourney.packages.manifest import load_manifest

    names = [load_manifest(path).name for path in bots]
    return [
        f"{name[:30]}-{names[: seat + 1].count(name)}" if names.count(name) > 1 else name
        for seat, name in enumerate(names)
    ]


def _play(loaded: "LoadedConfig") -> "tuple[Match, list[Frame]]":
    from tourney.deals import Deals, secret_from_seed
    from tourney.executors.worker import TableWorker
    from tourney.referee.replay import replay
    from tourney.runner import prepare

    prepared = prepare(loaded)
    tournament = loaded.config.tournament
    plan = prepared.plan(secret_from_seed(tournament.seed or 0))
    worker = TableWorker(plan, prepared.archives)
    try:
        names = tuple(entrant.name for entrant in prepared.entrants)
        match, key = worker.play_one(names)
    finally:
        worker.close()
    frames = list(replay(prepared.game, len(match.spec.seating), Deals(key), match.actions))
    return match, frames


class _Printer:
    """Writes a match as lines a person can follow."""

    def __init__(self, match: "Match") -> None:
        self._match = match
        self._names = match.spec.seating
        self._notes = dict(match.notes)

    def show(self, frames: "Sequence[Frame]") -> None:
        """Print every frame and the result."""
        for seat, name in enumerate(self._names):
            print(f"seat {seat}  {name}")
        for frame in frames:
            events = [event.seen_by(None) for event in frame.events]
            if frame.action is not None:
                own = bool(events) and _tells_of(events[0], frame)
                self._action(frame, events.pop(0) if own else {})
            for event in events:
                print(_event_text(event))
        self._faults()
        result = self._match.result()
        print("\nrank  score  bot")
        for seat in sorted(range(len(self._names)), key=lambda s: result.ranks[s]):
            outcome = result.outcomes[seat]
            ending = "" if outcome == "finished" else f"  ({outcome})"
            print(
                f"{result.ranks[seat]:>4}  {result.scores[seat]:>5g}  {self._names[seat]}{ending}"
            )

    def _action(self, frame: "Frame", event: Mapping[str, Any]) -> None:
        action = frame.action or ""
        think_us = self._match.think_us[frame.step - 1]
        seat = frame.seat or 0
        how = "forced" if frame.forced else f"{think_us / 1000:.1f} ms" if think_us else "stand-in"
        note = self._notes.get(frame.step - 1)
        said = f'  "{plain(note)}"' if note else ""
        print(
            f"{frame.step:>4}  seat {seat}  {self._names[seat]:<20.20} "
            f"{cards_in(action):<16} {_more(event, action):<24} {how}{said}"
        )

    def _faults(self) -> None:
        for seat, (turn, fault) in sorted(self._match.faults.items()):
            print(f"\nfault: seat {seat} {self._names[seat]}, action {turn + 1}: {fault.kind}")
            print(f"  {plain(fault.detail)}")
            for line in fault.last_received[-2:]:
                print(f"  it wrote  {plain(line)[:300]}")
            for line in fault.stderr_tail.splitlines()[-10:]:
                print(f"  its log   {plain(line)}")
            sys.stdout.flush()


def _tells_of(event: Mapping[str, Any], frame: "Frame") -> bool:
    """Whether the event only says what the action was."""
    word = (frame.action or "").split(" ")[0]
    return event.get("seat") == frame.seat and word in {event["event"], *map(str, event.values())}


def _more(event: Mapping[str, Any], action: str) -> str:
    """What an action's own event adds to it, as the card that was drawn."""
    extras = {
        key: value
        for key, value in event.items()
        if key not in {"seat", "event"} and str(value) not in action.split(" ")
    }
    return "  ".join(
        _value_text(value) if key == "card" else f"{key} {_value_text(value)}"
        for key, value in extras.items()
        if value not in ([], ())
    )


def _event_text(event: Mapping[str, Any]) -> str:
    """An event as an indented line: its word, then what it carries."""
    seat = event.get("seat")
    parts = [f"      {'' if seat is None else f'seat {seat}  '}{event['event']}"]
    for key, value in event.items():
        if key not in {"seat", "event"}:
            parts.append(f"{key} {_value_text(value)}")
    return "  ".join(parts)


def _value_text(value: Any) -> str:
    if isinstance(value, str):
        return cards_in(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_value_text(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        nested = any(isinstance(item, list | tuple) for item in value)
        return (" | " if nested else " ").join(_value_text(item) for item in value)
    return "-" if value is None else str(value)
