"""Find a bot's program as its sandbox will, and say what to install when it is not there."""

import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tourney.errors import BotRefused

__all__ = ("SEARCH_PATH", "Program", "find_inside", "find_plain", "how_to_install", "reachable")

SEARCH_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
"""Where a sandboxed program is looked up; all of it is the system's own software."""

PYTHON_NAMES = frozenset({"python", "python3"})

_PACKAGES = {
    "python": "python-is-python3",
    "python3": "python3",
    "node": "nodejs",
    "cc": "gcc libc6-dev",
    "gcc": "gcc libc6-dev",
    "c++": "g++",
    "g++": "g++",
    "clang": "clang",
    "make": "make",
    "rustc": "rustc",
    "cargo": "cargo",
    "java": "default-jre-headless",
    "javac": "default-jdk-headless",
    "go": "golang-go",
    "ruby": "ruby",
    "perl": "perl",
    "lua": "lua5.4",
    "ocaml": "ocaml-nox",
    "ghc": "ghc",
}


@dataclass(frozen=True, slots=True)
class Program:
    """Where a program is, and what must be shown to the bot besides the system for it to run."""

    path: str
    """As the bot's process executes it."""
    runtime: Path | None = None
    """A folder outside the system's software that holds the runtime."""


def how_to_install(program: str) -> str:
    """One sentence: the program is missing, and what brings it."""
    package = _PACKAGES.get(program)
    fix = f"apt-get install {package}" if package else f"install it below {SEARCH_PATH[0]} or /usr"
    return f"`{program}`, which is not on this machine: {fix}"


def find_inside(package: Path, program: str, uid: int) -> Program:
    """Find `program` for a sandbox that shows the system's software and the package.

    Args:
        package: the bot's folder.
        program: a name to look up, or a path relative to the package when it has a slash.
        uid: the user that the bot will be.

    Raises:
        BotRefused: it is not there, or not for that user; says what to install.
    """
    if "/" in program:
        return Program(_in_package(package, program))
    for folder in SEARCH_PATH:
        path = Path(folder) / program
        if _is_program(path) and _is_system(path):
            return Program(str(path))
    if program in PYTHON_NAMES:
        return _own_python(program, uid)
    elsewhere = _elsewhere(program)
    if elsewhere is not None:
        raise BotRefused(
            f"needs {how_to_install(program)} (there is one at {elsewhere}, but bots see only the "
            "system's software)"
        )
    raise BotRefused(f"needs {how_to_install(program)}")


def find_plain(package: Path, program: str) -> Program:
    """Find `program` for a bot without a sandbox: anywhere on our own PATH.

    Raises:
        BotRefused: it is not there; says what to install.
    """
    if "/" in program:
        return Program(_in_package(package, program))
    for folder in (*SEARCH_PATH, *os.environ.get("PATH", "").split(":")):
        path = Path(folder) / program
        if folder and _is_program(path):
            return Program(str(path))
    if program in PYTHON_NAMES:
        return Program(sys.executable)
    raise BotRefused(f"needs {how_to_install(program)}")


def reachable(path: Path, uid: int) -> Path | None:
    """The first folder on the way to `path` (itself included) that user `uid` cannot enter.

    None when there is none. Groups and access lists are not looked at: a bot's user has none.
    """
    for folder in (*reversed(path.absolute().parents), path):
        status = folder.stat()
        needed = stat.S_IXUSR if status.st_uid == uid else stat.S_IXOTH
        if not status.st_mode & needed:
            return folder
    return None


def _in_package(package: Path, program: str) -> str:
    path = package / program
    if not path.is_file():
        raise BotRefused(f"runs `{program}`, which is not in its package")
    if not path.stat().st_mode & 0o111:
        raise BotRefused(f"runs `{program}`, which is not executable: chmod +x it")
    return program


def _is_program(path: Path) -> bool:
    try:
        status = path.stat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and bool(status.st_mode & 0o001)


def _is_system(path: Path) -> bool:
    """Whether it really lies below a folder that the sandbox shows, after all links."""
    real = path.resolve()
    return any(real.is_relative_to(folder) for folder in ("/usr", "/bin", "/lib", "/lib64"))


def _own_python(program: str, uid: int) -> Program:
    """The Python that runs us, for a machine whose system has none."""
    prefix = Path(sys.base_prefix)
    path = prefix / "bin" / program
    missing = how_to_install(program)
    if not path.is_file():
        raise BotRefused(f"needs {missing}")
    blocked = reachable(prefix, uid)
    if blocked is not None:
        raise BotRefused(f"needs {missing} (our own is below {blocked}, which no bot can enter)")
    return Program(str(path), prefix)


def _elsewhere(program: str) -> Path | None:
    found: Iterator[Path] = (
        Path(folder) / program for folder in os.environ.get("PATH", "").split(":") if folder
    )
    return next((path for path in found if _is_program(path)), None)
