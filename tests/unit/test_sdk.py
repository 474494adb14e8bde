"""The Python SDK: the protocol as a pure session, and a whole process around it."""

import ast
import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tourney.sdk import tourney_bot
from tourney.sdk.tourney_bot import Act, Bot, Match, Result, Session

SDK = Path(tourney_bot.__file__)
HELLO = {"type": "hello", "protocol": 1, "game": "dam", "rules": {"rounds": 1}, "limits": {}}
READY = {"type": "ready"}


def start(match: str, seed: int = 9) -> dict[str, Any]:
    return {"type": "start", "match": match, "seat": 1, "players": ["seat0", "seat1"], "seed": seed}


def act(match: str, *legal: str) -> dict[str, Any]:
    return {
        "type": "act",
        "match": match,
        "turn": 3,
        "phase": "decide",
        "view": {"seat": 1},
        "events": [{"seat": 0, "event": "draw"}],
        "legal": list(legal) or ["keep", "throw"],
        "clock": {"move_ms": 1000, "bank_ms": None},
    }


def end(match: str) -> dict[str, Any]:
    message = {"type": "end", "match": match, "scores": [20, 31.0], "ranks": [1, 2]}
    return {**message, "outcome": ["finished", "finished"], "reveal": {"rows": []}}


def say(session: Session, message: object) -> Any:
    """What the session answers, decoded; None for nothing."""
    answer = session.answer(json.dumps(message).encode() + b"\n")
    assert b"\n" not in answer
    return json.loads(answer) if answer else None


class Last(Bot):
    """Chooses the last legal action and writes down what it was told."""

    def __init__(self) -> None:
        self.diary: list[object] = []

    def hello(self) -> None:
        self.diary.append(("hello", self.game, self.rules, self.options))

    def start(self, match: Match) -> None:
        self.diary.append(("start", match.id, match.seat, match.players, match.seed))

    def decide(self, act: Act) -> str:
        self.diary.append(("act", act.match.id, act.phase, act.turn, act.events, act.clock))
        return act.legal[-1]

    def end(self, match: Match, result: Result) -> None:
        self.diary.append(("end", match.id, result.scores, result.ranks, result.outcome))


def test_session_tells_the_bot_everything_and_answers_only_hello_and_act() -> None:
    bot = Last()
    session = Session(bot)
    assert say(session, {**HELLO, "options": {"threshold": 4}}) == READY
    assert say(session, start("m1")) is None
    assert say(session, act("m1")) == {"action": "throw"}
    assert say(session, act("m1", "draw")) == {"action": "draw"}
    assert say(session, end("m1")) is None
    was_over = session.is_over
    assert say(session, {"type": "quit"}) is None
    assert (was_over, session.is_over) == (False, True)
    clock = {"move_ms": 1000, "bank_ms": None}
    asked = ("act", "m1", "decide", 3, [{"seat": 0, "event": "draw"}], clock)
    assert bot.diary == [
        ("hello", "dam", {"rounds": 1}, {"threshold": 4}),
        ("start", "m1", 1, ["seat0", "seat1"], 9),
        asked,
        asked,
        ("end", "m1", [20, 31.0], [1, 2], ["finished", "finished"]),
    ]


def test_ready_carries_what_the_bot_says_of_itself() -> None:
    class Many(Last):
        batch = 64
        name = "many"
        version = "2"

    ready = {"type": "ready", "batch": 64, "name": "many", "version": "2"}
    assert say(Session(Many()), HELLO) == ready


def test_unknown_types_and_fields_are_passed_over() -> None:
    session = Session(Last())
    assert say(session, {**HELLO, "novelty": [1, {"a": None}]}) == READY
    assert say(session, {"type": "weather", "match": "m1"}) is None
    assert say(session, {"no": "type"}) is None
    assert say(session, 17) is None
    assert say(session, end("never-started")) is None
    assert say(session, {**act("m1"), "novelty": {}}) == {"action": "throw"}


@pytest.mark.parametrize("line", [b"\n", b"  \r\n", b"{not json}\n", b'{"type":\n', b"\xff\xfe\n"])
def test_a_bad_line_is_logged_and_the_session_goes_on(
    line: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session(Last())
    assert session.answer(line) == b""
    assert ("bad line" in capsys.readouterr().err) == bool(line.strip())
    assert say(session, act("m1")) == {"action": "throw"}


def test_a_line_may_end_in_carriage_return_and_hold_any_text() -> None:
    line = json.dumps(act("m1", "knäck ♥"), ensure_ascii=False).encode() + b"\r\n"
    assert json.loads(Session(Last()).answer(line)) == {"action": "knäck ♥"}


def test_another_protocol_ends_the_process() -> None:
    with pytest.raises(SystemExit, match="speaks protocol 1, not 2"):
        say(Session(Last()), {**HELLO, "protocol": 2})


class Counting(Bot):
    """Remembers in the match, and draws from the match's generator."""

    def decide(self, act: Act) -> str:
        memory = act.match.memory
        memory["n"] = memory.get("n", 0) + 1
        return f"{act.match.id} {memory['n']} {act.match.random.randrange(10**6)}"


def test_matches_are_kept_apart_by_their_id() -> None:
    session = Session(Counting())
    say(session, start("a", seed=1))
    say(session, start("b", seed=2))
    said = [say(session, act(match))["action"] for match in "abbab"]
    first, second = random.Random(1), random.Random(2)
    a = [f"a {n} {first.randrange(10**6)}" for n in (1, 2)]
    b = [f"b {n} {second.randrange(10**6)}" for n in (1, 2, 3)]
    assert said == [a[0], b[0], b[1], a[1], b[2]]


def test_a_match_started_again_begins_afresh() -> None:
    session = Session(Counting())
    answers = []
    for _ in range(2):
        say(session, start("a"))
        answers.append([say(session, act("a")) for _ in range(3)])
        say(session, end("a"))
    assert answers[0] == answers[1]


def test_a_note_goes_with_its_own_answer_only() -> None:
    class Noting(Bot):
        def decide(self, act: Act) -> str:
            if act.legal == ["keep", "throw"]:
                act.note = "värd 4"
            return act.legal[0]

    session = Session(Noting())
    assert say(session, act("m", "keep")) == {"action": "keep"}
    assert say(session, act("m")) == {"action": "keep", "note": "värd 4"}
    assert say(session, act("m", "keep")) == {"action": "keep"}


@pytest.mark.parametrize("choice", [None, 3, ["keep"], b"keep"])
def test_an_action_that_is_no_string_is_the_bots_error(choice: Any) -> None:
    class Wrong(Bot):
        def decide(self, act: Act) -> str:
            return choice  # type: ignore[no-any-return]

    with pytest.raises(TypeError, match=r"must be one of the strings in act\.legal"):
        say(Session(Wrong()), act("m"))


def test_an_array_is_answered_in_the_order_of_its_acts() -> None:
    bot = Last()
    session = Session(bot)
    line = [start("a"), act("a", "x"), end("z"), start("b"), act("b", "y"), act("c", "z")]
    assert say(session, line) == [{"action": "x"}, {"action": "y"}, {"action": "z"}]
    assert say(session, [start("d"), end("a")]) is None
    assert [entry[:2] for entry in bot.diary if isinstance(entry, tuple)] == [
        ("start", "a"),
        ("start", "b"),
        ("act", "a"),
        ("act", "b"),
        ("act", "c"),
        ("start", "d"),
        ("end", "a"),
    ]


def test_decide_many_sees_all_questions_of_a_line_at_once() -> None:
    class Together(Bot):
        def decide_many(self, acts: Sequence[Act]) -> Sequence[str]:
            acts[1].note = f"one of {len(acts)}"
            return [act.legal[0] for act in acts]

    answers = say(Session(Together()), [act("a", "x"), act("b", "y")])
    assert answers == [{"action": "x"}, {"action": "y", "note": "one of 2"}]


def test_decide_many_must_answer_every_question() -> None:
    class Short(Bot):
        def decide_many(self, acts: Sequence[Act]) -> Sequence[str]:
            return ["x"]

    with pytest.raises(ValueError, match="1 actions for 2 questions"):
        say(Session(Short()), [act("a"), act("b")])


def test_sdk_is_one_file_of_old_python_and_standard_library() -> None:
    tree = ast.parse(SDK.read_text(encoding="utf-8"), feature_version=(3, 9))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or "." if not node.level else "."]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= sys.stdlib_module_names


NOISY = """
import os, subprocess, sys
from tourney_bot import Bot, run
print("at import")
class Noisy(Bot):
    def decide(self, act):
        print("thinking", flush=True)
        os.write(1, b"from a library\\n")
        subprocess.run([sys.executable, "-c", "print('from a child')"])
        return act.legal[0]
run(Noisy)
"""


def process(folder: Path, source: str) -> "subprocess.Popen[bytes]":
    (folder / SDK.name).write_bytes(SDK.read_bytes())
    (folder / "bot.py").write_text(source, encoding="utf-8")
    pipe = subprocess.PIPE
    command = [sys.executable, "bot.py"]
    # Unbuffered output would leave before `run` can turn it aside.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.Popen(command, cwd=folder, env=env, stdin=pipe, stdout=pipe, stderr=pipe)


def as_lines(*messages: object) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def test_a_stray_print_cannot_corrupt_the_channel(tmp_path: Path) -> None:
    with process(tmp_path, NOISY) as bot:
        out, err = bot.communicate(as_lines(HELLO, start("m"), act("m"), {"type": "quit"}), 20)
    assert [json.loads(line) for line in out.splitlines()] == [READY, {"action": "keep"}]
    log = err.decode()
    assert all(text in log for text in ("at import", "thinking", "from a library", "a child"))
    assert bot.returncode == 0


ECHO = """
from tourney_bot import Bot, run
class Echo(Bot):
    batch = 4
    def decide(self, act):
        return act.legal[0]
run(Echo)
"""


def test_answers_come_at_once_however_the_bytes_arrive(tmp_path: Path) -> None:
    with process(tmp_path, ECHO) as bot:
        assert bot.stdin is not None
        assert bot.stdout is not None
        pipe = bot.stdin.fileno()
        os.write(pipe, as_lines(HELLO))
        assert json.loads(bot.stdout.readline()) == {**READY, "batch": 4}
        for byte in as_lines(start("m"), act("m", "å")):
            os.write(pipe, bytes([byte]))
        assert json.loads(bot.stdout.readline()) == {"action": "å"}
        long = "x" * 300_000
        bot.stdin.write(as_lines([act("m", "a"), act("n", long)], act("m", "b")))
        bot.stdin.flush()
        assert json.loads(bot.stdout.readline()) == [{"action": "a"}, {"action": long}]
        assert json.loads(bot.stdout.readline()) == {"action": "b"}
        bot.stdin.close()  # the end of input is as good as `quit`
        assert bot.wait(10) == 0
        assert bot.stdout.read() == b""


def test_the_process_goes_when_the_runner_has_gone(tmp_path: Path) -> None:
    with process(tmp_path, ECHO) as bot:
        assert bot.stdin is not None
        assert bot.stdout is not None
        assert bot.stderr is not None
        bot.stdout.close()
        bot.stdin.write(as_lines(HELLO, act("m")))
        bot.stdin.flush()
        assert bot.wait(10) == 0
        assert bot.stderr.read() == b""


def test_an_exception_ends_the_process_with_its_traceback_in_the_log(tmp_path: Path) -> None:
    with process(tmp_path, ECHO.replace("act.legal[0]", "act.legal[7]")) as bot:
        out, err = bot.communicate(as_lines(HELLO, start("m"), act("m")), 20)
    assert len(out.splitlines()) == 1
    assert b"IndexError" in err.splitlines()[-1]
    assert bot.returncode == 1
