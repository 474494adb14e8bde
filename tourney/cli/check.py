"""`tourney check`: a bot package against the protocol's fine print."""

import json
from pathlib import Path
from typing import Annotated

import typer

from tourney.cli.text import plain

__all__ = ("check",)

SIGNS = {"ok": "✓", "warning": "!", "error": "✗"}


def check(
    bot: Annotated[Path, typer.Argument(help="A bot package: a folder, .zip or .tar.gz.")],
    game: Annotated[
        list[str] | None, typer.Option("--game", "-g", help="Only this game. [default: its own]")
    ] = None,
    matches: Annotated[
        int, typer.Option(min=1, max=1000, help="Matches for each game and table size.")
    ] = 3,
    move_ms: Annotated[int, typer.Option(help="The limit for a decision.")] = 1_000,
    strict: Annotated[bool, typer.Option("--strict", help="A warning is an error.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list of findings.")] = False,
    unsafe: Annotated[
        bool,
        typer.Option("--unsafe-no-sandbox", help="No confinement at all; only for your own bots."),
    ] = False,
) -> None:
    """Play a bot at every table size of its games and say what a tournament would find.

    Exit 1 when something is wrong.

    Raises:
        SandboxUnavailable: bots cannot be confined here.
    """
    import msgspec

    from tourney import plugins
    from tourney.config.models import Limits
    from tourney.protocol.faults import FAULT_KINDS
    from tourney.referee.conformance import check_bot

    sandbox = plugins.load("sandboxes", "none" if unsafe else "bwrap")()
    sandbox.check()
    findings = []
    for finding in check_bot(
        bot, sandbox, matches=matches, limits=Limits(move_ms=move_ms), games=game or ()
    ):
        findings.append(finding)
        if not as_json:
            print(f"  {SIGNS[finding.state]} {finding.check:<26} {plain(finding.text)}", flush=True)
            for line in finding.evidence:
                print(f"      {plain(line)}")
    states = [finding.state for finding in findings]
    errors, warnings = states.count("error"), states.count("warning")
    if as_json:
        print(json.dumps(msgspec.to_builtins(findings), indent=2))
    else:
        print(f"{errors} error{'s' * (errors != 1)}, {warnings} warning{'s' * (warnings != 1)}")
        heads = {finding.text.partition(":")[0] for finding in findings if finding.state == "error"}
        for kind in sorted(heads.intersection(FAULT_KINDS)):
            print(f"what it means: tourney explain {kind}")
    raise typer.Exit(1 if errors or (strict and warnings) else 0)
