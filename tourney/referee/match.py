"""One match as a pure state machine: answers and faults in, questions and records out.

No pipe, no clock, no file. Chance is drawn from the group's deals; a seat with a fault is played
on by the game's stand-in, so that the other seats finish a real match (PROTOCOL.md section 7).
"""

from collections.abc import Sequence
from typing import Any

from tourney.deals import Deals
from tourney.games.base import Action, Chance, Decision, Event, Game, Over, competition_ranks
from tourney.games.telling import tell
from tourney.protocol.faults import FINISHED, Fault
from tourney.protocol.messages import NOTE_MAX_CHARS, Act, Clock, End, Start
from tourney.referee.specs import MatchSpec, Result

__all__ = ("Match",)


class Match:
    """A match in play. `pending` is the decision a bot is to be asked for, None once over."""

    def __init__(
        self,
        spec: MatchSpec,
        game: Game[Any],
        deals: Deals,
        *,
        seeds: Sequence[int],
        names: bool = False,
        move_ms: int = 1_000,
        bank_ms: int | None = None,
        recorded: Sequence[Action] = (),
        live: Sequence[int] | None = None,
    ) -> None:
        """Begin a match.

        Args:
            spec: who sits where.
            game: the rules.
            deals: the cards of its group.
            seeds: each seat's own seed.
            names: whether bots are told each other's names.
            move_ms: milliseconds for a decision.
            bank_ms: spare milliseconds of a seat, None for none.
            recorded: actions of this match as once played, for the seats that are not `live`.
            live: seats that bots sit in; None for all.
        """
        seats = len(spec.seating)
        self.live = tuple(range(seats)) if live is None else tuple(live)
        """Seats that are asked; others play what was recorded."""
        self._recorded = recorded
        self.spec = spec
        self.seating = spec.seating
        """The bot in each seat."""
        self.pending: Decision | None = None
        self.actions: list[Action] = []
        self.think_us: list[int] = []
        """Microseconds a bot took for each action, 0 for forced and stand-in ones."""
        self.asked = [0] * seats
        """Answers each seat gave."""
        self.think_us_total = [0] * seats
        self.think_us_max = [0] * seats
        self.notes: list[tuple[int, str]] = []
        self.logs: dict[int, tuple[str, int]] = {}
        """What a seat wrote to standard error, and the bytes of it that were not kept."""
        self.faults: dict[int, tuple[int, Fault]] = {}
        """Seat to the action number at which it happened, and the fault."""
        self.bank_ms: list[float | None] = [bank_ms] * seats
        self._game = game
        self._deals = deals
        self._seeds = seeds
        self._names = spec.seating if names else tuple(f"seat{s}" for s in range(seats))
        self._move_ms = move_ms
        self._clock = Clock(move_ms, None)
        self._asks = [seat in self.live for seat in range(seats)]
        """Seats whose decisions a bot makes: live and without a fault."""
        self._id = f"m{spec.match}"
        self._unseen: list[list[dict[str, Any]]] = [[] for _ in range(seats)]
        self._over: Over | None = None
        self._state = game.start(seats)
        self._advance()

    def start_message(self, seat: int) -> Start:
        """What tells `seat` that the match begins."""
        return Start(match=self._id, seat=seat, players=list(self._names), seed=self._seeds[seat])

    def question(self) -> Act:
        """The message that asks for the pending decision; hands its seat the unseen events."""
        decision = self.pending
        assert decision is not None, "nothing is pending"
        seat = decision.seat
        events, self._unseen[seat] = self._unseen[seat], []
        bank = self.bank_ms[seat]
        return Act(
            match=self._id,
            turn=len(self.actions),
            phase=decision.phase,
            view=self._game.view(self._state, seat),
            events=events,
            legal=decision.legal,
            clock=self._clock if bank is None else Clock(self._move_ms, int(bank)),
        )

    def allowed_ms(self, seat: int) -> float:
        """Time for the seat's next answer: the move limit and what is left of its bank."""
        return self._move_ms + (self.bank_ms[seat] or 0)

    def answer(self, action: Action, think_us: int, note: str = "") -> bool:
        """Play the pending seat's answer.

        Args:
            action: what the bot chose.
            think_us: microseconds from question to answer; what exceeds the move limit is taken
                from the seat's bank.
            note: the bot's note on this move.

        Returns:
            whether the action was legal; when it was not, nothing has happened.
        """
        decision = self.pending
        assert decision is not None, "nothing is pending"
        if action not in decision.legal:
            return False
        seat = decision.seat
        bank = self.bank_ms[seat]
        if bank is not None:
            self.bank_ms[seat] = bank - max(0.0, think_us / 1000 - self._move_ms)
        self.asked[seat] += 1
        self.think_us_total[seat] += think_us
        if think_us > self.think_us_max[seat]:
            self.think_us_max[seat] = think_us
        if note:
            self.notes.append((len(self.actions), note[:NOTE_MAX_CHARS]))
        self._play(action, think_us)
        self._advance()
        return True

    def fault(self, seat: int, fault: Fault) -> None:
        """End the bot's part: its seat is played by the stand-in from here on.

        A fault found when the match is over counts as well, until the result is taken.
        """
        if seat in self.faults:
            return
        self.faults[seat] = (len(self.actions), fault)
        self._asks[seat] = False
        if self.pending is not None and self.pending.seat == seat:
            self._advance()

    def _play(self, action: Action, think_us: int) -> None:
        step = self._game.act(self._state, action)
        self._state = step.state
        self.actions.append(action)
        self.think_us.append(think_us)
        self._tell(step.events)

    def _tell(self, events: Sequence[Event]) -> None:
        for event in events:
            tell(event, self._unseen)

    def _advance(self) -> None:
        """Go on to the next decision that needs a bot: chance, forced and stand-in moves."""
        while True:
            turn = self._game.turn(self._state)
            if isinstance(turn, Decision):
                if not self._asks[turn.seat]:
                    self._play(self._unasked_action(turn), 0)
                elif len(turn.legal) == 1 and not turn.prompt:
                    self._play(turn.legal[0], 0)
                else:
                    self.pending = turn
                    return
            elif isinstance(turn, Chance):
                step = self._game.drawn(self._state, self._deals.draw(turn))
                self._state = step.state
                self._tell(step.events)
            else:
                self.pending = None
                self._over = turn
                return

    def _unasked_action(self, decision: Decision) -> Action:
        """What a seat did at this point of the record; the stand-in's where there is none."""
        if decision.seat in self.faults:
            return decision.fallback
        played = len(self.actions)
        action = self._recorded[played] if played < len(self._recorded) else ""
        return action if action in decision.legal else decision.fallback

    def result(self) -> Result:
        """Scores, ranks and outcomes; a seat with a fault is below every other (PROTOCOL.md 8).

        It is booked with the worst score the game has, so that no fault ever pays.
        """
        over = self._over
        assert over is not None, "the match is not over"
        seats = range(len(self.seating))
        worst = self._game.info.worst_at(len(seats))
        scores = tuple(float(worst if s in self.faults else over.scores[s]) for s in seats)
        ranks = competition_ranks(
            [(s in self.faults, 0 if s in self.faults else over.ranks[s]) for s in seats]
        )
        outcomes = tuple(self.faults[s][1].kind if s in self.faults else FINISHED for s in seats)
        return Result(scores=scores, ranks=ranks, outcomes=outcomes, reveal=over.detail)

    def end_message(self) -> End:
        """What tells every seat how it ended."""
        result = self.result()
        return End(
            match=self._id,
            scores=list(result.scores),
            ranks=list(result.ranks),
            outcome=list(result.outcomes),
            reveal=result.reveal,
        )
