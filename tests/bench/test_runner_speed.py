"""The runner against the floor of the same bot, in one run: a ratio, so that machines compare."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tourney import compiled

pytestmark = pytest.mark.bench

ROOT = Path(__file__).parents[2]

MAIN = "from tourney.cli.main import main; main()"

BARS = [
    ("dam-threshold", 1000, 1, 0.50),
    ("dam-threshold", 2500, 64, 1.1),
    ("dam-threshold-c", 1000, 1, 0.25),
    ("rams-simple", 60, 1, None),
    ("rams-simple", 120, 64, None),
]
"""Bot, deals, messages a line, and the share of its floor that is the goal: reported, not asserted,
for the machine may be busy."""


def run_of(bot: str, deals: int, batch: int, *, use_compiled: bool) -> dict[str, Any]:
    switch = {compiled.SWITCH: "1" if use_compiled else "0"}
    command = [sys.executable, "-m", "tests.bench.one_run", bot, str(deals), str(batch)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **switch}, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(("bot", "deals", "batch", "bar"), BARS)
@pytest.mark.parametrize("use_compiled", [True, False], ids=["compiled", "source"])
def test_share_of_the_floor(
    bot: str, deals: int, batch: int, bar: float | None, use_compiled: bool
) -> None:
    if use_compiled and not compiled.folder().is_dir():
        pytest.skip("not built: python -m tourney.compiled")
    found = run_of(bot, deals, batch, use_compiled=use_compiled)
    assert found["compiled"] == use_compiled
    print(
        f"\n{bot}, {batch} a line, {'compiled' if use_compiled else 'source'}: "
        f"{found['share']:.2f} of the floor ({found['us']:.1f} µs against {found['floor_us']:.1f} "
        f"a decision){'' if bar is None else f'; goal {bar}'}"
    )
    assert found["share"] > 0


def test_two_workers_against_one() -> None:
    """A whole `tourney run` with Ray, from start of play; goal 1.85 on two free cores."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one core")
    seconds = {}
    with tempfile.TemporaryDirectory() as name:
        config = Path(name) / "two.toml"
        bots = "".join(
            f'[[bot]]\npath = "{ROOT}/bots/dam-threshold"\nname = "t{t}"\n'
            f"options = {{ threshold = {t} }}\n"
            for t in (5, 6)
        )
        config.write_text(
            '[tournament]\nname = "two"\ngame = "dam"\ndeals = 3000\nseed = 5\n'
            f"[rules]\nrounds = 1\n{bots}"
        )
        for workers in (1, 2):
            command = [sys.executable, "-c", MAIN, "run", str(config), "--json"]
            more = ["--results", name, "--set", f"run.workers={workers}"]
            done = subprocess.run(
                [*command, *more], cwd=ROOT, capture_output=True, text=True, timeout=600
            )
            assert done.returncode == 0, done.stderr
            seconds[workers] = json.loads(done.stdout.splitlines()[-1])["seconds"]
    print(f"\ntwo workers: {seconds[1] / seconds[2]:.2f} times one; goal 1.85")
    assert seconds[2] > 0
