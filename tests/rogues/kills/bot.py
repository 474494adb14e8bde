"""Signals processes outside its own world, then everything it can reach."""

import errno
import json
import os
import signal
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
    """Signal a process of the host by number; `all` ends with everything that can be signalled."""
    report = {
        "kill": outcome(os.kill, wanted["pid"], signal.SIGKILL),
        "pidfd": outcome(os.pidfd_open, wanted["pid"]),
        "group": outcome(os.killpg, wanted["pid"], signal.SIGKILL),
        "init": outcome(os.kill, 1, signal.SIGKILL),
    }
    if wanted["all"]:
        report["all"] = outcome(os.kill, -1, signal.SIGKILL)
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
