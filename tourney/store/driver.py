"""Who drives a run, as the lock tells others."""

import os
import socket

import msgspec

from tourney.store.heartbeat import now

__all__ = ("Driver",)


class Driver(msgspec.Struct, kw_only=True):
    """A process that writes a run."""

    host: str = "an unknown machine"
    process: int = 0
    since: str = ""
    """UTC, ISO 8601."""
    at: str = ""
    """When it last said that it lives, where a lock must be renewed; empty once it has ended."""
    token: str = ""
    """Tells two lives of one process number apart."""

    def __str__(self) -> str:
        return f"process {self.process} on {self.host} since {self.since}"

    @classmethod
    def this(cls) -> "Driver":
        """This process, from now on."""
        return cls(host=socket.gethostname(), process=os.getpid(), since=now())

    @classmethod
    def read(cls, data: bytes) -> "Driver":
        """What a lock says; nobody known if it says nothing."""
        try:
            return msgspec.json.decode(data, type=cls)
        except msgspec.DecodeError:
            return cls()

    def encoded(self) -> bytes:
        """As JSON, one line."""
        return msgspec.json.encode(self) + b"\n"
