"""A package for these tests."""

from pathlib import Path

import pytest

from tests.unit.packages.samples import MANIFEST


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A small package with a folder and a program in it."""
    folder = tmp_path / "queen-keeper"
    (folder / "data").mkdir(parents=True)
    (folder / "bot.toml").write_text(MANIFEST)
    (folder / "bot.py").write_text("print('hej')\n")
    (folder / "data" / "tool").write_bytes(b"\x7fELF")
    (folder / "data" / "tool").chmod(0o711)
    return folder
