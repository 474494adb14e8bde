"""Read a bot package, folder or archive, into memory: names, contents, one executable bit.

Everything else about a package (manifest, digest, archive, snapshot) is made from this one value,
so a folder, its `.zip` and its `.tar.gz` can never be read differently. Nothing is written here
and nothing of the package is run.
"""

import gzip
import io
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tourney.errors import PackageError

__all__ = ("MAX_BYTES", "MAX_FILES", "PackageFile", "PackageFiles", "read_archive", "read_package")

MAX_FILES = 200
"""A bot is a program with its data, not a tree of dependencies."""

MAX_BYTES = 50 * 2**20
"""Contents of all files together: every node keeps a copy and it travels in one message."""

MAX_RATIO = 200
"""Unpacked bytes for each byte of archive. Ordinary text reaches 20, a zip bomb 1,000."""

MAX_NAME_BYTES = 200
"""A name that fits every file system and the archive's header."""

IGNORED_FOLDERS = frozenset({"__pycache__", ".git", ".hg", ".svn", ".idea", ".vscode"})
IGNORED_NAMES = frozenset({".DS_Store", "Thumbs.db"})
IGNORED_ENDINGS = ("~", ".swp", ".swo", ".pyc")
"""The only things left out silently: caches, version control and what editors leave behind."""


@dataclass(frozen=True, slots=True)
class PackageFile:
    """One regular file of a package."""

    content: bytes
    executable: bool


PackageFiles = dict[str, PackageFile]
"""Files by their path in the package, `/` between the parts."""


def read_package(
    path: Path, *, max_files: int = MAX_FILES, max_bytes: int = MAX_BYTES
) -> PackageFiles:
    """Files of the package at `path`: a folder, a `.zip`, or a `.tar.gz` of one.

    A symbolic link that stays inside the folder counts as the file it points to.

    Args:
        path: folder or archive.
        max_files: how many files a folder may have.
        max_bytes: how much they may hold together.

    Raises:
        PackageError: nothing is there, it cannot be read, a link leads out of the package, a file
            is a device or has a setuid bit, or a limit on count, size or name is passed.
    """
    if path.is_dir():
        members = _folder_members(path, path.resolve())
        return _checked(str(path), members, max_files, max_bytes)
    try:
        data = _read_limited(path)
    except OSError as error:
        raise PackageError(f"bot package {path}: {error.strerror}") from error
    return read_archive(data, name=str(path))


def read_archive(data: bytes, *, name: str = "archive") -> PackageFiles:
    """Files of an archive in memory: zip, tar or tar.gz, recognised by its content.

    Args:
        data: the archive.
        name: what error messages call it.

    Raises:
        PackageError: it is no such archive, is damaged, or breaks a rule for packages.
    """
    try:
        if data[:4] == b"PK\x03\x04":
            return _without_outer_folder(_checked(name, _zip_members(name, data)))
        if data[:2] == b"\x1f\x8b":
            data = _gunzip(name, data)
        return _without_outer_folder(_checked(name, _tar_members(name, data)))
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise PackageError(f"{name}: not a readable .zip or .tar.gz ({error})") from error
    except (NotImplementedError, RuntimeError, ValueError, UnicodeError) as error:
        raise PackageError(f"{name}: cannot be unpacked ({error})") from error


def _read_limited(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise PackageError(f"{path}: larger than {MAX_BYTES // 2**20} MiB")
    return data


def _is_ignored(name: str, *, folder: bool) -> bool:
    if folder:
        return name in IGNORED_FOLDERS
    return name in IGNORED_NAMES or name.endswith(IGNORED_ENDINGS)


def _folder_members(folder: Path, root: Path) -> Iterator[tuple[str, PackageFile]]:
    def refuse(error: OSError) -> None:
        raise PackageError(f"bot package {error.filename}: {error.strerror}") from error

    for current, folders, names in os.walk(root, onerror=refuse):
        here = Path(current)
        folders[:] = sorted(name for name in folders if not _is_ignored(name, folder=True))
        for name in folders:
            if (here / name).is_symlink():
                raise PackageError(
                    f"{folder}: {(here / name).relative_to(root)} is a link to a folder; copy it in"
                )
        for name in sorted(names):
            if not _is_ignored(name, folder=False):
                relative = (here / name).relative_to(root).as_posix()
                yield relative, _folder_file(folder, root, relative)


def _folder_file(folder: Path, root: Path, relative: str) -> PackageFile:
    path = root / relative
    try:
        target = path.resolve(strict=True)
        if not target.is_relative_to(root):
            raise PackageError(f"{folder}: {relative} is a link that leaves the package")
        # Not a path that somebody could exchange between the check and the read: one descriptor.
        fd = os.open(target, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, RuntimeError) as error:
        raise PackageError(f"{folder}: {relative} cannot be read ({error})") from error
    with os.fdopen(fd, "rb") as file:
        mode = os.fstat(fd).st_mode
        if not stat.S_ISREG(mode):
            raise PackageError(f"{folder}: {relative} is not a regular file")
        _refuse_special_bits(str(folder), relative, mode)
        return PackageFile(file.read(MAX_BYTES + 1), bool(mode & 0o111))


def _refuse_special_bits(name: str, member: str, mode: int) -> None:
    if mode & (stat.S_ISUID | stat.S_ISGID):
        raise PackageError(f"{name}: {member} has a setuid or setgid bit")


def _checked(
    name: str,
    members: Iterator[tuple[str, PackageFile]],
    max_files: int = MAX_FILES,
    max_bytes: int = MAX_BYTES,
) -> PackageFiles:
    files: PackageFiles = {}
    total = 0
    for member, file in members:
        total += len(file.content)
        if len(files) >= max_files:
            raise PackageError(f"{name}: more than {max_files} files")
        if total > max_bytes:
            raise PackageError(f"{name}: more than {max_bytes // 2**20} MiB in its files")
        if member in files:
            raise PackageError(f"{name}: {member} is there twice")
        if len(member.encode("utf-8", "surrogateescape")) > MAX_NAME_BYTES or not _is_text(member):
            raise PackageError(f"{name}: the file name {member[:80]!r} is too long or not text")
        files[member] = file
    return files


def _is_text(member: str) -> bool:
    return member.isprintable()


def _safe_member(name: str, member: str) -> str:
    """The member's path, normalised; refuses every path that could leave the package."""
    path = PurePosixPath(member)
    if path.is_absolute() or ".." in path.parts or "\\" in member or "\0" in member:
        raise PackageError(f"{name}: {member!r} leads out of the package")
    return path.as_posix()


def _skipped(member: str) -> bool:
    *folders, last = PurePosixPath(member).parts or ("",)
    return any(_is_ignored(part, folder=True) for part in folders) or _is_ignored(
        last, folder=False
    )


def _tar_members(name: str, data: bytes) -> Iterator[tuple[str, PackageFile]]:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for info in archive:
            if info.isdir():
                continue
            member = _safe_member(name, info.name)
            if _skipped(member):
                continue
            if not info.isreg():
                raise PackageError(f"{name}: {member} is a link or a device, not a file")
            _refuse_special_bits(name, member, info.mode)
            content = archive.extractfile(info)
            assert content is not None
            yield member, PackageFile(content.read(MAX_BYTES + 1), bool(info.mode & 0o111))


def _zip_members(name: str, data: bytes) -> Iterator[tuple[str, PackageFile]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = archive.infolist()
        if sum(info.file_size for info in infos) > MAX_RATIO * len(data):
            raise PackageError(f"{name}: unpacks to more than {MAX_RATIO} times its size")
        for info in infos:
            if info.is_dir():
                continue
            member = _safe_member(name, info.filename)
            if _skipped(member):
                continue
            mode = info.external_attr >> 16
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
                raise PackageError(f"{name}: {member} is a link or a device, not a file")
            _refuse_special_bits(name, member, mode)
            with archive.open(info) as content:
                yield member, PackageFile(content.read(MAX_BYTES + 1), bool(mode & 0o111))


def _gunzip(name: str, data: bytes) -> bytes:
    # The header of a tar takes 512 bytes a file, so a package at its limit is a little larger.
    limit = min(MAX_BYTES + MAX_FILES * 2048, MAX_RATIO * len(data))
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
        plain = stream.read(limit + 1)
    if len(plain) > limit:
        raise PackageError(
            f"{name}: unpacks to more than {MAX_BYTES // 2**20} MiB or {MAX_RATIO} times its size"
        )
    return plain


def _without_outer_folder(files: PackageFiles) -> PackageFiles:
    """Drop the one folder that an archive of a folder usually starts with."""
    if "bot.toml" in files:
        return files
    tops = {name.split("/", 1)[0] for name in files}
    if len(tops) != 1 or not all("/" in name for name in files):
        return files
    return {name.split("/", 1)[1]: file for name, file in files.items()}
