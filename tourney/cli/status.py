"""`tourney status`: how a run stands, from its folder alone, wherever it is played."""

import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    # Loading polars takes longer than `tourney --help` may.
    from tourney.ratings import Report
    from tourney.store import RunReader

__all__ = ("facts", "status")

WATCH_SECONDS = 2.0
"""How often `--watch` looks again; a heartbeat comes every three seconds."""


def status(
    run: Annotated[
        str, typer.Argument(help="A run's folder, or a folder of runs: its newest is taken.")
    ] = "results",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Look again every two seconds until the run ends.")
    ] = False,
) -> None:
    """Show how far a run is, how fast, on which nodes, whether its driver lives, and who leads.

    Reads the run's folder only: it works from any machine that sees it, or its s3:// URL.

    Raises:
        StoreError: there is no run, or it cannot be read.
    """
    from tourney.reports import kept_report
    from tourney.store import RunReader, find_run

    reader = find_run(run)
    while True:
        found = facts(reader)
        shown = kept_report(reader)
        _show(found, shown, as_json=as_json)
        if not watch or found["state"] not in {"running", "silent"}:
            return
        try:
            time.sleep(WATCH_SECONDS)
        except KeyboardInterrupt:
            return
        reader = RunReader(reader.folder)
        if not as_json:
            print()


def facts(reader: "RunReader") -> dict[str, Any]:
    """What is known of a run at this moment; `silent` is a run whose driver says nothing."""
    from tourney.store.heartbeat import seconds_since

    info, counts = reader.info, reader.info.counts
    silent, pulse = reader.silent_since, reader.heartbeat
    plays = info.status == "running" and silent is None
    rate = pulse.rate if plays and pulse else None
    left = info.most_matches - counts.matches
    committed = pulse.committed if pulse else ""
    return {
        "run": info.id,
        "game": info.game,
        "state": "silent" if silent else info.status,
        "silent_since": silent,
        "matches": counts.matches,
        "matches_total": info.most_matches,
        "groups": counts.groups,
        "groups_total": counts.groups_total,
        "rounds": counts.rounds,
        "rate": rate,
        "eta_seconds": left / rate if rate else None,
        "seconds": info.seconds,
        "faults": counts.faults,
        "withdrawn": dict(info.withdrawn),
        "noisy": dict(info.noisy),
        "workers": pulse.workers if plays and pulse else 0,
        "nodes": dict(pulse.nodes) if plays and pulse else {},
        "clock": info.clock_text,
        "blocks": pulse.blocks if plays and pulse else 0,
        "last_commit": committed or None,
        "last_commit_seconds_ago": seconds_since(committed) if committed else None,
        "reason": info.reason,
        "places": list(info.places),
    }


def _show(found: dict[str, Any], shown: "Report | None", *, as_json: bool) -> None:
    if as_json:
        import msgspec

        lines = () if shown is None else shown.standings
        found |= {"standings": lines, "notes": () if shown is None else shown.notes}
        sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
        sys.stdout.flush()
        return
    for name, text in _lines(found):
        print(f"{name:<10}{text}", flush=True)
    if shown is not None and shown.standings:
        from tourney.cli.board import print_report

        print_report(shown)


def _lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    """The facts in words, without those that say nothing."""
    from tourney.reports.places import place_lines

    share = found["matches"] / max(1, found["matches_total"])
    rate, eta, ago = found["rate"], found["eta_seconds"], found["last_commit_seconds_ago"]
    state = found["state"]
    if state == "silent":
        state = f"silent since {found['silent_since']}: its driver died or cannot write here"
    elif found["reason"]:
        state = f"{state}: {found['reason']}"
    nodes = ", ".join(f"{name or 'here'} {n}" for name, n in sorted(found["nodes"].items()))
    noisy = ", ".join(f"{worker} {n}" for worker, n in found["noisy"].items())
    lines = [
        ("run", f"{found['run']} ({found['game']})"),
        ("state", state),
        ("matches", f"{found['matches']} of {found['matches_total']} ({share:.1%})"),
        ("rounds", f"{found['rounds']} drawn" if found["rounds"] else ""),
        ("rate", f"{rate:.1f} matches a second" if rate is not None else ""),
        ("eta", _duration(eta) if eta is not None else ""),
        ("played", _duration(found["seconds"])),
        ("workers", f"{found['workers']} on {len(found['nodes'])} nodes: {nodes}" if nodes else ""),
        ("clock", found["clock"]),
        ("faults", str(found["faults"])),
        ("noisy", f"blocks played again on a busy machine: {noisy}" if noisy else ""),
        ("saved", f"{_duration(ago)} ago" if ago is not None else ""),
    ]
    lines += [("places", line) for line in place_lines(found["places"])]
    lines += [("withdrawn", f"{bot}: {why}") for bot, why in found["withdrawn"].items()]
    return [line for line in lines if line[1]]


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
    told = [f"{n} {unit}" for n, unit in parts if n][:2]
    return " ".join(told) or "0 s"
