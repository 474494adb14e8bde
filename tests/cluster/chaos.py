"""Exactly once under fire: runs on machines that are killed, paused, cut off and filled up.

    python -m tests.cluster.chaos --schedules 50 --seed 1

plays one run undisturbed, then the same run again and again on a cluster of namespaces, each time
under another random schedule of (seconds, event). A run that its driver gives up, or whose driver
is killed, is resumed. In the end it must be the undisturbed run to the byte. Needs root.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from tests.cluster.machines import ENVIRONMENT, Machine, Network, cannot, cluster, command
from tests.cluster.schedules import Event, schedule
from tourney.errors import StoreError
from tourney.store import RunReader

ROOT = Path(__file__).parents[2]

CONFIG = """
[tournament]
name = "chaos"
game = "dam"
deals = {deals}
seed = 7
[rules]
rounds = 1
# No fault of ours may ever look like a bot's: nothing here takes as long as any limit.
[limits]
start_ms = 600000
move_ms = 600000
idle_cpu_ms = 0
[run]
block_seconds = 0.5
commit_seconds = 0.5
[[bot]]
path = "{root}/bots/dam-memory"
[[bot]]
path = "{root}/bots/dam-threshold"
[[bot]]
path = "{root}/bots/dam-random"
"""

RUN_SECONDS = 420.0
"""No run takes so long, with all its resumes."""

KILLED = {"crashed", "start_failed"}
"""What a bot is charged with that is killed, in a match or before it was ready."""

CLOCKS = ("seconds", "think_us", "think_ms_total", "think_ms_max")
"""Columns that tell of time, in which no two runs are equal."""


@dataclass
class Told:
    """What became of a schedule."""

    happened: list[str] = field(default_factory=list)
    missed: int = 0
    """Events that came after the run's end, or found nothing to hit."""
    bots_killed: int = 0
    resumes: int = 0
    exits: list[str] = field(default_factory=list)
    """Errors with which a driver gave up by itself, but for a full disk."""
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0


class Siege:
    """One run on a cluster, under one schedule."""

    def __init__(self, network: Network, config: Path, name: str) -> None:
        self._network = network
        self._config = config
        self.folder = network.disk / name
        self._log = network.folder / f"{name}.log"
        self._driver: subprocess.Popen[bytes] | None = None
        self._ends: list[tuple[float, Event, Machine | None]] = []
        self._disk_full = False
        self.told = Told()

    def play(self, events: Sequence[Event]) -> Told:
        """Play the run to its end, whatever happens."""
        begin = time.monotonic()
        waiting = list(events)
        first_commit = None
        try:
            while time.monotonic() - begin < RUN_SECONDS:
                now = time.monotonic()
                self._end_what_passes(now)
                self._heal()
                if self._drive():
                    break
                if first_commit is None and (self.folder / "journal.jsonl").exists():
                    first_commit = now
                while waiting and first_commit is not None and now - first_commit > waiting[0].at:
                    self._strike(waiting.pop(0), now)
                time.sleep(0.1)
            else:
                self.told.wrong.append(f"not finished within {RUN_SECONDS:.0f} s: {self._last()}")
        finally:
            self._end_what_passes(float("inf"))
            self._kill_driver()
        self.told.missed += len(waiting)
        self.told.seconds = time.monotonic() - begin
        return self.told

    def _heal(self) -> None:
        """As whoever looks after a cluster does: what is down is started."""
        if self._network.machines[0].is_up:
            for machine in self._network.machines[1:]:
                machine.start()
            return
        for machine in self._network.machines:
            machine.kill()
        for machine in self._network.machines:
            machine.start()

    def _drive(self) -> bool:
        """Start the driver, or again; whether the run is over."""
        if self._driver is not None:
            code = self._driver.poll()
            if code is None:
                return False
            self._driver = None
            if code == 0:
                return True
            self._explain(code)
        if self._disk_full:
            return False
        resume = ["--resume"] if self.folder.exists() and any(self.folder.iterdir()) else []
        self.told.resumes += bool(resume)
        with self._log.open("ab") as log:
            self._driver = subprocess.Popen(
                [*self._network.machines[0].inside, sys.executable, "-m", "tourney", "run",
                 self._config, "--out", self.folder, "--address", self._network.address,
                 "--json", *resume],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, cwd=ROOT,
                env={**os.environ, **ENVIRONMENT}, start_new_session=True,
            )  # fmt: skip
        return False

    def _explain(self, code: int) -> None:
        """Why the driver gave up; killed ones need no reason."""
        last = self._last()
        if "No space left on device" in last:
            told = (str(self.folder), "free some space", "--resume")
            missing = [word for word in told if word not in last]
            if code != StoreError.exit_code or missing:
                self.told.wrong.append(f"exit {code} says nothing of {missing}: {last}")
        elif code not in {-signal.SIGKILL, 128 + signal.SIGKILL}:
            self.told.exits.append(f"{code}: {last}")

    def _last(self) -> str:
        """What the driver said last."""
        text = self._log.read_text(errors="replace") if self._log.exists() else ""
        return text.rpartition("error: ")[2][-600:]

    def _kill_driver(self) -> None:
        if self._driver is None:
            return
        for pid in self._network.machines[0].find("tourney run"):
            if command(pid).startswith(sys.executable):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self._driver.kill()
        self._driver.wait()
        self._driver = None

    def _strike(self, event: Event, now: float) -> None:
        """Let an event begin."""
        players = self._network.machines[1:]
        machine = players[event.where % len(players)]
        if any(hit is machine for _, _, hit in self._ends):
            # One that is paused or cut off already has trouble enough.
            hit = False
        else:
            hit = self._hit(event, machine, now)
        self.told.missed += not hit
        if hit:
            self.told.happened.append(str(event))

    def _hit(self, event: Event, machine: Machine, now: float) -> bool:
        match event.kind:
            case "bot":
                # The newest: it has been asked nothing yet, or is in play.
                hit = _kill_one(machine, "bot.py", event.where)
                self.told.bots_killed += hit
                return hit
            case "worker":
                return _kill_one(machine, "ray::RayWorker", event.where)
            case "raylet":
                return _kill_one(machine, "raylet/raylet", event.where)
            case "machine":
                machine.kill()
            case "driver":
                self._kill_driver()
            case "head":
                self._kill_driver()
                self._network.machines[0].kill()
            case "disk":
                self._disk_full = True
                self._network.fill_disk()
                self._ends.append((now + event.seconds, event, None))
            case "pause":
                machine.pause()
                self._ends.append((now + event.seconds, event, machine))
            case "cut":
                machine.cut()
                self._ends.append((now + event.seconds, event, machine))
        return True

    def _end_what_passes(self, now: float) -> None:
        over = [end for end in self._ends if end[0] <= now]
        self._ends = [end for end in self._ends if end[0] > now]
        for _, event, machine in over:
            if machine is None:
                self._disk_full = any(end[1].kind == "disk" for end in self._ends)
                if not self._disk_full:
                    self._network.free_disk()
            elif event.kind == "pause":
                machine.go_on()
            else:
                machine.mend()


def _kill_one(machine: Machine, words: str, which: int) -> bool:
    found = machine.find(words)
    if not found:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(found[which % len(found)], signal.SIGKILL)
    return True


def differences(folder: Path, whole: Path, bots_killed: int) -> list[str]:
    """What of a run is not as in the undisturbed one; clocks apart.

    A bot that is killed has crashed, and nobody can tell who did it: its match is charged to it.
    Nothing else may differ.
    """
    ours, theirs = RunReader(folder), RunReader(whole)
    faults = ours.scan("faults").collect()
    hit = faults["match"].unique().to_list()
    wrong = []
    if ours.info.status != "finished":
        wrong.append(f"it is {ours.info.status}")
    if len(hit) > bots_killed or not set(faults["kind"]) <= KILLED:
        wrong.append(f"matches with faults: {faults.select('match', 'kind', 'detail').rows()[:3]}")
    if not hit and ours.info.digest != theirs.info.digest:
        wrong.append("another digest")
    for table in ("matches", "seats"):
        order = ["match", "seat"] if table == "seats" else ["match"]
        rows = [
            reader.scan(table).drop(CLOCKS, strict=False).sort(order).collect()
            for reader in (ours, theirs)
        ]
        if rows[0].select(order).rows() != rows[1].select(order).rows():
            wrong.append(f"{table}: rows are missing, or there twice")
        kept = [frame.filter(~pl.col("match").is_in(hit)) for frame in rows]
        if not kept[0].equals(kept[1]):
            wrong.append(f"{table} differ")
    return wrong


def left_behind(network: Network) -> list[str]:
    """Workers and bots that still live on the machines a while after a run."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        left = [
            command(pid)[:60]
            for machine in network.machines
            for pid in machine.find("ray::RayWorker", "bot.py")
        ]
        if not left:
            return []
        time.sleep(0.5)
    return [f"left behind: {left}"]


@contextlib.contextmanager
def besieged(cpus: Sequence[int], deals: int) -> Iterator[tuple[Network, Path, Path]]:
    """A cluster, the config and the folder of a run that nobody disturbed."""
    with tempfile.TemporaryDirectory(prefix="tourney-chaos-") as folder:
        config, whole = Path(folder) / "chaos.toml", Path(folder) / "whole"
        config.write_text(CONFIG.format(deals=deals, root=ROOT))
        subprocess.run(
            [sys.executable, "-m", "tourney", "run", config, "--out", whole, "--json",
             "--set", "run.workers=1"],
            check=True, stdout=subprocess.DEVNULL, cwd=ROOT,
        )  # fmt: skip
        with cluster(cpus) as network:
            yield network, config, whole


def seconds_of(whole: Path) -> float:
    """Seconds that a run took."""
    return RunReader(whole).info.seconds


def siege(network: Network, config: Path, whole: Path, events: Sequence[Event], name: str) -> Told:
    """Play one schedule and compare."""
    one = Siege(network, config, name)
    told = one.play(events)
    if not told.wrong:
        told.wrong += differences(one.folder, whole, told.bots_killed)
        told.wrong += left_behind(network)
    return told


def some_cpus() -> list[int]:
    """CPUs for a head and two machines: a machine each, as far as there are CPUs."""
    allowed = sorted(os.sched_getaffinity(0))
    return [allowed[0], *(allowed[number % len(allowed)] for number in range(2))]


def main() -> int:
    """Play many schedules; a line of JSON for each, and what they add up to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schedules", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--deals", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="number of the first schedule")
    parser.add_argument(
        "--cpus", type=int, nargs="+", default=None, help="of the head and of each machine"
    )
    given = parser.parse_args()
    # Whatever ends us, the machines go first.
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda number, _: sys.exit(128 + number))
    reason = cannot()
    if reason:
        print(f"not here: {reason}", file=sys.stderr)
        return 2
    cpus = given.cpus or some_cpus()
    kinds: Counter[str] = Counter()
    resumes = missed = failed = 0
    with besieged(cpus, given.deals) as (network, config, whole):
        for number in range(given.first, given.first + given.schedules):
            told = siege(
                network,
                config,
                whole,
                schedule(f"{given.seed}-{number}", seconds_of(whole)),
                f"s{number}",
            )
            print(json.dumps({"schedule": number, **vars(told)}), flush=True)
            kinds.update(line.split()[2] for line in told.happened)
            resumes, missed = resumes + told.resumes, missed + told.missed
            failed += bool(told.wrong)
    print(
        f"{given.schedules} schedules, {kinds.total()} events ({missed} came too late), "
        f"{resumes} resumes, {failed} schedules not as undisturbed\n{dict(kinds)}"
    )
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
