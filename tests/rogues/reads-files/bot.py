"""Reads what is not its own: the host's accounts, homes, secrets."""
# An attack reads best as the calls it makes.
# ruff: noqa: PTH116, PTH208

import errno
import json
import os
import sys
from pathlib import Path


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def outcome(attempt, *arguments):
    """What came of an attempt: the name of the error, or `done`."""
    try:
        attempt(*arguments)
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))
    return "done"


def attack(wanted):
    """Read each file, list each folder."""

    def read(path):
        return os.listdir(path) if Path(path).is_dir() else Path(path).read_bytes()

    def look(path):
        os.stat(path)
        read(path)

    return {path: outcome(look, path) for path in wanted["paths"]}


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
