"""Writes without end, on standard output or beside it, at most 2 GiB."""

import json
import os
import sys


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


MOST = 2 * 2**30


def attack(wanted):
    """Flood a descriptor with a piece of text; `bytes` of it, then answer properly."""
    piece = wanted["piece"].encode() * (65536 // len(wanted["piece"]))
    left = min(wanted["bytes"], MOST)
    while left > 0:
        left -= os.write(wanted["fd"], piece[:left])
    return {"flooded": wanted["bytes"]}


wanted = None
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        wanted = message["options"].get("attack")
        say({"type": "ready"})
    elif message["type"] == "act":
        now, wanted = message.get("attack", wanted), None
        report = {} if now is None else attack(now)
        note = json.dumps(report)
        say({"action": message["legal"][0], "report": report, "note": note})
    elif message["type"] == "quit":
        break
