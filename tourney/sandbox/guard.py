"""The guard: a small process that starts bots, limits them, reaps them, and dies with its launcher.

`tourney.sandbox.launcher` runs it as a process of its own: only the standard library, no
site-packages, one thread. Where the kernel allows, it is process 1 of a pid namespace of its own:
then its end, by whatever signal at whatever moment, ends every bot, because the kernel kills a
namespace whose process 1 is gone. It ends when its launcher does, which it sees by a pidfd.

Bots' descriptors pass through here once and are closed; no byte of a bot is ever read here.

One request and one reply at a time, JSON over a packet socket, descriptors beside it:
`start` (bubblewrap or a plain program) and `end`.
"""

import ctypes
import json
import os
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tourney.sandbox.slots import claim_slot
from tourney.sandbox.spawning import (
    StartError,
    give_away,
    prefer_for_killing,
    read_child_pid,
    release,
    set_limits,
    spawn_bwrap,
    start_plain,
)

END_WAIT_S = 1.5
"""From SIGKILL to the last process reaped; a millisecond, unless the kernel is short of memory."""

IDLE_WAIT_MS = 60_000

PR_SET_CHILD_SUBREAPER = 36

MAX_REQUEST_BYTES = 128 * 1024
MAX_FDS = 8


@dataclass(slots=True)
class Bot:
    """One started program."""

    outer: int
    """Our child: bubblewrap, or the program itself."""
    main: int
    """Process 1 of the bot's namespace, or the program itself."""
    pidfd: int = -1
    status_fd: int = -1
    slot_fd: int = -1
    tmp: str = ""
    ended: dict[int, tuple[int, resource.struct_rusage]] = field(default_factory=dict)


class Guard:
    """Everything the guard knows: its launcher, its socket, its bots."""

    def __init__(self, control: socket.socket, launcher: int) -> None:
        self.control = control
        self.launcher = launcher
        self.bots: dict[int, Bot] = {}
        self.next_bot = 1
        self.wake, wake_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(wake_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        """Answer requests until the launcher is gone or closes the socket."""
        poller = select.poll()
        for fd in (self.control.fileno(), self.launcher, self.wake):
            poller.register(fd, select.POLLIN)
        while True:
            ready = {fd for fd, _ in poller.poll(IDLE_WAIT_MS)}
            if self.launcher in ready:
                return
            self.reap()
            if self.control.fileno() in ready and not self.answer():
                return

    def answer(self) -> bool:
        """Handle one request; False when the launcher has closed the socket."""
        data, fds, _, _ = socket.recv_fds(
            self.control, MAX_REQUEST_BYTES, MAX_FDS, socket.MSG_CMSG_CLOEXEC
        )
        if not data:
            return False
        request = json.loads(data)
        reply: dict[str, Any]
        reply_fds: list[int] = []
        try:
            if request["op"] == "start":
                bot = self.start(request, fds)
                reply, reply_fds = {"bot": bot}, [self.bots[bot].pidfd]
            else:
                reply = self.end(request["bot"])
        except (StartError, OSError, subprocess.SubprocessError) as error:
            reply = {"error": str(error), "missing": isinstance(error, FileNotFoundError)}
        finally:
            for fd in fds:
                os.close(fd)
        try:
            socket.send_fds(self.control, [json.dumps(reply).encode()], reply_fds)
        except OSError:
            return False
        return True

    def start(self, request: dict[str, Any], fds: list[int]) -> int:
        """Start a program and return its number here."""
        if request["cpus"] != sorted(os.sched_getaffinity(0)):
            os.sched_setaffinity(0, request["cpus"])
        if request["kind"] == "plain":
            plain = start_plain(request, fds)
            bot = Bot(plain.pid, plain.pid, pidfd=plain.pidfd, tmp=plain.tmp)
        else:
            bot = self.start_bwrap(request, fds)
        number, self.next_bot = self.next_bot, self.next_bot + 1
        self.bots[number] = bot
        return number

    def start_bwrap(self, request: dict[str, Any], fds: list[int]) -> Bot:
        """Start bubblewrap, limit its process 1 while it waits for us, let it go, see it run."""
        slot_fd, uid = claim_slot(request["used"]) if request["drop"] else (-1, os.getuid())
        bot = None
        status, status_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        block_end, block = os.pipe2(os.O_CLOEXEC)
        try:
            # Only the writer may be slow; bubblewrap writes its status with blocking calls.
            os.set_blocking(status_end, True)
            if request["drop"] and request["owned"]:
                give_away(Path(request["owned"]), uid)
            outer = spawn_bwrap(request, fds, status_end, block_end, uid)
            bot = Bot(outer, 0, status_fd=status, slot_fd=slot_fd)
            os.close(status_end)
            os.close(block_end)
            status_end = block_end = -1
            bot.main = read_child_pid(status)
            bot.pidfd = os.pidfd_open(bot.main)
            # One that drops to its own user inside is still ours at this point.
            outside = request["drop"] == "outside"
            set_limits(bot.main, request["limits"], uid if outside else os.getuid())
            prefer_for_killing(bot.main)
            release(block)
        except BaseException:
            if bot is None:
                close_all(status, slot_fd)
            else:
                self.finish(bot)
            raise
        finally:
            close_all(block, status_end, block_end)
        return bot

    def end(self, number: int) -> dict[str, Any]:
        """Kill what is left of a bot, reap it, and say how it ended."""
        bot = self.bots.pop(number)
        return self.finish(bot)

    def finish(self, bot: Bot) -> dict[str, Any]:
        """Kill, reap, close; bounded by `END_WAIT_S`."""
        if bot.pidfd >= 0:
            kill_pidfd(bot.pidfd)
        elif bot.outer:
            os.kill(bot.outer, signal.SIGKILL)
        deadline = time.monotonic() + END_WAIT_S
        while not self.is_reaped(bot) and time.monotonic() < deadline:
            select.select([self.wake], [], [], 0.02)
            self.reap(bot)
        report = ending(bot)
        close_all(bot.pidfd, bot.status_fd, bot.slot_fd)
        if bot.tmp:
            kill_children(deadline)
            shutil.rmtree(bot.tmp, ignore_errors=True)
        return report

    def is_reaped(self, bot: Bot) -> bool:
        """Whether neither of a bot's two processes that we could be parent of is left."""
        if bot.outer not in bot.ended:
            return False
        if not bot.main or bot.main in bot.ended:
            return True
        try:
            # Bubblewrap may have reaped its process 1 itself; then it never becomes our child.
            os.waitid(os.P_PID, bot.main, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return True
        return False

    def reap(self, finishing: Bot | None = None) -> None:
        """Collect every child that has ended, orphans of bots included."""
        with suppress(BlockingIOError):
            while os.read(self.wake, 512):
                pass
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for bot in (*self.bots.values(), *([finishing] if finishing else ())):
                if pid in (bot.outer, bot.main):
                    bot.ended[pid] = (status, usage)

    def stop(self) -> None:
        """Kill every bot; used where no pid namespace does it for us, harmless where one does."""
        for bot in self.bots.values():
            kill_pidfd(bot.pidfd)
        for number in list(self.bots):
            self.end(number)


def ending(bot: Bot) -> dict[str, Any]:
    """How a bot's processes ended: exit code or signal, use, and whether bubblewrap reported."""
    status, usage = bot.ended.get(bot.main) or bot.ended.get(bot.outer) or (None, None)
    report: dict[str, Any] = {"code": None, "signal": None, "cpu_ms": 0.0, "peak_kb": 0}
    if usage is not None:
        report["cpu_ms"] = (usage.ru_utime + usage.ru_stime) * 1000
        # A child starts in our memory, so up to our own size its peak says nothing of a bot.
        own_kb = 0 if bot.main in bot.ended else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        report["peak_kb"] = usage.ru_maxrss if usage.ru_maxrss > own_kb else 0
    if bot.status_fd < 0:
        report["reported"] = status is not None
        wanted = status
    else:
        code = reported_code(bot.status_fd)
        report["reported"] = code is not None
        wanted = None if code is None else code << 8
    if wanted is not None and os.WIFEXITED(wanted):
        report["code"] = os.WEXITSTATUS(wanted)
    elif wanted is not None:
        report["signal"] = os.WTERMSIG(wanted)
    return report


def reported_code(status: int) -> int | None:
    """The exit code in bubblewrap's status pipe, None when it says nothing."""
    try:
        data = os.read(status, 4096)
    except BlockingIOError:
        return None
    for line in data.splitlines():
        if b"exit-code" in line:
            return int(json.loads(line)["exit-code"])
    return None


def kill_pidfd(pidfd: int) -> None:
    """SIGKILL; nothing when the process is gone."""
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)


def kill_children(deadline: float) -> None:
    """Kill all our descendants: as subreaper, we become the parent of every orphan among them."""
    while time.monotonic() < deadline:
        for pid in Path("/proc/thread-self/children").read_text().split():
            os.kill(int(pid), signal.SIGKILL)
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.001)
        except ChildProcessError:
            return


def become_subreaper() -> None:
    """Adopt orphans of our children; process 1 of a namespace does so anyway."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def close_all(*fds: int) -> None:
    """Close those that are open."""
    for fd in fds:
        if fd >= 0:
            os.close(fd)


def main() -> None:
    """Serve one launcher, then leave nothing behind."""
    control = socket.socket(fileno=int(sys.argv[1]))
    guard = Guard(control, int(sys.argv[2]))
    if os.getpid() != 1:
        become_subreaper()
    try:
        # A launcher that died while we came up is the end as well.
        with suppress(BrokenPipeError):
            control.send(json.dumps({"ready": True}).encode())
            guard.serve()
    finally:
        guard.stop()
