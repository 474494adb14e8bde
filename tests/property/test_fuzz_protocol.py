"""Whatever a bot writes: no crash, no growth, and each line is an answer or a named problem."""

import itertools
import os
import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tourney.protocol.codec import (
    LINE_MAX_BYTES,
    BadMessage,
    decode_answer,
    decode_ready,
    shown,
)
from tourney.protocol.conversation import KEPT_LINES, Conversation, Problem
from tourney.protocol.messages import Answer, Ready

WARM_UP = 1_000
BLOCK = 5_000
FEW = 10_000
MANY = 1_000_000
SEED = 4

MEMORY_BYTES = 8 * 2**20
"""Ample for all lines that a conversation keeps, its buffer and the inputs in hand."""

LINES = (
    b'{"action":"keep"}',
    b'{"action":"keep","note":"sure"}',
    b'{"action":"throw H7","turn":3,"more":{"a":[1,2,{"b":null}]}}',
    b'{"type":"ready"}',
    b'{"type":"ready","batch":4,"name":"x"}',
    b'{"action":1}',
    b'{"action":null}',
    b'{"action":"keep","action":"throw"}',
    b"[]",
    b"null",
    b"",
    b" \t\r",
    b"keep",
    b'{"action":"\\ud800"}',
    b'{"action":"\\u0000"}',
    b'{"action":"k\xff"}',
    b"\xef\xbb\xbf" + b'{"action":"keep"}',
    b'{"action":NaN}',
    b'{"action":"keep","n":' + b"9" * 5000 + b"}",
    b'{"action":"keep","n":1e999999}',
    b'{"action":"keep","deep":' + b"[" * 3000 + b"]" * 3000 + b"}",
    b'{"action":"keep","deep":' + b"[" * 3000,
    b'{"a":' * 2000,
    b'"' + b"\\" * 500,
)
"""What the mutations start from: valid, nearly valid, and known troublemakers."""

PIECES = (b"\n", b"\r\n", b"{", b"}", b"[", b'"', b"\\", b"\\u", b"\xff", b"\0", b",", b":", b"e9")


def mutated(chance: random.Random) -> bytes:
    """A line changed in a few places, or noise."""
    if chance.random() < 0.05:
        return chance.randbytes(chance.randrange(200))
    line = bytearray(chance.choice(LINES))
    for _ in range(chance.randrange(4)):
        place = chance.randrange(len(line) + 1)
        what = chance.randrange(5)
        if what == 0:
            line[place:place] = chance.choice(PIECES)
        elif what == 1:
            del line[place : place + chance.randrange(1, 9)]
        elif what == 2 and place < len(line):
            line[place] = chance.randrange(256)
        elif what == 3:
            line[place:place] = line[: chance.randrange(40)]
        elif chance.random() < 0.002:
            line[place:place] = b"x" * LINE_MAX_BYTES
    return bytes(line)


def inputs(number: int) -> Iterator[bytes]:
    """Lines and the ends of lines, cut into reads at odd places."""
    chance = random.Random(SEED)
    for _ in range(number):
        line = mutated(chance)
        yield line + (b"\n" if chance.random() < 0.9 else b"")


def check_decoders(line: bytes) -> None:
    for decode, kind in ((decode_answer, Answer), (decode_ready, Ready)):
        said = ""
        try:
            message = decode(line)
        except BadMessage as error:
            said = str(error)
        else:
            assert isinstance(message, kind)
        # The decoder quotes a value that it knows no meaning of.
        assert len(said) < 2_000
    assert len(shown(line)) <= 2_100


def check_conversation(talk: Conversation, data: bytes, chance: random.Random) -> Conversation:
    """Ask if nothing is awaited, feed the bytes in two pieces; a problem ends the conversation."""
    if not talk.awaiting:
        talk.sent(b'{"type":"act"}\n')
        if talk.expect() is not None:
            return Conversation()
    cut = chance.randrange(len(data) + 1)
    for piece in (data[:cut], data[cut:]):
        if not piece:
            continue
        said = talk.feed(piece)
        if isinstance(said, Problem):
            assert said.kind in ("bad_message", "output_limit")
            assert len(said.detail) < 500
            assert_bounded(talk)
            return Conversation()
        if said is not None:
            assert b"\n" not in said
            assert len(said) <= LINE_MAX_BYTES
            assert not talk.awaiting
            check_decoders(said)
    return talk


def assert_bounded(talk: Conversation) -> None:
    for lines in (talk.last_sent(), talk.last_received()):
        assert len(lines) <= KEPT_LINES + 1
        assert all(len(line) <= 2_100 for line in lines)
    assert len(talk.unfinished()) <= 300
    assert len(talk._buffer) <= LINE_MAX_BYTES


def fuzz(number: int) -> None:
    """Feed so many inputs; the first and the last block of them under the eyes of tracemalloc."""
    chance = random.Random(SEED + 1)
    talk = Conversation()
    source = inputs(WARM_UP + number)
    # Once before the memory is looked at, so that everything lazy is made.
    for data in itertools.islice(source, WARM_UP):
        talk = check_conversation(talk, data, chance)
    resident = resident_bytes()
    for block in range(number // BLOCK):
        traced = block in (0, number // BLOCK - 1)
        if traced:
            tracemalloc.start()
        for data in itertools.islice(source, BLOCK):
            check_decoders(data)
            talk = check_conversation(talk, data, chance)
        if traced:
            now, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert peak < MEMORY_BYTES
            assert now < 2**20
    assert next(source, None) is None
    assert_bounded(talk)
    assert resident_bytes() - resident < 2 * MEMORY_BYTES


def resident_bytes() -> int:
    """Memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_ten_thousand_inputs() -> None:
    fuzz(FEW)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_million_inputs() -> None:
    fuzz(MANY)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.binary(max_size=300), max_size=30))
def test_where_the_pieces_are_cut_does_not_matter(pieces: list[bytes]) -> None:
    """The first line is the same whether its bytes come at once or one by one."""
    whole = b"".join(pieces)
    at_once, in_pieces = Conversation(), Conversation()
    assert at_once.expect() is None
    assert in_pieces.expect() is None
    first = at_once.feed(whole) if whole else None
    told: bytes | Problem | None = None
    for piece in pieces:
        if piece and told is None:
            told = in_pieces.feed(piece)
    if isinstance(told, bytes):
        # That more came after the line is seen by the next question where it came later.
        assert first == told or isinstance(first, Problem)
        assert whole.lstrip(b"\r\n \t").startswith(told + b"\n")
    elif isinstance(told, Problem):
        assert isinstance(first, Problem)
        assert first.kind == told.kind
    else:
        assert first is None


@given(st.integers(1, 40), st.integers(1, 4_000))
@settings(max_examples=50, deadline=None)
def test_output_that_nobody_asked_for_is_counted_not_kept(times: int, size: int) -> None:
    talk = Conversation()
    for _ in range(times):
        assert talk.feed(b"x" * size) is None
    assert talk.unasked == times * size
    assert_bounded(talk)
    problem = talk.expect()
    assert problem is not None
    assert problem.kind == "bad_message"


def test_a_line_without_end_is_cut_off_at_the_limit() -> None:
    talk = Conversation()
    assert talk.expect() is None
    fed = 0
    while True:
        fed += 4_096
        said = talk.feed(b"x" * 4_096)
        if said is not None:
            break
    assert isinstance(said, Problem)
    assert said.kind == "output_limit"
    assert LINE_MAX_BYTES < fed <= LINE_MAX_BYTES + 4_096
    assert_bounded(talk)
