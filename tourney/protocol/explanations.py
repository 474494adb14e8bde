"""What each fault means to a bot's author: when it happens, what to look for, what follows."""

from tourney.protocol.faults import FAULT_KINDS, FaultKind

__all__ = ("EXPLANATIONS", "Explanation", "explain")

Explanation = tuple[str, tuple[str, ...]]
"""When it happens, and what to look for."""

EXPLANATIONS: dict[FaultKind, Explanation] = {
    "start_failed": (
        "No valid `ready` came within `limits.start_ms`: the program did not start, ended early, "
        "wrote something else first, or was too slow.",
        (
            "Run it by hand in its folder with the command of bot.toml and type the hello line.",
            'The first line on standard output must be {"type":"ready"}; send prints to stderr.',
            "Is a newline written and the output flushed?",
            "A module that is not in the package or the system's Python does not exist inside.",
            "Java takes memory by the size of the machine: run it with -Xmx64m, say.",
        ),
    ),
    "timeout": (
        "No full line came within `limits.move_ms` and what was left of the bank. Time that the "
        "machine gave the bot no core is given back first.",
        (
            "Little CPU used: the answer was probably not flushed, or it waits for more input.",
            "Much CPU used: search less, or watch clock.move_ms and clock.bank_ms.",
            "The process was stopped; the next match starts a new one.",
        ),
    ),
    "crashed": (
        "The process ended, or closed its output, in a match or before its next one.",
        (
            "The end of its log is in the evidence: a traceback is usually there.",
            "Exit code 137 or SIGKILL without a memory fault: it killed itself.",
        ),
    ),
    "bad_message": (
        "The line is not JSON, has no string `action`, or more than one line came for a question.",
        (
            "Print nothing but answers on standard output; logs go to standard error.",
            "One question, one line.",
        ),
    ),
    "illegal_action": (
        "A well-formed answer whose action is not in `legal`, to the letter.",
        (
            "Choose from `legal` of the very question; never build the text yourself.",
            "The process lives on; only this match is lost.",
        ),
    ),
    "output_limit": (
        "A line over 64 KiB.",
        ("Is the newline missing?", "Is debugging output going to standard output?"),
    ),
    "memory_limit": (
        "All its processes and its files in /tmp together went over `limits.memory_mb`.",
        ("Does something grow from match to match? One process plays many.",),
    ),
    "cpu_limit": (
        "It used more CPU outside its own turns than `limits.idle_cpu_ms` a match allows, or more "
        "in all than the process may.",
        ("Thinking on the opponents' time is not allowed: wait for input by reading it.",),
    ),
    "process_limit": (
        "It tried to have more than `limits.processes` processes and threads.",
        ("Fix the size of thread pools.",),
    ),
    "platform": (
        "The runner's or the machine's own failure. It is never charged to a bot: the block is "
        "played again.",
        (),
    ),
}


def explain(kind: FaultKind) -> Explanation:
    """When a fault happens, and what to look for."""
    return EXPLANATIONS[kind]


assert set(EXPLANATIONS) == set(FAULT_KINDS), "every fault is explained"
