"""The identity of a bot version: a SHA-256 over its files. Nothing is written here."""

import hashlib
from pathlib import Path

from tourney.packages.files import PackageFiles, read_package

__all__ = ("files_digest", "package_digest")


def package_digest(path: Path) -> str:
    """SHA-256 of a package over its sorted file names, executable bits and contents, in hex.

    The name of the folder or archive, times, owners and the rest of the modes do not count: the
    same files are the same version. Left out are only `__pycache__`, version control and editor
    junk (see `tourney.packages.files`).

    Raises:
        PackageError: the package cannot be read or breaks a rule for packages.
    """
    return files_digest(read_package(path))


def files_digest(files: PackageFiles) -> str:
    """`package_digest` of files that were read already."""
    digest = hashlib.sha256(b"tourney package 1\n")
    for name in sorted(files):
        file = files[name]
        content = hashlib.sha256(file.content).hexdigest()
        # A name has no newline (files.py refuses it), so lines cannot be shifted into each other.
        digest.update(f"{content} {'x' if file.executable else '-'} {name}\n".encode())
    return digest.hexdigest()
