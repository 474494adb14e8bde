"""Takes memory that no meter of a process shows."""

import ctypes
import errno
import json
import os
import platform
import sys

libc = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    """A system call by number."""
    if libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)) < 0:
        raise OSError(ctypes.get_errno(), "refused")


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


SHMGET = {"x86_64": 29, "aarch64": 194}[platform.machine()]
MEMFD_SECRET = 447
MQ_OPEN = {"x86_64": 240, "aarch64": 180}[platform.machine()]


def attack(wanted):
    """Ask for memory files, System V memory, message queues and huge pages."""
    name = ctypes.create_string_buffer(b"queue")
    return {
        "memfd": outcome(os.memfd_create, "hidden"),
        "memfd_secret": outcome(call, MEMFD_SECRET, 0),
        "sysv": outcome(call, SHMGET, 0, 2**30, 0o1600),
        "queue": outcome(call, MQ_OPEN, ctypes.addressof(name), os.O_CREAT | os.O_RDWR, 0o600, 0),
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
