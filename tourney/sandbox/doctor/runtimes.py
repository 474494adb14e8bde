"""Which languages' bots can run here: a hello of each, inside the sandbox."""

import os
import select
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tourney.errors import BotRefused, SandboxUnavailable
from tourney.sandbox.base import ProcessLimits, Sandbox
from tourney.sandbox.doctor.lines import Line, good, warn

__all__ = ("runtimes",)

HELLO = "hello"

LIMITS = ProcessLimits(memory_mb=1024, tmp_mb=64, processes=128)

WAIT_S = 8.0

AT_ONCE = 4

C_PROGRAM = f'#include <stdio.h>\nint main(void) {{ puts("{HELLO}"); return 0; }}\n'
CPP_PROGRAM = f'#include <iostream>\nint main() {{ std::cout << "{HELLO}\\n"; }}\n'
RUST_PROGRAM = f'fn main() {{ println!("{HELLO}"); }}\n'


class Runtime(NamedTuple):
    """A language's program and a command that says hello with it."""

    program: str
    command: tuple[str, ...]


def _compiled(program: str, source: str, text: str) -> Runtime:
    script = f"cd /tmp && printf '%s' '{text}' > {source} && {program} -o a {source} && ./a"
    return Runtime(program, ("sh", "-c", script))


RUNTIMES = (
    Runtime("python3", ("python3", "-c", f"print('{HELLO}')")),
    Runtime("node", ("node", "-e", f"console.log('{HELLO}')")),
    _compiled("cc", "a.c", C_PROGRAM),
    _compiled("c++", "a.cc", CPP_PROGRAM),
    _compiled("rustc", "a.rs", RUST_PROGRAM),
    # A program's first build takes Go half a minute: that it starts has to do.
    Runtime("go", ("sh", "-c", f"go version && echo {HELLO}")),
    Runtime("java", ("sh", "-c", f"java -Xmx64m -version && echo {HELLO}")),
    Runtime("ruby", ("ruby", "-e", f"puts '{HELLO}'")),
    Runtime("perl", ("perl", "-e", f'print "{HELLO}\\n"')),
    Runtime("lua", ("lua", "-e", f"print('{HELLO}')")),
)


def runtimes(sandbox: Sandbox) -> list[Line]:
    """A line for each language that this machine has, and one for those that it lacks."""
    present, missing = [], []
    for runtime in RUNTIMES:
        try:
            sandbox.require(Path("/usr"), runtime.program)
        except BotRefused:
            missing.append(runtime.program)
        else:
            present.append(runtime)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        lines = list(pool.map(lambda runtime: _hello(sandbox, runtime), present))
    if missing:
        lines.append(good("runtimes", "not here", f"{', '.join(missing)} (bots may need them)"))
    return lines


def _hello(sandbox: Sandbox, runtime: Runtime) -> Line:
    began = time.monotonic()
    try:
        bot = sandbox.start(Path("/usr"), runtime.command, LIMITS)
    except (BotRefused, SandboxUnavailable) as error:
        return warn("runtimes", runtime.program, "does not start inside", str(error))
    said, told = b"", b""
    waiting = [bot.stdout, bot.stderr]
    while waiting and time.monotonic() < began + WAIT_S:
        for fd in select.select(waiting, [], [], 0.1)[0]:
            piece = os.read(fd, 65536)
            if not piece:
                waiting.remove(fd)
            said += piece if fd == bot.stdout else b""
            told = (told + piece)[-4096:] if fd == bot.stderr else told
    end = bot.close(grace_ms=0)
    seconds = time.monotonic() - began
    if said.decode(errors="replace").endswith(f"{HELLO}\n"):
        return good("runtimes", runtime.program, f"says hello inside, {seconds:.2f} s")
    words = " ".join(told.decode(errors="replace").split())[-200:]
    return warn(
        "runtimes",
        runtime.program,
        f"is here but does not work inside: {end.in_words()}: {words}",
        "install the system's own package of it; only software below /usr shows inside",
    )
