"""The arguments of bubblewrap: what a bot's world looks like. Pure but for looking at the host.

Everything goes to bubblewrap through a descriptor, so that the process list shows no host path.
"""

from functools import cache
from pathlib import Path

from tourney.sandbox.base import ProcessLimits
from tourney.sandbox.programs import SEARCH_PATH
from tourney.sandbox.tiers import STRICT, Tier

__all__ = ("BOT_FOLDER", "bwrap_arguments", "process_limits")

BOT_FOLDER = "/bot"

TMP = "/tmp"  # noqa: S108 - the bot's own, not the host's

SYSTEM_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""Links into /usr on every current system, folders of their own on an old one."""

SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
"""What programs below /usr need from /etc; nothing else of /etc is shown."""

NOBODY = 65534

PRIVILEGED_NAMESPACES = (
    *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
    "--unshare-cgroup-try",
)
"""All but the user's; `--unshare-all` would try that one too."""

CAPABILITIES_TO_DROP_THE_REST = (
    *("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"),
)
"""What `setpriv` needs inside to become the bot's user for good; gone before the bot runs."""

MIB = 2**20
DATA_SLACK_MB = 64
DATA_SLACK_SHARE = 0.25
"""The kernel's limit lies this far above ours: it only stops a burst between two polls."""

OPEN_FILES = 256


def bwrap_arguments(
    package: Path,
    limits: ProcessLimits,
    *,
    writable: bool,
    runtime: Path | None,
    tier: Tier = STRICT,
) -> bytes:
    """The arguments for one bot, each ended by a zero byte, as `--args` reads them."""
    arguments = [
        *_namespaces(tier),
        *("--hostname", "bot", "--cap-drop", "ALL"),
        *(() if tier.user_namespace else CAPABILITIES_TO_DROP_THE_REST),
        *("--new-session", "--die-with-parent"),
        *("--ro-bind", "/usr", "/usr", *_system()),
        *(("--proc", "/proc") if tier.proc else ()),
        *("--dev", "/dev"),
        # Before any bind below /tmp: a file system mounted later hides what lies under it. Root
        # owns it where there is no user namespace.
        *("--size", str(limits.tmp_mb * MIB)),
        *("--perms", "0700" if tier.user_namespace else "1777", "--tmpfs", TMP),
    ]
    path = list(SEARCH_PATH)
    if runtime is not None:
        arguments += [*_parents(runtime), "--ro-bind", str(runtime), str(runtime)]
        path.insert(0, f"{runtime}/bin")
    arguments += ["--bind" if writable else "--ro-bind", str(package), BOT_FOLDER]
    # Without these, / and /dev are writable file systems in memory without a limit, and through
    # /proc a bot could overwrite the memory of process 1 and the settings of its namespaces.
    for folder in (*(("/proc",) if tier.proc else ()), "/dev", "/"):
        arguments += ["--remount-ro", folder]
    arguments += ["--chdir", BOT_FOLDER, "--clearenv"]
    for name, value in environment(":".join(path)).items():
        arguments += ["--setenv", name, value]
    return b"".join(argument.encode() + b"\0" for argument in arguments)


def _namespaces(tier: Tier) -> tuple[str, ...]:
    if not tier.user_namespace:
        return PRIVILEGED_NAMESPACES
    user = ("--unshare-all", "--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY))
    # It writes a setting below /proc/sys, which is read-only where /proc is masked.
    return (*user, "--disable-userns") if tier.proc else user


def environment(path: str, tmp: str = TMP) -> dict[str, str]:
    """All that a bot finds in its environment."""
    return {"PATH": path, "HOME": tmp, "TMPDIR": tmp, "LANG": "C.UTF-8"}


def process_limits(limits: ProcessLimits, tier: Tier = STRICT) -> dict[str, tuple[int, int]]:
    """Limits that the kernel keeps, by name in `resource`: soft and hard.

    Not the address space: Node, Java and Go reserve far more than they use.
    """
    # Process 1 counts as the bot's where both are the same user.
    processes = limits.processes - (0 if tier.user_namespace else 1)
    data = int(limits.memory_mb + max(DATA_SLACK_MB, limits.memory_mb * DATA_SLACK_SHARE)) * MIB
    kept = {
        "RLIMIT_NPROC": (processes, processes),
        "RLIMIT_NOFILE": (OPEN_FILES, OPEN_FILES),
        "RLIMIT_FSIZE": (limits.tmp_mb * MIB, limits.tmp_mb * MIB),
        "RLIMIT_DATA": (data, data),
        # 0 does not keep the kernel from piping a dump to the host's handler; 1 does.
        "RLIMIT_CORE": (1, 1),
        "RLIMIT_MEMLOCK": (0, 0),
        "RLIMIT_MSGQUEUE": (0, 0),
    }
    if limits.cpu_seconds is not None:
        kept["RLIMIT_CPU"] = (limits.cpu_seconds, limits.cpu_seconds + 1)
    return kept


@cache
def _system() -> tuple[str, ...]:
    """The system's software besides /usr; it stays as it is while we run."""
    arguments: list[str] = []
    for name in SYSTEM_LINKS:
        path = Path("/") / name
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), str(path)]
    # Bubblewrap would make it for its own user alone, which need not be the bot's.
    arguments += ["--perms", "0755", "--dir", "/etc"]
    for file in (*SYSTEM_FILES, *map(str, sorted(Path("/etc").glob("java-*-openjdk")))):
        arguments += ["--ro-bind-try", file, file]
    return tuple(arguments)


def _parents(folder: Path) -> list[str]:
    """Make each parent open to all: bubblewrap would copy the mode of the host's."""
    arguments: list[str] = []
    for parent in reversed(folder.parents):
        if parent != Path("/") and not parent.is_relative_to("/usr"):
            arguments += ["--perms", "0755", "--dir", str(parent)]
    return arguments
