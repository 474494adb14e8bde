"""The whole examination of one machine: bubblewrap, the sandboxes, attacks, languages, the rest."""

import os
import shutil
import socket
import subprocess

from tourney import compiled, plugins
from tourney.errors import PackageError, PluginError, SandboxUnavailable, TourneyError
from tourney.packages.cache import cache_folder
from tourney.sandbox.base import Sandbox
from tourney.sandbox.bwrap import BwrapSandbox
from tourney.sandbox.doctor.attacks import attacks
from tourney.sandbox.doctor.host import host, is_setuid
from tourney.sandbox.doctor.lines import Line, fail, good, warn
from tourney.sandbox.doctor.runtimes import runtimes
from tourney.sandbox.programs import reachable
from tourney.sandbox.slots import needs_own_user

__all__ = ("examine", "machine_name")

OLDEST_BUBBLEWRAP = (0, 8)
"""Since then bots can be kept from user namespaces of their own."""

ENOUGH_DISK_MB = 1024
LEAST_DISK_MB = 64

VERSION_WAIT_S = 5.0


def machine_name() -> str:
    """What this machine calls itself."""
    return socket.gethostname()


def examine(name: str = "bwrap") -> list[Line]:
    """Examine this machine for runs with the sandbox `name`; never raises for what it finds.

    Raises:
        PluginError: no sandbox has that name.
    """
    sandbox: Sandbox = plugins.load("sandboxes", name)()
    bubblewrap = _bubblewrap()
    lines = [bubblewrap] if isinstance(sandbox, BwrapSandbox) else []
    # Without the program there is nothing to be said of the kinds that need it.
    if bubblewrap.state != "fail" or not lines:
        lines += _sandboxes(name)
    works = all(line.state != "fail" for line in lines)
    if works:
        try:
            if isinstance(sandbox, BwrapSandbox):
                lines += attacks(sandbox)
            lines += runtimes(sandbox)
        except SandboxUnavailable as error:
            lines.append(_unavailable(name, error))
    return [*lines, *host(), _cache(), _compiled()]


def _compiled() -> Line:
    topic, name = "speed", "rules and table loop"
    if compiled.in_use():
        return good(topic, name, "compiled")
    fix = f"`make compile` with a C compiler; {compiled.SWITCH}=0 would keep them from use"
    return warn(topic, name, "not compiled: fast bots play a quarter slower", fix)


def _bubblewrap() -> Line:
    path = shutil.which("bwrap")
    if path is None:
        fix = "apt-get install bubblewrap (PyPI's package `bubblewrap` is something else)"
        return fail("sandbox", "bubblewrap", "not installed: no `bwrap` on PATH", fix)
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=VERSION_WAIT_S, check=False
        )
        said = done.stdout.split()
        version = tuple(int(part) for part in said[-1].split(".")[:2])
    except (OSError, subprocess.TimeoutExpired, ValueError, IndexError):
        fix = "put the real bubblewrap first on PATH: apt-get install bubblewrap"
        return fail("sandbox", "bubblewrap", f"{path} does not tell its version", fix)
    text = f"{said[-1]} at {path}"
    if version < OLDEST_BUBBLEWRAP:
        fix = "install version 0.8 or later (Debian 12 and Ubuntu 23.04 have it)"
        return fail("sandbox", "bubblewrap", text, fix)
    if is_setuid(path):
        fix = f"chmod u-s {path}, if user namespaces work here: less that runs as root"
        return warn("sandbox", "bubblewrap", f"{text}, setuid root", fix)
    return good("sandbox", "bubblewrap", text)


def _sandboxes(chosen: str) -> list[Line]:
    """The chosen one has to work; of the others it is only said whether they would."""
    lines = []
    for name in sorted(plugins.names("sandboxes"), key=lambda name: (name != chosen, name)):
        try:
            sandbox: Sandbox = plugins.load("sandboxes", name)()
            sandbox.check()
        except (SandboxUnavailable, PluginError) as error:
            if name == chosen:
                lines.append(_unavailable(name, error))
            else:
                lines.append(good("sandbox", name, f"would not work: {_first_line(error)}"))
        else:
            lines.append(_working(name, sandbox, chosen=name == chosen))
    return lines


def _working(name: str, sandbox: Sandbox, *, chosen: bool) -> Line:
    if not isinstance(sandbox, BwrapSandbox):
        if not chosen:
            return good("sandbox", name, "works, and protects from nothing")
        fix = "leave run.sandbox out, unless you wrote every bot yourself"
        return warn("sandbox", name, "protects from nothing: a bot can do all that you can", fix)
    lacks = sandbox.tier.gives_up
    if chosen and lacks:
        text = f"a probe ran isolated, but this kind gives something up: {lacks}"
        return warn("sandbox", name, text, "use the sandbox `bwrap` wherever it works")
    return good("sandbox", name, "a probe ran isolated" if chosen else "would work")


def _unavailable(name: str, error: TourneyError) -> Line:
    """The cause and the fix, as `tourney.sandbox.probe` found them in the error's text."""
    cause, _, fix = " ".join(str(error).split()).partition(" Fix: ")
    return fail("sandbox", name, cause.removesuffix("."), fix or "as it says")


def _first_line(error: TourneyError) -> str:
    return str(error).partition(" Fix: ")[0].splitlines()[0]


def _cache() -> Line:
    """Whether packages can be kept here where a bot's user reaches them."""
    name = "bots' cache"
    try:
        folder = cache_folder()
        blocked = reachable(folder, -1 if needs_own_user() else os.geteuid())
    except (PackageError, SandboxUnavailable) as error:
        return fail("disk", name, str(error), "set TOURNEY_CACHE to a folder of your own")
    if not os.access(folder, os.W_OK):
        fix = "set TOURNEY_CACHE to a folder that you can write to"
        return fail("disk", name, f"{folder} cannot be written to", fix)
    if blocked is not None:
        fix = "set TOURNEY_CACHE to a folder that every user can reach"
        return fail("disk", name, f"{folder} is below {blocked}, closed to bots' users", fix)
    free_mb = shutil.disk_usage(folder).free / 2**20
    text = f"{folder}, {free_mb / 1024:.1f} GiB free"
    if free_mb < LEAST_DISK_MB:
        return fail("disk", name, text, "free some space, or set TOURNEY_CACHE to another disk")
    if free_mb < ENOUGH_DISK_MB:
        return warn("disk", name, text, "free some space: a build may take half a gigabyte")
    return good("disk", name, text)
