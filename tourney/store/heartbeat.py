"""A sign of life beside a run's rows, by which others tell a run that plays from a dead one.

Apart from `run.json`, which changes when results do: pages need not be drawn anew for a heartbeat.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from tourney.store.storage import Storage

__all__ = ("FILE", "SILENT_SECONDS", "Heartbeat", "now", "read", "seconds_since", "write")

FILE = "heartbeat.json"

SILENT_SECONDS = 20.0
"""A running run that says nothing for so long has lost its driver, or the way to the storage; the
clocks of two machines may differ by most of it."""


class Heartbeat(msgspec.Struct, kw_only=True):
    """What the driver says of itself every few seconds."""

    at: str = ""
    """UTC, ISO 8601."""
    committed: str = ""
    """When results were saved last, in this session; empty before the first time."""
    rate: float = 0.0
    """Matches a second in this session."""
    nodes: Mapping[str, int] = {}
    """Workers that can play, by the name of their node."""
    blocks: int = 0
    """Blocks at workers."""

    @property
    def workers(self) -> int:
        """Workers on all nodes."""
        return sum(self.nodes.values())


def write(folder: Storage, heartbeat: Heartbeat) -> None:
    """Replace the last heartbeat.

    Raises:
        OSError: the storage refuses.
    """
    folder.write(FILE, msgspec.json.encode(heartbeat) + b"\n")


def read(folder: Storage) -> Heartbeat | None:
    """The last heartbeat; None before the first, or if it is unreadable."""
    try:
        return msgspec.json.decode(folder.read(FILE)[0], type=Heartbeat)
    except (OSError, msgspec.DecodeError):
        return None


def now() -> str:
    """This moment, UTC, ISO 8601 to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def seconds_since(moment: str) -> float:
    """How long ago a moment in ISO 8601 was, by this machine's clock; 0 if it is to come."""
    return max(0.0, (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds())
