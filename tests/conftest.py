"""A real S3 server for tests of runs on an object store."""

import http.client
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

START_SECONDS = 60.0
BUCKET = "runs"
SECRET_KEY = "not-to-be-found-in-any-object"


class S3Server:
    """moto's server, a process of its own that keeps objects in memory."""

    def __init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "moto.server", "-p", str(self.port)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.environment = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_REGION": "us-east-1",
        }
        deadline = time.monotonic() + START_SECONDS
        while self._make_bucket() != 200:
            assert time.monotonic() < deadline, "moto's server did not start"
            time.sleep(0.1)

    def _make_bucket(self) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("PUT", f"/{BUCKET}")
            return connection.getresponse().status
        except OSError:
            return 0
        finally:
            connection.close()

    def close(self) -> None:
        self.process.kill()
        self.process.wait(10)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    # One for all: clients keep what they know of a server for the life of this process.
    server = S3Server()
    yield server
    server.close()


@pytest.fixture
def place(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of a prefix that nobody else uses; the environment leads to it."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    return f"s3://{BUCKET}/{secrets.token_hex(4)}"
