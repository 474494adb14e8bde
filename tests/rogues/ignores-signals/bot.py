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
    say({"type": "ignoring"})
    end = time.monotonic() + 60
    while time.monotonic() < end:
        time.sleep(1)
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        say({"type": "ready"})
    elif message["type"] == "act":
        say({"action": message["legal"][0], "report": attack(message["attack"])})
    elif message["type"] == "quit":
        break
