"""What the sandbox says: ends in words, causes and fixes, programs and what to install."""

import sys
from pathlib import Path

import pytest

from tourney import plugins
from tourney.errors import BotRefused, SandboxUnavailable
from tourney.sandbox.base import ExitStatus, ProcessLimits
from tourney.sandbox.flags import bwrap_arguments, process_limits
from tourney.sandbox.probe import CAUSES, explain, read_probe
from tourney.sandbox.programs import find_inside, find_plain, how_to_install, reachable
from tourney.sandbox.slots import FIRST_UID, foreign_users, is_known, needs_own_user
from tourney.sandbox.spawning import become
from tourney.sandbox.tiers import NO_PROC, ROOT, TIERS


@pytest.mark.parametrize(
    ("code", "signal", "killed", "lost", "words"),
    [
        (0, None, False, False, "exited with code 0"),
        (3, None, False, False, "exited with code 3"),
        (None, 11, False, False, "killed by SIGSEGV"),
        (None, 31, False, False, "killed by SIGSYS"),
        (None, 44, False, False, "killed by signal 44"),
        (None, 9, True, False, "stopped by the runner"),
        (None, None, False, False, "ended in an unknown way"),
        (None, None, False, True, "lost together with the runner's guard process"),
    ],
)
def test_ends_in_words(
    code: int | None, signal: int | None, killed: bool, lost: bool, words: str
) -> None:
    status = ExitStatus(
        code=code, signal=signal, killed_by_us=killed, cpu_ms=0, peak_memory_mb=0, lost=lost
    )
    assert status.in_words() == words


@pytest.mark.parametrize(
    ("said", "cause", "fix"),
    [
        (
            "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
            "masks /proc",
            "systempaths=unconfined",
        ),
        (
            "bwrap: cannot open /proc/sys/user/max_user_namespaces: Read-only file system",
            "read-only",
            "systempaths=unconfined",
        ),
        (
            "bwrap: No permissions to create new namespace, likely because the kernel does not ...",
            "forbids user namespaces",
            "seccomp=unconfined",
        ),
        (
            "bwrap: No permissions to creating new namespace, likely because the kernel does not",
            "forbids user namespaces",
            "unprivileged_userns_clone=1",
        ),
        (
            "bwrap: Creating new namespace failed: nesting depth or "
            "/proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
            "no more user namespaces",
            "max_user_namespaces",
        ),
        (
            "bwrap: Creating new namespace failed: Resource temporarily unavailable",
            "limit on processes",
            "ulimit -u",
        ),
        ("bwrap: setting up uid map: Permission denied", "AppArmor", "userns,"),
        ("bwrap: setting up uid map: Operation not permitted", "no right to map", "CAP_SETUID"),
        ("bwrap: Unknown option --disable-userns", "too old", "0.8"),
        ("bwrap: Can't find source path /x: Permission denied", "folder", "parents' modes"),
    ],
)
def test_bubblewraps_words_lead_to_a_cause_and_a_fix(said: str, cause: str, fix: str) -> None:
    text = explain("it ended", said)
    assert text.startswith("the sandbox cannot start: ")
    assert cause in text
    assert fix in text.split("Fix: ")[1]
    assert said.split(": ", 1)[1] in text


def test_unknown_words_are_passed_on() -> None:
    text = explain("it did not report", "bwrap: something\nnew")
    assert "it did not report; bubblewrap said: bwrap: something new." in text
    assert all(fix for _, _, fix in CAUSES)


GOOD = "Name:\tcat\nUid:\t65534\t65534\t65534\t65534\nNoNewPrivs:\t1\nSeccomp:\t2\n" + "".join(
    f"{name}:\t0000000000000000\n" for name in ("CapEff", "CapPrm", "CapBnd")
)


def test_a_probe_that_shows_protection_passes() -> None:
    read_probe(GOOD)


@pytest.mark.parametrize(
    ("good", "bad", "words"),
    [
        ("Seccomp:\t2", "Seccomp:\t0", "Seccomp is 0 inside, not 2"),
        ("NoNewPrivs:\t1", "NoNewPrivs:\t0", "NoNewPrivs"),
        ("CapBnd:\t0000000000000000", "CapBnd:\t000001ffffffffff", "CapBnd"),
        ("Uid:\t65534\t65534", "Uid:\t65534\t0", "not the powerless user"),
        (GOOD, "", "Seccomp is unknown inside"),
    ],
)
def test_a_probe_that_lacks_protection_is_refused(good: str, bad: str, words: str) -> None:
    with pytest.raises(SandboxUnavailable, match=words):
        read_probe(GOOD.replace(good, bad))


def test_arguments_of_bubblewrap() -> None:
    limits = ProcessLimits(tmp_mb=3)
    words = (
        bwrap_arguments(Path("/cache/x"), limits, writable=False, runtime=None)
        .decode()
        .split("\0")[:-1]
    )
    text = " ".join(words)
    for flags in (
        "--unshare-all --unshare-user --uid 65534 --gid 65534 --disable-userns",
        "--cap-drop ALL --new-session --die-with-parent --ro-bind",
        "--ro-bind /usr /usr",
        "--size 3145728 --perms 0700 --tmpfs /tmp",
        "--ro-bind /cache/x /bot --remount-ro /proc --remount-ro /dev --remount-ro / --chdir /bot",
        "--clearenv --setenv PATH /usr/local/bin:/usr/bin:/bin --setenv HOME /tmp",
    ):
        assert flags in text
    bound = [
        words[at + 1] for at, word in enumerate(words) if word in ("--ro-bind", "--ro-bind-try")
    ]
    hidden = ("/home", "/root", "/run", "/var", "/sys", "/tmp", "/etc/passwd")
    assert not {path for path in bound if path in ("/", "/etc", *hidden)}


def test_arguments_for_a_build_and_for_a_runtime_elsewhere() -> None:
    text = bwrap_arguments(
        Path("/cache/x"), ProcessLimits(), writable=True, runtime=Path("/opt/python/3.11")
    ).replace(b"\0", b" ")
    assert b"--bind /cache/x /bot" in text
    assert (
        b"--perms 0755 --dir /opt --perms 0755 --dir /opt/python --ro-bind /opt/python/3.11" in text
    )
    assert b"--setenv PATH /opt/python/3.11/bin:/usr/local/bin:" in text


def test_limits_that_the_kernel_keeps() -> None:
    kept = process_limits(ProcessLimits(memory_mb=1000, tmp_mb=2, processes=9, cpu_seconds=5))
    assert kept["RLIMIT_DATA"] == (1250 * 2**20, 1250 * 2**20)
    assert kept["RLIMIT_NPROC"] == (9, 9)
    assert kept["RLIMIT_FSIZE"] == (2 * 2**20, 2 * 2**20)
    assert kept["RLIMIT_CPU"] == (5, 6)
    assert "RLIMIT_AS" not in kept
    assert "RLIMIT_CPU" not in process_limits(ProcessLimits())


@pytest.mark.parametrize(
    ("program", "package"),
    [("node", "nodejs"), ("cc", "gcc libc6-dev"), ("cargo", "cargo"), ("java", "default-jre")],
)
def test_what_to_install(program: str, package: str) -> None:
    text = how_to_install(program)
    assert text.startswith(f"`{program}`, which is not on this machine: apt-get install {package}")


def test_programs_are_found_where_the_system_keeps_them(tmp_path: Path) -> None:
    assert find_inside(tmp_path, "sh", 12345).path in ("/usr/bin/sh", "/bin/sh")
    (tmp_path / "bot").write_text("#!/bin/sh\n")
    (tmp_path / "bot").chmod(0o755)
    assert find_inside(tmp_path, "./bot", 12345).path == "./bot"
    assert find_plain(tmp_path, "sh").path in ("/usr/bin/sh", "/bin/sh")


def test_a_program_outside_the_system_is_refused_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my-runtime").write_text("#!/bin/sh\n")
    (tmp_path / "my-runtime").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BotRefused, match=f"there is one at {tmp_path}/my-runtime, but bots see"):
        find_inside(tmp_path, "my-runtime", 12345)
    assert find_plain(tmp_path, "my-runtime").path == f"{tmp_path}/my-runtime"


def test_our_own_python_stands_in_where_the_system_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tourney.sandbox.programs.SEARCH_PATH", ())
    prefix = tmp_path / "python"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin" / "python3").write_text("")
    monkeypatch.setattr(sys, "base_prefix", str(prefix))
    monkeypatch.setattr("tourney.sandbox.programs.reachable", lambda path, uid: None)
    found = find_inside(tmp_path, "python3", 12345)
    assert (found.path, found.runtime) == (f"{prefix}/bin/python3", prefix)
    monkeypatch.setattr("tourney.sandbox.programs.reachable", lambda path, uid: Path("/root"))
    with pytest.raises(BotRefused, match="our own is below /root, which no bot can enter"):
        find_inside(tmp_path, "python3", 12345)
    with pytest.raises(BotRefused, match="apt-get install python-is-python3"):
        find_inside(tmp_path, "python", 12345)


def test_the_first_closed_folder_is_named(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    (closed / "inner").mkdir(parents=True)
    closed.chmod(0o700)
    blocked = reachable(closed / "inner", 12345)
    assert blocked is not None
    assert closed.is_relative_to(blocked)
    assert reachable(Path("/usr/bin"), 12345) is None
    with pytest.raises(FileNotFoundError):
        reachable(Path("/no-such-folder"), 12345)


@pytest.mark.parametrize(
    ("uid", "mapping", "answer"),
    [
        (1000, "0 0 4294967295", False),
        (0, "         0          0 4294967295", True),
        (0, "0 1000 1", False),
        (0, "0 1000 1\n1 100000 65536", False),
        (0, "0 1000 1\n1 100000 500000", True),
    ],
)
def test_who_needs_a_user_of_its_own(
    monkeypatch: pytest.MonkeyPatch, uid: int, mapping: str, answer: bool
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: uid)
    monkeypatch.setattr(Path, "read_text", lambda path: mapping)
    assert needs_own_user() is answer


@pytest.mark.parametrize("mapping", ["0 0 1", "0 0 65536", "5 1000 1"])
def test_a_root_that_stays_root_is_refused(monkeypatch: pytest.MonkeyPatch, mapping: str) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(Path, "read_text", lambda path: mapping)
    with pytest.raises(SandboxUnavailable, match="run as an ordinary user"):
        needs_own_user()


def test_private_users_belong_to_nobody() -> None:
    assert is_known(0)
    assert not is_known(FIRST_UID)
    assert all(uid >= FIRST_UID for uid in foreign_users())


def test_arguments_without_a_user_namespace() -> None:
    text = bwrap_arguments(
        Path("/cache/x"), ProcessLimits(), writable=False, runtime=None, tier=ROOT
    ).decode()
    words = text.split("\0")
    assert not {"--unshare-all", "--unshare-user", "--uid", "--disable-userns"}.intersection(words)
    kept = {words[n + 1] for n, word in enumerate(words) if word == "--cap-add"}
    assert kept == {"CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"}
    assert "--perms\x001777\0--tmpfs\0/tmp" in text
    # The sandbox's process 1 is another user's there, and does not count.
    assert process_limits(ProcessLimits(processes=9), ROOT)["RLIMIT_NPROC"] == (8, 8)


def test_arguments_without_proc() -> None:
    words = bwrap_arguments(
        Path("/cache/x"), ProcessLimits(), writable=False, runtime=None, tier=NO_PROC
    ).decode()
    assert "/proc" not in words.split("\0")
    assert "--disable-userns" not in words


def test_a_bot_becomes_its_own_user_with_nothing_left() -> None:
    assert become(200_007) == [
        *("/usr/bin/setpriv", "--reuid", "200007", "--regid", "200007", "--clear-groups"),
        *("--inh-caps=-all", "--bounding-set=-all", "--"),
    ]


def test_every_weaker_kind_says_what_it_gives_up() -> None:
    assert [tier.name for tier in TIERS] == ["bwrap", "bwrap-root", "bwrap-noproc"]
    assert [bool(tier.gives_up) for tier in TIERS] == [False, True, True]
    assert set(plugins.names("sandboxes")) >= {"none", *(tier.name for tier in TIERS)}


@pytest.mark.parametrize("uids", ["0\t0\t0\t0", "200001\t0\t200001\t200001", "65534"])
def test_a_probe_of_the_wrong_user(uids: str) -> None:
    status = GOOD.replace("65534\t65534\t65534\t65534", uids)
    with pytest.raises(SandboxUnavailable, match="not the powerless user"):
        read_probe(status, range(200_000, 201_000))
