"""Writes where it has no business: its package, the system, kernel settings."""
# An attack reads best as the calls it makes.
# ruff: noqa: PTH123

import errno
import json
import os
import sys
from pathlib import Path


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def outcome(attempt, *arguments):
    """What came of an attempt: the name of the error, or `done`."""
    try:
        attempt(*arguments)
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))
    return "done"


def attack(wanted):
    """Create a file in every folder named; open every kernel setting for writing."""

    def create(folder):
        with open(f"{folder}/left-behind", "w") as file:
            file.write("x")

    def change(path):
        os.close(os.open(path, os.O_WRONLY))

    settings = [
        str(Path(folder) / name) for folder, _, names in os.walk("/proc/sys") for name in names
    ]
    settings += ["/proc/sysrq-trigger", "/proc/1/exe", "/proc/self/exe", "/proc/acpi/wakeup"]
    return {
        "folders": {folder: outcome(create, folder) for folder in wanted["folders"]},
        "settings": len(settings),
        "opened": [path for path in settings if outcome(change, path) == "done"],
        "chmod": outcome(os.chmod, "/bot/bot.py", 0o777),
        "link": outcome(os.link, "/bot/bot.py", "/tmp/bot.py"),
        "device": outcome(os.mknod, "/tmp/disk", 0o60600, os.makedev(8, 0)),
        "unlink": outcome(os.unlink, "/bot/bot.py"),
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
