"""Runs in a bucket of an object store that speaks S3.

Endpoint, region and credentials are those of the environment (`AWS_ENDPOINT_URL`, `AWS_REGION`,
`AWS_ACCESS_KEY_ID` and so on, or the machine's role). Nothing of them is kept or shown.

An object appears whole or not at all, and later readers see it: S3 promises that. One object can
be replaced on condition that it is the one we know, and on that the journal and the lock rest.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache

import polars as pl
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)
from obstore.store import S3Store

from tourney.store.lease import Lease
from tourney.store.storage import Changed

__all__ = ("Bucket",)

CONNECT = timedelta(seconds=5)
REQUEST = timedelta(seconds=15)
"""One try, of at most five megabytes."""

RETRY = timedelta(seconds=20)
"""Since the first try, after which none is begun. Below the lock's `lease.LEASE_SECONDS`."""

RETRIES = 20
BACKOFF = timedelta(seconds=3)
"""The longest pause between two tries."""

TRIES = 2
"""Of a conditional write, whose answer may get lost."""

SCAN_RETRIES = 2
NO_BUCKET = "NoSuchBucket"
"""S3's word for it."""

SHOWN = 200


@dataclass(frozen=True)
class Bucket:
    """A prefix of a bucket."""

    path: str
    """The bucket's name, then the prefix."""

    def __str__(self) -> str:
        return f"s3://{self.path}"

    @property
    def name(self) -> str:
        """The last part of the prefix, or the bucket."""
        return self.path.rpartition("/")[2]

    @property
    def parent(self) -> "Bucket":
        """One part less; a bucket is its own parent."""
        return Bucket(self.path.rpartition("/")[0] or self.path)

    def child(self, name: str) -> "Bucket":
        """A longer prefix."""
        return Bucket(f"{self.path}/{name}")

    def prepare(self, names: Sequence[str]) -> None:
        """A prefix exists when something has it."""

    def read(self, name: str) -> tuple[bytes, str]:
        """An object and its ETag."""
        with self._telling():
            found = self._store.get(name)
            return bytes(found.bytes()), found.meta["e_tag"] or ""

    def version(self, name: str) -> str:
        """The ETag."""
        try:
            with self._telling():
                return self._store.head(name)["e_tag"] or ""
        except FileNotFoundError:
            return ""

    def write(self, name: str, data: bytes, *, private: bool = False) -> str:
        """Put an object; who may read the bucket may read it."""
        del private
        with self._telling():
            return self._store.put(name, data)["e_tag"] or ""

    def replace(self, name: str, data: bytes, version: str) -> str:
        """Put an object if that version of it is there."""
        for left in reversed(range(TRIES)):
            try:
                with self._telling():
                    mode = {"e_tag": version} if version else "create"
                    return self._store.put(name, data, mode=mode)["e_tag"] or ""  # type: ignore[arg-type]  # a TypedDict with less than all keys
            except Changed:
                # What is there may be ours: the first answer got lost, and a second try met it.
                there, found = self.read(name)
                if there == data:
                    return found
                raise
            except OSError:
                if not left:
                    raise
        raise AssertionError("the last try returns or raises")

    def delete(self, names: Sequence[str]) -> None:
        """Remove objects, many in one request."""
        if names:
            with suppress(FileNotFoundError), self._telling():
                self._store.delete(list(names))

    def names(self, name: str = "") -> list[str]:
        """Objects and prefixes, up to the next `/`."""
        with self._telling():
            found = self._store.list_with_delimiter(name or None)
        paths = [*found["common_prefixes"], *(one["path"] for one in found["objects"])]
        return [path.rstrip("/").rpartition("/")[2] for path in paths]

    def scan(self, names: Sequence[str]) -> pl.LazyFrame:
        """Rows of objects; only the parts that a query needs are fetched."""
        return pl.scan_parquet(
            [f"{self}/{name}" for name in names],
            glob=False,
            storage_options={
                "aws_allow_http": "true",
                "connect_timeout": _milliseconds(CONNECT),
                "timeout": _milliseconds(REQUEST),
                "max_retries": SCAN_RETRIES,
            },
            # The environment's, as for writing, and not those of another library.
            credential_provider=None,
        )

    def lock(self) -> Lease:
        """Become the driver."""
        return Lease(self)

    @property
    def _store(self) -> S3Store:
        return _opened(self.path, os.environ.get("AWS_ENDPOINT_URL"))

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Errors of the library become ours."""
        try:
            yield
        except (AlreadyExistsError, PreconditionError) as error:
            raise Changed(str(self)) from error
        except (BaseError, FileNotFoundError) as error:
            if isinstance(error, FileNotFoundError) and NO_BUCKET not in str(error):
                raise
            raise OSError(_reason(error)) from error


def _milliseconds(span: timedelta) -> str:
    return f"{span.total_seconds() * 1000:.0f}ms"


def _reason(error: Exception) -> str:
    server = os.environ.get("AWS_ENDPOINT_URL") or "Amazon's servers (AWS_ENDPOINT_URL is not set)"
    if NO_BUCKET in str(error):
        return f"{server} has no such bucket: make it, or correct the name"
    if isinstance(error, PermissionDeniedError | UnauthenticatedError):
        return (
            f"{server} refuses: check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and "
            "what the bucket's policy allows"
        )
    text = str(error).partition("\n")[0]
    return (
        f"{server} does not answer as it should: check that it runs and can be reached from here, "
        f"and AWS_ENDPOINT_URL ({text[:SHOWN]})"
    )


@lru_cache(maxsize=64)
def _opened(path: str, _server: str | None) -> S3Store:
    bucket, _, prefix = path.partition("/")
    return S3Store(
        bucket,
        prefix=prefix or None,
        client_options={"allow_http": True, "connect_timeout": CONNECT, "timeout": REQUEST},
        retry_config={
            "max_retries": RETRIES,
            "retry_timeout": RETRY,
            "backoff": {"init_backoff": timedelta(seconds=0.2), "max_backoff": BACKOFF, "base": 2},
        },
    )
