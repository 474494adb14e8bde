"""Misbehaving bots against the referee: each gets its own fault, and nobody else suffers."""

import time

import pytest

from tests.match.conftest import GOOD, TableMaker, new_match

SILENT = """
for message in lines():
    if message["type"] == "hello":
        ready()
    elif message["type"] == "act":
        time.sleep(60)
"""

AT_ACT = """
asked = 0
for message in lines():
    if message["type"] == "hello":
        ready()
    elif message["type"] == "act":
        asked += 1
        if asked < 3:
            answer(message)
        else:
            {do}
"""


def at_third_act(do: str) -> str:
    return AT_ACT.replace("{do}", do.replace("\n", "\n            "))


BUSY = at_third_act("while True:\n    pass")

ROGUES = [
    ("silent", SILENT, "timeout", "did the bot flush"),
    ("busy", BUSY, "timeout", "of CPU"),
    ("exits", at_third_act("sys.exit(3)"), "crashed", "exited with code 3"),
    ("raises", at_third_act("raise ValueError('oh')"), "crashed", "exited with code 1"),
    ("aborts", at_third_act("os.abort()"), "crashed", "SIGABRT"),
    ("junk", at_third_act("say('keep\\n')"), "bad_message", "keep"),
    ("no-action", at_third_act("say('{}\\n')"), "bad_message", "action"),
    ("list", at_third_act("say('[]\\n')"), "bad_message", "expected"),
    ("twice", at_third_act('say(\'{"action":"throw"}\\n\' * 2)'), "bad_message", "one line"),
    ("illegal", at_third_act('say(\'{"action":"fly"}\\n\')'), "illegal_action", "'fly'"),
    ("long", at_third_act("say('x' * 100_000 + '\\n')"), "output_limit", "65536"),
    ("endless", at_third_act("while True:\n    say('x' * 1000)"), "output_limit", "65536"),
    ("half", at_third_act('say(\'{"action":"thr\')\ntime.sleep(60)'), "timeout", "newline missing"),
    ("closes", at_third_act("os.close(1)\ntime.sleep(60)"), "crashed", "closed its output"),
    ("binary", at_third_act("os.write(1, b'\\xff\\xfe\\n')"), "bad_message", "xff"),
]


@pytest.mark.parametrize(("name", "body", "kind", "detail"), ROGUES, ids=[r[0] for r in ROGUES])
def test_each_rogue_gets_its_fault_and_the_other_seat_wins(
    make_table: TableMaker, name: str, body: str, kind: str, detail: str
) -> None:
    table = make_table(good=GOOD, rogue=body)
    matches = [new_match(0, ("good", "rogue")), new_match(1, ("rogue", "good"))]
    finished = dict.fromkeys(match for match, _ in table.play(matches))
    assert list(finished) == matches
    for match in matches:
        seat = match.spec.seating.index("rogue")
        result = match.result()
        assert result.outcomes[seat] == kind
        assert result.outcomes[1 - seat] == "finished"
        assert result.ranks[seat] == 2
        fault = match.faults[seat][1]
        assert detail in fault.detail
        assert fault.last_sent, "the question is part of the evidence"


def test_after_an_illegal_action_the_process_lives_on(make_table: TableMaker) -> None:
    illegal_first = """
asked = 0
for message in lines():
    if message["type"] == "hello":
        ready()
    elif message["type"] == "act":
        asked += 1
        if asked == 1:
            say('{"action":"fly","note":"' + str(os.getpid()) + '"}\\n')
        else:
            say(json.dumps({"action": message["legal"][-1], "note": str(asked)}) + "\\n")
"""
    table = make_table(good=GOOD, rogue=illegal_first)
    one, two = new_match(0, ("good", "rogue")), new_match(1, ("good", "rogue"))
    assert len(list(table.play([one, two]))) == 2
    assert one.result().outcomes[1] == "illegal_action"
    assert two.result().outcomes[1] == "finished"
    assert two.notes[0][1] == "2", "the same process counts on"


def test_a_late_answer_is_never_taken_for_the_next_question(make_table: TableMaker) -> None:
    late = """
for message in lines():
    if message["type"] == "hello":
        ready()
    elif message["type"] == "act":
        if message["match"] == "m0":
            time.sleep(0.9)
        say(json.dumps({"action": message["legal"][0], "note": message["match"]}) + "\\n")
"""
    table = make_table(good=GOOD, rogue=late)
    one, two = new_match(0, ("good", "rogue")), new_match(1, ("good", "rogue"))
    list(table.play([one, two]))
    assert one.result().outcomes[1] == "timeout"
    assert two.result().outcomes == ("finished", "finished")
    assert {note for _, note in two.notes} == {"m1"}


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ("time.sleep(0.1); sys.exit(4)", "exited with code 4"),
        ("say('hello\\n'); time.sleep(9)", "expected"),
        ('say(\'{"type":"ready","batch":0}\\n\'); time.sleep(9)', "expected"),
        ("import nothing_of_this_name", "exited with code 1"),
    ],
)
def test_a_bot_that_does_not_get_ready(make_table: TableMaker, body: str, detail: str) -> None:
    table = make_table(good=GOOD, rogue=body)
    faults = table.handshake()
    assert set(faults) == {"rogue"}
    assert faults["rogue"].kind == "start_failed"
    assert detail in faults["rogue"].detail


def test_the_end_of_the_log_is_in_the_evidence(make_table: TableMaker) -> None:
    table = make_table(good=GOOD, rogue=at_third_act("raise ValueError('the reason')"))
    match = new_match(0, ("good", "rogue"))
    list(table.play([match]))
    assert "ValueError: the reason" in match.faults[1][1].stderr_tail


def test_a_talkative_log_neither_blocks_nor_faults(make_table: TableMaker) -> None:
    chatty = GOOD.replace("answer(message)", "sys.stderr.write('x' * 300_000); answer(message)")
    table = make_table(good=GOOD, chatty=chatty)
    match = new_match(0, ("good", "chatty"))
    list(table.play([match]))
    assert match.result().outcomes == ("finished", "finished")


def test_what_a_bot_logs_is_kept_with_its_match(make_table: TableMaker) -> None:
    chatty = GOOD.replace(
        "answer(message)", 'sys.stderr.write(message["match"] + " thinks\\n"); answer(message)'
    )
    table = make_table(good=GOOD, chatty=chatty)
    one, two = new_match(0, ("good", "chatty")), new_match(1, ("chatty", "good"))
    list(table.play([one, two]))
    assert list(one.logs) == [1]
    assert list(two.logs) == [0]
    assert "m0 thinks" in one.logs[1][0]
    assert "m1" not in one.logs[1][0]
    assert "m1 thinks" in two.logs[0][0]
    assert "m0" not in two.logs[0][0]


def test_a_flood_of_logging_is_cut_with_a_count(make_table: TableMaker) -> None:
    chatty = GOOD.replace("answer(message)", "sys.stderr.write('x' * 50_000); answer(message)")
    table = make_table(good=GOOD, chatty=chatty)
    match = new_match(0, ("good", "chatty"))
    list(table.play([match]))
    text, dropped = match.logs[1]
    assert len(text) == 64 * 1024
    assert len(text) + dropped == match.asked[1] * 50_000


def test_pondering_on_others_time_is_a_cpu_fault(make_table: TableMaker) -> None:
    ponders = """
import threading

def burn():
    while True:
        pass

threading.Thread(target=burn, daemon=True).start()
""" + GOOD.replace("answer(message)", "time.sleep(0.0); answer(message)")
    slow = GOOD.replace("answer(message)", "time.sleep(0.05); answer(message)")
    table = make_table(good=slow, rogue=ponders)
    match = new_match(0, ("good", "rogue"))
    list(table.play([match]))
    assert match.result().outcomes == ("finished", "cpu_limit")
    assert "outside its own turns" in match.faults[1][1].detail


def test_a_bot_that_eats_memory_is_stopped(make_table: TableMaker) -> None:
    eats = at_third_act("hoard = [b'x' * 1_000_000 for _ in range(500)]\ntime.sleep(60)")
    table = make_table(memory_mb=96, good=GOOD, rogue=eats)
    match = new_match(0, ("good", "rogue"))
    list(table.play([match]))
    assert match.result().outcomes[1] == "memory_limit"


def test_a_bot_that_eats_memory_bit_by_bit_and_answers_at_once_is_stopped(
    make_table: TableMaker,
) -> None:
    eats = GOOD.replace("answer(message)", "hoard.append(b'x' * 4_000_000); answer(message)")
    table = make_table(memory_mb=96, good=GOOD, rogue="hoard = []\n" + eats)
    match = new_match(0, ("good", "rogue"))
    list(table.play([match]))
    assert match.result().outcomes == ("finished", "memory_limit")


def test_bots_are_ready_before_they_are_needed_and_nobody_is_charged_then(
    make_table: TableMaker,
) -> None:
    tells = GOOD.replace(
        "answer(message)",
        'say(json.dumps({"action": message["legal"][-1], "note": str(os.getpid())}) + "\\n")',
    )
    table = make_table(teller=tells, dies="sys.exit(3)", other="sys.exit(4)")
    assert table.handshake(["teller"]) == {}
    faults = table.handshake(["teller", "dies"])
    assert {name: fault.kind for name, fault in faults.items()} == {"dies": "start_failed"}
    match = new_match(0, ("teller", "dies"))
    list(table.play([match]))
    assert match.result().outcomes == ("finished", "start_failed")
    assert len({note for _, note in match.notes}) == 1, "one process of the teller"


def test_a_bot_that_exits_after_a_match_has_crashed_in_its_next(make_table: TableMaker) -> None:
    leaves = GOOD.replace('elif message["type"] == "quit"', 'elif message["type"] == "end"')
    table = make_table(good=GOOD, other=GOOD, leaves=leaves)
    first, between, second = (
        new_match(n, seating)
        for n, seating in enumerate([("good", "leaves"), ("good", "other"), ("good", "leaves")])
    )
    list(table.play([first, between]))
    while not table._live["leaves"].closed:
        table._wait()
    list(table.play([second]))
    assert first.result().outcomes == between.result().outcomes == ("finished", "finished")
    assert second.result().outcomes == ("finished", "crashed")
    assert "exited with code 0" in second.faults[1][1].detail


def test_more_than_one_line_before_the_first_match_is_a_start_that_failed(
    make_table: TableMaker,
) -> None:
    table = make_table(twice='say(\'{"type":"ready"}\\n\' * 2)\n' + GOOD)
    assert {name: fault.kind for name, fault in table.handshake().items()} == {
        "twice": "start_failed"
    }


def test_cpu_over_a_life_is_limited_where_the_config_says_so(make_table: TableMaker) -> None:
    burns = at_third_act("while True:\n    pass")
    table = make_table(cpu_seconds=1, move_ms=5_000, good=GOOD, rogue=burns)
    match = new_match(0, ("good", "rogue"), move_ms=5_000)
    list(table.play([match]))
    assert match.result().outcomes[1] == "cpu_limit"
    assert "s of CPU; the limit is 1" in match.faults[1][1].detail


def test_a_bot_that_never_reads_cannot_hold_the_table(make_table: TableMaker) -> None:
    deaf = "sys.stdin.readline(); ready(); time.sleep(60)"
    table = make_table(good=GOOD, rogue=deaf)
    begin = time.monotonic()
    match = new_match(0, ("good", "rogue"))
    list(table.play([match]))
    assert match.result().outcomes[1] == "timeout"
    assert time.monotonic() - begin < 20


def test_the_end_message_tells_scores_ranks_and_outcomes(make_table: TableMaker) -> None:
    remembers = """
last = None
for message in lines():
    if message["type"] == "hello":
        ready()
    elif message["type"] == "end":
        last = message
    elif message["type"] == "act":
        note = json.dumps(last)[:400] if last else ""
        say(json.dumps({"action": message["legal"][-1], "note": note}) + "\\n")
"""
    table = make_table(good=GOOD, other=remembers)
    one, two = new_match(0, ("good", "other")), new_match(1, ("good", "other"))
    list(table.play([one, two]))
    told = two.notes[0][1]
    assert '"match": "m0"' in told
    assert '"outcome": ["finished", "finished"]' in told


def test_a_restart_makes_new_processes(make_table: TableMaker) -> None:
    tells = GOOD.replace(
        "answer(message)",
        'say(json.dumps({"action": message["legal"][-1], "note": str(os.getpid())}) + "\\n")',
    )
    table = make_table(good=GOOD, teller=tells)
    one, two, three = (new_match(i, ("good", "teller")) for i in range(3))
    list(table.play([one, two]))
    table.restart()
    list(table.play([three]))
    pids = [{note for _, note in match.notes} for match in (one, two, three)]
    assert pids[0] == pids[1]
    assert len(pids[0] | pids[2]) == 2
