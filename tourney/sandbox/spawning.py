"""Start one program, with bubblewrap or plainly, and limit it: the guard's hands.

Runs inside the guard only, so: the standard library, one thread, no messages of ours.
"""

import array
import fcntl
import json
import os
import resource
import select
import shutil
import subprocess
import sys
import tempfile
import termios
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SETPRIV = "/usr/bin/setpriv"
"""Of util-linux, as `unshare`; there inside as well."""

START_WAIT_S = 2.0
"""From exec of bubblewrap to a finished set-up; it takes 4 ms, 20 on a crowded machine."""


@dataclass(frozen=True, slots=True)
class PlainProgram:
    """A program started without a sandbox."""

    pid: int
    pidfd: int
    tmp: str
    """Its private folder for temporary files, ours to remove."""


class StartError(Exception):
    """A program could not be started; the text says at which step."""


def spawn_bwrap(request: dict[str, Any], fds: list[int], status: int, block: int, uid: int) -> int:
    """Exec bubblewrap and return its pid; with the bot's pipes and an empty environment."""
    stdin, stdout, stderr, arguments, seccomp = fds
    options = ["--args", arguments, "--seccomp", seccomp, "--json-status-fd", status]
    command = [request["bwrap"], *map(str, options), "--block-fd", str(block)]
    dropped: dict[str, Any] = (
        {"user": uid, "group": uid, "extra_groups": []} if request["drop"] == "outside" else {}
    )
    program = become(uid) if request["drop"] == "inside" else []
    process = subprocess.Popen(
        [*command, "--", *program, *request["command"]],
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        env={},
        cwd="/",
        pass_fds=(arguments, seccomp, status, block),
        **dropped,
    )
    # The guard reaps it; the object would otherwise warn that its process still runs.
    process.returncode = 0
    return process.pid


def become(uid: int) -> list[str]:
    """The words that make the program after them run as `uid`, with no capability left."""
    ids = ["--reuid", str(uid), "--regid", str(uid), "--clear-groups"]
    return [SETPRIV, *ids, "--inh-caps=-all", "--bounding-set=-all", "--"]


def start_plain(request: dict[str, Any], fds: list[int]) -> PlainProgram:
    """Start a program without a sandbox, in a session of its own, with a private TMPDIR."""
    tmp = tempfile.mkdtemp(prefix="tourney-bot-")
    limits = request["limits"]

    def limit() -> None:
        for name, value in limits.items():
            lower_limit(0, name, value)

    try:
        process = subprocess.Popen(
            request["command"],
            stdin=fds[0],
            stdout=fds[1],
            stderr=fds[2],
            env={**request["env"], "HOME": tmp, "TMPDIR": tmp},
            cwd=request["cwd"],
            start_new_session=True,
            preexec_fn=limit,
        )
    except BaseException:
        shutil.rmtree(tmp, ignore_errors=True)
        raise
    process.returncode = 0
    return PlainProgram(process.pid, os.pidfd_open(process.pid), tmp)


def read_child_pid(status: int) -> int:
    """The pid of the sandbox's process 1, from bubblewrap's status pipe."""
    deadline = time.monotonic() + START_WAIT_S
    data = b""
    while b"\n" not in data:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([status], [], [], left)[0]:
            raise StartError("bubblewrap did not report its process in time")
        piece = os.read(status, 4096)
        if not piece:
            raise StartError("bubblewrap ended before it made the sandbox")
        data += piece
    return int(json.loads(data.split(b"\n", 1)[0])["child-pid"])


def release(block: int) -> None:
    """Let the sandbox's process 1 go on, and wait until it has finished its set-up.

    It reads our byte after all mounts are made and closes its end at once, which we see as an
    error on ours. A byte left in the pipe then means that it died before.
    """
    os.write(block, b"1")
    poller = select.poll()
    poller.register(block, 0)
    if not poller.poll(int(START_WAIT_S * 1000)):
        raise StartError("bubblewrap did not finish its set-up in time")
    unread = array.array("i", [0])
    fcntl.ioctl(block, termios.FIONREAD, unread)
    if unread[0]:
        raise StartError("bubblewrap ended during its set-up")


def set_limits(pid: int, limits: dict[str, list[int]], uid: int) -> None:
    """Limit process `pid`, which runs as user `uid`.

    Without CAP_SYS_RESOURCE, root may do so only while its real ids are the process's own.
    """
    changed = uid != os.getuid()
    if changed:
        os.setresgid(uid, 0, 0)
        os.setresuid(uid, 0, 0)
    try:
        for name, value in limits.items():
            lower_limit(pid, name, value)
    finally:
        if changed:
            os.setresuid(0, 0, 0)
            os.setresgid(0, 0, 0)


def prefer_for_killing(pid: int) -> None:
    """When the machine runs out of memory, let the kernel take a bot rather than us."""
    with suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_text("500")


def lower_limit(pid: int, name: str, value: list[int]) -> None:
    """Set one limit, or leave a hard limit that is lower already."""
    kind = getattr(resource, name)
    _, hard = resource.prlimit(pid, kind)
    if hard == resource.RLIM_INFINITY:
        hard = sys.maxsize
    resource.prlimit(pid, kind, (min(value[0], hard), min(value[1], hard)))


def give_away(folder: Path, uid: int) -> None:
    """Make `uid` the owner of a folder and all in it; nobody else may be at work there."""
    for current, folders, names in os.walk(folder):
        os.lchown(current, uid, uid)
        for name in (*folders, *names):
            os.lchown(Path(current) / name, uid, uid)
