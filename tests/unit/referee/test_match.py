"""One match as a state machine: questions, answers, faults, ranks. No process."""

import msgspec
import pytest

from tourney.deals import Deals, group_key
from tourney.games.dam import Dam, DamRules
from tourney.protocol.faults import Fault
from tourney.referee.match import Match
from tourney.referee.replay import replay
from tourney.referee.specs import MatchSpec

SPEC = MatchSpec(match=17, group=8, pairing=("a", "b"), deal=4, rotation=1, seating=("b", "a"))


def new_match(bank_ms: int | None = None, seating: tuple[str, ...] = ("b", "a")) -> Match:
    spec = msgspec.structs.replace(SPEC, seating=seating, pairing=tuple(sorted(seating)))
    return Match(
        spec,
        Dam(DamRules(rounds=1)),
        Deals(group_key(b"x", "a+b#4")),
        seeds=[5] * len(seating),
        bank_ms=bank_ms,
    )


def finish(match: Match) -> None:
    while match.pending is not None:
        match.question()
        assert match.answer("throw" if "throw" in match.pending.legal else "draw", 100)


def test_a_match_asks_until_it_is_over_and_its_record_replays() -> None:
    match = new_match()
    finish(match)
    result = match.result()
    assert result.outcomes == ("finished", "finished")
    frames = list(
        replay(Dam(DamRules(rounds=1)), 2, Deals(group_key(b"x", "a+b#4")), match.actions)
    )
    assert frames[-1].over is not None
    assert frames[-1].over.scores == result.scores
    assert len(frames) == len(match.actions) + 1


def test_bots_are_anonymous_unless_the_config_says_so() -> None:
    assert new_match().start_message(0).players == ["seat0", "seat1"]


def test_a_question_holds_what_happened_since_the_last_one() -> None:
    match = new_match()
    first = match.question()
    assert match.pending is not None
    asker = match.pending.seat
    assert first.turn == len(match.actions)
    assert match.answer("throw", 100)
    second = match.question()
    assert match.pending.seat != asker
    words = [event["event"] for event in second.events]
    assert words == ["draw", "throw"], "the other seat's turn, from its first event on"
    assert "card" not in second.events[0], "a drawn card is the drawer's alone"


def test_an_illegal_answer_changes_nothing() -> None:
    match = new_match()
    before = list(match.actions)
    assert not match.answer("fly", 100)
    assert match.actions == before
    assert match.pending is not None


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_a_fault_is_last_gets_the_worst_score_and_others_finish(seats: int) -> None:
    match = new_match(seating=tuple("abcdef"[:seats]))
    assert match.pending is not None
    culprit = match.pending.seat
    match.fault(culprit, Fault(kind="crashed", detail="exit code 3"))
    finish(match)
    result = match.result()
    assert result.ranks[culprit] == seats
    assert result.scores[culprit] == 83, "the highest sum a row can have (DAM-31)"
    assert result.outcomes[culprit] == "crashed"
    others = [s for s in range(seats) if s != culprit]
    assert all(result.outcomes[s] == "finished" for s in others)
    assert min(result.ranks[s] for s in others) == 1
    assert match.asked[culprit] == 0


def test_faulting_seats_share_the_last_rank() -> None:
    match = new_match(seating=("a", "b", "c"))
    for seat in (0, 2):
        match.fault(seat, Fault(kind="timeout", detail="late"))
    finish(match)
    assert match.result().ranks == (2, 1, 2)


def test_when_all_fault_the_match_ends_by_itself() -> None:
    match = new_match()
    for seat in (0, 1):
        match.fault(seat, Fault(kind="timeout", detail="late"))
    assert match.pending is None
    assert match.result().ranks == (1, 1)
    assert match.result().win_share(0) == 0.5


def test_scores_are_floats_whatever_a_game_says() -> None:
    """Rows of one table hold one type."""
    match = new_match()
    finish(match)
    assert [type(score) for score in match.result().scores] == [float, float]


def test_only_the_first_fault_of_a_seat_counts() -> None:
    match = new_match()
    match.fault(0, Fault(kind="timeout", detail="late"))
    match.fault(0, Fault(kind="crashed", detail="gone"))
    finish(match)
    assert match.result().outcomes[0] == "timeout"


def test_slow_moves_eat_the_bank() -> None:
    match = new_match(bank_ms=500)
    assert match.pending is not None
    seat = match.pending.seat
    assert match.allowed_ms(seat) == 1500
    assert match.answer("throw", 1_200_000)
    assert match.allowed_ms(seat) == pytest.approx(1300)
    while match.pending is not None and match.pending.seat != seat:
        match.answer("draw" if "draw" in match.pending.legal else "throw", 100)
    assert match.question().clock.bank_ms == 300


def test_a_fault_is_booked_with_the_worst_of_its_own_table() -> None:
    """Two seats play two deals by default: 2 times 83, not the 498 of six seats."""
    spec = msgspec.structs.replace(SPEC, seating=("a", "b"))
    match = Match(spec, Dam(DamRules()), Deals(group_key(b"x", "1")), seeds=[1, 2])
    match.fault(0, Fault(kind="crashed", detail="gone"))
    finish(match)
    assert match.result().scores[0] == 166
