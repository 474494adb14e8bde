"""Ways into a cluster: its address, Ray Client, a job; and the token that all of them need."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.conftest import ROOT, Start, finish
from tests.cluster.heads import RAY, head
from tourney.errors import WorkerLost
from tourney.store import RunReader

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SECONDS = 300.0
"""Nothing here takes so long, even on a busy machine, unless it never comes."""

TOKEN = "0123456789abcdef" * 4
JOBS = importlib.util.find_spec("aiohttp_cors") is not None
"""Whether Ray's jobs are installed: the extra `cluster`, which is larger than all the rest."""

SMALL = ("--set", "tournament.deals=2", "--set", "run.workers=1", "--json")


def digest(folder: Path) -> str | None:
    return RunReader(folder).info.digest


def submit(jobs: str, config: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """`ray job submit`, in this process's environment."""
    run = ["run", str(config), "--out", str(out), "--address", "auto"]
    return subprocess.run(
        [RAY, "job", "submit", "--address", jobs, "--", sys.executable, "-m", "tourney",
         *run, *SMALL],
        capture_output=True, text=True, timeout=SECONDS, check=False, cwd=ROOT,
    )  # fmt: skip


def test_every_way_in_plays_the_same_and_wants_the_token(
    config: Path, tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RAY_AUTH_TOKEN_PATH", "RAY_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", TOKEN)
    tries = 3

    def play_at(address: str, out: Path, *more: str) -> tuple[int, str]:
        begun = start("run", config, "--out", out, "--address", address, *SMALL, *more)
        code, _, err = finish(begun, SECONDS)
        return code, err

    with head(1, jobs=JOBS) as cluster:
        for way, address in (("driver", cluster.address), ("client", cluster.client)):
            code, err = play_at(address, tmp_path / way)
            # Ray gives the server of each client half a minute to start: not always enough.
            while way == "client" and "Starting Ray client server failed" in err and tries:
                tries -= 1
                code, err = play_at(address, tmp_path / way, "--resume")
            assert code == 0, f"{way}: {err}"
        whole = digest(tmp_path / "driver")
        assert whole
        assert digest(tmp_path / "client") == whole
        if JOBS:
            done = submit(cluster.jobs, config, tmp_path / "job")
            assert done.returncode == 0, done.stdout + done.stderr
            assert digest(tmp_path / "job") == whole

        _, told, err = finish(start("doctor", "--address", cluster.client), SECONDS)
        assert told.count("bubblewrap") == 2, f"here, and at the node: {told}{err}"

        monkeypatch.setenv("RAY_AUTH_TOKEN", "f" * 64)
        for way, address in (("driver", cluster.address), ("client", cluster.client)):
            code, err = play_at(address, tmp_path / f"wrong-{way}")
            assert code == WorkerLost.exit_code, f"{way}: {err}"
            assert "cannot reach Ray" in err
            assert "wants its token" in err
            assert "Traceback" not in err
        if JOBS:
            assert submit(cluster.jobs, config, tmp_path / "wrong-job").returncode != 0
            assert not (tmp_path / "wrong-job").exists()

        # A user who has no token at all.
        monkeypatch.delenv("RAY_AUTH_TOKEN")
        monkeypatch.delenv("RAY_AUTH_MODE")
        monkeypatch.setenv("HOME", str(tmp_path))
        code, err = play_at(cluster.address, tmp_path / "none")
        assert code == WorkerLost.exit_code, err
        assert "wants its token" in err
        if JOBS:
            assert submit(cluster.jobs, config, tmp_path / "no-job").returncode != 0
