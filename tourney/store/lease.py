"""The lock of a run on an object store, which cannot know that a process died: it must be renewed.

An object names the driver and the moment of its last sign of life. A driver replaces it every few
seconds, always on condition that it is the one it wrote last; whoever finds it old enough may take
it over, on the same condition, so of several only one can. A driver that was away for long (its
machine slept, its network was down) finds out before it commits. A commit that is on its way at
that very moment fails by itself, as the journal too is replaced on such a condition.
"""

import secrets
import threading
import time
from contextlib import suppress

import msgspec

from tourney.errors import StoreError
from tourney.store import heartbeat
from tourney.store.driver import Driver
from tourney.store.storage import Changed, Storage

__all__ = ("LEASE_SECONDS", "Lease")

FILE = "driver.json"

LEASE_SECONDS = 30.0
"""A driver silent for so long has lost the run; machines' clocks may differ by some seconds."""

RENEW_SECONDS = 5.0


class Lease:
    """A right to write that lasts as long as it is renewed, which a thread of its own does."""

    def __init__(self, storage: Storage) -> None:
        """Take it.

        Raises:
            StoreError: another driver has it.
            OSError: the storage refuses.
        """
        self._storage = storage
        self._driver = Driver.this()
        self._driver.token = secrets.token_hex(8)
        self._lost = ""
        self._renewed = -LEASE_SECONDS
        self._one_at_a_time = threading.Lock()
        self._closed = threading.Event()
        self._version = self._free_version()
        self._renew()
        if self._lost:
            raise StoreError(self._lost)
        self._thread = threading.Thread(target=self._keep, daemon=True, name="lease")
        self._thread.start()

    def _free_version(self) -> str:
        """The version of the object that may be replaced; empty if there is none."""
        try:
            data, version = self._storage.read(FILE)
        except FileNotFoundError:
            return ""
        other = Driver.read(data)
        silent = heartbeat.seconds_since(other.at) if other.at else LEASE_SECONDS
        if silent < LEASE_SECONDS:
            raise StoreError(
                f"{self._storage} is being played by {other}, heard of {silent:.0f} s ago: wait "
                "until that ends, or stop it with Ctrl-C; if it was killed, try again in "
                f"{LEASE_SECONDS - silent:.0f} s"
            )
        return version

    def _renew(self) -> None:
        with self._one_at_a_time:
            begun = time.monotonic()
            self._driver.at = heartbeat.now()
            try:
                self._version = self._storage.replace(FILE, self._driver.encoded(), self._version)
            except (Changed, FileNotFoundError):
                self._lost = self._taken()
            else:
                self._renewed = begun

    def _taken(self) -> str:
        other = Driver()
        with suppress(OSError):
            other = Driver.read(self._storage.read(FILE)[0])
        return (
            f"{self._storage} is being played by {other}, which took it over from this process: "
            "what was saved before is kept"
        )

    def _keep(self) -> None:
        while not self._lost and not self._closed.wait(RENEW_SECONDS):
            # Whoever commits next is told; until then the storage may come back.
            with suppress(OSError):
                self._renew()

    def check(self) -> None:
        """Make sure that the run is still ours.

        Raises:
            StoreError: another driver took it, or may have: the storage cannot be reached.
        """
        if not self._lost and time.monotonic() - self._renewed > LEASE_SECONDS:
            try:
                self._renew()
            except OSError as error:
                raise StoreError(str(error)) from error
        if self._lost:
            raise StoreError(self._lost)

    def close(self) -> None:
        """Say that we have ended, if the storage can be reached; else it expires."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._thread.join()
        if self._lost or time.monotonic() - self._renewed > LEASE_SECONDS:
            return
        ended = msgspec.structs.replace(self._driver, at="")
        with suppress(OSError, Changed):
            self._storage.replace(FILE, ended.encoded(), self._version)
