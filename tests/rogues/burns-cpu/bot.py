"""Burns CPU time in threads and processes, at most 20 seconds of clock time."""

import json
import os
import signal
import sys
import threading
import time


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


LIFE_S = 20


def burn():
    end = time.monotonic() + LIFE_S
    while time.monotonic() < end:
        pass


def attack(wanted):
    """Burn in as many processes and threads as told, deaf to the soft limit's signal."""
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    for _ in range(wanted["processes"] - 1):
        if os.fork() == 0:
            break
    for _ in range(wanted["threads"] - 1):
        threading.Thread(target=burn, daemon=True).start()
    burn()
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
