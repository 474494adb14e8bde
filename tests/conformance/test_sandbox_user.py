"""All of it again as an ordinary user, for a suite that runs as root."""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.conformance.sandbox_harness import REPOSITORY
from tourney.sandbox.programs import reachable

NOBODY = 65534

MODULES = ("attacks", "lifecycle", "refusals", "none")

QUICK = "(attacks and not bwrap- and not test_24 and not test_15) or refusals and not build"
"""What differs most between root and others; all of it takes half a minute."""


def opened_up(needed: list[Path], scratch: Path) -> list[str]:
    """Commands that let every user reach `needed`, in a mount namespace of their own.

    The Python or the checkout may lie below root's home: that is replaced by an empty folder, with
    only what is needed put back at its place.
    """
    blocked = {path: reachable(path, NOBODY) for path in needed}
    saved = {path: scratch / str(number) for number, path in enumerate(needed) if blocked[path]}
    commands = []
    for path, place in saved.items():
        commands += [f"mkdir {place}", f"mount --bind {shlex.quote(str(path))} {place}"]
    for folder in {str(folder) for folder in blocked.values() if folder}:
        commands.append(f"mount -t tmpfs -o mode=0755 none {shlex.quote(folder)}")
    for path, place in saved.items():
        quoted = shlex.quote(str(path))
        commands += [f"mkdir -p {quoted}", f"mount --bind {place} {quoted}"]
    return commands


@pytest.mark.skipif(os.geteuid() != 0, reason="the suite runs as an ordinary user already")
@pytest.mark.timeout(150)
def test_what_matters_most_holds_for_an_ordinary_user() -> None:
    assert n_passed_as_nobody("-k", QUICK) > 35


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="the suite runs as an ordinary user already")
@pytest.mark.timeout(300)
def test_everything_holds_for_an_ordinary_user() -> None:
    assert n_passed_as_nobody() > 90


def n_passed_as_nobody(*options: str) -> int:
    """Run the suite as the user nobody, and see that nothing fails."""
    needed = [Path(sys.base_prefix), Path(sys.prefix), REPOSITORY]
    modules = [f"tests/conformance/test_sandbox_{name}.py" for name in MODULES]
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]
    suite = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *modules]
    with tempfile.TemporaryDirectory() as scratch:
        script = " && ".join(
            [*opened_up(needed, Path(scratch)), f"exec {shlex.join([*drop, *suite])}"]
        )
        done = subprocess.run(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", script],
            cwd=REPOSITORY,
            env={**os.environ, "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    return int(passed[1])
