"""Where isolation does not work, nothing is started, and the message says what to do."""

import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conformance.sandbox_harness import REPOSITORY
from tourney.errors import BotRefused, PackageError, SandboxUnavailable
from tourney.packages import install, pack, package_digest
from tourney.sandbox.base import ProcessLimits
from tourney.sandbox.bwrap import BwrapSandbox

Try = Callable[..., str]

IS_ROOT = os.geteuid() == 0

FORBID_NAMESPACES = """
import ctypes, struct, sys, os
from tourney.sandbox.seccomp import native_architecture
numbers = native_architecture().numbers
steps = [
    (0x20, 0, 0, 0),
    (0x15, 2, 0, numbers["unshare"]),
    (0x15, 4, 0, numbers["clone3"]),
    (0x15, 0, 4, numbers["clone"]),
    (0x20, 0, 0, 16),
    (0x45, 0, 2, int(os.environ["TEST_FORBIDDEN_FLAGS"])),
    (0x06, 0, 0, 0x00050001),
    (0x06, 0, 0, 0x00050026),
    (0x06, 0, 0, 0x7FFF0000),
]
code = b"".join(struct.pack("=HBBI", *step) for step in steps)
buffer = ctypes.create_string_buffer(code)
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(buffer)))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, program, 0, 0) == 0, ctypes.get_errno()
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""As a container's default filter does: no new namespaces of those kinds, and no clone3."""

ALL_NAMESPACES = 0x7E02_0000
USER_NAMESPACES = 0x1000_0000


@pytest.fixture
def attempt(sandbox: BwrapSandbox) -> Iterator[Try]:
    """Run a launcher in a changed world; returns what it says came of starting a program.

    The program would leave a file; none may be there afterwards.
    """
    mark = Path(f"/var/tmp/tourney-ran-{secrets.token_hex(8)}")

    def run(*prefix: str, forbid: int = 0, **environment: str) -> str:
        script = ["-c", FORBID_NAMESPACES] if forbid else []
        command = [*prefix, sys.executable, *script, "-m", "tests.conformance.sandbox_launcher"]
        done = subprocess.run(
            [*command, "try", str(mark)],
            cwd=REPOSITORY,
            env={**os.environ, "TEST_FORBIDDEN_FLAGS": str(forbid), **environment},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert done.stderr == ""
        return done.stdout

    yield run
    assert not mark.exists()


def as_root_of_a_namespace(script: str) -> tuple[str, ...]:
    """A prefix that runs `script` as root of a new user namespace, then the command."""
    return (
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        f'{script}; exec "$@"',
        "",
    )


def test_it_does_start_here(attempt: Try) -> None:
    assert attempt() == "ran: exited with code 1\n"


def test_no_bubblewrap(attempt: Try, tmp_path: Path) -> None:
    for name in ("sh", "unshare"):
        (tmp_path / name).symlink_to(shutil.which(name) or "")
    said = attempt(PATH=str(tmp_path))
    assert said.startswith("SandboxUnavailable 4: bubblewrap is not installed")
    assert "apt-get install bubblewrap" in said


def test_something_else_is_called_bwrap(attempt: Try, tmp_path: Path) -> None:
    for name, target in (("unshare", "unshare"), ("bwrap", "true")):
        (tmp_path / name).symlink_to(shutil.which(target) or "")
    said = attempt(PATH=str(tmp_path))
    assert said.startswith("SandboxUnavailable 4: the sandbox cannot start")
    assert "bubblewrap said: nothing" in said


def test_an_old_bubblewrap(attempt: Try, tmp_path: Path) -> None:
    old = tmp_path / "bwrap"
    old.write_text("#!/bin/sh\necho 'bwrap: Unknown option --disable-userns' >&2\nexit 1\n")
    tmp_path.chmod(0o755)
    old.chmod(0o755)
    (tmp_path / "unshare").symlink_to(shutil.which("unshare") or "")
    folder = tmp_path
    while folder != Path("/") and folder.stat().st_uid == os.geteuid():
        folder.chmod(folder.stat().st_mode | 0o011)
        folder = folder.parent
    assert "this bubblewrap is too old" in attempt(PATH=str(tmp_path))


def test_namespaces_forbidden_as_in_a_container(attempt: Try) -> None:
    said = attempt(forbid=ALL_NAMESPACES)
    assert said.startswith("SandboxUnavailable 4: the sandbox cannot start")
    assert "forbids user namespaces" in said
    assert "seccomp=unconfined" in said


@pytest.mark.skipif(IS_ROOT, reason="root of a namespace that maps root to root is refused earlier")
def test_no_user_namespaces_left(attempt: Try) -> None:
    script = "echo 0 > /proc/sys/user/max_user_namespaces"
    said = attempt(*as_root_of_a_namespace(script))
    assert "no more user namespaces are allowed" in said
    assert "sysctl user.max_user_namespaces" in said


@pytest.mark.skipif(IS_ROOT, reason="root of a namespace that maps root to root is refused earlier")
def test_masked_proc_as_in_a_container(attempt: Try) -> None:
    # Only a mount that came from another user namespace counts as a mask.
    mask = as_root_of_a_namespace("mount --bind /dev/null /proc/version")
    user = ("unshare", "--user", "--map-user=1000", "--map-group=1000", "--mount")
    said = attempt(*mask, *user)
    assert "this container masks /proc" in said
    assert "systempaths=unconfined" in said
    assert "--set run.sandbox=bwrap-noproc" in said
    assert "Java does not start" in said
    said = attempt(*mask, *user, TEST_SANDBOX="bwrap-noproc")
    assert said == "ran: exited with code 1\n"


@pytest.mark.skipif(not IS_ROOT, reason="this kind is for root")
def test_root_without_user_namespaces(attempt: Try) -> None:
    said = attempt(forbid=USER_NAMESPACES)
    assert said.startswith("SandboxUnavailable 4: the sandbox cannot start")
    assert "forbids user namespaces" in said
    assert "--set run.sandbox=bwrap-root" in said
    assert "process 1 of the sandbox" in said
    said = attempt(forbid=USER_NAMESPACES, TEST_SANDBOX="bwrap-root")
    assert said == "ran: exited with code 1\n"


@pytest.mark.skipif(IS_ROOT, reason="root may")
def test_the_kind_for_root_is_not_for_others(attempt: Try) -> None:
    said = attempt(TEST_SANDBOX="bwrap-root")
    assert said.startswith("SandboxUnavailable 4: bwrap-root is for root")
    assert "The default sandbox works here" in said


@pytest.mark.skipif(not IS_ROOT, reason="an ordinary user is nobody's root")
def test_root_that_cannot_become_another_user(attempt: Try) -> None:
    said = attempt(*as_root_of_a_namespace(":"))
    assert said.startswith("SandboxUnavailable 4: this root is the kernel's root")
    assert "run as an ordinary user" in said


@pytest.mark.skipif(IS_ROOT, reason="needs a root that is an ordinary user outside")
def test_root_of_a_container_of_an_ordinary_user_works(attempt: Try) -> None:
    assert attempt(*as_root_of_a_namespace(":")) == "ran: exited with code 1\n"


def test_a_folder_that_is_not_there(sandbox: BwrapSandbox) -> None:
    with pytest.raises(SandboxUnavailable, match="/no/such/folder cannot be used"):
        sandbox.start(Path("/no/such/folder"), ["sh"], ProcessLimits())


@pytest.mark.skipif(not IS_ROOT, reason="an ordinary user's bots are that user")
def test_a_folder_that_the_bots_user_cannot_reach(sandbox: BwrapSandbox, tmp_path: Path) -> None:
    folder = tmp_path / "closed" / "bot"
    folder.mkdir(parents=True)
    folder.parent.chmod(0o700)
    with pytest.raises(SandboxUnavailable, match="cannot enter; set TOURNEY_CACHE"):
        sandbox.start(folder, ["sh"], ProcessLimits())


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("rustc", r"needs `rustc`, which is not on this machine: apt-get install rustc"),
        ("no-such-program", r"needs `no-such-program`, .*: install it below /usr/local/bin"),
        ("./no-such-file", r"runs `./no-such-file`, which is not in its package"),
        ("./bot.py", r"runs `./bot.py`, which is not executable: chmod \+x it"),
    ],
)
def test_a_program_that_is_not_there(sandbox: BwrapSandbox, program: str, words: str) -> None:
    if shutil.which(program, path="/usr/local/bin:/usr/bin:/bin"):
        pytest.skip(f"this machine has {program}")
    package = REPOSITORY / "tests" / "rogues" / "forks"
    with pytest.raises(BotRefused, match=words):
        sandbox.require(package, program)


def bot_package(folder: Path, manifest: str, **files: str) -> Path:
    """A package with that manifest and those files."""
    folder.mkdir()
    head = '[bot]\nname = "trial"\ngames = ["dam"]\n'
    (folder / "bot.toml").write_text(head + manifest)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def test_a_missing_runtime_is_refused_before_the_run(sandbox: BwrapSandbox, tmp_path: Path) -> None:
    package = bot_package(tmp_path / "p", 'run = ["ocaml", "bot.ml"]')
    if shutil.which("ocaml", path="/usr/local/bin:/usr/bin:/bin"):
        pytest.skip("this machine has ocaml")
    with pytest.raises(BotRefused, match=r"^bot trial needs `ocaml`.*apt-get install ocaml-nox"):
        install(pack(package), package_digest(package), sandbox)


def test_a_failed_build_shows_the_compilers_words(sandbox: BwrapSandbox, tmp_path: Path) -> None:
    package = bot_package(
        tmp_path / "p", 'build = [["cc", "bot.c"]]\nrun = ["./a.out"]', **{"bot.c": "int main( {"}
    )
    with pytest.raises(BotRefused, match=r"`cc bot\.c` exited with code 1\n(.|\n)*error:"):
        install(pack(package), package_digest(package), sandbox)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("head -c 600M /dev/zero > a; head -c 400M /dev/zero > b; sleep 9", "exited|wrote more"),
        ("for n in 1 2 3 4; do head -c 200M /dev/zero > $n; done; sleep 9", "wrote more than 512"),
        ("sleep 30", "took longer than 1 s"),
        ("ln -s /etc/shadow found", "is a link that leaves the package|cannot be read"),
        ("cat /etc/passwd", "No such file"),
        ("python3 -c 'import socket; socket.socket()'", "Address family not supported"),
        ("python3 -c 'x = bytes(range(96)) * 2**20; input()'", "used more than 64 MiB of memory"),
        ("head -c 9M /dev/zero | tr '\\\\0' x; exit 1", "exited with code 1\nxxx"),
    ],
)
def test_a_build_has_limits_too(
    sandbox: BwrapSandbox,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    words: str,
) -> None:
    if script.startswith("sleep"):
        monkeypatch.setattr("tourney.packages.build.BUILD_WAIT_S", 1.0)
    if "2**20" in script:
        small = ProcessLimits(memory_mb=64, tmp_mb=16, processes=64)
        monkeypatch.setattr("tourney.packages.build.BUILD_LIMITS", small)
    package = bot_package(
        tmp_path / "p", f'build = [["sh", "-c", "{script}"]]\nrun = ["sh", "-c", ":"]'
    )
    with pytest.raises(BotRefused, match=words):
        install(pack(package), package_digest(package), sandbox)


def test_an_archive_of_another_package(sandbox: BwrapSandbox, tmp_path: Path) -> None:
    package = bot_package(tmp_path / "p", 'run = ["sh"]')
    with pytest.raises(PackageError, match="holds package"):
        install(pack(package), "0" * 64, sandbox)


def test_what_is_left_in_the_cache_is_whole(cache: Path, sandbox: BwrapSandbox) -> None:
    assert list((cache / "staging").iterdir()) == []
