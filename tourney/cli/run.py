"""`tourney run`: play a tournament, or go on with one."""

import shlex
import shutil
import signal
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    # Loading polars and Ray takes longer than `tourney --help` may.
    from tourney.cli.display import Display
    from tourney.runner import OpenRun, Prepared, StopCheck

__all__ = ("run",)

INTERRUPTED = 130
TERMINATED = 143


def run(
    config: Annotated[Path, typer.Argument(help="The tournament's TOML file.")],
    address: Annotated[
        str | None,
        typer.Option(
            help="`local`, or a running Ray cluster: `auto`, `HOST:6379`, `ray://HOST:10001`."
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="The run's folder or URL. [default: RESULTS/NAME-TIME]")
    ] = None,
    results: Annotated[
        str, typer.Option(help="Where runs land: a folder or s3://BUCKET/PREFIX.")
    ] = "results",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an unfinished run of this config.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Fix the secret: reproducible, but not secret.")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Override a config value."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON event a line instead of a table.")
    ] = False,
    unsafe: Annotated[
        bool,
        typer.Option(
            "--unsafe-no-sandbox",
            help="Run bots with no confinement at all. Only for bots you wrote; recorded.",
        ),
    ] = False,
) -> None:
    """Play a tournament, and end with the leaderboard.

    Ctrl-C lets matches in play finish, saves, and prints the line that resumes; twice ends at
    once, with everything saved before kept.

    Raises:
        TourneyError: the config, a bot, the sandbox, Ray or the disk stood in the way.
    """
    from tourney.cli.display import JsonDisplay, choose_display
    from tourney.config import load_config
    from tourney.runner import open_run, preflight, prepare
    from tourney.store import storage_at

    wanted = list(overrides or [])
    if seed is not None:
        wanted.append(f"tournament.seed={seed}")
    if address is not None:
        wanted.append(f"run.address={address!r}")
    if unsafe:
        wanted.append("run.sandbox='none'")
    loaded = load_config(config, wanted)
    plays = [prepare(variant) for variant in loaded.variants()]
    if loaded.config.variant and resume and out is None:
        raise typer.BadParameter("a config with variants is resumed with --out and --resume")
    if loaded.config.run.address == "local":
        try:
            preflight(plays[0])
        except KeyboardInterrupt:
            print("interrupted before the run began: nothing was written", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None
    code = 0
    for prepared in plays:
        folder = out
        if out is not None and loaded.config.variant:
            folder = str(storage_at(out).child(prepared.loaded.config.tournament.name))
        opened = open_run(prepared, results, folder, resume=resume)
        with closing(opened.writer):
            display = choose_display(as_json=as_json)
            display.begin(opened.writer.info, resumed=opened.resumed)
            code = _play(prepared, opened, display)
        events = display if isinstance(display, JsonDisplay) else None
        _finish(opened, code, _resume_line(config, out or str(opened.writer.folder)), events)
        if code:
            break
    raise typer.Exit(code)


def _play(prepared: "Prepared", opened: "OpenRun", display: "Display") -> int:
    from tourney import plugins
    from tourney.errors import StoreError, TourneyError
    from tourney.runner import Runner

    if opened.scheduler.left == 0 or opened.writer.info.status == "finished":
        display.end()
        if opened.writer.info.status != "finished":
            opened.writer.finish()
        return 0
    options = prepared.loaded.config.run
    executor = plugins.load("executors", "ray")(
        options.address, options.min_workers, options.max_workers
    )
    runner = Runner(
        opened.writer,
        executor,
        opened.scheduler,
        options.commit_seconds,
        display.progress,
        options.withdraw_after,
        _stop_check(prepared) if opened.writer.info.stop else None,
        opened.rounds,
    )
    received: list[int] = []

    def stop(number: int, _frame: object) -> None:
        received.append(number)
        runner.stop()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    info = opened.writer.info
    workers = None if options.workers == "auto" else options.workers
    try:
        done = runner.run(opened.plan, prepared.archives, workers)
    except StoreError:
        # There is no telling it to the run: it goes silent instead.
        raise
    except TourneyError as error:
        info.status, info.reason = "failed", str(error)
        opened.writer.save_info()
        raise
    finally:
        display.end()
        for number, handler in before.items():
            signal.signal(number, handler)
    if done:
        opened.writer.finish()
        return 0
    info.status, info.reason = "stopped", "interrupted by the user"
    opened.writer.save_info()
    return TERMINATED if received and received[-1] == signal.SIGTERM else INTERRUPTED


def _stop_check(prepared: "Prepared") -> "StopCheck":
    from tourney.runner import StopCheck

    return StopCheck(prepared.loaded.config.stop, prepared.game.info.headline)


def _finish(opened: "OpenRun", code: int, resume: str, events: "object | None") -> None:
    import msgspec

    from tourney.cli.display import JsonDisplay
    from tourney.cli.ratings import print_run
    from tourney.reports import report_of
    from tourney.reports.places import place_lines
    from tourney.store import RunReader

    writer, info = opened.writer, opened.writer.info
    reader = RunReader(writer.folder)
    shown = report_of(reader)
    command = _command()
    serve = shlex.join([*command, "serve", str(writer.folder.parent), "--open"])
    if isinstance(events, JsonDisplay):
        events.event(
            "stopped" if code else "finished",
            folder=str(writer.folder),
            digest=info.digest,
            matches=info.counts.matches,
            faults=info.counts.faults,
            places=msgspec.to_builtins(info.places),
            seconds=round(info.seconds, 3),
            ratings=msgspec.to_builtins(shown.standings),
            resume=resume if code else None,
        )
        return
    if shown.standings:
        print_run(shown, reader)
    if code:
        print(
            f"stopped at {info.counts.matches}/{info.most_matches} matches, all kept\n"
            f"resume:    {resume}",
            file=sys.stderr,
        )
    else:
        print(
            f"{info.counts.matches} matches in {info.seconds:.1f} s, {info.counts.faults} faults, "
            f"in {writer.folder}\ngames      sha256 {info.digest}"
        )
        for line in place_lines(info.places):
            print(f"{info.format:<11}{line}")
        if info.stop and info.reason:
            print(info.reason)
    if info.noisy:
        blocks = sum(info.noisy.values())
        print(f"noise:     {blocks} blocks were played again: a machine was too busy")
    if info.counts.faults:
        print(f"faults:    {shlex.join([*command, 'faults', str(writer.folder)])}")
    if info.sandbox == "none":
        print("warning: bots ran WITHOUT a sandbox (--unsafe-no-sandbox)", file=sys.stderr)
    print(f"dashboard: {serve}")


def _resume_line(config: Path, out: str) -> str:
    return shlex.join([*_command(), "run", str(config), "--out", out, "--resume"])


def _command() -> list[str]:
    """How this program was called, so that printed commands can be pasted."""
    called = Path(sys.argv[0])
    if shutil.which("tourney") is not None or called.name != "tourney":
        return ["tourney"]
    absolute = called.absolute()
    here = Path.cwd()
    return [str(absolute.relative_to(here) if absolute.is_relative_to(here) else absolute)]
