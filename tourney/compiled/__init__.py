"""Compiled twins of the modules on the path of one decision, used where they have been built.

The Python source is the one source. `python -m tourney.compiled` (which `make setup` calls where
there is a C compiler) builds the modules of `MODULES` with mypyc into the environment, under the
digest of that source: once a line of it changes, the twins are another source's, are not found, and
the source itself runs, until somebody builds again. Both give the same games, byte for byte.
"""

import hashlib
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

__all__ = ("MODULES", "folder", "in_use", "use")

PACKAGE = Path(__file__).parents[1]

MODULES = (
    "tourney.deals",
    "tourney.games.cards",
    "tourney.games.dam",
    "tourney.games.dam_rows",
    "tourney.games.dam_state",
    "tourney.games.dam_swap",
    "tourney.games.hands",
    "tourney.games.rams.dealing",
    "tourney.games.rams.exchange",
    "tourney.games.rams.game",
    "tourney.games.rams.knocks",
    "tourney.games.rams.offers",
    "tourney.games.rams.play",
    "tourney.games.rams.view",
    "tourney.games.telling",
    "tourney.games.tricks",
    "tourney.protocol.codec",
    "tourney.protocol.conversation",
    "tourney.referee.bots",
    "tourney.referee.match",
    "tourney.referee.processes",
    "tourney.referee.table",
)
"""What is compiled. Not among them: modules that declare msgspec's structs, whose options the
compiler would drop; Rams' scoring, where it would make whole numbers floats; and everything that
runs less than once a decision."""

DEPENDENCIES = ("config/models.py", "errors.py", "sandbox/base.py")
"""Of the modules elsewhere, those whose types the compiled code relies on."""

SWITCH = "TOURNEY_COMPILED"
"""Set to 0, this variable has the source run whatever is built."""

SHARED = "__mypyc"
"""How the name of the library ends that the compiled modules share."""


@cache
def folder() -> Path:
    """Where the twins of the present source belong, in the environment that runs us."""
    digest = hashlib.sha256(sys.implementation.cache_tag.encode())
    parts = [PACKAGE / "games", PACKAGE / "protocol", PACKAGE / "referee"]
    paths = [PACKAGE / "deals.py", *(PACKAGE / name for name in DEPENDENCIES)]
    for path in sorted([*paths, *(path for part in parts for path in part.rglob("*.py"))]):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    return Path(sys.prefix) / "lib" / "tourney-compiled" / digest.hexdigest()[:16]


class _Finder(importlib.machinery.PathFinder):
    """Finds the compiled modules before Python finds their source."""

    @classmethod
    def find_spec(
        cls,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        if fullname not in MODULES and not fullname.endswith(SHARED):
            return None
        place = folder().joinpath(*fullname.split("."))
        for suffix in importlib.machinery.EXTENSION_SUFFIXES:
            file = place.with_name(place.name + suffix)
            if file.exists():
                return importlib.util.spec_from_file_location(fullname, file)
        return None


def in_use() -> bool:
    """Whether the compiled modules run."""
    return _Finder in sys.meta_path


def use() -> None:
    """Have the compiled modules imported from now on, if they are built and not switched off."""
    if os.environ.get(SWITCH) != "0" and not in_use() and folder().is_dir():
        sys.meta_path.insert(0, _Finder)
