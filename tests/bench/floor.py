"""The floor a runner is measured against: how fast one bot answers with no runner at all.

One ready-made Dam `act` is sent again and again, each as soon as the last answer is in: no rules,
no clock, no decoding of the answer. Both sides are pinned to one core.
"""

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

__all__ = ("answers_per_second",)

ACT: dict[str, Any] = {
    "type": "act", "match": "floor", "turn": 12, "phase": "decide",
    "view": {"round": 1, "rounds": 1, "seat": 1, "dealer": 0, "stock": 23,
             "discard": ["KS", "7D", "9C"],
             "rows": [[None, "9C", None, None, None, None, None],
                      ["QH", "7C", None, None, None, None, None]],
             "hand": "4D", "from": "row", "slot": 3, "streak": 0, "totals": [0, 0]},
    "events": [{"seat": 0, "event": "draw"}, {"seat": 0, "event": "throw", "card": "9C"}],
    "legal": ["keep", "throw"], "clock": {"move_ms": 1000, "bank_ms": None},
}  # fmt: skip
HELLO = {"type": "hello", "protocol": 1, "game": "dam", "rules": {}, "limits": {}, "options": {}}
START = {"type": "start", "match": "floor", "seat": 1, "players": ["a", "b"], "seed": 1}
WARM_UP = 200


def _line(message: Any) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def answers_per_second(
    command: list[str], folder: Path, seconds: float = 2.0, batch: int = 1
) -> float:
    """Answers a second of the bot in `folder`; with `batch`, arrays of that many messages."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    bot = subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    )
    try:
        assert bot.stdin is not None
        assert bot.stdout is not None
        to_bot, from_bot = bot.stdin.fileno(), bot.stdout.fileno()

        def ask(line: bytes) -> None:
            os.write(to_bot, line)
            data = os.read(from_bot, 1 << 16)
            while not data.endswith(b"\n"):
                data += os.read(from_bot, 1 << 16)

        ask(_line(HELLO))
        os.write(to_bot, _line(START))
        line = _line(ACT if batch == 1 else [ACT] * batch)
        for _ in range(WARM_UP):
            ask(line)
        answers, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < seconds:
            for _ in range(100):
                ask(line)
            answers += 100 * batch
        return answers / (time.perf_counter() - begin)
    finally:
        bot.kill()
        bot.communicate(timeout=10)
        os.sched_setaffinity(0, before)
