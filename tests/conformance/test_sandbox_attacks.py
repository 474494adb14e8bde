"""What a bot cannot do: the attacks of docs/sandbox.md, by number, in the default sandbox."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conformance.sandbox_harness import (
    HELLO,
    Rogue,
    bots_below,
    died_of_memory,
    is_bwrap,
    open_descriptors,
    send,
    watch,
)
from tourney.packages import package_digest
from tourney.sandbox.base import ProcessLimits
from tourney.sandbox.bwrap import BwrapSandbox
from tourney.sandbox.tiers import TIERS

pytestmark = pytest.mark.parametrize("sandbox", [tier.name for tier in TIERS], indirect=True)

SMALL = ProcessLimits(memory_mb=128, tmp_mb=16, processes=40)


def test_1_files_of_the_host_are_not_there(sandbox: BwrapSandbox, secret: Path) -> None:
    home = Path.home()
    paths = [
        *("/etc/shadow", "/etc/passwd", "/etc", "/home", "/root", "/run", "/var", "/sys", "/boot"),
        *(str(home), f"{home}/.ssh", str(secret), f"/proc/1/root{secret}", f"/bot/../..{secret}"),
        *("/proc/1/root/etc/passwd", "/proc/self/cwd/../etc/shadow", "/proc/1/cwd/../root"),
    ]
    with Rogue(sandbox, "reads-files") as rogue:
        report = rogue.report(paths=paths)
    # /etc itself is a folder of ours with three entries, none of them a secret.
    assert report.pop("/etc") == "done"
    expected = dict.fromkeys(set(paths) - {"/etc"}, "ENOENT")
    if not sandbox.tier.user_namespace:
        # Process 1 is another user's: its folder is closed before anything in it is looked for.
        expected |= {path: "EACCES" for path in expected if path.startswith("/proc/1/")}
    assert report == expected


def test_2_no_process_but_its_own_shows(sandbox: BwrapSandbox, secret: Path) -> None:
    with Rogue(sandbox, "reads-processes") as rogue:
        report = rogue.report(pid=os.getpid())
    assert report["host"] == ["ENOENT"] * 3
    if not sandbox.tier.proc:
        assert report["pids"] == []
        assert {report[name] for name in ("environ", "cmdline", "mounts")} == {"ENOENT"}
        return
    assert report["pids"] == [1, 2]
    # Without a user namespace process 1 belongs to another user, so even less of it shows.
    assert report["environ"] == ("" if sandbox.tier.user_namespace else "EACCES")
    assert str(rogue.folder) not in report["cmdline"]
    assert report["cmdline"].split("\0")[0].endswith("bwrap")
    assert str(secret.parent) not in report["mounts"]


def test_3_signals_reach_nobody_outside(sandbox: BwrapSandbox) -> None:
    victim = subprocess.Popen(["sleep", "30"])
    try:
        with Rogue(sandbox, "kills") as rogue:
            report = rogue.report(pid=victim.pid, all=False)
            assert victim.poll() is None
        with Rogue(sandbox, "kills") as rogue:
            rogue.ask(pid=victim.pid, all=True)
            seen = watch(rogue.process, 5, rogue.limits)
            assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait(5)
    init = "done" if sandbox.tier.user_namespace else "EPERM"
    assert report == {"kill": "ESRCH", "pidfd": "ESRCH", "group": "ESRCH", "init": init}
    # Signal 9 to everybody spares the sender, and process 1 as seen from inside.
    assert seen.reason == "answered"


def test_4_to_6_no_socket_of_any_family(sandbox: BwrapSandbox, public: Path) -> None:
    path = public / "listener"
    name = f"tourney-test-{os.getpid()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as unix,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        udp.bind(("127.0.0.1", 0))
        unix.bind(str(path))
        path.chmod(0o777)
        abstract.bind(f"\0{name}")
        listeners = (tcp, unix, abstract)
        for listener in listeners:
            listener.listen()
            listener.setblocking(False)
        udp.setblocking(False)
        with Rogue(sandbox, "opens-network") as rogue:
            report = rogue.report(
                tcp=tcp.getsockname()[1], udp=udp.getsockname()[1], path=str(path), abstract=name
            )
        for listener in listeners:
            with pytest.raises(BlockingIOError):
                listener.accept()
        with pytest.raises(BlockingIOError):
            udp.recv(10)
    assert set(report.pop("families").values()) == {"EAFNOSUPPORT"}
    assert report.pop("io_uring") == "ENOSYS"
    # What runtimes need to talk to themselves stays.
    assert report.pop("pair") == "done"
    assert set(report.values()) == {"EAFNOSUPPORT"}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="only x86-64 has other conventions")
def test_7_calls_by_another_convention(sandbox: BwrapSandbox) -> None:
    with Rogue(sandbox, "foreign-calls") as rogue:
        assert rogue.report(how="x32") == {"result": -38}
    with Rogue(sandbox, "foreign-calls") as rogue:
        rogue.ask(how="i386")
        seen = watch(rogue.process, 5, rogue.limits)
        status = rogue.process.close()
    assert seen.reason == "ended"
    assert status.in_words() == "killed by SIGSYS"


def test_8_and_9_nothing_outside_tmp_can_be_written(sandbox: BwrapSandbox, public: Path) -> None:
    folders = ["/bot", "/usr", "/usr/bin", "/etc", "/", "/dev", "/dev/shm", "/proc", str(public)]
    with Rogue(sandbox, "writes-outside") as rogue:
        report = rogue.report(folders=[*folders, "/tmp"])
        digest = package_digest(rogue.folder)
    assert digest == rogue.folder.name
    assert report["folders"].pop("/tmp") == "done"
    assert set(report["folders"].values()) <= {"EROFS", "ENOENT", "EACCES"}
    assert report["folders"]["/bot"] == "EROFS"
    assert report["folders"][str(public)] == "ENOENT"
    assert report["settings"] > (200 if sandbox.tier.proc else 3)
    assert report["opened"] == []
    assert (report["chmod"], report["unlink"], report["link"]) == ("EROFS", "EROFS", "EXDEV")
    assert report["device"] == "EPERM"


def test_10_to_12_tmp_has_an_end(sandbox: BwrapSandbox) -> None:
    with Rogue(sandbox, "fills-tmp", SMALL) as rogue:
        report = rogue.report(names=2000)
        n_files = rogue.process.tmp_files()
    assert report["fill"] == "ENOSPC"
    assert 15 * 2**20 <= report["written"] <= 16 * 2**20
    assert report["sparse"] == "EFBIG"
    assert report["large"] in ("EFBIG", "ENOSPC")
    # A file without contents takes no space; the referee counts them by this number.
    assert n_files == 2000


def test_13_each_bot_has_its_own_number_of_processes(sandbox: BwrapSandbox) -> None:
    crowd = [subprocess.Popen(["sleep", "30"]) for _ in range(100)]
    try:
        with (
            Rogue(sandbox, "forks", SMALL) as one,
            Rogue(sandbox, "forks", SMALL) as other,
            ThreadPoolExecutor(2) as pool,
        ):
            reports = list(pool.map(Rogue.report, (one, other)))
        assert all(process.poll() is None for process in crowd)
    finally:
        for process in crowd:
            process.kill()
        for process in crowd:
            process.wait(5)
    # 40 less the sandbox's process 1 and the bot itself. Without a user namespace the count is the
    # user's on the whole machine: one of its last holder's may still be on its way out.
    fewest = 38 if sandbox.tier.user_namespace else 37
    assert all(report["refused"] == "EAGAIN" for report in reports)
    assert all(fewest <= report["children"] <= 38 for report in reports)


def test_14_a_fork_bomb_dies_at_once(sandbox: BwrapSandbox) -> None:
    with Rogue(sandbox, "fork-bomb", SMALL) as rogue:
        rogue.ask()
        deadline = time.monotonic() + 5
        # Bubblewrap's outer process comes on top of the forty.
        while len(bots_below(os.getpid())) < 35 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert 35 <= len(bots_below(os.getpid())) <= 41
        began = time.monotonic()
        status = rogue.process.close(grace_ms=0)
        seconds = time.monotonic() - began
    assert status.killed_by_us
    assert bots_below(os.getpid()) == set()
    assert seconds < 0.5


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("eats-memory", "own"),
        ("eats-memory-js", "buffers"),
        ("eats-memory-c", "own"),
        ("eats-memory", "shared"),
        ("eats-memory", "processes"),
        ("eats-memory", "tables"),
    ],
)
def test_15_16_and_18_memory_has_an_end(sandbox: BwrapSandbox, name: str, kind: str) -> None:
    limits = ProcessLimits(memory_mb=256)
    with Rogue(sandbox, name, limits) as rogue:
        rogue.ask(kind=kind)
        seen = watch(rogue.process, 20, limits)
        status = rogue.process.close(grace_ms=50)
    assert died_of_memory(seen, status, limits), (seen.reason, seen.peak_mb, status)
    assert max(seen.peak_mb, status.peak_memory_mb) < 256 * 1.25 + 64


def test_17_no_memory_out_of_sight(sandbox: BwrapSandbox) -> None:
    with Rogue(sandbox, "hides-memory") as rogue:
        report = rogue.report()
    assert report == dict.fromkeys(("memfd", "memfd_secret", "sysv", "queue"), "EPERM")


@pytest.mark.parametrize("piece", ["x", "{}\n"])
def test_19_and_20_endless_output_is_stopped(sandbox: BwrapSandbox, piece: str) -> None:
    with Rogue(sandbox, "floods") as rogue:
        rogue.ask(fd=1, piece=piece, bytes=2**31)
        deadline = time.monotonic() + 5
        n_bytes = 0
        while n_bytes < 2**20 and time.monotonic() < deadline:
            n_bytes += len(watch(rogue.process, 1, rogue.limits).output)
            if piece == "x":
                break
        memory_mb = rogue.process.memory_mb()
        status = rogue.process.close(grace_ms=0)
    assert n_bytes >= (2**16 if piece == "x" else 2**20)
    assert memory_mb < 64
    assert status.killed_by_us


def test_21_a_flooded_log_stops_nobody(sandbox: BwrapSandbox) -> None:
    with Rogue(sandbox, "floods") as rogue:
        rogue.ask(fd=2, piece="log\n", bytes=100 * 2**20)
        seen = watch(rogue.process, 20, rogue.limits)
    assert seen.reason == "answered"
    assert b'"flooded": 104857600' in seen.output
    assert seen.n_stderr == 100 * 2**20


def test_22_a_bot_that_never_reads_blocks_nobody(sandbox: BwrapSandbox) -> None:
    with Rogue(sandbox, "never-reads") as rogue:
        send(rogue.process, HELLO)
        began = time.monotonic()
        written = os.write(rogue.process.stdin, bytes(2**20))
        with pytest.raises(BlockingIOError):
            os.write(rogue.process.stdin, bytes(2**20))
        seconds = time.monotonic() - began
        seen = watch(rogue.process, 0.1, rogue.limits)
    assert 0 < written < 2**20
    assert seconds < 0.1
    assert seen.reason == "timeout"


def test_23_ignored_signals_are_no_help(sandbox: BwrapSandbox) -> None:
    with Rogue(sandbox, "ignores-signals") as rogue:
        rogue.ask()
        assert watch(rogue.process, 5, rogue.limits).output == b'{"type": "ignoring"}\n'
        assert watch(rogue.process, 0.05, rogue.limits).reason == "timeout"
        began = time.monotonic()
        status = rogue.process.close(grace_ms=100)
        seconds = time.monotonic() - began
    assert status.in_words() == "stopped by the runner"
    assert seconds < 0.4


def test_24_cpu_time_has_an_end(sandbox: BwrapSandbox) -> None:
    limits = ProcessLimits(cpu_seconds=1)
    with Rogue(sandbox, "burns-cpu", limits) as rogue:
        rogue.ask(processes=1, threads=4)
        seen = watch(rogue.process, 15, limits)
        status = rogue.process.close(grace_ms=100)
    assert seen.reason == "ended"
    assert status.in_words() == "killed by SIGKILL"
    # Soft limit 1 s, hard limit 2 s, and all four threads count. The kernel counts by ticks for
    # this limit: on a crowded machine it ends a process up to a third too soon.
    assert 1200 < status.cpu_ms < 2800


def test_25_orphans_die_with_the_bot(sandbox: BwrapSandbox) -> None:
    with Rogue(sandbox, "leaves-orphans") as rogue:
        rogue.ask()
        assert watch(rogue.process, 5, rogue.limits).output == b'{"type": "orphan"}\n'
        seen = watch(rogue.process, 5, rogue.limits)
        status = rogue.process.close()
    assert seen.reason == "ended"
    assert seen.seconds < 1
    assert status.in_words() == "exited with code 3"


def test_26_the_process_above_can_be_neither_traced_nor_overwritten(
    sandbox: BwrapSandbox,
) -> None:
    with Rogue(sandbox, "attacks-processes") as rogue:
        report = rogue.report()
        status = rogue.process.close()
    # The way in is read-only; before that it is another user's, or not there at all.
    refusal = {"bwrap": "EROFS", "bwrap-root": "EACCES", "bwrap-noproc": "ENOENT"}
    assert report.pop("overwrite") == refusal[sandbox.name]
    assert set(report.values()) == {"EPERM"}
    assert status.in_words() == "exited with code 0"


def test_27_it_gets_nothing_but_what_is_listed(
    sandbox: BwrapSandbox, monkeypatch: pytest.MonkeyPatch, public: Path
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    folder = os.open(public, os.O_RDONLY)
    os.set_inheritable(folder, True)
    try:
        with Rogue(sandbox, "shows-itself") as rogue:
            report = rogue.report()
    finally:
        os.close(folder)
    assert report["environ"] == {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": "/tmp",
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        "PWD": "/bot",
    }
    assert sorted(report["descriptors"]) == ["0", "1", "2"]
    assert set(report["descriptors"].values()) == {"p"}
    user, group, groups = report["ids"]
    assert user == group
    assert user == 65534 if sandbox.tier.user_namespace else 200_000 <= user < 201_000
    assert set(groups) <= {65534}
    if sandbox.tier.proc:
        nothing = dict.fromkeys(("CapEff", "CapPrm", "CapBnd", "CapAmb"), "0000000000000000")
        assert report["status"] == {"Seccomp": "2", "NoNewPrivs": "1", **nothing}
    assert (report["cwd"], report["host"]) == ("/bot", "bot")
    limits = report["limits"]
    # Process 1 is one of the 64 where it is the same user.
    assert limits["RLIMIT_NPROC"] == [64 if sandbox.tier.user_namespace else 63] * 2
    assert limits["RLIMIT_NOFILE"] == [256, 256]
    assert limits["RLIMIT_FSIZE"] == [16 * 2**20] * 2
    assert limits["RLIMIT_DATA"] == [320 * 2**20] * 2
    assert limits["RLIMIT_MEMLOCK"] == limits["RLIMIT_MSGQUEUE"] == [0, 0]
    assert limits["RLIMIT_CORE"][1] <= 1


def test_27_a_bot_is_never_the_kernels_root(sandbox: BwrapSandbox) -> None:
    with Rogue(sandbox, "shows-itself") as rogue:
        rogue.hello()
        pids = bots_below(os.getpid())
        users = {Path(f"/proc/{pid}").stat().st_uid for pid in pids if not is_bwrap(pid)}
        above = {Path(f"/proc/{pid}").stat().st_uid for pid in pids if is_bwrap(pid)}
    assert len(users) == 1
    assert 0 not in users
    # Where root makes the namespaces, only bubblewrap's own two processes stay root.
    assert above == (users if sandbox.tier.user_namespace else {0})


def test_28_nothing_is_typed_into_a_terminal(sandbox: BwrapSandbox) -> None:
    with Rogue(sandbox, "pushes-terminal") as rogue:
        report = rogue.report()
    assert report.pop("tty") == "ENXIO"
    assert set(report.values()) == {"EPERM"}


def test_29_no_new_worlds(sandbox: BwrapSandbox) -> None:
    with Rogue(sandbox, "makes-namespaces") as rogue:
        report = rogue.report()
    missing = {"clone3", "far above", "newest"}
    assert {name: report.pop(name) for name in missing} == dict.fromkeys(missing, "ENOSYS")
    assert {name for name, outcome in report.items() if outcome != "EPERM"} == set()


def test_descriptors_and_processes_are_back_after_each_bot(sandbox: BwrapSandbox) -> None:
    with Rogue(sandbox, "shows-itself") as rogue:
        rogue.report()
    before = open_descriptors()
    for name in ("shows-itself", "leaves-orphans", "never-reads"):
        with Rogue(sandbox, name) as rogue:
            if name != "never-reads":
                rogue.ask()
    assert open_descriptors() == before


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder of the host that every user may enter and write."""
    folder = Path(tempfile.mkdtemp(prefix="tourney-public-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def secret(public: Path) -> Path:
    """A file of the host that every user may read."""
    path = public / "secret"
    path.write_text("the deal's seed")
    path.chmod(0o644)
    return path
