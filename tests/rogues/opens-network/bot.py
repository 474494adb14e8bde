"""Talks to the host and beyond: every family of sockets, and what hides one."""

import ctypes
import errno
import json
import socket
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


FAMILIES = {
    "inet": socket.AF_INET,
    "inet6": socket.AF_INET6,
    "unix": socket.AF_UNIX,
    "vsock": 40,
    "netlink": 16,
    "packet": 17,
    "alg": 38,
    "bluetooth": 31,
    "xdp": 44,
}
IO_URING_SETUP = 425


def attack(wanted):
    """Connect to listeners of the host, open a socket of each family, set up io_uring."""

    def connect(family, address):
        with socket.socket(family, socket.SOCK_STREAM) as connection:
            connection.settimeout(1)
            connection.connect(address)

    def send(address):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
            connection.sendto(b"hello", address)

    def opened(family):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            try:
                socket.socket(family, kind).close()
            except OSError as error:
                if error.errno != errno.EAFNOSUPPORT:
                    raise
            else:
                return
        raise OSError(errno.EAFNOSUPPORT, "no such family")

    parameters = ctypes.create_string_buffer(120)
    return {
        "tcp": outcome(connect, socket.AF_INET, ("127.0.0.1", wanted["tcp"])),
        "tcp6": outcome(connect, socket.AF_INET6, ("::1", wanted["tcp"])),
        "udp": outcome(send, ("127.0.0.1", wanted["udp"])),
        "path": outcome(connect, socket.AF_UNIX, wanted["path"]),
        "abstract": outcome(connect, socket.AF_UNIX, "\0" + wanted["abstract"]),
        "families": {name: outcome(opened, number) for name, number in FAMILIES.items()},
        "io_uring": outcome(call, IO_URING_SETUP, 4, ctypes.addressof(parameters)),
        "pair": outcome(lambda: [end.close() for end in socket.socketpair()]),
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
