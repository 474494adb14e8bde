"""Tells all that it was given: environment, descriptors, user, limits."""
# An attack reads best as the calls it makes.
# ruff: noqa: PTH109, PTH115, PTH208

import json
import os
import resource
import sys
from pathlib import Path


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def attack(wanted):
    """Tell it."""
    descriptors = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            descriptors[name] = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            continue  # the listing's own
    status = dict(
        line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines()
    )
    limits = {
        name: resource.getrlimit(getattr(resource, name))
        for name in dir(resource)
        if name.startswith("RLIMIT_")
    }
    return {
        "environ": dict(os.environ),
        "descriptors": descriptors,
        "ids": [os.getuid(), os.getgid(), os.getgroups()],
        "status": {name: status[name] for name in ("Seccomp", "NoNewPrivs", "CapEff", "CapBnd")},
        "limits": limits,
        "cwd": os.getcwd(),
        "host": os.uname().nodename,
    }


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        say({"type": "ready"})
    elif message["type"] == "act":
        say({"action": message["legal"][0], "report": attack(message["attack"])})
    elif message["type"] == "quit":
        break
