"""Run a manifest's build commands where bots live: no network, no host files, limits of its own.

Compiling a stranger's program runs a stranger's program. Which sandbox it runs in is the
caller's choice; this module only needs to start a process in it and watch it.
"""

import os
import select
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from tourney.errors import BotRefused, PackageError
from tourney.packages.files import PackageFiles, read_package
from tourney.packages.limits import ProcessLimits
from tourney.packages.manifest import Manifest

__all__ = ("BUILD_LIMITS", "BUILD_WAIT_S", "BuildSandbox", "run_build")

BUILD_WAIT_S = 120.0
"""For all commands of a manifest together."""

BUILD_LIMITS = ProcessLimits(memory_mb=2048, tmp_mb=512, processes=256, cpu_seconds=240)

MAX_FOLDER_BYTES = 512 * 2**20
MAX_FOLDER_FILES = 20_000
"""Of the package's folder while it is built; looked at every `WATCH_S`."""

MAX_BUILT_BYTES = 200 * 2**20
MAX_BUILT_FILES = 5_000
"""What may be left of it: compilers are less frugal than authors."""

KEPT_OUTPUT_BYTES = 64 * 1024
"""The end of what the compiler says; the rest is read and dropped."""

WATCH_S = 0.05


class BuildProcess(Protocol):
    """What a build needs of a running process; see `tourney.sandbox.base.BotProcess`."""

    stdout: int
    stderr: int

    def memory_mb(self) -> float:
        """Memory of all its processes."""
        ...

    def close(self, grace_ms: int = 200) -> "BuildEnd":
        """End it for certain."""
        ...


class BuildEnd(Protocol):
    """How a process ended; see `tourney.sandbox.base.ExitStatus`."""

    @property
    def code(self) -> int | None:
        """Exit code."""
        ...

    def in_words(self) -> str:
        """The same for a person."""
        ...


class BuildSandbox(Protocol):
    """What a build needs of a sandbox; see `tourney.sandbox.base.Sandbox`."""

    def require(self, package: Path, program: str) -> None:
        """Raise BotRefused when `program` does not exist inside."""
        ...

    def start(
        self,
        package: Path,
        command: Sequence[str],
        limits: ProcessLimits,
        *,
        writable: bool = False,
    ) -> BuildProcess:
        """Start a program."""
        ...


def run_build(folder: Path, manifest: Manifest, sandbox: BuildSandbox) -> tuple[PackageFiles, str]:
    """Run the build commands in `folder`, a copy nobody else uses.

    Returns:
        the files that are there then, and what the commands said.

    Raises:
        BotRefused: a command fails or takes too much, a compiler is missing, or what was built
            breaks a rule for packages; with the end of the compiler's output.
        SandboxUnavailable: the sandbox did not start.
    """
    deadline = time.monotonic() + BUILD_WAIT_S
    said = ""
    for command in manifest.build:
        try:
            sandbox.require(folder, command[0])
        except BotRefused as error:
            raise BotRefused(f"bot {manifest.name} {error}") from error
        said += f"$ {' '.join(command)}\n{_run(folder, manifest, command, sandbox, deadline)}"
    try:
        return read_package(folder, max_files=MAX_BUILT_FILES, max_bytes=MAX_BUILT_BYTES), said
    except PackageError as error:
        raise BotRefused(f"bot {manifest.name}: what its build left is refused: {error}") from error


def _run(
    folder: Path, manifest: Manifest, command: Sequence[str], sandbox: BuildSandbox, deadline: float
) -> str:
    """Run one command; returns what it said."""
    process = sandbox.start(folder, command, BUILD_LIMITS, writable=True)
    try:
        output, problem = _watch(process, folder, deadline)
    finally:
        # Its output has ended or it has taken too much: there is nothing to wait for, but an
        # exit that is under way.
        end = process.close(grace_ms=100)
    said = output.decode(errors="replace")
    if problem or end.code != 0:
        raise BotRefused(
            f"bot {manifest.name} cannot be built: `{' '.join(command)}` "
            f"{problem or end.in_words()}\n{said.strip() or '(no output)'}"
        )
    return said


def _watch(process: BuildProcess, folder: Path, deadline: float) -> tuple[bytes, str]:
    """Read what the process says until it ends or takes too much; returns that and the reason."""
    output = b""
    open_fds = [process.stdout, process.stderr]
    while open_fds:
        for fd in select.select(open_fds, [], [], WATCH_S)[0]:
            piece = b""
            with suppress(BlockingIOError):
                piece = os.read(fd, 65536)
                if not piece:
                    open_fds.remove(fd)
            output = (output + piece)[-KEPT_OUTPUT_BYTES:]
        problem = _excess(process, folder, deadline)
        if problem:
            return output, problem
    return output, ""


def _excess(process: BuildProcess, folder: Path, deadline: float) -> str:
    if time.monotonic() > deadline:
        return f"took longer than {BUILD_WAIT_S:.0f} s"
    if process.memory_mb() > BUILD_LIMITS.memory_mb:
        return f"used more than {BUILD_LIMITS.memory_mb} MiB of memory"
    size, count = _usage(folder)
    if size > MAX_FOLDER_BYTES or count > MAX_FOLDER_FILES:
        return (
            f"wrote more than {MAX_FOLDER_BYTES // 2**20} MiB or {MAX_FOLDER_FILES} files "
            "into its folder"
        )
    return ""


def _usage(folder: Path) -> tuple[int, int]:
    """Bytes on disk and number of files below `folder`, which somebody is writing to."""
    size = count = 0
    for current, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                size += (Path(current) / name).lstat().st_blocks * 512
                count += 1
    return size, count
