"""Looks for other processes and what they were started with."""

import errno
import json
import sys
from pathlib import Path


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def attack(wanted):
    """List /proc, read what its first process and a process of the host show."""

    def shown(path):
        try:
            return Path(path).read_bytes().decode(errors="replace")
        except OSError as error:
            return errno.errorcode[error.errno]

    try:
        pids = sorted(int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    except FileNotFoundError:
        pids = []
    return {
        "pids": pids,
        "environ": shown("/proc/1/environ"),
        "cmdline": shown("/proc/1/cmdline"),
        "mounts": shown("/proc/self/mountinfo"),
        "host": [shown(f"/proc/{wanted['pid']}/{name}") for name in ("cmdline", "environ", "mem")],
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
