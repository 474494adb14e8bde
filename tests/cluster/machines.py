"""Machines of a cluster on one machine: each has its network, its processes and a cable to pull.

A machine is a network namespace on a common bridge and a process namespace whose first process is
`ray start --block`. Killing that kills all of the machine's processes for certain.
"""

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tourney.executors import reaper

RAY = Path(sys.executable).with_name("ray")

SUBNET = "10.209.{}"
PORT = 6379

UP_SECONDS = 120.0
"""A machine is up sooner, unless it never is."""

ENVIRONMENT = {
    # A node that does not answer is given up after about twenty seconds instead of a minute.
    "RAY_health_check_initial_delay_ms": "5000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "10000",
    "RAY_health_check_failure_threshold": "2",
    "RAY_raylet_start_wait_time_s": f"{UP_SECONDS:.0f}",
    "RAY_USAGE_STATS_ENABLED": "0",
    # As docs/cluster.md wants it.
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
}
"""What every process of such a cluster has in its environment."""


def cannot() -> str:
    """Why there can be no such machines here; empty if there can."""
    if os.geteuid() != 0:
        return "namespaces need root"
    for tool in ("ip", "unshare", "nsenter", "setpriv", "mount"):
        if shutil.which(tool) is None:
            return f"there is no `{tool}`"
    try:
        with Network() as network:
            one, two = Machine(network, 1), Machine(network, 2)
            reach = "import socket; socket.create_connection(('{}', 9), 5)"
            asked = subprocess.run(
                [*one.inside_network, sys.executable, "-c", reach.format(two.ip)],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            # Nobody listens: only a machine that is reached says so.
            if "ConnectionRefusedError" not in asked.stderr:
                return "namespaces cannot reach each other over a bridge"
    except subprocess.CalledProcessError as error:
        return f"no network of namespaces: {error.stderr or error}"
    return ""


def _do(*command: str | Path) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)


class Network:
    """A bridge, a folder for the machines' sessions, and a small disk for results."""

    def __init__(self, disk_mb: int = 48) -> None:
        number = os.getpid() % 250
        self.tag = f"tc{os.getpid() % 100_000}"
        self.subnet = SUBNET.format(number)
        self.machines: list[Machine] = []
        # Below /tmp, as the paths of sockets must be short.
        self.folder = Path(tempfile.mkdtemp(prefix="tourney-chaos-", dir="/tmp"))
        self.disk = self.folder / "disk"
        self._disk_mb = disk_mb

    def __enter__(self) -> "Network":
        try:
            _do("ip", "link", "add", "name", f"{self.tag}b", "type", "bridge")
            _do("ip", "link", "set", f"{self.tag}b", "up")
            self.disk.mkdir()
            _do("mount", "-t", "tmpfs", "-o", f"size={self._disk_mb}m", "tourney-chaos", self.disk)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for machine in self.machines:
            machine.kill()
            # The kernel takes its time with a namespace that had processes.
            for command in (["link", "del", machine.cable], ["netns", "del", machine.name]):
                subprocess.run(["ip", *command], check=False, capture_output=True)
        for command in (["ip", "link", "del", f"{self.tag}b"], ["umount", str(self.disk)]):
            subprocess.run(command, check=False, capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def address(self) -> str:
        """Where the first machine's Ray is."""
        return f"{self.machines[0].ip}:{PORT}"

    def fill_disk(self) -> None:
        """Leave not a page free."""
        with contextlib.suppress(OSError), self._filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 12))

    def free_disk(self) -> None:
        """Take the filling away."""
        self._filler.unlink(missing_ok=True)

    @property
    def _filler(self) -> Path:
        return self.disk / "filler"


class Machine:
    """One node. The first of a network is the head."""

    def __init__(self, network: Network, cpu: int, workers: int = 1) -> None:
        """Wire it up; nothing runs yet.

        Args:
            network: where.
            cpu: the only CPU of this machine that its processes may use.
            workers: how many CPUs it says it has.
        """
        self._network = network
        self._number = len(network.machines) + 1
        self.name = f"{network.tag}n{self._number}"
        self.cable = f"{network.tag}c{self._number}"
        self.ip = f"{network.subnet}.{self._number}"
        self.cpu = cpu
        self._workers = workers
        self._process: subprocess.Popen[bytes] | None = None
        network.machines.append(self)
        bridge = f"{network.tag}b"
        _do("ip", "netns", "add", self.name)
        _do("ip", "link", "add", self.cable, "type", "veth", "peer", "name", "eth0",
            "netns", self.name)  # fmt: skip
        _do("ip", "link", "set", self.cable, "master", bridge, "up")
        _do("ip", "-n", self.name, "addr", "add", f"{self.ip}/24", "dev", "eth0")
        _do("ip", "-n", self.name, "link", "set", "eth0", "up")
        _do("ip", "-n", self.name, "link", "set", "lo", "up")

    @property
    def inside_network(self) -> list[str]:
        """What a command begins with that runs in this machine's network."""
        return ["ip", "netns", "exec", self.name]

    @property
    def inside(self) -> list[str]:
        """What a command begins with that runs on this machine; it ends with it."""
        return ["nsenter", "-t", str(self._first()), "-n", "-p", "-m",
                "taskset", "-c", str(self.cpu)]  # fmt: skip

    @property
    def is_head(self) -> bool:
        return self._number == 1

    def start(self) -> None:
        """Start Ray here, if it does not run."""
        if self.is_up:
            return
        self.kill()
        session = self._network.folder / f"n{self._number}"
        shutil.rmtree(session, ignore_errors=True)
        role = ["--head", f"--port={PORT}", "--include-dashboard=false"]
        if not self.is_head:
            role = [f"--address={self._network.address}"]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                # Should even we be killed, the machines go with us.
                ["setpriv", "--pdeathsig", "KILL", *self.inside_network, "unshare",
                 "--pid", "--fork", "--kill-child", "--mount-proc",
                 "taskset", "-c", str(self.cpu), RAY, "start", "--block", *role,
                 f"--node-ip-address={self.ip}", f"--num-cpus={self._workers}",
                 f"--temp-dir={session}", "--object-store-memory=80000000",
                 "--disable-usage-stats", "--include-log-monitor=false"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, **ENVIRONMENT}, start_new_session=True,
            )  # fmt: skip
        if self.is_head:
            self._wait_for_head()

    def _wait_for_head(self) -> None:
        reach = f"import socket; socket.create_connection(('{self.ip}', {PORT}), 5)"
        deadline = time.monotonic() + UP_SECONDS
        while time.monotonic() < deadline and self.is_up:
            asked = subprocess.run(
                [*self.inside_network, sys.executable, "-c", reach],
                capture_output=True,
                check=False,
            )
            if asked.returncode == 0 and "raylet" in self.programs():
                return
            time.sleep(0.5)
        raise AssertionError("the head did not come up")

    @property
    def log(self) -> Path:
        """What `ray start` said."""
        return self._network.folder / f"n{self._number}.log"

    @property
    def is_up(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _first(self) -> int:
        """Our number of the machine's process 1."""
        assert self._process is not None
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        return int(children.read_text().split()[0])

    def processes(self) -> list[int]:
        """All that run here; sandboxed ones too, as they are below process 1."""
        if not self.is_up:
            return []
        try:
            first = self._first()
        except (OSError, IndexError):
            return []
        # Those that came in from outside are nobody's children here.
        entered = {pid for pid in _pids() if _namespace(pid) == _namespace(first)}
        return sorted({first} | entered | {pid for pid, _ in reaper.descendants(first)})

    def programs(self) -> set[str]:
        """Names of what runs here."""
        return {Path(words[0]).name for pid in self.processes() if (words := command(pid).split())}

    def find(self, *words: str) -> list[int]:
        """Processes in whose command line one of the words is."""
        return [pid for pid in self.processes() if any(word in command(pid) for word in words)]

    def kill(self) -> None:
        """Pull the plug."""
        if self._process is not None:
            # Its death ends all processes here, stopped ones too.
            with contextlib.suppress(OSError, IndexError):
                os.kill(self._first(), signal.SIGKILL)
            self._process.kill()
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        """Stop every process, until none is found that is not."""
        stopped: set[int] = set()
        while new := set(self.processes()) - stopped:
            _signal(new, signal.SIGSTOP)
            stopped |= new

    def go_on(self) -> None:
        """Let all that is stopped run again."""
        _signal(self.processes(), signal.SIGCONT)

    def cut(self) -> None:
        """Pull the cable."""
        _do("ip", "link", "set", self.cable, "down")

    def mend(self) -> None:
        """Put it back."""
        _do("ip", "link", "set", self.cable, "up")


def command(pid: int) -> str:
    """A process's command line; empty if it is gone."""
    try:
        return (
            Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        )
    except OSError:
        return ""


def _pids() -> Iterator[int]:
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())


def _namespace(pid: int) -> str:
    """Of processes; empty if the process is gone."""
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return ""


def _signal(pids: Sequence[int] | set[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


@contextlib.contextmanager
def cluster(cpus: Sequence[int], head_workers: int = 0) -> Iterator[Network]:
    """A running cluster: the head on the first CPU, a machine with one worker on each other.

    Args:
        cpus: of the head, then of each machine; one may stand for several.
        head_workers: workers that the head carries.
    """
    with Network() as network:
        for number, cpu in enumerate(cpus):
            Machine(network, cpu, 1 if number else head_workers)
        for machine in network.machines:
            machine.start()
        yield network
