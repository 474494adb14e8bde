"""A fault never pays, and the platform's failures are nobody's."""

import statistics
import time
from pathlib import Path

import pytest

from tests.match.conftest import GAME, new_match
from tourney.errors import NodeNoisy
from tourney.executors.canary import Canary
from tourney.protocol.faults import Fault
from tourney.referee.match import Match
from tourney.sandbox.none import NoSandbox


def play(match: Match, crash_when_losing: bool) -> tuple[float, float]:
    """A thrower against a threshold bot; a crasher gives up when its known sum looks bad."""
    while match.pending is not None:
        act = match.question()
        seat = match.pending.seat
        if match.spec.seating[seat] == "subject":
            if crash_when_losing and act.view["stock"] <= 2:
                rows = [card for card in act.view["rows"][seat] if card]
                if sum(GAME.values[card] for card in rows) < 40 or len(rows) < 7:
                    match.fault(seat, Fault(kind="crashed", detail="gave up"))
                    continue
            action = "throw" if "throw" in act.legal else "draw"
        else:
            good = GAME.values[(act.view["hand"] or act.view["discard"][-1])] <= 5
            wanted = {"source": ("draw", "take"), "decide": ("throw", "keep")}[act.phase][good]
            action = wanted if wanted in act.legal else act.legal[0]
        assert match.answer(action, 10)
    result = match.result()
    seat = match.spec.seating.index("subject")
    return result.scores[seat], result.win_share(seat)


def test_giving_up_on_a_bad_deal_never_improves_a_bots_numbers() -> None:
    games = 60
    honest = [play(new_match(n, ("subject", "other")), False) for n in range(games)]
    crashing = [play(new_match(n, ("subject", "other")), True) for n in range(games)]
    assert any(a != b for a, b in zip(honest, crashing, strict=True)), "it did give up"
    for (score, win), (crash_score, crash_win) in zip(honest, crashing, strict=True):
        assert crash_score >= score, "a row's sum: low is good"
        assert crash_win <= win
    assert statistics.mean(s for s, _ in crashing) > statistics.mean(s for s, _ in honest)


def test_a_fault_leaves_the_third_seat_a_real_match() -> None:
    clean = new_match(7, ("subject", "other", "third"))
    faulty = new_match(7, ("subject", "other", "third"))
    faulty.fault(0, Fault(kind="timeout", detail="late"))
    for match in (clean, faulty):
        while match.pending is not None:
            act = match.question()
            match.answer("throw" if "throw" in act.legal else "draw", 10)
    # The thrower and the stand-in play alike here, so the others' scores must be the same.
    assert faulty.result().scores[1:] == clean.result().scores[1:]
    assert faulty.result().ranks[0] == 3


def test_a_late_canary_says_that_the_node_is_noisy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = Canary(NoSandbox(), tmp_path, 1_000)
    monkeypatch.setattr("tourney.executors.canary.ASK_SECONDS", 0.0)
    try:
        canary.ask()
        assert canary.slowest_ms < 5_000
        monkeypatch.setattr(canary, "_bound_ms", 0.0)
        with pytest.raises(NodeNoisy, match="too busy for a fair clock"):
            canary.ask()
    finally:
        canary.close()


def test_a_killed_canary_is_nobodys_fault_and_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = Canary(NoSandbox(), tmp_path, 10_000)
    monkeypatch.setattr("tourney.executors.canary.ASK_SECONDS", 0.0)
    try:
        canary.ask()
        canary._process.kill()
        deadline = time.monotonic() + 10
        noisy = False
        while not noisy and time.monotonic() < deadline:
            try:
                canary.ask()
            except NodeNoisy as error:
                noisy = "gave no answer" in str(error)
        assert noisy
        canary.ask()
    finally:
        canary.close()
