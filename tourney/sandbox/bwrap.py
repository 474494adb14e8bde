"""The sandbox for programs that nobody has to trust: bubblewrap, a system-call filter, limits.

Works for an ordinary user and for root, who gives every bot a user of its own: a bot never runs
as the kernel's user 0, whatever it is called inside. Refuses to start anything until a real
launch has shown that the isolation works here. Its weaker kinds are chosen by name only.
"""

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from tourney.errors import SandboxUnavailable
from tourney.sandbox import proving
from tourney.sandbox.base import BotProcess, ProcessLimits
from tourney.sandbox.launcher import GuardLost, shared_guard, unavailable
from tourney.sandbox.programs import find_inside, reachable
from tourney.sandbox.slots import needs_own_user
from tourney.sandbox.starting import find_bwrap, launch
from tourney.sandbox.tiers import NO_PROC, ROOT, STRICT, Tier

__all__ = ("BwrapNoProcSandbox", "BwrapRootSandbox", "BwrapSandbox")

_checked: dict[tuple[int, str], bool] = {}
"""For each process and tier that passed `check`: whether its guard has a pid namespace."""

_check_lock = threading.Lock()


class BwrapSandbox:
    """Isolation by bubblewrap; `tourney.sandboxes` knows it as `bwrap`."""

    tier: ClassVar[Tier] = STRICT

    @property
    def name(self) -> str:
        """As recorded in the run."""
        return self.tier.name

    def check(self) -> None:
        """Launch a probe for real, once in the life of this process.

        Raises:
            SandboxUnavailable: with the cause found and the exact fix, and the weaker kind that
                would work here, if one does.
        """
        with _check_lock:
            if (os.getpid(), self.name) in _checked:
                return
            find_bwrap()
            try:
                _checked[os.getpid(), self.name] = proving.prove(self.tier)
            except SandboxUnavailable as error:
                raise SandboxUnavailable(f"{error}{_way_out(self.tier)}") from error

    def start(
        self,
        package: Path,
        command: Sequence[str],
        limits: ProcessLimits,
        *,
        writable: bool = False,
    ) -> BotProcess:
        """Start `command` in `package`; see `Sandbox.start`.

        Raises:
            SandboxUnavailable: the sandbox itself did not start; never the bot's fault.
            BotRefused: the program does not exist inside.
        """
        self.check()
        program = find_inside(package, command[0], _bot_uid())
        _require_reachable(package)
        try:
            guard = shared_guard(namespaced=_checked[os.getpid(), self.name])
        except GuardLost as error:
            raise unavailable(error) from error
        return launch(guard, self.tier, package, program, command[1:], limits, writable=writable)

    def require(self, package: Path, program: str) -> None:
        """See that `program` of the bot in `package` exists inside.

        Raises:
            BotRefused: it does not; says what to install.
        """
        find_inside(package, program, _bot_uid())


class BwrapRootSandbox(BwrapSandbox):
    """For a root without user namespaces; `tourney.sandboxes` knows it as `bwrap-root`."""

    tier = ROOT


class BwrapNoProcSandbox(BwrapSandbox):
    """For a container that masks /proc; `tourney.sandboxes` knows it as `bwrap-noproc`."""

    tier = NO_PROC


def _way_out(tier: Tier) -> str:
    """What a person may choose instead, knowing what it gives up."""
    other = proving.would_work(besides=tier)
    if other is None:
        return ""
    if other is STRICT:
        return "\nThe default sandbox works here: leave run.sandbox out"
    return (
        f"\nAnother kind works here, if you choose it: `--set run.sandbox={other.name}`. It gives "
        f"something up: {other.gives_up}"
    )


def _bot_uid() -> int:
    """A user as powerless as the bot's: root's bots get private ones, which own nothing."""
    return -1 if needs_own_user() else os.getuid()


def _require_reachable(package: Path) -> None:
    try:
        blocked = reachable(package, _bot_uid())
    except OSError as error:
        raise SandboxUnavailable(f"the bot's folder {package} cannot be used: {error}") from error
    if blocked is not None:
        raise SandboxUnavailable(
            f"the bot's folder {package} is below {blocked}, which a bot's user cannot enter; set "
            "TOURNEY_CACHE to a folder that every user can reach"
        )
