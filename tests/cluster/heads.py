"""A cluster of one node that `ray start` makes, with its doors: for drivers, clients and jobs."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

RAY = Path(sys.executable).with_name("ray")

UP_SECONDS = 240.0
"""A head is up sooner, even on a busy machine, unless it never is."""


@dataclass(frozen=True)
class Head:
    """Where to knock."""

    address: str
    client: str
    jobs: str
    session: Path


@contextlib.contextmanager
def head(
    *options: str | Path, env: Mapping[str, str] | None = None, jobs: bool = False
) -> Iterator[Head]:
    """A head on free ports of this machine's loopback; it ends with the block.

    Args:
        options: of `ray start`.
        env: added to the environment.
        jobs: whether there are dashboard and jobs.
    """
    gcs, client, dashboard, agent = _free_ports(4)
    # Sockets' paths are short.
    session = Path(tempfile.mkdtemp(prefix="tourney-ray-", dir="/tmp"))
    process = subprocess.Popen(
        [RAY, "start", "--head", "--block", "--node-ip-address=127.0.0.1", f"--port={gcs}",
         f"--ray-client-server-port={client}", f"--include-dashboard={str(jobs).lower()}",
         f"--dashboard-port={dashboard}", f"--dashboard-agent-listen-port={agent}",
         f"--temp-dir={session}", "--disable-usage-stats", *options],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, **(env or {})},
    )  # fmt: skip
    try:
        for port in (gcs, client, *((dashboard, agent) if jobs else ())):
            _wait_for_port(port, process)
        yield Head(
            f"127.0.0.1:{gcs}",
            f"ray://127.0.0.1:{client}",
            f"http://127.0.0.1:{dashboard}",
            session,
        )
    finally:
        # It ends what it started.
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(session, ignore_errors=True)


def _free_ports(count: int) -> Sequence[int]:
    with contextlib.ExitStack() as held:
        probes = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [probe.getsockname()[1] for probe in probes]


def _wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + UP_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, "the head ended by itself"
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        time.sleep(0.2)
    raise AssertionError(f"nothing listens at port {port}")
