"""Many matches in one line (PROTOCOL.md section 6): who is asked what, and whose fault is whose."""

import json
import re
from pathlib import Path

import pytest

from tests.match.conftest import GOOD as PLAIN
from tests.match.conftest import TableMaker, new_match
from tourney.referee.match import Match

ARRAYS = """
def act_of(message):
    return {"action": message["legal"][-1]}

def reply(message):
    if isinstance(message, list):
        return [act_of(one) for one in message if one["type"] == "act"]
    return act_of(message) if message["type"] == "act" else None

def ready_for(n):
    say('{"type":"ready","batch":%d}\\n' % n)



def serve(n, reply=reply):
    for message in lines():
        if isinstance(message, dict) and message["type"] == "hello":
            ready_for(n)
            continue
        if isinstance(message, dict) and message["type"] == "quit":
            return
        said = reply(message)
        if said or isinstance(message, list):
            say(json.dumps(said) + "\\n")
"""

GOOD = (
    ARRAYS
    + """
sizes = []

def counting(message):
    if isinstance(message, list):
        sizes.append(len(message))
    elif message["type"] == "end":
        sys.stderr.write(json.dumps(sizes) + "\\n")
        sys.stderr.flush()
    return reply(message)

serve({n}, counting)
"""
)


def played(matches: list[tuple[Match, float]]) -> list[tuple[int, list[str]]]:
    return sorted((match.spec.match, match.actions) for match, _ in matches)


def sizes_in(matches: list[tuple[Match, float]], seat: int) -> list[int]:
    """Lengths of the arrays that the bot of a seat logged, over all its matches."""
    texts = [match.logs[seat][0] for match, _ in matches if seat in match.logs]
    return [size for text in texts for line in text.splitlines() for size in json.loads(line)]


def good(n: int) -> str:
    return GOOD.replace("{n}", str(n))


def test_arrays_give_the_same_matches_as_lines(make_table: TableMaker, tmp_path: Path) -> None:
    one_by_one = make_table(a=PLAIN, b=PLAIN)
    lines = list(one_by_one.play(new_match(n, ("a", "b")) for n in range(30)))
    assert one_by_one.at_once == 1
    table = make_table(c=good(8), d=good(8))
    table.handshake()
    arrays = list(table.play(new_match(n, ("c", "d")) for n in range(30)))
    assert played(arrays) == played(lines)
    assert table.at_once == 32, "two lines for each of two seats"
    sizes = sizes_in(arrays, 0)
    assert max(sizes) == 8, "never more than the bot said, and as many as that"


def test_a_bot_that_takes_no_arrays_has_the_clock_to_itself(make_table: TableMaker) -> None:
    table = make_table(a=good(8), b=PLAIN)
    table.handshake()
    matches = list(table.play(new_match(n, ("a", "b")) for n in range(4)))
    assert table.at_once == 1
    assert sizes_in(matches, 0) == []
    assert all(not match.faults for match, _ in matches)


def test_both_kinds_of_tables_in_one_block(make_table: TableMaker) -> None:
    table = make_table(a=good(4), b=good(4), c=PLAIN)
    table.handshake()
    seatings = [("a", "b"), ("a", "b"), ("a", "c"), ("a", "b"), ("c", "b"), ("a", "b")]
    matches = list(table.play(new_match(n, pair) for n, pair in enumerate(seatings)))
    assert sorted(match.spec.match for match, _ in matches) == [0, 1, 2, 3, 4, 5]
    assert all(not match.faults for match, _ in matches)
    assert table.at_once == 16


def test_a_new_process_that_takes_no_arrays_any_more_is_asked_one_by_one(
    make_table: TableMaker, tmp_path: Path
) -> None:
    """What it said before let sixteen matches begin; each of them must still come to its end."""
    body = f"""
first = not os.path.exists({str(tmp_path / "seen")!r})
open({str(tmp_path / "seen")!r}, "w").close()
serve(8 if first else 1)
"""
    table = make_table(a=ARRAYS + body, b=good(8))
    table.handshake()
    table.restart()
    matches = [match for match, _ in table.play(new_match(n, ("a", "b")) for n in range(16))]
    assert len(matches) == 16
    assert all(not match.faults for match in matches)


ILLEGAL_ONCE = (
    ARRAYS
    + """
def odd(message):
    said = reply(message)
    if isinstance(message, list):
        for one, answer in zip([m for m in message if m["type"] == "act"], said):
            if one["match"] == "m3":
                answer["action"] = "fly"
    return said

serve(8, odd)
"""
)


def test_an_illegal_action_is_a_fault_in_its_own_match_only(make_table: TableMaker) -> None:
    table = make_table(a=ILLEGAL_ONCE, b=good(8))
    table.handshake()
    matches = [match for match, _ in table.play(new_match(n, ("a", "b")) for n in range(8))]
    faulty = [match.spec.match for match in matches if match.faults]
    assert faulty == [3]
    [match] = [match for match in matches if match.faults]
    turn, fault = match.faults[0]
    assert fault.kind == "illegal_action"
    assert "'fly'" in fault.detail
    assert len(match.actions) > turn, "the stand-in plays on"


@pytest.mark.parametrize(
    ("said", "kind", "words"),
    [
        ("said[:-1]", "bad_message", "answers, got one of"),
        ("said + said[:1]", "bad_message", "answers, got one of"),
        ("said[0]", "bad_message", "expected an array of"),
        ("[None] + said[1:]", "bad_message", "expected an array of"),
        ("[{'action': 'x' * 1048600}] + said[1:]", "output_limit", "the limit is 1048576"),
        ("sys.exit(7)", "crashed", "7"),
        ("time.sleep(60)", "timeout", "00 ms"),
    ],
)
def test_a_line_that_is_no_answer_is_a_fault_in_all_matches_in_play(
    make_table: TableMaker, said: str, kind: str, words: str
) -> None:
    body = f"""
def odd(message):
    said = reply(message)
    return {said} if isinstance(message, list) else said

serve(8, odd)
"""
    table = make_table(move_ms=100, a=ARRAYS + body, b=good(8))
    table.handshake()
    first = (new_match(n, ("a", "b"), move_ms=100) for n in range(6))
    matches = [match for match, _ in table.play(first)]
    assert [match.spec.match for match in matches if match.faults] != []
    for match in matches:
        assert set(match.faults) == {0}
        assert match.faults[0][1].kind == kind
        fault = match.faults[0][1]
        assert words in fault.detail
    limit = re.search(r"the limit is (\d+) ms", fault.detail) if kind == "timeout" else None
    if limit:
        assert int(limit[1]) in range(200, 700, 100), "the moves' limits, summed"
    # A new process plays on.
    [(match, _)] = table.play([new_match(9, ("a", "b"), move_ms=100)])
    assert not match.faults


def test_a_long_answer_to_an_array_is_allowed(make_table: TableMaker) -> None:
    body = """
def long(message):
    said = reply(message)
    if isinstance(message, list):
        for one in said:
            one["note"] = "n" * 30000
    return said

serve(8, long)
"""
    table = make_table(a=ARRAYS + body, b=good(8))
    table.handshake()
    matches = [match for match, _ in table.play(new_match(n, ("a", "b")) for n in range(8))]
    assert all(not match.faults for match in matches)
    assert {len(note) for match in matches for _, note in match.notes} == {500}


def test_cpu_outside_its_turns_is_charged_once_though_matches_overlap(
    make_table: TableMaker,
) -> None:
    """Eight matches at once: each sees the same process's CPU, none is charged for the others'."""
    body = """
def busy(message):
    end = time.process_time() + 0.002
    while time.process_time() < end:
        pass
    return reply(message)

serve(8, busy)
"""
    table = make_table(a=ARRAYS + body, b=good(8))
    table.handshake()
    matches = [match for match, _ in table.play(new_match(n, ("a", "b")) for n in range(8))]
    assert all(not match.faults for match in matches)
