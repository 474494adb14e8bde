"""Never reads a word and never says one, for at most a minute."""

import json
import sys
import time


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def attack(wanted):
    """Not reached: nothing is read."""
    return {}


time.sleep(60)


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        say({"type": "ready"})
    elif message["type"] == "act":
        say({"action": message["legal"][0], "report": attack(message["attack"])})
    elif message["type"] == "quit":
        break
