"""Forks until refused, at most 300 times, and says how often it could."""

import errno
import json
import os
import sys


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


MOST = 300


def attack(wanted):
    """Fork children that wait for our word, or for our end, and count them."""
    wait, word = os.pipe()
    children, refused = [], None
    while len(children) < MOST and refused is None:
        try:
            child = os.fork()
        except OSError as error:
            refused = errno.errorcode[error.errno]
            continue
        if child == 0:
            os.close(word)
            os.read(wait, 1)
            os._exit(0)
        children.append(child)
    os.close(word)
    os.close(wait)
    for child in children:
        os.waitpid(child, 0)
    return {"children": len(children), "refused": refused}


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
