"""Tells all that it was given: environment, descriptors, user, limits."""
# An attack reads best as the calls it makes.
# ruff: noqa: PTH109

import json
import os
import resource
import stat
import sys
from pathlib import Path


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def attack(wanted):
    """Tell it."""
    descriptors = {}
    for number in range(resource.getrlimit(resource.RLIMIT_NOFILE)[1]):
        try:
            descriptors[number] = stat.filemode(os.fstat(number).st_mode)[0]
        except OSError:
            continue
    lines = []
    if Path("/proc").exists():
        lines = Path("/proc/self/status").read_text().splitlines()
    status = dict(line.split(":\t", 1) for line in lines)
    limits = {
        name: resource.getrlimit(getattr(resource, name))
        for name in dir(resource)
        if name.startswith("RLIMIT_")
    }
    return {
        "environ": dict(os.environ),
        "descriptors": descriptors,
        "ids": [os.getuid(), os.getgid(), os.getgroups()],
        "status": {
            name: value
            for name, value in status.items()
            if name in ("Seccomp", "NoNewPrivs", "CapEff", "CapPrm", "CapBnd", "CapAmb")
        },
        "limits": limits,
        "cwd": os.getcwd(),
        "host": os.uname().nodename,
    }


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
