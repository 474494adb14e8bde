"""A hostile bot of the doctor's: tries what a bot must not be able to, and says what came of it.

Its text is run inside the sandbox as a program of its own, so: the standard library only. Bounded
in count and size. It must not be imported.
"""

import ctypes
import errno
import fcntl
import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

FORKS = 100
TMP_BYTES = 64 * 2**20
NEW_USER_NAMESPACE = 0x1000_0000
TMP = Path("/tmp")  # noqa: S108 - its own
TIOCSTI = 0x5412
PTRACE_ATTACH = 16


def outcome(attempt: Callable[[], object]) -> str:
    """The name of the error, or `done`."""
    try:
        attempt()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
    return "done"


def read(path: str) -> str:
    """Open a file for reading."""
    return outcome(lambda: os.close(os.open(path, os.O_RDONLY)))


def write(path: str) -> str:
    """Open a file for writing, new or not."""
    return outcome(lambda: os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)))


def call(number: int, *arguments: int) -> str:
    """A system call by number."""
    libc = ctypes.CDLL(None, use_errno=True)
    words = [ctypes.c_long(word) for word in arguments]
    if libc.syscall(ctypes.c_long(number), *words) < 0:
        return errno.errorcode.get(ctypes.get_errno(), "error")
    return "done"


def connect(family: int, address: object) -> str:
    """Open a connection."""

    def attempt() -> None:
        with socket.socket(family, socket.SOCK_STREAM) as made:
            made.connect(address)  # type: ignore[arg-type]

    return outcome(attempt)


def fill() -> str:
    """Write into /tmp until refused."""

    def attempt() -> None:
        for number in range(TMP_BYTES // 2**20):
            (TMP / f"fill-{number}").write_bytes(bytes(2**20))

    told = outcome(attempt)
    for path in TMP.glob("fill-*"):
        path.unlink()
    return told


def fork() -> str:
    """Fork until refused; the children wait for their end."""
    for number in range(FORKS):
        try:
            child = os.fork()
        except OSError as error:
            return f"{errno.errorcode[error.errno or 0]} after {number}"
        if child == 0:
            os.read(0, 1)
            os._exit(0)
    return "done"


def main() -> None:
    """Try everything, say what came of it, and end."""
    wanted: dict[str, Any] = json.loads(sys.argv[1])
    numbers: dict[str, int] = wanted["numbers"]
    report = {
        "files": read(wanted["secret"]),
        "processes": read(f"/proc/{wanted['pid']}/environ"),
        "signals": outcome(lambda: os.kill(wanted["pid"], 9)),
        "network": connect(socket.AF_INET, ("127.0.0.1", wanted["port"])),
        "hypervisor": connect(40, (2, 1)),
        "io_uring": call(numbers["io_uring_setup"], 1, 0),
        "own folder": write("/bot/left-behind"),
        "system": write("/usr/left-behind"),
        "kernel settings": write("/proc/sys/kernel/core_pattern"),
        "namespaces": call(numbers["unshare"], NEW_USER_NAMESPACE),
        "tracing": call(numbers["ptrace"], PTRACE_ATTACH, 1, 0, 0),
        "hidden memory": call(numbers["memfd_create"], 0, 0),
        "keyrings": call(numbers["keyctl"], 0, -3, 0),
        "terminal": outcome(lambda: fcntl.ioctl(0, TIOCSTI, b"x")),
        "disk": fill(),
        "environment": ",".join(sorted(os.environ)),
        "fork bomb": fork(),
    }
    print(json.dumps(report), flush=True)  # noqa: T201 - its output is the answer


if __name__ == "__main__":
    main()
