"""The filter, run instruction by instruction as the kernel would, without the kernel."""

import errno
import re
import struct
from pathlib import Path

import pytest

from tourney.errors import SandboxUnavailable
from tourney.sandbox.seccomp import (
    ARCHITECTURES,
    DENIED_IOCTLS,
    MISSING,
    NEWEST_KNOWN,
    SPECIAL,
    Architecture,
    Instruction,
    filter_bytes,
    filter_program,
    native_architecture,
)

ALLOW = "allow"
KILL = "kill"

HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}

BOTH = pytest.mark.parametrize("architecture", ARCHITECTURES.values(), ids=ARCHITECTURES)


def decoded(program: bytes) -> list[Instruction]:
    """The program read back from its bytes."""
    return [Instruction(*fields) for fields in struct.iter_unpack("=HBBI", program)]


def verdict(architecture: Architecture, number: int, *arguments: int, audit: int = 0) -> str:
    """What the kernel would do with that call: `allow`, `kill` or the name of an error."""
    words = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=IIQ6Q", number, audit or architecture.audit, 0, *words)
    program = decoded(filter_bytes(architecture))
    accumulator, here = 0, 0
    for _ in program:
        step = program[here]
        here += 1
        if step.code == 0x20:
            accumulator = struct.unpack_from("=I", data, step.value)[0]
        elif step.code == 0x06:
            return named(step.value)
        else:
            taken = {
                0x15: accumulator == step.value,
                0x25: accumulator > step.value,
                0x45: bool(accumulator & step.value),
            }[step.code]
            here += step.if_true if taken else step.if_false
    raise AssertionError("the program ends without a verdict")


def named(value: int) -> str:
    """A return value in words."""
    if value == 0x7FFF0000:
        return ALLOW
    if value == 0x80000000:
        return KILL
    assert value >> 16 == 0x0005
    return errno.errorcode[value & 0xFFFF]


@BOTH
def test_every_listed_call_is_refused(architecture: Architecture) -> None:
    for name, number in architecture.numbers.items():
        if name in MISSING:
            assert verdict(architecture, number) == "ENOSYS", name
        elif name not in SPECIAL:
            assert verdict(architecture, number) == "EPERM", name


@BOTH
def test_every_other_known_call_is_allowed(architecture: Architecture) -> None:
    listed = set(architecture.numbers.values()) - {
        architecture.numbers[name] for name in SPECIAL - {"socket"}
    }
    for number in set(range(NEWEST_KNOWN + 1)) - listed:
        assert verdict(architecture, number) == ALLOW, number


@BOTH
@pytest.mark.parametrize("number", [NEWEST_KNOWN + 1, 462, 999, 0x40000000 | 39, 0xFFFFFFFF])
def test_later_calls_and_x32_do_not_exist(architecture: Architecture, number: int) -> None:
    assert verdict(architecture, number) == "ENOSYS"


@BOTH
@pytest.mark.parametrize("audit", [0x40000003, 0x40000028, 0xC000003F, 1])
def test_another_convention_kills(architecture: Architecture, audit: int) -> None:
    for number in (0, 39, architecture.numbers["socket"]):
        assert verdict(architecture, number, audit=audit) == KILL


@BOTH
def test_no_socket_of_any_family(architecture: Architecture) -> None:
    for family in range(46):
        assert verdict(architecture, architecture.numbers["socket"], family) == "EAFNOSUPPORT"


@BOTH
def test_clone_makes_threads_and_processes_but_no_namespace(architecture: Architecture) -> None:
    clone = architecture.numbers["clone"]
    thread = 0x003D0F00
    assert verdict(architecture, clone, thread) == ALLOW
    assert verdict(architecture, clone, 0x01200011) == ALLOW
    for namespace in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert verdict(architecture, clone, thread | namespace) == "EPERM"
        assert verdict(architecture, clone, 1 << 40 | namespace) == "EPERM"


@BOTH
def test_nothing_is_pushed_into_a_terminal(architecture: Architecture) -> None:
    ioctl = architecture.numbers["ioctl"]
    assert verdict(architecture, ioctl, 0, 0x5413) == ALLOW
    for request in DENIED_IOCTLS.values():
        assert verdict(architecture, ioctl, 0, request) == "EPERM"
        # CVE-2019-10063: the kernel looks at the low 32 bits only.
        assert verdict(architecture, ioctl, 0, request | 1 << 32) == "EPERM"


@BOTH
def test_the_program_is_one_that_the_kernel_accepts(architecture: Architecture) -> None:
    program = filter_program(architecture)
    assert decoded(filter_bytes(architecture)) == program
    assert len(program) < 200
    for here, step in enumerate(program):
        assert here + 1 + max(step.if_true, step.if_false) <= len(program)
    assert program[-1].code == 0x06


@pytest.mark.parametrize("name", HEADERS)
def test_numbers_are_those_of_the_systems_headers(name: str) -> None:
    if not HEADERS[name].exists():
        pytest.skip("the kernel's headers are not installed (linux-libc-dev)")
    text = HEADERS[name].read_text()
    known = {
        call: int(number)
        for call, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\n", text)
    }
    ours = ARCHITECTURES[name].numbers
    # The headers call memfd_secret only on machines that have it.
    assert {call: known.get(call, number) for call, number in ours.items()} == ours
    assert set(ours) - set(known) <= {"memfd_secret"}


def test_two_machines_differ_only_in_calls_that_one_lacks() -> None:
    only_x86 = set(ARCHITECTURES["x86_64"].numbers) - set(ARCHITECTURES["aarch64"].numbers)
    assert only_x86 == {
        *("uselib", "ustat", "sysfs", "modify_ldt", "_sysctl", "iopl", "ioperm"),
        *("create_module", "get_kernel_syms", "query_module"),
    }
    assert set(ARCHITECTURES["aarch64"].numbers) < set(ARCHITECTURES["x86_64"].numbers)


def test_an_unknown_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(SandboxUnavailable, match="no system-call table for riscv64"):
        native_architecture()
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    assert native_architecture().name == "aarch64"
