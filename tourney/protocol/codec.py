"""Lines in, messages out, with every size bounded. No pipes, no clocks."""

import json
from collections.abc import Sequence
from typing import Any, NoReturn, TypeVar

import msgspec

from tourney.protocol.messages import Answer, Ready, ToBot

__all__ = (
    "ARRAY_MAX_BYTES",
    "LINE_MAX_BYTES",
    "BadMessage",
    "decode_answer",
    "decode_answers",
    "decode_ready",
    "encode",
    "encode_array",
    "shown",
)

LINE_MAX_BYTES = 64 * 1024
"""A longer line of a bot is the fault `output_limit` (PROTOCOL.md section 7)."""

ARRAY_MAX_BYTES = 1024 * 1024
"""The same for the answer to an array."""

SHOWN_MAX_CHARS = 2_000
"""How much of a line is kept as evidence."""

REASON_MAX_CHARS = 300
"""The decoder's own words quote the bad value, which may be as long as a line."""

_encoder = msgspec.json.Encoder()
_ready = msgspec.json.Decoder(Ready)
_answer = msgspec.json.Decoder(Answer)
_answers = msgspec.json.Decoder(list[Answer])

T = TypeVar("T")


class BadMessage(Exception):
    """A line that is not what the protocol asks for; the text says why."""


def encode(message: ToBot) -> bytes:
    """One line, newline included."""
    return _encoder.encode(message) + b"\n"


def encode_array(messages: Sequence[ToBot]) -> bytes:
    """One line that holds all of `messages`, for a bot that takes arrays (PROTOCOL.md 6)."""
    return _encoder.encode(messages) + b"\n"


def decode_ready(line: bytes) -> Ready:
    """The answer to `hello`.

    Raises:
        BadMessage: the line is not a valid `ready`.
    """
    return _decode(_ready, line, '{"type":"ready"}')


def decode_answer(line: bytes) -> Answer:
    """The answer to `act`.

    Raises:
        BadMessage: the line is not JSON, or has no string `action`.
    """
    try:
        return _decode(_answer, line, '{"action":"..."}')
    except BadMessage:
        answer = _with_any_note(_read(line))
        if answer is None:
            raise
        return answer


def decode_answers(line: bytes, count: int) -> list[Answer]:
    """The answer to an array with `count` questions.

    Raises:
        BadMessage: the line is not a JSON array of `count` answers.
    """
    try:
        answers = _decode(_answers, line, f'an array of {count} {{"action":"..."}}')
    except BadMessage:
        read = _read(line)
        found = [_with_any_note(one) for one in read] if isinstance(read, list) else []
        answers = [answer for answer in found if answer is not None]
        if not found or len(answers) < len(found):
            raise
    if len(answers) != count:
        raise BadMessage(f"expected an array of {count} answers, got one of {len(answers)}")
    return answers


def _decode(decoder: msgspec.json.Decoder[T], line: bytes, wanted: str) -> T:
    try:
        if not line.isascii():
            # The decoder does not look into what it skips.
            line.decode()
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        reason = str(error)[:REASON_MAX_CHARS]
        raise BadMessage(f"expected {wanted}, got {shown(line, 200)!r}: {reason}") from None


def _read(line: bytes) -> Any:
    """A line as the standard library reads it, None if it is not JSON."""
    try:
        return json.loads(line.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _with_any_note(value: Any) -> Answer | None:
    """An answer whose note may be anything: it is a courtesy, and no move is lost by it."""
    action = value.get("action") if isinstance(value, dict) else None
    if not isinstance(action, str) or not _is_text(action):
        return None
    note = value.get("note")
    # Half of a pair of surrogates, where a note was cut in the middle of a character.
    text = note.encode(errors="replace").decode() if isinstance(note, str) else ""
    return Answer(action=action, note=text)


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(line: bytes, limit: int = SHOWN_MAX_CHARS) -> str:
    """A line as evidence: decoded whatever it holds, cut at `limit` characters."""
    text = line[: limit * 4].decode("utf-8", "backslashreplace").rstrip("\r\n")
    return text if len(text) <= limit else f"{text[:limit]}… ({len(line)} bytes)"
