"""Bot packages: manifest, identity, archive, and a node's store of built snapshots."""

from tourney.packages.archive import pack
from tourney.packages.cache import cache_folder, install
from tourney.packages.digest import package_digest
from tourney.packages.manifest import Manifest, load_manifest

__all__ = ("Manifest", "cache_folder", "install", "load_manifest", "pack", "package_digest")
