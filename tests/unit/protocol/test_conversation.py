"""The protocol without a process: what is an answer, what is a problem, what is remembered."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tourney.protocol.codec import (
    LINE_MAX_BYTES,
    BadMessage,
    decode_answer,
    decode_answers,
    decode_ready,
    encode,
)
from tourney.protocol.conversation import KEPT_LINES, Conversation, Problem
from tourney.protocol.messages import Act, Clock, End, Hello, Quit, Start


def asked() -> Conversation:
    conversation = Conversation()
    assert conversation.expect() is None
    return conversation


def test_a_line_in_pieces_is_one_answer() -> None:
    conversation = asked()
    assert conversation.feed(b'{"action":') is None
    assert conversation.feed(b'"keep"}\r\n') == b'{"action":"keep"}\r'
    assert not conversation.awaiting


def test_two_lines_for_one_question_are_a_bad_message() -> None:
    problem = asked().feed(b'{"action":"keep"}\n{"action":"keep"}\n')
    assert isinstance(problem, Problem)
    assert problem.kind == "bad_message"


def test_speaking_out_of_turn_is_found_at_the_next_question() -> None:
    conversation = asked()
    conversation.feed(b'{"action":"keep"}\n')
    assert conversation.feed(b'{"action":"throw"}\n') is None
    problem = conversation.expect()
    assert problem is not None
    assert problem.kind == "bad_message"


def test_blank_lines_are_forgiven() -> None:
    conversation = asked()
    assert conversation.feed(b'\n\r\n{"action":"keep"}\n\n') == b'{"action":"keep"}'
    assert conversation.feed(b"\n") is None
    assert conversation.expect() is None


@pytest.mark.parametrize("size", [LINE_MAX_BYTES + 1, 3 * LINE_MAX_BYTES])
def test_a_line_over_the_limit_with_or_without_its_end(size: int) -> None:
    for data in (b"x" * size, b"x" * size + b"\n"):
        problem = asked().feed(data)
        assert isinstance(problem, Problem)
        assert problem.kind == "output_limit"


def test_a_line_of_exactly_the_limit_is_taken() -> None:
    assert asked().feed(b"x" * LINE_MAX_BYTES + b"\n") == b"x" * LINE_MAX_BYTES


def test_evidence_is_the_last_lines_each_way_and_bounded() -> None:
    conversation = Conversation()
    for i in range(20):
        conversation.sent(f"s{i}\n".encode())
        conversation.expect()
        conversation.feed(f"r{i}\n".encode())
    assert conversation.last_sent() == tuple(f"s{i}" for i in range(20 - KEPT_LINES, 20))
    assert conversation.last_received()[-1] == "r19"
    conversation.expect()
    conversation.feed(b"\xff" * 50_000)
    assert all(len(line) < 10_000 for line in conversation.last_received())


@given(st.lists(st.binary(max_size=300), max_size=20))
def test_any_bytes_in_any_pieces_give_one_outcome(pieces: list[bytes]) -> None:
    conversation = asked()
    outcomes = [out for piece in pieces if (out := conversation.feed(piece)) is not None]
    assert len(outcomes) <= 1


@given(st.binary(max_size=500))
def test_no_line_can_break_the_decoders(line: bytes) -> None:
    for decode in (decode_answer, decode_ready):
        with contextlib.suppress(BadMessage):
            decode(line)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"keep",
        b"[]",
        b'"keep"',
        b"{}",
        b'{"action":1}',
        b'{"action":null}',
        b'{"action":"keep"',
        b'{"action":NaN}',
        b"[" * 50_000,
        b'{"action":"\xff"}',
        b'{"a":' * 20_000,
    ],
)
def test_lines_that_are_no_answer(line: bytes) -> None:
    with pytest.raises(BadMessage):
        decode_answer(line)


@pytest.mark.parametrize(
    ("note", "kept"),
    [(b"null", ""), (b"5", ""), (b'{"a":[]}', ""), (rb'"cut \ud83d"', "cut ?"), (b'"so"', "so")],
)
def test_no_move_is_lost_by_its_note(note: bytes, kept: str) -> None:
    """PROTOCOL.md 7: bad is what is not JSON or has no string `action`."""
    line = b'{"action":"keep","note":' + note + b"}"
    answer = decode_answer(line)
    assert (answer.action, answer.note) == ("keep", kept)
    answers = decode_answers(b'[{"action":"draw"},' + line + b"]", 2)
    assert [(one.action, one.note) for one in answers] == [("draw", ""), ("keep", kept)]


@pytest.mark.parametrize(
    "line",
    [
        b'{"\xff":1,"action":"draw"}',
        b'{"action":"draw","more":"\xff"}',
        b'{"action":"draw","note":null,"more":NaN}',
        rb'{"action":"\ud83d"}',
        b'{"action":5,"note":null}',
        b'["keep"]',
    ],
)
def test_what_is_not_utf_8_json_with_an_action_is_bad(line: bytes) -> None:
    with pytest.raises(BadMessage):
        decode_answer(line)
    with pytest.raises(BadMessage):
        decode_answers(b"[" + line + b"]", 1)


def test_unknown_fields_are_ignored_and_the_note_is_kept() -> None:
    answer = decode_answer(b'{"action":"keep","note":"a good card","depth":[1,{"x":2}]}')
    assert (answer.action, answer.note) == ("keep", "a good card")
    assert decode_ready(b'{"type":"ready","sdk":3}').batch == 1


def test_messages_look_as_the_protocol_says() -> None:
    act = Act(
        match="m17", turn=12, phase="decide", view={"seat": 1}, events=[], legal=["keep", "throw"],
        clock=Clock(move_ms=1000, bank_ms=None),
    )  # fmt: skip
    assert json.loads(encode(act)) == {
        "type": "act", "match": "m17", "turn": 12, "phase": "decide", "view": {"seat": 1},
        "events": [], "legal": ["keep", "throw"], "clock": {"move_ms": 1000, "bank_ms": None},
    }  # fmt: skip
    assert encode(Quit()) == b'{"type":"quit"}\n'
    start = json.loads(encode(Start(match="m", seat=0, players=["seat0"], seed=5)))
    assert start == {"type": "start", "match": "m", "seat": 0, "players": ["seat0"], "seed": 5}
    hello = json.loads(encode(Hello(protocol=1, game="dam", rules={}, limits={}, options={})))
    assert hello["type"] == "hello"
    assert set(hello) == {"type", "protocol", "game", "rules", "limits", "options"}
    end = json.loads(encode(End(match="m", scores=[1], ranks=[1], outcome=["finished"], reveal={})))
    assert set(end) == {"type", "match", "scores", "ranks", "outcome", "reveal"}
