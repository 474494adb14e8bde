"""The system-call filter of a bot, as a classic BPF program. Pure: numbers in, bytes out.

A list of what is denied, because a list of what is allowed breaks one language runtime or
another. It closes what namespaces leave open: sockets that are not per network namespace, memory
that no meter sees, new kernel interfaces, other namespaces, tracing, keyrings, terminals.
"""

import errno
import platform
import struct
from dataclasses import dataclass
from typing import NamedTuple

from tourney.errors import SandboxUnavailable

__all__ = (
    "ARCHITECTURES",
    "Architecture",
    "Instruction",
    "filter_bytes",
    "filter_program",
    "native_architecture",
)

RET_KILL = 0x8000_0000
RET_ERRNO = 0x0005_0000
RET_ALLOW = 0x7FFF_0000

LOAD = 0x20
JUMP_EQUAL = 0x15
JUMP_GREATER = 0x25
JUMP_ANY_BIT = 0x45
RETURN = 0x06

OFFSET_NUMBER = 0
OFFSET_ARCHITECTURE = 4
OFFSET_ARGUMENT = 16
"""Of `struct seccomp_data`; each argument takes 8 bytes, low word first on both machines."""

NEWEST_KNOWN = 449
"""futex_waitv, Linux 5.16. A later call gets ENOSYS, so that every library falls back; this covers
the x32 numbers (from 2^30 on) too."""

NEW_NAMESPACES = 0x7E02_0000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET."""

DENIED_IOCTLS = {"TIOCSTI": 0x5412, "TIOCLINUX": 0x541C, "TIOCSETD": 0x5423}
"""Input pushed into our terminal. The kernel looks at the low 32 bits only, so we do as well."""


class Instruction(NamedTuple):
    """One instruction of classic BPF."""

    code: int
    if_true: int
    if_false: int
    value: int


@dataclass(frozen=True, slots=True)
class Architecture:
    """What differs between machines."""

    name: str
    audit: int
    """AUDIT_ARCH_*: how the kernel names the calling convention."""
    numbers: dict[str, int]
    """System call numbers; a call that the machine lacks is left out."""


MISSING = ("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register")
"""Pretended not to exist: their arguments lie in memory that a filter cannot read."""

_SHARED_NUMBERS = {
    "pidfd_getfd": 438,
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "clone3": 435,
    "process_madvise": 440,
    "mount_setattr": 442,
    "quotactl_fd": 443,
    "memfd_secret": 447,
    "process_mrelease": 448,
}
"""Since Linux 5.1 a new call has the same number everywhere."""

# fmt: off
_X86_64 = {
    "ioctl": 16, "shmget": 29, "shmat": 30, "shmctl": 31, "socket": 41, "clone": 56, "semget": 64,
    "semop": 65, "semctl": 66, "shmdt": 67, "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71,
    "ptrace": 101, "syslog": 103, "uselib": 134, "ustat": 136, "sysfs": 139, "vhangup": 153,
    "modify_ldt": 154, "pivot_root": 155, "_sysctl": 156, "adjtimex": 159, "chroot": 161,
    "acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168,
    "reboot": 169, "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173,
    "create_module": 174, "init_module": 175, "delete_module": 176, "get_kernel_syms": 177,
    "query_module": 178, "quotactl": 179, "nfsservctl": 180, "lookup_dcookie": 212,
    "semtimedop": 220, "clock_settime": 227, "mbind": 237, "set_mempolicy": 238, "mq_open": 240,
    "mq_unlink": 241, "mq_timedsend": 242, "mq_timedreceive": 243, "mq_notify": 244,
    "mq_getsetattr": 245, "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250,
    "migrate_pages": 256, "unshare": 272, "move_pages": 279, "perf_event_open": 298,
    "fanotify_init": 300, "fanotify_mark": 301, "name_to_handle_at": 303, "open_by_handle_at": 304,
    "clock_adjtime": 305, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311,
    "kcmp": 312, "finit_module": 313, "memfd_create": 319, "kexec_file_load": 320, "bpf": 321,
    "userfaultfd": 323,
}
_AARCH64 = {
    "lookup_dcookie": 18, "ioctl": 29, "umount2": 39, "mount": 40, "pivot_root": 41,
    "nfsservctl": 42, "chroot": 51, "vhangup": 58, "quotactl": 60, "acct": 89, "unshare": 97,
    "kexec_load": 104, "init_module": 105, "delete_module": 106, "clock_settime": 112,
    "syslog": 116, "ptrace": 117, "reboot": 142, "sethostname": 161, "setdomainname": 162,
    "settimeofday": 170, "adjtimex": 171, "mq_open": 180, "mq_unlink": 181, "mq_timedsend": 182,
    "mq_timedreceive": 183, "mq_notify": 184, "mq_getsetattr": 185, "msgget": 186, "msgctl": 187,
    "msgrcv": 188, "msgsnd": 189, "semget": 190, "semctl": 191, "semtimedop": 192, "semop": 193,
    "shmget": 194, "shmctl": 195, "shmat": 196, "shmdt": 197, "socket": 198, "add_key": 217,
    "request_key": 218, "keyctl": 219, "clone": 220, "swapon": 224, "swapoff": 225, "mbind": 235,
    "set_mempolicy": 237, "migrate_pages": 238, "move_pages": 239, "perf_event_open": 241,
    "fanotify_init": 262, "fanotify_mark": 263, "name_to_handle_at": 264,
    "open_by_handle_at": 265, "clock_adjtime": 266, "setns": 268, "process_vm_readv": 270,
    "process_vm_writev": 271, "kcmp": 272, "finit_module": 273, "memfd_create": 279, "bpf": 280,
    "userfaultfd": 282, "kexec_file_load": 294,
}
# fmt: on

SPECIAL = frozenset({"socket", "clone", "ioctl"})
"""Looked at more closely than by number."""

ARCHITECTURES = {
    "x86_64": Architecture("x86_64", 0xC000_003E, _X86_64 | _SHARED_NUMBERS),
    "aarch64": Architecture("aarch64", 0xC000_00B7, _AARCH64 | _SHARED_NUMBERS),
}


def native_architecture() -> Architecture:
    """This machine's.

    Raises:
        SandboxUnavailable: we have no table for it.
    """
    name = platform.machine()
    found = ARCHITECTURES.get({"amd64": "x86_64", "arm64": "aarch64"}.get(name, name))
    if found is None:
        raise SandboxUnavailable(
            f"the sandbox has no system-call table for {name}; it knows "
            f"{', '.join(sorted(ARCHITECTURES))}. Run on one of those"
        )
    return found


def filter_bytes(architecture: Architecture) -> bytes:
    """The program as the kernel reads it: an array of `struct sock_filter`."""
    return b"".join(struct.pack("=HBBI", *step) for step in filter_program(architecture))


def filter_program(architecture: Architecture) -> list[Instruction]:
    """The program for `architecture`.

    Another calling convention kills the process: its numbers mean other calls, so a 32-bit call
    would walk past the list.
    """
    numbers = architecture.numbers
    denied = sorted(numbers[name] for name in numbers if name not in SPECIAL.union(MISSING))
    steps: list[tuple[int, str, int] | str] = [
        (LOAD, "", OFFSET_ARCHITECTURE),
        (JUMP_EQUAL, "native", architecture.audit),
        (RETURN, "", RET_KILL),
        "native",
        (LOAD, "", OFFSET_NUMBER),
        (JUMP_GREATER, "enosys", NEWEST_KNOWN),
        *((JUMP_EQUAL, "enosys", numbers[name]) for name in MISSING),
        *((JUMP_EQUAL, "eperm", number) for number in denied),
        (JUMP_EQUAL, "no-family", numbers["socket"]),
        (JUMP_EQUAL, "clone", numbers["clone"]),
        (JUMP_EQUAL, "ioctl", numbers["ioctl"]),
        (RETURN, "", RET_ALLOW),
        "clone",
        (LOAD, "", OFFSET_ARGUMENT),
        (JUMP_ANY_BIT, "eperm", NEW_NAMESPACES),
        (RETURN, "", RET_ALLOW),
        "ioctl",
        (LOAD, "", OFFSET_ARGUMENT + 8),
        *((JUMP_EQUAL, "eperm", request) for request in DENIED_IOCTLS.values()),
        (RETURN, "", RET_ALLOW),
        "enosys",
        (RETURN, "", RET_ERRNO | errno.ENOSYS),
        "no-family",
        (RETURN, "", RET_ERRNO | errno.EAFNOSUPPORT),
        "eperm",
        (RETURN, "", RET_ERRNO | errno.EPERM),
    ]
    return _assemble(steps)


def _assemble(steps: list[tuple[int, str, int] | str]) -> list[Instruction]:
    """Turn labels into distances; a jump not taken falls through to the next instruction."""
    places: dict[str, int] = {}
    plain: list[tuple[int, str, int]] = []
    for step in steps:
        if isinstance(step, str):
            places[step] = len(plain)
        else:
            plain.append(step)
    program = []
    for here, (code, label, value) in enumerate(plain):
        distance = places[label] - here - 1 if label else 0
        assert 0 <= distance <= 255, "a jump of classic BPF is one byte, forwards"
        program.append(Instruction(code, distance, 0, value))
    return program
