"""What a failed launch means and what to do about it. Text in, text out; launches nothing."""

import re

from tourney.errors import SandboxUnavailable

__all__ = ("CAUSES", "explain", "failed_late", "read_probe")

CAUSES: tuple[tuple[str, str, str], ...] = (
    (
        r"Can't mount proc on .*: Operation not permitted",
        "this container masks /proc, so no new one may be mounted",
        "start it with `--security-opt systempaths=unconfined` (podman: `unmask=/proc/*`)",
    ),
    (
        r"max_user_namespaces: Read-only file system",
        "/proc/sys is read-only here, as in a container",
        "start the container with `--security-opt systempaths=unconfined`",
    ),
    (
        r"No permissions to creat(e|ing) a? ?new namespace",
        "this system or container forbids user namespaces",
        "container: start it with `--security-opt seccomp=unconfined`; Debian: "
        "`sysctl kernel.unprivileged_userns_clone=1`",
    ),
    (
        r"nesting depth or .*exceeded \(ENOSPC\)|No space left on device",
        "no more user namespaces are allowed",
        "`sysctl user.max_user_namespaces=10000`",
    ),
    (
        r"Creating new namespace failed: Resource temporarily unavailable",
        "the limit on processes of this user is reached",
        "raise `ulimit -u`, or end other processes of this user",
    ),
    (
        r"setting up uid map: Permission denied",
        "AppArmor restricts user namespaces (Ubuntu 23.10 and later)",
        "install an AppArmor profile for bwrap with the rule `userns,` (package apparmor-profiles "
        "has bwrap-userns-restrict); do not switch the restriction off for all",
    ),
    (
        r"setting up uid map: Operation not permitted",
        "this root has no right to map users",
        "give the container CAP_SETUID and CAP_SETGID, or run as an ordinary user",
    ),
    (
        r"Unknown option --?([\w-]+)",
        "this bubblewrap is too old",
        "install version 0.8 or later (Debian 12 and Ubuntu 23.04 have it)",
    ),
    (
        r"Can't find source path|Can't create file|Can't mkdir",
        "a folder that the sandbox shows is missing or cannot be entered by the bot's user",
        "check the path in the message and its parents' modes",
    ),
)
"""Pattern in bubblewrap's message, what it means, what to do."""


def explain(what: str, said: str) -> str:
    """A message for a person: what we saw, bubblewrap's own words, the cause and the fix.

    Args:
        what: what the launcher noticed.
        said: all that bubblewrap wrote to standard error.
    """
    words = " ".join(said.split())[:500] or "nothing"
    for pattern, cause, fix in CAUSES:
        if re.search(pattern, said):
            return f"the sandbox cannot start: {cause} ({words}). Fix: {fix}"
    return (
        f"the sandbox cannot start: {what}; bubblewrap said: {words}. Run `tourney doctor`, or use "
        "--unsafe-no-sandbox for bots you wrote yourself"
    )


def failed_late(said: str) -> bool:
    """Whether bubblewrap itself failed after it had made the sandbox.

    Args:
        said: what was written to standard error by a program whose end was not reported.
    """
    # That the program cannot be executed is the package's fault (a wrong `#!` line).
    return said.startswith("bwrap: ") and not said.startswith("bwrap: execvp ")


def read_probe(status: str, users: range = range(65534, 65535)) -> None:
    """Check the `/proc/PID/status` of a program inside.

    Args:
        status: its text.
        users: numbers that the program's user may have there.

    Raises:
        SandboxUnavailable: the filter is not active, a capability is left, privileges can grow, or
            it is not the user that we asked for.
    """
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    wanted = {
        "Seccomp": "2",
        "NoNewPrivs": "1",
        "CapEff": "0000000000000000",
        "CapPrm": "0000000000000000",
        "CapBnd": "0000000000000000",
    }
    for name, value in wanted.items():
        found = fields.get(name, "").strip()
        if found != value:
            raise SandboxUnavailable(
                f"the sandbox starts but does not protect: {name} is {found or 'unknown'} inside, "
                f"not {value}. Is `bwrap` on PATH the real bubblewrap?"
            )
    ids = set(fields.get("Uid", "").split())
    if len(ids) != 1 or int(ids.pop()) not in users:
        raise SandboxUnavailable("the sandbox starts but its program is not the powerless user")
