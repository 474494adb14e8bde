"""The command `tourney`: wires the commands together and turns our errors into exit codes."""

import inspect
import os
import sys
from collections.abc import Callable
from typing import Annotated, NoReturn

import typer

from tourney import __version__
from tourney.cli import (
    check,
    compare,
    doctor,
    faults,
    games,
    play,
    ratings,
    reproduce,
    run,
    serve,
    status,
    verify,
)
from tourney.errors import StoreError, TourneyError

__all__ = ("app", "main")

app = typer.Typer(
    no_args_is_help=True,
    add_completion=True,
    help="Tournaments for bots that play hidden-information card games.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _add(command: Callable[..., None]) -> None:
    """Add a command; its help is the docstring without what only developers read."""
    text = inspect.getdoc(command) or ""
    app.command(help=text.partition("\n\nRaises:")[0])(command)


for _command in (
    run.run,
    play.play,
    check.check,
    ratings.ratings,
    compare.compare,
    status.status,
    serve.serve,
    doctor.doctor,
    faults.faults,
    faults.explain,
    faults.logs,
    reproduce.reproduce,
    verify.verify,
):
    _add(_command)
app.add_typer(games.app, name="games")


def _show_version(value: bool) -> None:
    if value:
        print(f"tourney {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    del version


def main() -> NoReturn:
    """Run the command line and exit with its code."""
    try:
        app()
    except TourneyError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of our output went away, as `tourney ratings | head -3` does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        from polars.exceptions import ComputeError

        from tourney.store.storage import is_of_storage

        said = str(error).partition("\n")[0]
        if isinstance(error, ComputeError):
            # Damage behind the footer of a file shows when its rows are read.
            said = f"a file of the run is damaged: {said}; `tourney verify RUN` names it"
        elif not is_of_storage(error):
            raise
        print(f"error: {said}", file=sys.stderr)
        sys.exit(StoreError.exit_code)
    sys.exit(0)
