"""A recorded match as moments: what one perspective saw at each step. Pure.

Here is the dashboard's one door for secrets. `all` sees the whole table; a seat sees its own view
and events; `public` sees only what every seat's view says alike.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tourney.dashboard.values import Absent, FaultRow, Moment, Perspective, Replay, SeatView
from tourney.deals import Deals, commitment, group_key, secret_from_seed
from tourney.errors import GameError, PluginError
from tourney.games.base import Game
from tourney.games.registry import make_game
from tourney.referee.replay import Frame, group_id, replay
from tourney.store import RunInfo

__all__ = ("Record", "Recorded", "common")


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A match as it was recorded, with what is needed to replay it."""

    run: str
    """Name of the run's folder."""
    info: RunInfo
    row: dict[str, Any]
    """The row of the table `matches`."""
    faults: tuple[FaultRow, ...]
    seed: int | None
    """Seed in the run's config."""


class Recorded:
    """A match that can be looked at from any perspective."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.row = record.row
        self.seats = len(self.row["seating"])
        self.locked = ""
        self._notes = {note["turn"]: note["note"] for note in self.row["notes"]}
        self._fault_turn = {fault.seat: fault.turn for fault in record.faults}
        self._game: Game[Any] | None = None
        self.frames: tuple[Frame, ...] = ()
        secret = _secret(record)
        if isinstance(secret, str):
            self.locked = secret
            return
        info = record.info
        pairing = self.row["pairing"].split("+")
        deals = Deals(group_key(secret, group_id(pairing, self.row["deal"])))
        try:
            self._game = make_game(info.game, info.rules, version=info.game_version)
            self.frames = tuple(replay(self._game, self.seats, deals, self.row["actions"]))
        except (GameError, PluginError) as error:
            self.locked = f"The record cannot be replayed: {error}"

    @property
    def last(self) -> int:
        """The number of the last step."""
        return len(self.frames) - 1

    def perspective(self, text: str) -> Perspective:
        """`all`, `public` or a seat's number.

        Raises:
            Absent: the match has no such seat.
        """
        if text == "all":
            return "all"
        if text == "public":
            return "public"
        if text.isascii() and text.isdigit() and int(text) < self.seats:
            return int(text)
        raise Absent(f"seat is all, public or 0 to {self.seats - 1}, not {text!r}")

    def faults_at(self, step: int) -> tuple[FaultRow, ...]:
        """Faults that are shown with the action of `step`."""
        return tuple(f for f in self.record.faults if self._fault_step(f.turn) == step)

    def fault_steps(self) -> list[int]:
        """Steps with a fault, in order."""
        return sorted({self._fault_step(fault.turn) for fault in self.record.faults})

    def _fault_step(self, turn: int) -> int:
        # The stand-in's action of turn t leads to step t + 1; after the last action there is none.
        return min(turn + 1, self.last)

    def think_us(self, step: int) -> int:
        """Thinking time before the action of `step`."""
        thinking: Sequence[int] = self.row["think_us"]
        return thinking[step - 1] if 0 < step <= len(thinking) else 0

    def view(self, step: int, perspective: Perspective) -> Mapping[str, Any]:
        """The table at `step`, as the game shows it to this perspective."""
        assert self._game is not None, "a locked match has no views"
        state = self.frames[step].state
        if perspective == "all":
            return self._game.view(state, None)
        if perspective == "public":
            views = [self._game.view(state, seat) for seat in range(self.seats)]
            shared: Mapping[str, Any] = common(views)
            return shared
        return self._game.view(state, perspective)

    def moment(self, step: int, perspective: Perspective) -> Moment:
        """Step `step` as `perspective` saw it."""
        frame = self.frames[step]
        seat, decision = frame.seat, frame.decision
        may_see = perspective == "all" or (seat is not None and perspective == seat)
        action = frame.action
        if action is not None and not may_see:
            # The rest may name cards that only the actor knows; the events tell what was seen.
            action = action.partition(" ")[0]
        legal: tuple[str, ...] = ()
        if decision is not None and perspective in ("all", decision.seat):
            legal = decision.legal
        turn = step - 1
        return Moment(
            step=step,
            seat=seat,
            action=action,
            forced=frame.forced,
            stand_in=seat is not None and turn >= self._fault_turn.get(seat, turn + 1),
            think_us=self.think_us(step),
            note=self._notes.get(turn, "") if may_see else "",
            fault=", ".join(fault.kind for fault in self.faults_at(step)),
            events=tuple(self._events(frame, perspective)),
            view=self.view(step, perspective),
            to_act=None if decision is None else decision.seat,
            phase="" if decision is None else decision.phase,
            legal=legal,
        )

    def _events(self, frame: Frame, perspective: Perspective) -> list[Mapping[str, Any]]:
        if perspective == "all":
            return [event.seen_by(None) for event in frame.events]
        if perspective == "public":
            everybody = range(self.seats)
            return [common([event.seen_by(s) for s in everybody]) for event in frame.events]
        return [event.seen_by(perspective) for event in frame.events]

    def value(self, perspective: Perspective) -> Replay:
        """The whole match from one perspective."""
        row = self.row
        seats = zip(row["seating"], row["scores"], row["ranks"], row["outcomes"], strict=True)
        hides = perspective != "all"
        return Replay(
            run=self.record.run,
            match=row["match"],
            group=row["group"],
            deal=row["deal"],
            rotation=row["rotation"],
            game=self.record.info.game,
            perspective=perspective,
            seats=tuple(
                SeatView(seat=number, bot=bot, score=score, rank=rank, outcome=outcome)
                for number, (bot, score, rank, outcome) in enumerate(seats)
            ),
            # The evidence quotes a bot's own view of its cards.
            faults=tuple(f for f in self.record.faults if not hides or f.seat == perspective),
            locked=self.locked,
            moments=tuple(self.moment(step, perspective) for step in range(len(self.frames))),
        )


def _secret(record: Record) -> bytes | str:
    """The secret of the run, or a sentence that says why it is not known."""
    info = record.info
    try:
        secret = None if info.secret is None else bytes.fromhex(info.secret)
    except ValueError:
        secret = b""
    if secret is None and record.seed is not None:
        secret = secret_from_seed(record.seed)
    if secret is None:
        return (
            "The cards of this run stay secret until it has finished, so that nobody can learn "
            "from a replay what is still to be played. The replay opens then."
        )
    if commitment(secret) != info.commitment:
        return (
            "The secret of this run is not the one it was committed to when it started: its cards "
            "cannot be trusted, and are not shown."
        )
    return secret


def common(values: Sequence[Any]) -> Any:
    """What all of `values` say alike: differing parts of mappings and lists become None."""
    first = values[0]
    if all(isinstance(value, Mapping) for value in values):
        keys = [key for key in first if all(key in value for value in values)]
        return {key: common([value[key] for value in values]) for key in keys}
    if all(isinstance(value, list | tuple) for value in values):
        if len({len(value) for value in values}) > 1:
            return None
        return [common(parts) for parts in zip(*values, strict=True)]
    return first if all(value == first for value in values) else None
