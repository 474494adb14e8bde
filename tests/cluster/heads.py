"""A cluster of one node that `ray start` makes, with its doors: for drivers, clients and jobs."""

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ray.autoscaler._private.fake_multi_node.node_provider import (
    FAKE_HEAD_NODE_ID,
    FakeMultiNodeProvider,
)

from tourney.executors import reaper

RAY = Path(sys.executable).with_name("ray")

UP_SECONDS = 240.0
"""A head is up sooner, even on a busy machine, unless it never is."""


COMMANDS = (
    "initialization_commands",
    "setup_commands",
    "head_setup_commands",
    "worker_setup_commands",
    "head_start_ray_commands",
    "worker_start_ray_commands",
)


@dataclass(frozen=True)
class Head:
    """Where to knock."""

    address: str
    client: str
    jobs: str
    session: Path


@contextlib.contextmanager
def head(cpus: int, *, jobs: bool = False, most: int = 0) -> Iterator[Head]:
    """A head on free ports of this machine's loopback; all of it ends with the block.

    Args:
        cpus: of the head.
        jobs: whether there are dashboard and jobs.
        most: nodes of one CPU that Ray's autoscaler may start; it gives them back after six
            seconds without work.
    """
    gcs, client, dashboard, agent = _free_ports(4)
    # Sockets' paths are short.
    session = Path(tempfile.mkdtemp(prefix="tourney-ray-", dir="/tmp"))
    token = secrets.token_hex(16)
    env = {
        **os.environ,
        reaper.TOKEN_VARIABLE: token,
        "RAY_TMPDIR": str(session),
        "RAY_raylet_start_wait_time_s": f"{UP_SECONDS:.0f}",
    }
    scaling = []
    if most:
        file = session / "scaling.yaml"
        file.write_text(json.dumps(_scaling(cpus, most, f"127.0.0.1:{gcs}")))
        scaling = [f"--autoscaling-config={file}"]
        env |= {
            "RAY_FAKE_CLUSTER": "1",
            "AUTOSCALER_UPDATE_INTERVAL_S": "1",
            "RAY_enable_autoscaler_v2": "1",
            "RAY_CLOUD_INSTANCE_ID": FAKE_HEAD_NODE_ID,
            "RAY_OVERRIDE_NODE_ID_FOR_TESTING": FAKE_HEAD_NODE_ID,
        }
    log = session / "ray.log"
    with log.open("wb") as said:
        process = subprocess.Popen(
            [RAY, "start", "--head", "--block", "--node-ip-address=127.0.0.1", f"--port={gcs}",
             f"--ray-client-server-port={client}", f"--include-dashboard={str(jobs).lower()}",
             f"--dashboard-port={dashboard}", f"--dashboard-agent-listen-port={agent}",
             f"--temp-dir={session}", f"--num-cpus={cpus}", "--disable-usage-stats", *scaling],
            stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=env,
        )  # fmt: skip
    try:
        for port in (gcs, client, *((dashboard,) if jobs else ())):
            _wait_for_port(port, process, log)
        yield Head(
            f"127.0.0.1:{gcs}",
            f"ray://127.0.0.1:{client}",
            f"http://127.0.0.1:{dashboard}",
            session,
        )
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(20)
        reaper.sweep(set(), token)
        process.wait()
        shutil.rmtree(session, ignore_errors=True)


def _scaling(cpus: int, most: int, gcs: str) -> dict[str, Any]:
    """Ray's own provider of nodes that are only processes, as a cluster file."""
    worker = {"CPU": 1, "object_store_memory": 80_000_000}
    return {
        "cluster_name": "tourney-test",
        "max_workers": most,
        "provider": {
            # By its module: under its name Ray would read a file that its wheel does not have.
            "type": "external",
            "module": f"{FakeMultiNodeProvider.__module__}.{FakeMultiNodeProvider.__name__}",
            "use_node_id_as_ip": True,
            "disable_node_updaters": True,
            "disable_launch_config_check": True,
            "launch_multiple": True,
            "head_node_id": FAKE_HEAD_NODE_ID,
            "gcs_address": gcs,
        },
        "head_node_type": "ray.head.default",
        "available_node_types": {
            "ray.head.default": {"resources": {"CPU": cpus}, "node_config": {}, "max_workers": 0},
            "ray.worker.cpu": {
                "resources": worker,
                "node_config": {},
                "min_workers": 0,
                "max_workers": most,
            },
        },
        # Nothing of this is done here, yet all of it is looked up.
        **{name: [] for name in COMMANDS},
        "auth": {},
        "docker": {},
        "file_mounts": {},
        "cluster_synced_files": [],
        "rsync_exclude": [],
        "rsync_filter": [],
        "upscaling_speed": 1.0,
        "idle_timeout_minutes": 0.1,
    }


def _free_ports(count: int) -> Sequence[int]:
    with contextlib.ExitStack() as held:
        probes = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [probe.getsockname()[1] for probe in probes]


def _wait_for_port(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + UP_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        time.sleep(0.2)
    raise AssertionError(f"nothing listens at port {port}")
