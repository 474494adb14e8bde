"""Fills its own /tmp: many files, one large file, a sparse one, no end of names."""
# An attack reads best as the calls it makes.
# ruff: noqa: PTH108, PTH123, PTH208

import errno
import json
import os
import sys


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
    """Write until refused, at most 256 MiB; make a terabyte of nothing; make empty files."""
    report = {"written": 0}

    def fill():
        for number in range(256):
            with open(f"/tmp/fill-{number}", "wb") as file:
                for _ in range(16):
                    file.write(bytes(65536))
                    file.flush()
                    report["written"] += 65536

    def sparse():
        with open("/tmp/sparse", "wb") as file:
            file.truncate(2**40)

    def large():
        with open("/tmp/large", "wb") as file:
            for _ in range(256):
                file.write(bytes(2**20))
                file.flush()

    def clear():
        for name in os.listdir("/tmp"):
            os.unlink(f"/tmp/{name}")

    report["fill"] = outcome(fill)
    clear()
    report["sparse"] = outcome(sparse)
    clear()
    report["large"] = outcome(large)
    clear()
    for number in range(wanted["names"]):
        os.close(os.open(f"/tmp/{number}", os.O_CREAT | os.O_WRONLY))
    return report


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
