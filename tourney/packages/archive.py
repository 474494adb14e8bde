"""Pack a package into bytes that travel to a worker, and lay files out as a folder.

Unpacking goes through `tourney.packages.files`, which trusts no archive, ours included.
"""

import io
import tarfile
from pathlib import Path

from tourney.packages.files import PackageFiles, read_package

__all__ = ("pack", "write_files")


def pack(path: Path) -> bytes:
    """The package at `path`, a folder or an archive, as a plain tar.

    The same files give the same bytes on every machine: sorted, no times, no owners, and no
    compression, whose output differs between versions of zlib.

    Raises:
        PackageError: the package cannot be read or breaks a rule for packages.
    """
    files = read_package(path)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            info = tarfile.TarInfo(name)
            info.size = len(files[name].content)
            info.mode = 0o755 if files[name].executable else 0o644
            archive.addfile(info, io.BytesIO(files[name].content))
    return buffer.getvalue()


def write_files(files: PackageFiles, folder: Path) -> None:
    """Write `files` below `folder`, which exists: folders and programs 0755, other files 0644.

    Modes are set apart from the process's umask, since a bot's user must be able to read them.

    Raises:
        OSError: the disk is full or the folder is not ours to write.
    """
    for name in sorted(files):
        target = folder / name
        _make_folders(folder, target.parent)
        with target.open("xb") as file:
            file.write(files[name].content)
        target.chmod(0o755 if files[name].executable else 0o644)
    folder.chmod(0o755)


def _make_folders(top: Path, folder: Path) -> None:
    missing = []
    while folder != top and not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for path in reversed(missing):
        path.mkdir()
        path.chmod(0o755)
