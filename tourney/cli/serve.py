"""`tourney serve`: the dashboard of a results folder, for this machine unless told otherwise."""

import errno
import socket
from typing import Annotated

import typer

from tourney.errors import TourneyError

__all__ = ("ServeError", "serve")


class ServeError(TourneyError):
    """The dashboard cannot be served as asked."""

    exit_code = 4


def serve(
    results: Annotated[
        str,
        typer.Argument(
            help="A folder of runs or s3://BUCKET/PREFIX, or one run's; it may still be empty."
        ),
    ] = "results",
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 takes a free one.")
    ] = 8000,
    open_browser: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    public_read: Annotated[
        bool,
        typer.Option("--public-read", help="Let other machines read everything in the folder."),
    ] = False,
) -> None:
    """Show runs, leaderboards and matches in a browser, until Ctrl-C.

    Raises:
        ServeError: the folder is none, the address cannot be listened on, or it is open to other
            machines without `--public-read`.
    """
    import uvicorn

    from tourney.dashboard import create_app
    from tourney.dashboard.security import allowed_hosts, is_loopback
    from tourney.store import storage_at

    runs = storage_at(results)
    try:
        runs.names()
    except OSError as error:
        raise ServeError(
            f"cannot serve {results}: give the folder that holds your runs ({error})"
        ) from error
    if not is_loopback(host) and not public_read:
        raise ServeError(
            f"--host {host} lets other machines read every run in {results}, and there is no "
            "password: add --public-read if that is what you want"
        )
    listener = _listen(host, port)
    where = listener.getsockname()
    name = f"[{where[0]}]" if ":" in where[0] else where[0]
    url = f"http://{name}:{where[1]}/"
    typer.echo(f"dashboard of {results} on {url} (Ctrl-C stops it)", err=True)
    if open_browser:
        typer.launch(url)
    app = create_app(runs, hosts=allowed_hosts(host))
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    with listener:
        uvicorn.Server(config).run(sockets=[listener])


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket; taken before anything is loaded or said, so that a failure is plain."""
    try:
        return socket.create_server((host, port), family=_family(host))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ServeError(
                f"port {port} of {host} is taken, perhaps by another `tourney serve`: choose "
                f"another with --port, as --port {port + 1 if port < 65_535 else port - 1}"
            ) from error
        raise ServeError(f"cannot listen on {host}, port {port}: {error.strerror}") from error


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
