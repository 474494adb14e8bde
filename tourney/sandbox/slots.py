"""Private users for the bots of a root launcher, one for each live bot on the machine.

The guard claims, the launcher says which are in use: the guard may not see all of the machine's
processes. No users are made, only numbers claimed.
"""

import fcntl
import os
import pwd
from collections.abc import Collection
from contextlib import suppress
from functools import cache
from pathlib import Path

from tourney.errors import SandboxUnavailable

FIRST_UID = 200_000
N_SLOTS = 1_000
"""Private users for bots of a root launcher: above every ordinary and system user."""

SLOT_FOLDER = Path("/run/tourney/slots")


def claim_slot(used: Collection[int]) -> tuple[int, int]:
    """Claim a user that no other guard has claimed and that is not in `used`.

    Returns:
        The descriptor that holds the claim, and the user.

    Raises:
        OSError: all are taken, or the claims cannot be kept on this machine.
    """
    SLOT_FOLDER.mkdir(parents=True, exist_ok=True, mode=0o700)
    for slot in range(N_SLOTS):
        uid = FIRST_UID + slot
        if uid in used or is_known(uid):
            continue
        fd = os.open(SLOT_FOLDER / str(uid), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            continue
        return fd, uid
    raise OSError(f"no free user for a bot among {FIRST_UID}-{FIRST_UID + N_SLOTS - 1}")


def is_known(uid: int) -> bool:
    """Whether the system has a user of that number."""
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


@cache
def foreign_users() -> frozenset[int]:
    """Those of our users that owned a process when this process first asked.

    Once is enough: it is there for a machine that gives these numbers to somebody else. Our own
    bots are kept apart by the claims.
    """
    found = set()
    with os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdigit():
                with suppress(OSError):
                    found.add(entry.stat().st_uid)
    return frozenset(found).intersection(range(FIRST_UID, FIRST_UID + N_SLOTS))


def needs_own_user() -> bool:
    """Whether bots here must be given a user of their own, because ours is the kernel's root.

    Root of a container with users of its own (rootless Podman) is an ordinary user outside and
    needs none.

    Raises:
        SandboxUnavailable: we are the kernel's root and cannot become anybody else.
    """
    if os.geteuid() != 0:
        return False
    outside_root = 0
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        first, outside, count = map(int, line.split())
        if first <= FIRST_UID and first + count >= FIRST_UID + N_SLOTS:
            return True
        if first == 0:
            outside_root = outside
    if outside_root == 0:
        raise SandboxUnavailable(
            "this root is the kernel's root and may not become another user, so a bot would be "
            "root as well; run as an ordinary user, or where users "
            f"{FIRST_UID}-{FIRST_UID + N_SLOTS - 1} exist"
        )
    return False
