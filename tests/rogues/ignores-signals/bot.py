"""Ignores every signal that can be ignored and sleeps, at most a minute."""

import json
import signal
import sys
import time


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def attack(wanted):
    """Ignore, then sleep instead of answering."""
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    if not wanted.get("quiet"):
        say({"type": "ignoring"})
    end = time.monotonic() + 60
    while time.monotonic() < end:
        time.sleep(1)
    return {}


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
