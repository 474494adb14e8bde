"""Every run that a test opens is given back."""

from collections.abc import Iterator
from typing import Any

import pytest

from tourney.store import RunWriter


@pytest.fixture(autouse=True)
def closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    opened: list[RunWriter] = []
    real = RunWriter.__init__

    def remember(self: RunWriter, *args: Any) -> None:
        real(self, *args)
        opened.append(self)

    monkeypatch.setattr(RunWriter, "__init__", remember)
    yield
    for one in opened:
        one.close()
