"""Every process of it forks without end, for at most five seconds."""

import json
import os
import sys
import time


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


LIFE_S = 5


def attack(wanted):
    """Never answer; each child does the same until the time is over."""
    end = time.monotonic() + LIFE_S
    while time.monotonic() < end:
        try:
            os.fork()
        except OSError:
            time.sleep(0.001)
    os._exit(0)


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
