"""`tourney doctor` as a user types it: here, and where something is missing."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.test_sandbox_refusals import ALL_NAMESPACES, FORBID_NAMESPACES

ROOT = Path(__file__).parents[2]

ATTACKS = 19


def doctor(
    *words: str, prefix: tuple[str, ...] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*(prefix or (sys.executable, "-m", "tourney")), "doctor", *words],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        cwd=ROOT,
        env={**os.environ, **environment},
    )


def lines(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    """Lines of this machine by name."""
    [machine] = json.loads(done.stdout)["machines"]
    return {line["name"]: line for line in machine["lines"]}


@pytest.fixture
def cache() -> Iterator[Path]:
    """A cache folder that a bot's user can reach."""
    folder = Path(f"/var/tmp/tourney-doctor-{os.getpid()}")
    folder.mkdir(mode=0o755)
    yield folder
    shutil.rmtree(folder)


def test_a_healthy_machine(cache: Path) -> None:
    began = time.monotonic()
    done = doctor("--json", TOURNEY_CACHE=str(cache))
    assert time.monotonic() - began < 20
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["ok"] is True
    found = lines(done)
    assert found["bwrap"]["value"] == "a probe ran isolated"
    assert found["smoke test"]["value"].startswith(f"all {ATTACKS} held: files, processes")
    assert found["python3"]["value"].startswith("says hello inside")
    assert found["bots' cache"]["value"].startswith(f"{cache}, ")
    assert found["Ray"]["state"] == "ok"
    assert {"kernel", "open files", "core_pattern", "wall time", "cores"} <= set(found)
    assert all(bool(line["fix"]) == (line["state"] != "ok") for line in found.values())


def test_text_for_a_person(cache: Path) -> None:
    done = doctor(TOURNEY_CACHE=str(cache))
    assert done.returncode == 0
    assert "  ok    sandbox    bubblewrap          " in done.stdout
    assert done.stdout.endswith("\nready\n")


def test_without_bubblewrap(tmp_path: Path, cache: Path) -> None:
    done = doctor("--json", PATH=str(tmp_path), TOURNEY_CACHE=str(cache))
    assert done.returncode == 1
    assert json.loads(done.stdout)["ok"] is False
    found = lines(done)
    assert found["bubblewrap"]["state"] == "fail"
    assert found["bubblewrap"]["fix"].startswith("apt-get install bubblewrap")
    # Nothing is said of what could not be tried; the rest of the machine is looked at.
    assert not {"bwrap", "smoke test", "python3"} & set(found)
    assert found["kernel"]["state"] == "ok"


@pytest.mark.parametrize(
    ("version", "state", "words"),
    [("0.6.2", "fail", "install version 0.8"), ("nonsense", "fail", "real bubblewrap")],
)
def test_another_bubblewrap(
    tmp_path: Path, cache: Path, version: str, state: str, words: str
) -> None:
    (tmp_path / "bwrap").write_text(f"#!/bin/sh\necho bubblewrap {version}\n")
    (tmp_path / "bwrap").chmod(0o755)
    done = doctor("--json", PATH=str(tmp_path), TOURNEY_CACHE=str(cache))
    assert done.returncode == 1
    assert lines(done)["bubblewrap"]["state"] == state
    assert words in lines(done)["bubblewrap"]["fix"]


def test_in_a_container_that_forbids_namespaces(cache: Path) -> None:
    prefix = (sys.executable, "-c", FORBID_NAMESPACES, "-m", "tourney")
    environment = {"TEST_FORBIDDEN_FLAGS": str(ALL_NAMESPACES), "TOURNEY_CACHE": str(cache)}
    done = doctor("--json", prefix=prefix, **environment)
    assert done.returncode == 1
    found = lines(done)
    assert found["bwrap"]["state"] == "fail"
    assert "forbids user namespaces" in found["bwrap"]["value"]
    assert "seccomp=unconfined" in found["bwrap"]["fix"]
    assert found["none"]["state"] == "ok"
    assert "smoke test" not in found


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's bots are another user")
def test_a_cache_that_bots_cannot_reach(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    done = doctor("--json", TOURNEY_CACHE=str(closed / "cache"))
    assert done.returncode == 1
    assert lines(done)["bots' cache"]["state"] == "fail"
    assert "every user can reach" in lines(done)["bots' cache"]["fix"]


def test_a_weaker_kind_is_a_warning_and_none_is_never_attacked(cache: Path) -> None:
    done = doctor("--json", "--sandbox", "bwrap-noproc", TOURNEY_CACHE=str(cache))
    assert done.returncode == 0
    found = lines(done)
    assert found["bwrap-noproc"]["state"] == "warn"
    assert "Java does not start" in found["bwrap-noproc"]["value"]
    assert found["smoke test"]["value"].startswith(f"all {ATTACKS} held")
    done = doctor("--json", "--sandbox", "none", TOURNEY_CACHE=str(cache))
    assert done.returncode == 0
    assert lines(done)["none"]["state"] == "warn"
    assert "smoke test" not in lines(done)


def test_no_such_sandbox() -> None:
    done = doctor("--sandbox", "no-such")
    assert done.returncode == 2
    assert "no sandboxes plug-in is called 'no-such'" in done.stderr


def test_no_cluster() -> None:
    done = doctor("--address", "127.0.0.1:1")
    assert done.returncode == 4
    assert "ray start --head" in done.stderr


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_each_node_of_a_cluster(cache: Path) -> None:
    script = (
        "import sys; from ray.cluster_utils import Cluster\n"
        "c = Cluster(initialize_head=True, head_node_args={'num_cpus': 1})\n"
        "c.add_node(num_cpus=1); c.wait_for_nodes()\n"
        "print(c.address, flush=True); sys.stdin.read(); c.shutdown()\n"
    )
    cluster = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "TOURNEY_CACHE": str(cache)},
    )
    try:
        assert cluster.stdout is not None
        address = cluster.stdout.readline().strip()
        done = doctor("--json", "--address", address, TOURNEY_CACHE=str(cache))
    finally:
        cluster.communicate(timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    here, *nodes = json.loads(done.stdout)["machines"]
    assert here["name"].endswith("(here)")
    assert len(nodes) == 2
    for node in nodes:
        values = {line["name"]: line["value"] for line in node["lines"]}
        assert values["smoke test"].startswith(f"all {ATTACKS} held")
