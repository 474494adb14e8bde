"""Was a run dealt and counted as it says? Rows in, differences out; no file and no clock here.

Everything that follows from the secret, the schedule and the lists of actions is worked out again:
cards, legality, stand-ins, scores, ranks, seatings and counts. What only the clock and the bots
could say (seconds, thinking times, notes, the evidence of a fault) is compared where two records
speak of it, and taken on trust otherwise.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from tourney.deals import Deals, commitment, group_key, secret_from_seed
from tourney.errors import GameError
from tourney.games.base import Decision, Game, Over, competition_ranks
from tourney.protocol.faults import FINISHED, NOT_PLAYED, WITHDRAWN
from tourney.referee.replay import Frame, group_id, replay
from tourney.schedule.groups import Group, Schedule
from tourney.store import codec
from tourney.store.info import RunInfo
from tourney.store.journal import Commit, groups_of

__all__ = ("Difference", "Plan", "check_facts", "check_group", "check_secret")

Row = Mapping[str, Any]

SHARE_ERROR = 1e-9
"""Shares of a win are exact up to the rounding of a division."""

TIME_ERROR = codec.THINK_ERROR + 1e-4
"""Relative; the times of `seats` are exact to six digits, those of `matches` are rounded."""


class Difference(msgspec.Struct, frozen=True):
    """Something that is not as it should be."""

    what: str
    """In a sentence, with the value found and the value that it should be."""
    match: int | None = None
    """Number of the match, None for what concerns a group or the run."""
    group: int | None = None
    table: str = ""
    """`matches`, `seats` or `faults`; empty for the run itself."""
    column: str = ""

    def __str__(self) -> str:
        where = [f"group {self.group}"] if self.match is None and self.group is not None else []
        where += [] if self.match is None else [f"match {self.match}"]
        where += [f"{self.table}.{self.column}".strip(".")] if self.table else []
        return f"{', '.join(where) or 'run'}: {self.what}"


class Plan(msgspec.Struct, frozen=True):
    """What fixes every match of a run."""

    game: Game[Any]
    schedule: Schedule
    secret: bytes
    withdrawn: frozenset[str] = frozenset()
    """Bots that were taken out of the run; groups with one of them may be unplayed."""


def check_secret(secret: bytes, committed: str, seed: int | None) -> list[Difference]:
    """The secret is the one that was committed to, and the one of the config's seed."""
    found = []
    if commitment(secret) != committed:
        found.append(
            Difference(
                f"the commitment is {committed}, but the secret's SHA-256 is {commitment(secret)}"
            )
        )
    if seed is not None and secret != secret_from_seed(seed):
        found.append(Difference(f"the secret is not the one of the config's seed {seed}"))
    return found


def check_facts(
    plan: Plan,
    info: RunInfo,
    values: Mapping[str, Any],
    bots: Sequence[str],
    commits: Sequence[Commit],
) -> list[Difference]:
    """`run.json`, the resolved config, the table of bots and the journal tell the same.

    Args:
        plan: what fixes the matches.
        info: `run.json`.
        values: the config's values.
        bots: names in the table of bots.
        commits: the journal.
    """
    tournament, counts = values["tournament"], info.counts
    times = Counter(groups_of(commits))
    pairs = [
        ("game", info.game, tournament["game"]),
        ("seats", info.seats, plan.schedule.seats),
        ("rules", dict(info.rules), msgspec.to_builtins(plan.game.rules)),
        ("bots", info.bots, list(bots)),
        ("counts.groups_total", counts.groups_total, plan.schedule.groups),
        ("counts.matches_total", counts.matches_total, plan.schedule.matches),
        ("counts.groups", counts.groups, times.total()),
        ("counts.matches", counts.matches, sum(commit.matches for commit in commits)),
        ("counts.faults", counts.faults, sum(commit.faults for commit in commits)),
    ]
    found = [
        Difference(f"{name} is {_text(told)} in run.json and should be {_text(wanted)}")
        for name, told, wanted in pairs
        if told != wanted
    ]
    found += [Difference(f"committed {n} times", group=g) for g, n in times.items() if n > 1]
    if info.status == "finished" and not info.stop and len(times) < plan.schedule.groups:
        gone = [group for group in range(plan.schedule.groups) if group not in times]
        text = f"the run is finished, but {len(gone)} groups are not in the journal"
        found.append(Difference(f"{text}, the first of them {gone[0]}"))
    return found


def check_group(
    plan: Plan, number: int, matches: Sequence[Row], seats: Sequence[Row], faults: Sequence[Row]
) -> list[Difference]:
    """Every match of one rotation group, from its rows in the three tables."""
    schedule = plan.schedule
    if not 0 <= number < schedule.drawn:
        return [Difference(f"the schedule ends at group {schedule.drawn - 1}", group=number)]
    group = schedule.group(number)
    wanted = [number * schedule.seats + rotation for rotation in range(group.seats)]
    numbers = sorted(row["match"] for row in matches)
    if numbers != wanted:
        text = f"matches {_listed(numbers)} are recorded, not {_listed(wanted)}"
        return [Difference(text, None, number, "matches", "match")]
    if any(_is_unplayed(row) for row in matches):
        return _check_unplayed(plan, group, matches, (*seats, *faults))
    deals = Deals(group_key(plan.secret, group_id(group.pairing, group.deal)))
    found: list[Difference] = []
    for row in sorted(matches, key=lambda row: int(row["match"])):
        check = _Check(plan, group, deals, row)
        found += check.run(
            *([r for r in rows if r["match"] == row["match"]] for rows in (seats, faults))
        )
    strays = {row["match"] for row in (*seats, *faults)}.difference(wanted)
    found += [Difference("rows of a match that is not in this group", m, number) for m in strays]
    return found


def _is_unplayed(row: Row) -> bool:
    return not {WITHDRAWN, NOT_PLAYED}.isdisjoint(row["outcomes"])


def _check_unplayed(
    plan: Plan, group: Group, matches: Sequence[Row], others: Sequence[Row]
) -> list[Difference]:
    """A group of a bot that was taken out: none of it is played, and nobody gains by it."""
    found = []
    for row in matches:
        where = (row["match"], group.number, "matches")
        seating = group.seating(int(row["match"]) % plan.schedule.seats)
        told = [WITHDRAWN if bot in plan.withdrawn else NOT_PLAYED for bot in seating]
        if list(row["seating"]) != list(seating):
            text = f"{_text(row['seating'])} should be {_text(seating)}"
            found.append(Difference(text, *where, "seating"))
        # A bot that was taken out later than this group is one that only did not play.
        possible = [{NOT_PLAYED, outcome} for outcome in told]
        outcomes = list(row["outcomes"])
        if WITHDRAWN not in outcomes or not _is_each_in(outcomes, possible):
            text = f"{_text(row['outcomes'])}, but {_text(sorted(plan.withdrawn))} were withdrawn"
            found.append(Difference(text, *where, "outcomes"))
        for column in ("actions", "scores", "ranks", "notes", "think_us"):
            if row[column]:
                text = f"{_text(row[column])} in a match that was not played"
                found.append(Difference(text, *where, column))
    if others:
        text = "rows of seats or faults for a group that was not played"
        found.append(Difference(text, None, group.number, "seats"))
    return found


def _is_each_in(items: Sequence[str], sets: Sequence[Collection[str]]) -> bool:
    return len(items) == len(sets) and all(i in s for i, s in zip(items, sets, strict=True))


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers)) or "none"


class _Check:
    """One match; collects what differs."""

    def __init__(self, plan: Plan, group: Group, deals: Deals, row: Row) -> None:
        self._game = plan.game
        self._group = group
        self._deals = deals
        self._row = row
        self._n_seats = group.seats
        self._rotation = int(row["match"]) % plan.schedule.seats
        self._found: list[Difference] = []

    def run(self, seats: Sequence[Row], faults: Sequence[Row]) -> list[Difference]:
        """Compare everything; without a replay the rest of the match cannot be judged."""
        row, group = self._row, self._group
        rotation = self._rotation
        self._same("matches", "group", row["group"], group.number)
        self._same("matches", "pairing", row["pairing"], "+".join(group.pairing))
        self._same("matches", "deal", row["deal"], group.deal)
        self._same("matches", "rotation", row["rotation"], rotation)
        self._same("matches", "seating", list(row["seating"]), list(group.seating(rotation)))
        for column in ("scores", "ranks", "outcomes"):
            if len(row[column]) != self._n_seats:
                self._differs("matches", column, f"{_text(row[column])} for {self._n_seats} seats")
        if self._found:
            return self._found
        self._check_faults(faults)
        try:
            frames = list(replay(self._game, self._n_seats, self._deals, row["actions"]))
        except GameError as error:
            self._differs("matches", "actions", str(error))
            return self._found
        times = self._check_actions(frames, faults)
        self._check_result(frames[-1])
        self._check_seats(seats, times)
        return self._found

    def _differs(self, table: str, column: str, what: str) -> None:
        self._found.append(Difference(what, self._row["match"], self._group.number, table, column))

    def _same(self, table: str, column: str, found: Any, wanted: Any, of: str = "") -> None:
        if found != wanted:
            self._differs(table, column, f"{of}{_text(found)} should be {_text(wanted)}")

    def _check_faults(self, faults: Sequence[Row]) -> None:
        """Each outcome that is a fault has one row, and each row such an outcome."""
        outcomes = dict(enumerate(self._row["outcomes"]))
        wanted = {seat: kind for seat, kind in outcomes.items() if kind != FINISHED}
        told = {row["seat"]: row["kind"] for row in faults}
        if told != wanted or len(faults) != len(told):
            text = f"the faults by seat are {_text(told)}, the outcomes say {_text(wanted)}"
            self._differs("faults", "kind", text)
        seating = dict(enumerate(self._group.seating(self._rotation)))
        for row in faults:
            seat = f"seat {row['seat']}: "
            self._same("faults", "group", row["group"], self._group.number, seat)
            self._same("faults", "bot", row["bot"], seating.get(row["seat"]), seat)
            if row["turn"] > len(self._row["actions"]):
                text = f"{seat}{row['turn']} is after the last of {len(self._row['actions'])}"
                self._differs("faults", "turn", text)

    def _check_actions(self, frames: Sequence[Frame], faults: Sequence[Row]) -> list[list[int]]:
        """Stand-ins play on as the rules say, and nobody is asked who has no choice.

        Returns:
            for each seat, the microseconds of every answer that its bot gave.
        """
        out = {row["seat"]: row["turn"] for row in faults}
        thought = self._row["think_us"]
        if len(thought) != len(frames) - 1:
            self._same("matches", "think_us", f"{len(thought)} of them", f"{len(frames) - 1}")
            thought = [0] * (len(frames) - 1)
        times: list[list[int]] = [[] for _ in range(self._n_seats)]
        asked = set()
        for number, (before, after) in enumerate(pairwise(frames)):
            decision = before.decision
            assert decision is not None, "a frame with an action after it"
            is_stand_in = number >= out.get(decision.seat, len(frames))
            if not is_stand_in and _is_choice(decision):
                asked.add(number)
                times[decision.seat].append(thought[number])
                continue
            of = f"action {number} of seat {decision.seat}, "
            if is_stand_in:
                self._same(
                    "matches", "actions", after.action, decision.fallback, f"{of}after its fault: "
                )
            self._same("matches", "think_us", thought[number], 0, f"{of}not asked: ")
        self._same("matches", "decisions", self._row["decisions"], len(asked))
        for note in self._row["notes"]:
            if note["turn"] not in asked:
                text = f"a note on action {note['turn']}, for which no bot was asked"
                self._differs("matches", "notes", text)
        return times

    def _check_result(self, last: Frame) -> None:
        """Scores and ranks; a seat with a fault has the worst score and is last (PROTOCOL.md 8)."""
        over: Over | None = last.over
        assert over is not None, "a replay that ends is over"
        faulty = [outcome != FINISHED for outcome in self._row["outcomes"]]
        worst = self._game.info.worst_at(len(faulty))
        scores = [worst if out else over.scores[seat] for seat, out in enumerate(faulty)]
        keys = [(out, 0 if out else over.ranks[seat]) for seat, out in enumerate(faulty)]
        self._same("matches", "scores", list(self._row["scores"]), scores)
        self._same("matches", "ranks", list(self._row["ranks"]), list(competition_ranks(keys)))

    def _check_seats(self, rows: Sequence[Row], times: Sequence[Sequence[int]]) -> None:
        """The rows of `seats` say the same as the row of `matches`."""
        numbers = sorted(row["seat"] for row in rows)
        if numbers != list(range(self._n_seats)):
            text = f"seats {_listed(numbers)} are recorded, not 0 to {self._n_seats - 1}"
            self._differs("seats", "seat", text)
            return
        for row in rows:
            seat = row["seat"]
            for column, wanted in self._wanted(seat).items():
                self._same("seats", column, row[column], wanted, f"seat {seat}: ")
            if abs(row["win"] - self._win(seat)) > SHARE_ERROR:
                self._same("seats", "win", row["win"], self._win(seat), f"seat {seat}: ")
            own = times[seat]
            self._same("seats", "decisions", row["decisions"], len(own), f"seat {seat}: ")
            for column, us in (("think_ms_total", sum(own)), ("think_ms_max", max(own, default=0))):
                if abs(row[column] - us / 1000) > TIME_ERROR * max(1.0, us / 1000):
                    self._same("seats", column, row[column], us / 1000, f"seat {seat}: ")

    def _wanted(self, seat: int) -> dict[str, Any]:
        row = self._row
        return {
            "group": self._group.number,
            "pairing": "+".join(self._group.pairing),
            "bot": row["seating"][seat],
            "score": row["scores"][seat],
            "rank": row["ranks"][seat],
            "outcome": row["outcomes"][seat],
        }

    def _win(self, seat: int) -> float:
        """1 for a sole first rank, 1/m where m seats share it, else 0."""
        ranks = self._row["ranks"]
        first = min(ranks)
        return 1 / ranks.count(first) if ranks[seat] == first else 0.0


def _is_choice(decision: Decision) -> bool:
    """Whether a bot is asked: it has more than one action, or the rules want a prompt."""
    return decision.prompt or len(decision.legal) > 1


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
