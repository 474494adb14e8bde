"""Durable writes: a file is there whole or not at all."""

import os
from collections.abc import Callable
from pathlib import Path

__all__ = ("append_line", "sync_folder", "write_atomically", "write_bytes")


def write_bytes(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Replace `path` by `data`: temporary name, fsync, rename."""

    def write(temporary: Path) -> None:
        temporary.write_bytes(data)
        temporary.chmod(mode)

    write_atomically(path, write)


def write_atomically(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file beside `path`, then put it in place durably."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write(temporary)
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def append_line(path: Path, line: bytes) -> None:
    """Append one line durably."""
    with path.open("ab") as file:
        file.write(line + b"\n")
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Make renames in `folder` durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
