"""From what a user says to the storage: a path, or `s3://BUCKET/PREFIX`."""

from pathlib import Path

from tourney.errors import StoreError
from tourney.store.folder import Folder
from tourney.store.storage import Storage

__all__ = ("Location", "storage_at")

Location = str | Path | Storage
"""A place, by its name or opened."""


def storage_at(where: Location) -> Storage:
    """The storage at `where`; nothing is looked at yet.

    Raises:
        StoreError: it is no path and no URL that we know, or the package for it is missing.
    """
    if isinstance(where, str) and "://" in where:
        scheme, _, rest = where.partition("://")
        if scheme != "s3" or not rest.strip("/"):
            raise StoreError(f"{where} is no place for runs: give a folder or s3://BUCKET/PREFIX")
        try:
            from tourney.store.bucket import Bucket
        except ModuleNotFoundError as error:
            raise StoreError(
                f"{where} needs the package {error.name}, which comes with the extra `s3`: "
                "pip install 'tourney[s3]'"
            ) from error
        return Bucket(rest.strip("/"))
    return Folder(Path(where)) if isinstance(where, str | Path) else where
