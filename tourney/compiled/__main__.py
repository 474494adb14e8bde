"""`python -m tourney.compiled`: build the compiled modules for this environment.

Takes a C compiler, mypy and setuptools (the extra `compiled`), and 20 to 40 seconds. Does nothing
when they are built already. Exits with 1, and says why, when they cannot be built: everything works
without them, only slower.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tourney.compiled import MODULES, PACKAGE, folder

SETUP = """
from mypyc.build import mypycify
from setuptools import setup

modules = mypycify(["--config-file=mypy.ini", *{files!r}], opt_level="2", debug_level="0")
setup(name="tourney-compiled", packages=[], ext_modules=modules)
"""

TIMEOUT_S = 900


def build(target: Path) -> None:
    """Compile a copy of the package, and put the modules of `MODULES` into `target`.

    Raises:
        subprocess.CalledProcessError: the compiler refused; the error holds its output.
        subprocess.TimeoutExpired: it took longer than `TIMEOUT_S`.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        work = Path(name)
        shutil.copytree(PACKAGE, work / "tourney", ignore=shutil.ignore_patterns("__pycache__"))
        files = [f"{module.replace('.', '/')}.py" for module in MODULES]
        (work / "setup.py").write_text(SETUP.format(files=files))
        # What mypy thinks of the source is `make lint`'s business.
        (work / "mypy.ini").write_text("[mypy]\nignore_missing_imports = true\n")
        command = [sys.executable, "setup.py", "-q", "build_ext", "--build-lib", "out", "-j"]
        subprocess.run(
            [*command, str(os.cpu_count() or 1)],
            cwd=work,
            check=True,
            timeout=TIMEOUT_S,
            capture_output=True,
            text=True,
            env={**os.environ, "TOURNEY_COMPILED": "0"},
        )
        # Whole or not at all: somebody may import at this moment.
        (work / "out").rename(target)
    for old in target.parent.iterdir():
        if old != target:
            shutil.rmtree(old, ignore_errors=True)


def main() -> int:
    """Build if need be; returns the exit code."""
    target = folder()
    if target.is_dir():
        return 0
    try:
        build(target)
    except subprocess.CalledProcessError as error:
        lines = (error.stderr or error.stdout).strip().splitlines()
        reason = "\n  ".join(["", *lines[-15:]])
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = str(error)
    else:
        return 0
    sys.stderr.write(f"tourney: not compiled, which only costs speed: {reason}\n")
    return 1


sys.exit(main())
