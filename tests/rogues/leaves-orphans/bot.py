"""Leaves a grandchild in a session of its own that holds the pipes, and goes."""

import json
import os
import sys
import time


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def attack(wanted):
    """Double fork; the grandchild would live for a minute."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            if not wanted.get("quiet"):
                say({"type": "orphan"})
            time.sleep(60)
        os._exit(0)
    time.sleep(0.1)
    os._exit(3)


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
