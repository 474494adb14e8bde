"""The arguments of bubblewrap: what a bot's world looks like. Pure but for looking at the host.

Everything goes to bubblewrap through a descriptor, so that the process list shows no host path.
"""

from functools import cache
from pathlib import Path

from tourney.sandbox.base import ProcessLimits
from tourney.sandbox.programs import SEARCH_PATH

__all__ = ("BOT_FOLDER", "bwrap_arguments", "process_limits")

BOT_FOLDER = "/bot"

TMP = "/tmp"  # noqa: S108 - the bot's own, not the host's

SYSTEM_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""Links into /usr on every current system, folders of their own on an old one."""

SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
"""What programs below /usr need from /etc; nothing else of /etc is shown."""

NOBODY = 65534

MIB = 2**20
DATA_SLACK_MB = 64
DATA_SLACK_SHARE = 0.25
"""The kernel's limit lies this far above ours: it only stops a burst between two polls."""

OPEN_FILES = 256


def bwrap_arguments(
    package: Path, limits: ProcessLimits, *, writable: bool, runtime: Path | None
) -> bytes:
    """The arguments for one bot, each ended by a zero byte, as `--args` reads them."""
    arguments = [
        *("--unshare-all", "--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)),
        *("--hostname", "bot", "--cap-drop", "ALL"),
        *("--new-session", "--die-with-parent", "--disable-userns"),
        *("--ro-bind", "/usr", "/usr", *_system()),
        *("--proc", "/proc", "--dev", "/dev"),
        # Before any bind below /tmp: a file system mounted later hides what lies under it.
        *("--size", str(limits.tmp_mb * MIB), "--perms", "0700", "--tmpfs", TMP),
    ]
    path = list(SEARCH_PATH)
    if runtime is not None:
        arguments += [*_parents(runtime), "--ro-bind", str(runtime), str(runtime)]
        path.insert(0, f"{runtime}/bin")
    arguments += ["--bind" if writable else "--ro-bind", str(package), BOT_FOLDER]
    # Without these, / and /dev are writable file systems in memory without a limit, and through
    # /proc a bot could overwrite the memory of process 1 and the settings of its namespaces.
    for folder in ("/proc", "/dev", "/"):
        arguments += ["--remount-ro", folder]
    arguments += ["--chdir", BOT_FOLDER, "--clearenv"]
    for name, value in environment(":".join(path)).items():
        arguments += ["--setenv", name, value]
    return b"".join(argument.encode() + b"\0" for argument in arguments)


def environment(path: str, tmp: str = TMP) -> dict[str, str]:
    """All that a bot finds in its environment."""
    return {"PATH": path, "HOME": tmp, "TMPDIR": tmp, "LANG": "C.UTF-8"}


def process_limits(limits: ProcessLimits) -> dict[str, tuple[int, int]]:
    """Limits that the kernel keeps, by name in `resource`: soft and hard.

    Not the address space: Node, Java and Go reserve far more than they use.
    """
    data = int(limits.memory_mb + max(DATA_SLACK_MB, limits.memory_mb * DATA_SLACK_SHARE)) * MIB
    kept = {
        "RLIMIT_NPROC": (limits.processes, limits.processes),
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
