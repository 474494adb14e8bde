"""Show by a real launch that a tier isolates here, or say why not and which other one would.

Nothing is believed of a kernel's settings: a program is started and looked at.
"""

import os
import select
from contextlib import suppress
from pathlib import Path

from tourney.errors import SandboxUnavailable
from tourney.sandbox.base import ProcessLimits
from tourney.sandbox.launcher import Guard, GuardLost, shared_guard, unavailable
from tourney.sandbox.probe import explain, read_probe
from tourney.sandbox.process import GuardedProcess
from tourney.sandbox.programs import Program
from tourney.sandbox.slots import FIRST_UID, N_SLOTS, needs_own_user
from tourney.sandbox.starting import launch, read_rest
from tourney.sandbox.tiers import TIERS, Tier

__all__ = ("prove", "would_work")

PROBE_WAIT_S = 5.0
"""For the first launch of a process; it takes 10 ms."""


def prove(tier: Tier) -> bool:
    """Probe with a guard in a namespace of its own, then with a plain one; the first that works.

    Some systems let bubblewrap make namespaces but not us (an AppArmor profile for its path).

    Returns:
        Whether the guard has a pid namespace of its own.

    Raises:
        SandboxUnavailable: neither works; says why the plain one does not.
    """
    problem = SandboxUnavailable("no probe ran")
    for namespaced in (True, False):
        try:
            guard = shared_guard(namespaced=namespaced)
        except GuardLost as error:
            problem = unavailable(error)
            continue
        try:
            _probe(guard, tier)
        except SandboxUnavailable as error:
            guard.stop()
            problem = error
        else:
            return namespaced
    raise problem


def would_work(besides: Tier) -> Tier | None:
    """The first other tier that works here, for a person to choose."""
    for tier in TIERS:
        if tier is not besides:
            with suppress(SandboxUnavailable):
                prove(tier)
                return tier
    return None


def _probe(guard: Guard, tier: Tier) -> None:
    """Start a program and look whether its status is as it should be."""
    shown = ["/proc/self/status"] if tier.proc else []
    bot = launch(
        guard,
        tier,
        Path("/usr"),
        Program("/bin/cat"),
        [*shown, "-"],
        ProcessLimits(),
        writable=False,
    )
    try:
        os.write(bot.stdin, b"\n")
        # It has shown its status, or our empty line, and now waits for more until we close.
        ready = select.select([bot.stdout], [], [], PROBE_WAIT_S)[0]
        status = os.read(bot.stdout, 16384).decode(errors="replace") if ready else ""
        memory_mb = bot.memory_mb()
        if status and not tier.proc:
            status = _status_from_outside(bot)
        said = "" if status else read_rest(bot.stderr)
    finally:
        end = bot.close(grace_ms=int(PROBE_WAIT_S * 1000))
    if end.code != 0 or not end.reported:
        raise SandboxUnavailable(explain(f"the probe {end.in_words()}", said))
    read_probe(status, _users(tier))
    if memory_mb <= 0:
        raise SandboxUnavailable(
            "the sandbox starts but its memory cannot be metered: /proc hides other users' "
            "processes; mount it without hidepid, or give this process CAP_SYS_PTRACE"
        )


def _status_from_outside(bot: GuardedProcess) -> str:
    pid = bot.main_pid()
    with suppress(OSError):
        return Path(f"/proc/{pid}/status").read_text()
    return ""


def _users(tier: Tier) -> range:
    """Users that the probe may show itself as: inside a user namespace, or as we see it."""
    if tier.user_namespace and tier.proc:
        return range(65534, 65535)
    if needs_own_user():
        return range(FIRST_UID, FIRST_UID + N_SLOTS)
    return range(os.geteuid(), os.geteuid() + 1)
