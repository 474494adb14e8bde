"""Private users for the bots of a root launcher, one for each live bot on the machine.

Runs inside the guard only, so: the standard library, and no users are made, only numbers claimed.
"""

import fcntl
import os
import pwd
from contextlib import suppress
from pathlib import Path

FIRST_UID = 200_000
N_SLOTS = 1_000
"""Private users for bots of a root launcher: above every ordinary and system user."""

SLOT_FOLDER = Path("/run/tourney/slots")


def claim_slot() -> tuple[int, int]:
    """A user that nobody else on this machine has, with the descriptor that holds the claim."""
    SLOT_FOLDER.mkdir(parents=True, exist_ok=True, mode=0o700)
    used = users_now()
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


def users_now() -> set[int]:
    """Users of all processes on the machine."""
    found = set()
    with os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdigit():
                with suppress(OSError):
                    found.add(entry.stat().st_uid)
    return found
