"""The rounds of a run that were drawn, a line each, as long as none of their groups is committed.

A round is written before the first of its groups is played, so that whoever goes on with the run
plays the same tables, and whoever checks it sees what was drawn. Rounds lie in objects of a bounded
size, the last of which is replaced whole.
"""

from typing import Generic, TypeVar

import msgspec

from tourney.errors import StoreError
from tourney.store.storage import Storage, refused

__all__ = ("RoundBook",)

T = TypeVar("T", bound=msgspec.Struct)

CHUNK = 64
"""Rounds in an object: a round costs the writing of no more, and a long run has few objects."""


class RoundBook(Generic[T]):
    """The rounds in a run's folder."""

    def __init__(self, folder: Storage, kind: type[T]) -> None:
        """Read what is there.

        Args:
            folder: of the run.
            kind: of a round.

        Raises:
            StoreError: it cannot be read.
        """
        self._folder = folder
        self.rounds: list[T] = []
        try:
            while len(self.rounds) % CHUNK == 0:
                lines = folder.read(_name(len(self.rounds)))[0].splitlines()
                self.rounds += [msgspec.json.decode(line, type=kind) for line in lines]
        except FileNotFoundError:
            pass
        except (OSError, msgspec.DecodeError) as error:
            raise StoreError(f"the rounds of {folder} are unreadable: {error}") from error

    def append(self, drawn: T) -> None:
        """Keep a round; it is there when this returns.

        Raises:
            StoreError: the storage refuses.
        """
        self.rounds.append(drawn)
        first = (len(self.rounds) - 1) // CHUNK * CHUNK
        data = b"".join(msgspec.json.encode(one) + b"\n" for one in self.rounds[first:])
        try:
            self._folder.write(_name(first), data)
        except OSError as error:
            raise refused(f"cannot write in {self._folder}", error) from error


def _name(first: int) -> str:
    return f"rounds-{first:06d}.jsonl"
