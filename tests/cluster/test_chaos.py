"""Some schedules of `python -m tests.cluster.chaos`, which plays as many as you like."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster import chaos
from tests.cluster.machines import Network, cannot
from tests.cluster.schedules import KINDS, Event, schedule
from tourney.store import RunReader

pytestmark = [
    pytest.mark.slow,
    # A busy machine may need many times what a quiet one takes.
    pytest.mark.timeout(1800),
]

Besieged = tuple[Network, Path, Path]

SCHEDULES = ("slow-12", "slow-13", "slow-14", "slow-15")


@pytest.fixture(scope="module")
def besieged() -> Iterator[Besieged]:
    reason = cannot()
    if reason:
        pytest.skip(f"no machines of namespaces here: {reason}")
    with chaos.besieged(chaos.some_cpus(), deals=100) as made:
        yield made


def test_the_schedules_have_every_kind_of_event() -> None:
    kinds = {event.kind for seed in SCHEDULES for event in schedule(seed, 1.0)}
    assert kinds == set(KINDS)


@pytest.mark.parametrize("seed", SCHEDULES)
def test_a_run_under_fire_is_the_undisturbed_one(besieged: Besieged, seed: str) -> None:
    events = schedule(seed, chaos.seconds_of(besieged[2]))
    told = chaos.siege(*besieged, events, seed)
    print(f"\n{told}")
    assert told.wrong == []


def test_no_bot_is_charged_for_a_machine_that_stood_still(besieged: Besieged) -> None:
    network, config, whole = besieged
    usual = config.with_name("usual.toml")
    text = config.read_text()
    assert "move_ms = 600000" in text
    usual.write_text(text.replace("move_ms = 600000", "move_ms = 2000"))
    events = [Event(0.5, "pause", 0, 6.0), Event(1.5, "pause", 1, 6.0)]
    told = chaos.siege(network, usual, whole, events, "paused")
    print(f"\n{told}")
    assert told.wrong == []
    assert RunReader(network.disk / "paused").info.counts.faults == 0
