"""Nothing is left of a bot, however its launcher ends (docs/sandbox.md, attack 30)."""

import os
import secrets
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conformance.sandbox_harness import (
    REPOSITORY,
    ROGUES,
    Rogue,
    bots_below,
    command_line,
    descendants,
    processes_with,
    wait_until_none,
    watch,
)
from tourney.errors import SandboxUnavailable
from tourney.packages import install, pack, package_digest
from tourney.sandbox.base import BotProcess, ProcessLimits
from tourney.sandbox.bwrap import BwrapSandbox
from tourney.sandbox.launcher import stop_guards
from tourney.sandbox.metering import children

Launch = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def marker() -> str:
    """A word that only this test's processes have."""
    return f"mark-{secrets.token_hex(8)}"


@pytest.fixture
def launch(marker: str) -> Iterator[Launch]:
    """Start a launcher of its own; every process of it has the marker in its environment."""
    started: list[subprocess.Popen[str]] = []

    def run(*words: str, prefix: tuple[str, ...] = (), **more: str) -> subprocess.Popen[str]:
        command = [*prefix, sys.executable, "-m", "tests.conformance.sandbox_launcher", *words]
        environment = {**os.environ, "TEST_MARKER": marker, **more}
        process = subprocess.Popen(
            command, cwd=REPOSITORY, env=environment, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.wait(5)
        assert process.stdout is not None
        process.stdout.close()


def line(process: subprocess.Popen[str], wait_s: float) -> str:
    """The next line of a launcher, empty when it ends or the wait is over."""
    assert process.stdout is not None
    if not select.select([process.stdout], [], [], wait_s)[0]:
        return ""
    return process.stdout.readline().strip()


def launched(marker: str) -> list[int]:
    """Processes with the marker in their environment: launchers and guards."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and marker.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def assert_nothing_left(marker: str) -> None:
    assert wait_until_none(marker, 2) == []
    deadline = time.monotonic() + 2
    while (left := launched(marker)) and time.monotonic() < deadline:
        time.sleep(0.005)
    assert left == []


KINDS = ["bwrap", "bwrap-noproc", "none", *(["bwrap-root"] if os.geteuid() == 0 else [])]


@pytest.mark.parametrize("kind", KINDS)
def test_30a_a_killed_launcher_takes_its_bots_along(
    sandbox: BwrapSandbox, launch: Launch, marker: str, kind: str
) -> None:
    launcher = launch("hold", marker, "3", TEST_SANDBOX=kind)
    assert line(launcher, 20) == "started 3"
    assert len(processes_with(marker)) >= 3
    launcher.kill()
    launcher.wait(5)
    assert_nothing_left(marker)


@pytest.mark.parametrize("who", ["interpreter", "unshare"])
def test_30a_a_killed_guard_takes_its_bots_along(
    sandbox: BwrapSandbox, launch: Launch, marker: str, who: str
) -> None:
    launcher = launch("hold", marker, "3")
    assert line(launcher, 20) == "started 3"
    guards = descendants(launcher.pid) - bots_below(launcher.pid)
    by_name = {
        "unshare" if command_line(pid)[0] == "unshare" else "interpreter": pid for pid in guards
    }
    os.kill(by_name[who], signal.SIGKILL)
    assert wait_until_none(marker, 2, besides=launcher.pid) == []
    launcher.kill()
    launcher.wait(5)
    assert_nothing_left(marker)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "none"])
def test_30b_killed_within_milliseconds_of_a_start(
    sandbox: BwrapSandbox, launch: Launch, marker: str, kind: str
) -> None:
    launcher = launch("storm", marker, "16", TEST_SANDBOX=kind)
    assert line(launcher, 50) == "done"
    launcher.wait(5)
    assert_nothing_left(marker)


def test_30b_where_the_guard_may_not_have_a_namespace_of_its_own(
    sandbox: BwrapSandbox, launch: Launch, marker: str
) -> None:
    launcher = launch("storm", marker, "12", TEST_PLAIN_GUARD="1")
    assert line(launcher, 50) == "done"
    launcher.wait(5)
    assert_nothing_left(marker)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_30b_killed_within_milliseconds_of_a_start_many_times(
    sandbox: BwrapSandbox, launch: Launch, marker: str
) -> None:
    launcher = launch("storm", marker, "500")
    assert line(launcher, 280) == "done"
    launcher.wait(5)
    assert_nothing_left(marker)


def test_30c_a_bot_outlives_the_thread_that_started_it(sandbox: BwrapSandbox) -> None:
    stop_guards()
    started: list[Rogue] = []
    thread = threading.Thread(target=lambda: started.append(Rogue(sandbox, "shows-itself")))
    thread.start()
    thread.join(10)
    time.sleep(0.1)
    with started[0] as rogue:
        assert rogue.report()["cwd"] == "/bot"


def test_30d_no_zombies_where_the_launcher_is_process_1(
    sandbox: BwrapSandbox, launch: Launch, marker: str
) -> None:
    user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    prefix = ("unshare", *user, "--pid", "--fork", "--mount-proc", "--kill-child")
    launcher = launch("reap", marker, "50", prefix=prefix)
    assert line(launcher, 50) == "pid 1 left 0"
    launcher.wait(5)
    assert_nothing_left(marker)


def test_the_guard_is_replaced_when_it_was_killed(sandbox: BwrapSandbox) -> None:
    with Rogue(sandbox, "never-reads") as rogue:
        for pid in children(os.getpid()):
            os.kill(pid, signal.SIGKILL)
        assert watch(rogue.process, 5, rogue.limits).reason == "ended"
        status = rogue.process.close()
    assert status.lost
    assert not status.killed_by_us
    assert status.in_words() == "lost together with the runner's guard process"
    with Rogue(sandbox, "shows-itself") as rogue:
        assert rogue.report()["cwd"] == "/bot"


def test_a_forked_launcher_has_a_guard_of_its_own(sandbox: BwrapSandbox) -> None:
    with Rogue(sandbox, "shows-itself") as ours:
        ours.hello()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                with Rogue(sandbox, "shows-itself") as theirs:
                    code = 0 if theirs.report()["cwd"] == "/bot" else 2
            finally:
                stop_guards()
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        ours.hello()


def test_a_bot_that_leaves_by_itself(sandbox: BwrapSandbox) -> None:
    with Rogue(sandbox, "shows-itself") as rogue:
        rogue.hello()
        began = time.monotonic()
        status = rogue.process.close(grace_ms=5000)
        seconds = time.monotonic() - began
        assert rogue.process.close() == status
    assert status.in_words() == "exited with code 0"
    assert seconds < 2
    assert 5 < status.peak_memory_mb < 64
    assert 1 < status.cpu_ms < 2000


@pytest.mark.parametrize(
    ("script", "words", "reported"),
    [
        ("exit 3", "exited with code 3", True),
        ("exit 200", "exited with code 200", True),
        ("kill -SEGV $$", "killed by SIGSEGV", True),
        ("kill -KILL $$", "killed by SIGKILL", True),
        ("exec /bot/no-such-program", "exited with code 127", True),
        ("sleep 30", "stopped by the runner", True),
    ],
)
def test_the_end_is_told_in_words(
    sandbox: BwrapSandbox, script: str, words: str, reported: bool
) -> None:
    process = sandbox.start(Path("/usr"), ["sh", "-c", script], ProcessLimits())
    status = process.close(grace_ms=300 if words.startswith("stopped") else 5000)
    assert status.in_words() == words
    assert status.reported == reported


def test_a_program_that_cannot_be_executed_never_ran(sandbox: BwrapSandbox, cache: Path) -> None:
    folder = cache / "no-interpreter"
    folder.mkdir()
    folder.chmod(0o755)
    (folder / "bot").write_text("#!/no/such/interpreter\n")
    (folder / "bot").chmod(0o755)
    process = sandbox.start(folder, ["./bot"], ProcessLimits())
    said = b""
    while select.select([process.stderr], [], [], 5)[0] and (more := os.read(process.stderr, 99)):
        said += more
    status = process.close(grace_ms=5000)
    assert b"execvp ./bot: No such file" in said
    assert not status.reported


def test_cpu_time_is_the_bots_own(sandbox: BwrapSandbox) -> None:
    script = "import time\nwhile time.process_time() < 0.3: pass\nprint(1, flush=True); input()"
    process: BotProcess = sandbox.start(Path("/usr"), ["python3", "-c", script], ProcessLimits())
    try:
        assert watch(process, 10, ProcessLimits()).reason == "answered"
        first = process.cpu_ns()
        time.sleep(0.05)
        assert 0.3e9 <= first < 0.45e9
        assert process.cpu_ns() - first < 2e6
    finally:
        status = process.close()
    assert status.cpu_ms >= first / 1e6


def test_a_build_runs_inside_and_is_kept(sandbox: BwrapSandbox) -> None:
    rogue = ROGUES / "foreign-calls"
    folder = install(pack(rogue), package_digest(rogue), sandbox)
    built = (folder / "bot").stat()
    assert built.st_uid == os.geteuid()
    assert built.st_mode & 0o777 == 0o755
    assert install(pack(rogue), package_digest(rogue), sandbox) == folder
    assert (folder / "bot").stat().st_ino == built.st_ino


def test_a_guard_that_does_not_answer_is_an_unavailable_sandbox(
    sandbox: BwrapSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Rogue(sandbox, "shows-itself") as rogue:
        rogue.hello()
        monkeypatch.setattr("tourney.sandbox.launcher.REPLY_WAIT_S", 0.1)
        guards = descendants(os.getpid()) - bots_below(os.getpid())
        for pid in guards:
            os.kill(pid, signal.SIGSTOP)
        with pytest.raises(SandboxUnavailable, match="did not answer"):
            sandbox.start(Path("/usr"), ["true"], ProcessLimits())


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user needs no such right")
def test_memory_is_metered_without_the_right_to_trace(
    sandbox: BwrapSandbox, launch: Launch, marker: str
) -> None:
    weighed = []
    for prefix in ((), ("setpriv", "--bounding-set=-sys_ptrace", "--")):
        launcher = launch("weigh", marker, prefix=prefix)
        weighed.append(int(line(launcher, 20)))
        launcher.wait(5)
    # Two processes that share most of it; below the limit nobody looks which pages are shared.
    assert 128 < weighed[0] < 170
    assert 128 < weighed[1] < 170


def test_many_starts_from_many_threads(sandbox: BwrapSandbox) -> None:
    def one(number: int) -> str:
        process = sandbox.start(Path("/usr"), ["sh", "-c", f"exit {number}"], ProcessLimits())
        return process.close(grace_ms=5000).in_words()

    with ThreadPoolExecutor(8) as pool:
        ends = list(pool.map(one, range(40)))
    assert ends == [f"exited with code {number}" for number in range(40)]


def test_the_kernel_would_rather_kill_a_bot_than_us(sandbox: BwrapSandbox) -> None:
    process = sandbox.start(
        Path("/usr"), ["sh", "-c", "cat /proc/self/oom_score_adj"], ProcessLimits()
    )
    assert watch(process, 5, ProcessLimits()).output == b"500\n"
    process.close()
