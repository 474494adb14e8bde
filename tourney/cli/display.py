"""How a run shows itself: a live region on a terminal, plain lines elsewhere, or JSON events.

Progress goes to standard error, results to standard output, so that output can be piped.
"""

import json
import os
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from rich.console import Console

if TYPE_CHECKING:
    # Loading polars takes longer than `tourney --help` may.
    from rich.console import RenderableType

    from tourney.ratings import Report
    from tourney.runner import Progress
    from tourney.store import RunInfo

__all__ = ("Display", "choose_display")

PLAIN_SECONDS = 10.0
"""A log gets one line this often."""

LIVE_PER_SECOND = 4
LIVE_LINES = 13
"""Lines of the terminal that the live region needs besides the bots'."""


class Display(Protocol):
    """What a run tells its user."""

    def begin(self, info: "RunInfo", *, resumed: bool) -> None:
        """The run's folder is open."""

    def progress(self, progress: "Progress") -> None:
        """Something may have changed."""

    def end(self) -> None:
        """The session is over; leave the terminal as it was."""


def choose_display(*, as_json: bool) -> Display:
    """The display that fits where standard error goes.

    Asks the stream itself: Rich would draw into a pipe under FORCE_COLOR.
    """
    if as_json:
        return JsonDisplay()
    plain = not sys.stderr.isatty() or os.environ.get("TERM") == "dumb" or "CI" in os.environ
    return PlainDisplay() if plain else LiveDisplay()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes:02d}:{rest:02d}"


def _leader(found: "Report | None") -> str:
    """Who is first, for a line of a log."""
    return f" lead={found.standings[0].bot}" if found is not None and found.standings else ""


class PlainDisplay:
    """One line each ten seconds, no control codes."""

    def __init__(self) -> None:
        self._began = self._last = time.monotonic()
        self._clock = ""

    def begin(self, info: "RunInfo", *, resumed: bool) -> None:
        """Say what is played."""
        verb = "resumes" if resumed else "starts"
        sizes = ",".join(map(str, info.table_sizes or [info.seats]))
        self._say(
            f"tourney {verb} run={info.id} game={info.game} seats={sizes} "
            f"bots={len(info.bots)} matches={info.most_matches} sandbox={info.sandbox}"
        )

    def progress(self, progress: "Progress") -> None:
        """A line when the time has come, and how the clock is shared when that is known."""
        if progress.clock != self._clock:
            self._clock = progress.clock
            self._say(f"clock: {progress.clock}")
        now = time.monotonic()
        if now - self._last < PLAIN_SECONDS and progress.matches < progress.matches_total:
            return
        self._last = now
        share = progress.matches / max(1, progress.matches_total)
        eta = progress.eta_seconds
        self._say(
            f"{_clock(now - self._began)} {progress.matches}/{progress.matches_total} "
            f"{share:.1%} {progress.rate:.0f}/s eta {'?' if eta is None else _clock(eta)} "
            f"faults={progress.faults} workers={progress.workers}{_leader(progress.report)}"
        )

    def end(self) -> None:
        """Nothing to clear away."""

    def _say(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)


class LiveDisplay:
    """A progress bar and, under it, the leaderboard as it stands."""

    def __init__(self) -> None:
        from rich.live import Live
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bar

        console = Console(stderr=True, force_interactive=True)
        self._bar = Bar(
            MofNCompleteColumn(),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[rate]}"),
            TextColumn("{task.fields[eta]}"),
            console=console,
            expand=True,
        )
        self._task = self._bar.add_task("matches", rate="", eta="", total=None)
        self._live = Live(
            self._bar, console=console, refresh_per_second=LIVE_PER_SECOND, transient=True
        )
        self._report: Report | None = None
        self._clock = ""

    def begin(self, info: "RunInfo", *, resumed: bool) -> None:
        """Start drawing."""
        verb = "resuming" if resumed else "playing"
        self._live.console.print(
            f"{verb} {info.id}: {info.game}, {len(info.bots)} bots, {info.seats_text}, "
            f"{info.most_matches:,} matches, sandbox {info.sandbox}",
            highlight=False,
            markup=False,
        )
        self._live.start()

    def progress(self, progress: "Progress") -> None:
        """Move the bar; draw the leaderboard anew when there is a new one."""
        eta = progress.eta_seconds
        rate = f"{progress.rate:,.0f} matches/s"
        if progress.faults:
            rate += f" · {progress.faults:,} faults"
        self._bar.update(
            self._task,
            completed=progress.matches,
            total=progress.matches_total,
            rate=rate,
            eta="" if eta is None else f"eta {_clock(eta)}",
        )
        if progress.report is not self._report or progress.clock != self._clock:
            self._report, self._clock = progress.report, progress.clock
            self._live.update(self._shown())

    def _shown(self) -> "RenderableType":
        from rich.console import Group
        from rich.text import Text

        from tourney.cli.board import board_table

        clock = Text(self._clock, style="dim")
        shown = self._report
        if shown is None:
            return Group(self._bar, clock)
        size = self._live.console.size
        table = board_table(
            shown.standings,
            width=size.width,
            every_look=shown.every_look,
            most=size.height - LIVE_LINES,
        )
        return Group(self._bar, clock, table, *(Text(sentence) for sentence in shown.notes))

    def end(self) -> None:
        """Clear the live region."""
        self._live.stop()


class JsonDisplay:
    """One JSON object a line on standard output: `started`, `progress`, `finished`."""

    def __init__(self) -> None:
        self._run = ""
        self._matches = -1

    def begin(self, info: "RunInfo", *, resumed: bool) -> None:
        """The first event."""
        self._run = info.id
        self.event(
            "started",
            game=info.game,
            seats=info.seats,
            bots=info.bots,
            matches_total=info.most_matches,
            sandbox=info.sandbox,
            resumed=resumed,
        )

    def progress(self, progress: "Progress") -> None:
        """An event for each commit."""
        if progress.matches != self._matches:
            self._matches = progress.matches
            self.event(
                "progress",
                matches=progress.matches,
                matches_total=progress.matches_total,
                rate=round(progress.rate, 1),
                faults=progress.faults,
                clock=progress.clock,
            )

    def end(self) -> None:
        """Nothing to clear away."""

    def event(self, kind: str, **fields: Any) -> None:
        """Print one event."""
        stamp = datetime.now(UTC).isoformat(timespec="milliseconds")
        print(
            json.dumps({"v": 1, "event": kind, "ts": stamp, "run": self._run, **fields}),
            flush=True,
        )
