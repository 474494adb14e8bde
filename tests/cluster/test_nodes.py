"""A real Ray cluster of several nodes on this machine: nodes come, leave in order, or vanish."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ray.cluster_utils import Cluster

from tests.cluster.conftest import Start, finish
from tourney.store import RunReader

pytestmark = pytest.mark.slow

SECONDS = 240.0
"""Nothing here takes so long, even on a busy machine, unless it never comes."""

ENDLESS = 100_000
FEW = 10
"""Deals a pairing, of three pairings and two matches each."""

RAY = Path(sys.executable).with_name("ray")


CLIENT_TRIES = 3
"""Ray gives the server of each client half a minute to start: not always enough."""


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A head with one core; its processes end with the test."""
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    yield made
    made.shutdown()


@pytest.fixture
def door() -> Iterator[tuple[Cluster, str]]:
    """The same with a door for Ray Client, and its address."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    head = {"num_cpus": 1, "ray_client_server_port": port}
    made = Cluster(initialize_head=True, head_node_args=head)
    yield made, f"ray://127.0.0.1:{port}"
    made.shutdown()


def wait_until(true: Callable[[], bool], process: subprocess.Popen[str]) -> float:
    """Seconds until it is so."""
    begin = time.monotonic()
    while time.monotonic() - begin < SECONDS:
        assert process.poll() is None, process.communicate()[1]
        if true():
            return time.monotonic() - begin
        time.sleep(0.2)
    raise AssertionError(f"not within {SECONDS:.0f} s")


def workers(folder: Path) -> int:
    pulse = RunReader(folder).heartbeat if (folder / "run.json").exists() else None
    return pulse.workers if pulse else 0


def drain(cluster: Cluster, node_id: str) -> None:
    """As an autoscaler does before it takes a node away."""
    subprocess.run(
        [RAY, "drain-node", "--address", cluster.address,
         "--node-id", node_id, "--reason", "DRAIN_NODE_REASON_PREEMPTION",
         "--reason-message", "test", "--deadline-remaining-seconds", "600"],
        check=True, capture_output=True,
    )  # fmt: skip


def matches(folder: Path) -> int:
    return RunReader(folder).info.counts.matches


def arguments(config: Path, out: Path, deals: int) -> tuple[str | Path, ...]:
    small = ("--set", f"tournament.deals={deals}", "--set", "run.block_seconds=0.3")
    return ("run", config, "--out", out, *small)


def test_nodes_come_leave_and_vanish_and_the_games_are_the_same(
    cluster: Cluster, config: Path, tmp_path: Path, start: Start
) -> None:
    config.write_text(config.read_text().replace("workers = 2", ""))
    out = tmp_path / "r"
    process = start(*arguments(config, out, ENDLESS), "--address", cluster.address)
    wait_until(lambda: workers(out) == 1, process)
    second = cluster.add_node(num_cpus=1)
    came = wait_until(lambda: workers(out) == 2, process)
    drain(cluster, second.node_id)
    left = wait_until(lambda: workers(out) == 1, process)
    third = cluster.add_node(num_cpus=1)
    wait_until(lambda: workers(out) == 2, process)
    cluster.remove_node(third, allow_graceful=False)
    wait_until(lambda: workers(out) == 1, process)
    played = matches(out) + 40
    wait_until(lambda: matches(out) >= max(played, 6 * FEW), process)
    os.kill(process.pid, signal.SIGINT)
    code, printed, err = finish(process, SECONDS)
    assert code == 130, err
    print(f"\na new node played after {came:.1f} s, a drained one was free after {left:.1f} s")
    for chatter in ("worker died", "raylet", "(autoscaler"):
        assert chatter not in printed + err, "only our own words reach the user"
    numbers = RunReader(out).scan("matches").select("match").collect()["match"]
    assert numbers.n_unique() == len(numbers) == RunReader(out).info.counts.matches
    code, _, err = finish(start(*arguments(config, tmp_path / "few", FEW)), SECONDS)
    assert code == 0, err
    assert games(out) == games(tmp_path / "few")


# Ray's own: the two files are its log of the server.
@pytest.mark.filterwarnings(
    "ignore:.*ray_client_server:pytest.PytestUnraisableExceptionWarning",
)
def test_a_drained_node_is_seen_through_a_client(
    door: tuple[Cluster, str], config: Path, tmp_path: Path, start: Start
) -> None:
    cluster, address = door
    config.write_text(config.read_text().replace("workers = 2", ""))
    second = cluster.add_node(num_cpus=1)
    out = tmp_path / "r"
    for _ in range(CLIENT_TRIES):
        process = start(*arguments(config, out, ENDLESS), "--address", address, "--resume")
        try:
            wait_until(lambda: workers(out) == 2, process)
            break
        except AssertionError as error:
            if "Starting Ray client server failed" not in str(error):
                raise
    drain(cluster, second.node_id)
    left = wait_until(lambda: workers(out) == 1, process)
    played = matches(out) + 20
    wait_until(lambda: matches(out) >= played, process)
    os.kill(process.pid, signal.SIGINT)
    code, _, err = finish(process, SECONDS)
    assert code == 130, err
    print(f"\na drained node was free after {left:.1f} s")
    info = RunReader(out).info
    assert info.counts.faults == 0, "the blocks it held were finished"
    numbers = RunReader(out).scan("matches").select("match").collect()["match"]
    assert numbers.n_unique() == len(numbers) == info.counts.matches


def games(folder: Path) -> list[tuple[Any, ...]]:
    """The matches of the first deals, without what depends on the clock."""
    rows = RunReader(folder).scan("matches").filter(pl.col("match") < 6 * FEW).sort("match")
    return rows.select("match", "seating", "scores", "actions").collect().rows()


def test_no_more_workers_than_allowed(
    cluster: Cluster, config: Path, tmp_path: Path, start: Start
) -> None:
    config.write_text(config.read_text().replace("workers = 2", "max_workers = 1"))
    cluster.add_node(num_cpus=1)
    out = tmp_path / "r"
    process = start(*arguments(config, out, 100), "--address", cluster.address)
    wait_until(lambda: workers(out) == 1, process)
    code, _, err = finish(process, SECONDS)
    assert code == 0, err
    assert RunReader(out).info.workers == 1
