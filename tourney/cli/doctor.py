"""`tourney doctor`: can bots be run safely and timed fairly here, and if not, what to do."""

import json
import sys
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tourney.sandbox.doctor import Line

__all__ = ("doctor",)

Found = Mapping[str, "list[Line]"]
"""What was found, by machine."""


def doctor(
    address: Annotated[
        str | None,
        typer.Option(help="Every node of this Ray cluster as well: `auto` or `ray://host:10001`."),
    ] = None,
    sandbox: Annotated[
        str, typer.Option(help="The sandbox that runs would use, as in `run.sandbox`.")
    ] = "bwrap",
    as_json: Annotated[bool, typer.Option("--json", help="Everything that was looked at.")] = False,
) -> None:
    """Examine this machine, or each node of a cluster: sandbox, attacks, languages, clocks, disk.

    Exit code 1 when something has to be fixed before bots can be run.

    Raises:
        PluginError: no sandbox has that name.
        WorkerLost: there is no cluster at that address.
    """
    from tourney.sandbox.doctor import examine, machine_name

    found = {f"{machine_name()} (here)": [*examine(sandbox), _ray()]}
    if address is not None:
        found |= _nodes(address, sandbox)
    healthy = all(line.state != "fail" for lines in found.values() for line in lines)
    if as_json:
        _print_json(found, healthy=healthy)
    else:
        for name, lines in found.items():
            _show(name, lines)
        print("ready" if healthy else "not ready: what says `fail` has to be fixed first")
    raise typer.Exit(0 if healthy else 1)


def _ray() -> "Line":
    """Import it for real: a version in a list of packages does not say that it loads."""
    from importlib.metadata import version

    from tourney.sandbox.doctor.lines import fail, good

    try:
        import tourney.executors.cluster  # noqa: F401
    except ImportError as error:
        fix = "pip install 'ray[default]', with the same version on every node"
        return fail("cluster", "Ray", f"does not load: {error}", fix)
    return good("cluster", "Ray", f"{version('ray')} loads")


def _nodes(address: str, sandbox: str) -> Found:
    from tourney.executors.cluster import on_every_node
    from tourney.sandbox.doctor import examine
    from tourney.sandbox.doctor.lines import fail

    fix = "the same tourney has to be installed on every node"
    answers = on_every_node(address, partial(examine, sandbox))
    return {
        name: [fail("cluster", "node", answer, fix)] if isinstance(answer, str) else answer
        for name, answer in answers.items()
    }


def _print_json(found: Found, *, healthy: bool) -> None:
    machines = [
        {
            "name": name,
            "lines": [
                {
                    "topic": line.topic,
                    "name": line.name,
                    "state": line.state,
                    "value": line.value,
                    "fix": line.fix,
                }
                for line in lines
            ],
        }
        for name, lines in found.items()
    ]
    json.dump({"ok": healthy, "machines": machines}, sys.stdout, indent=2)
    print()


def _show(name: str, lines: "list[Line]") -> None:
    print(name)
    topic = ""
    for line in lines:
        shown, topic = ("" if line.topic == topic else line.topic), line.topic
        print(f"  {line.state:<4}  {shown:<9}  {line.name:<18}  {line.value}")
        if line.state != "ok":
            print(f"{'':18}fix: {line.fix}")
    print()
