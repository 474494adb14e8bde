"""`bot.toml`: what a bot package says of itself (PROTOCOL.md section 1). Nothing is run here."""

import difflib
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any

import msgspec

from tourney.errors import PackageError
from tourney.packages.files import PackageFiles, read_package

__all__ = ("Manifest", "files_manifest", "load_manifest")

MANIFEST_NAME = "bot.toml"

_Word = Annotated[str, msgspec.Meta(min_length=1)]
Words = Annotated[tuple[_Word, ...], msgspec.Meta(min_length=1)]
"""A program and its arguments, or another list that may not be empty."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table `[bot]` of a manifest."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9-]{1,38}$")]
    """Lower-case letters, digits and hyphens; 2 to 39 of them."""
    games: Words
    """Names of the games it plays."""
    run: Words
    """Program and arguments, started in the package's folder."""
    build: tuple[Words, ...] = ()
    """Commands that make the program, run once inside the sandbox."""
    version: Annotated[str, msgspec.Meta(max_length=100)] = ""
    """Free text; the identity is the digest."""
    author: Annotated[str, msgspec.Meta(max_length=200)] = ""
    description: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    language: Annotated[str, msgspec.Meta(max_length=40)] = ""
    """Shown on the dashboard; picks no behaviour."""


_KEYS = tuple(field.name for field in msgspec.structs.fields(Manifest))


def load_manifest(path: Path) -> Manifest:
    """The manifest of the package at `path`: a folder, a `.zip` or a `.tar.gz`.

    Raises:
        PackageError: the package cannot be read, has no `bot.toml`, or the manifest is wrong; the
            message names the file and the key.
    """
    return files_manifest(read_package(path), name=str(path))


def files_manifest(files: PackageFiles, *, name: str) -> Manifest:
    """The manifest among files that were read already.

    Args:
        files: the package.
        name: what error messages call the package.

    Raises:
        PackageError: there is no `bot.toml`, or it is wrong.
    """
    where = f"{name}/{MANIFEST_NAME}"
    if MANIFEST_NAME not in files:
        raise PackageError(f"{where}: no such file; every bot package has a {MANIFEST_NAME}")
    try:
        document = tomllib.loads(files[MANIFEST_NAME].content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PackageError(f"{where}: not valid TOML: {error}") from error
    for key in document:
        if key != "bot":
            raise PackageError(f"{where}: unknown table {key!r}; {_hint(key, ('bot',))}")
    table = document.get("bot")
    if not isinstance(table, dict):
        raise PackageError(f"{where}: the table [bot] is missing")
    return _convert(where, table)


def _convert(where: str, table: dict[str, Any]) -> Manifest:
    for key in table:
        if key not in _KEYS:
            raise PackageError(f"{where}: unknown key {key!r} in [bot]; {_hint(key, _KEYS)}")
    try:
        return msgspec.convert(table, Manifest)
    except msgspec.ValidationError as error:
        raise PackageError(f"{where}: {_in_words(str(error))}") from error


def _hint(key: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"


def _in_words(text: str) -> str:
    """Turn msgspec's message round, so that the key comes first: `bot.run: Expected ...`."""
    if missing := re.fullmatch(r"Object missing required field `(\w+)`", text):
        return f"the key {missing[1]!r} is missing in [bot]"
    located = re.fullmatch(r"(.*) - at `\$\.?(.*)`", text, re.DOTALL)
    if located is None:
        return text
    if located[2] == "name" and "matching regex" in located[1]:
        return "bot.name: 2 to 39 lower-case letters, digits and hyphens, not a hyphen first"
    return f"bot.{located[2]}: {located[1]}"
