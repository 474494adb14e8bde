"""What a process's silence or its end means: whose failure it is, and the fault in words.

Looks at a bot and changes nothing. A failure of ours is an exception, a bot's is a value.
"""

from tourney.errors import SandboxUnavailable
from tourney.protocol.faults import FaultKind
from tourney.protocol.messages import Answer
from tourney.referee.bots import LiveBot
from tourney.referee.match import Match
from tourney.sandbox.base import ExitStatus
from tourney.sandbox.probe import explain, failed_late

__all__ = ("blame", "ending", "lateness", "overuse", "refusal")

NEAR_LIMIT = 0.9
"""A process that died by itself this near its memory limit died of it (docs/sandbox.md)."""


MANY_FILES = 1_000
"""Files in /tmp count with their kernel memory; from this many on they are named."""


def overuse(bot: LiveBot) -> str:
    """What to say of a bot that holds more memory than it may, empty if it does not."""
    memory, limit = bot.sample_memory(), bot.spec.limits.memory_mb
    if memory <= limit:
        return ""
    files = bot.process.tmp_files()
    among = f", {files} files in /tmp among it," if files >= MANY_FILES else ""
    return f"{memory:.0f} MiB{among} used; the limit is {limit}"


def lateness(bot: LiveBot, now_ns: int) -> str:
    """What to say of a bot whose wall clock is over, empty if it is to be waited for.

    A machine that gave the bot no core must not lose its match: time that it was ready to run but
    had no core is given back, up to a ceiling; not to a bot of several processes, which could have
    taken the core from itself and so won time to think in the others.
    """
    cpu_ms, starved_ms = bot.used_ms()
    wall_ms = (now_ns - bot.asked_at_ns) / 1e6
    given_back_ms = starved_ms if bot.process.n_processes() <= 1 else 0.0
    used_ms = max(cpu_ms, wall_ms - given_back_ms)
    if used_ms < bot.allowed_ms and now_ns < bot.ceiling_ns:
        return ""
    to = "" if bot.ready else " to hello"
    text = f"no answer{to} after {wall_ms:.0f} ms ({cpu_ms:.0f} ms of CPU)"
    if bot.backlog:
        text += "; it did not read the question"
    elif unfinished := bot.conversation.unfinished():
        text += f"; an unfinished line began {unfinished!r}: is the newline missing?"
    elif cpu_ms < bot.allowed_ms / 10:
        text += "; it was waiting, not thinking: did the bot flush its output?"
    return f"{text}; the limit is {bot.allowed_ms:.0f} ms"


def blame(bot: LiveBot, status: ExitStatus) -> None:
    """See that an end is the bot's own.

    Raises:
        SandboxUnavailable: it is ours: the guard died and took the bot along, or the sandbox
            failed after it had begun. The matches in play are void.
    """
    if status.lost:
        raise SandboxUnavailable(
            f"bot {bot.spec.name} was {status.in_words()}; the matches in play are void"
        )
    # Once a bot has spoken it may have suppressed the report itself: its end is then its own.
    if not status.reported and not bot.ready and not status.killed_by_us:
        said = bot.log_tail()
        if failed_late(said):
            raise SandboxUnavailable(explain(f"the sandbox {status.in_words()}", said))


def ending(bot: LiveBot, status: ExitStatus) -> tuple[FaultKind, str]:
    """The fault of a bot whose output ended: its name and its detail."""
    kind: FaultKind = "crashed" if bot.ready else "start_failed"
    peak, limit = max(bot.peak_memory_mb, status.peak_memory_mb), bot.spec.limits.memory_mb
    if peak >= NEAR_LIMIT * limit:
        return "memory_limit", f"{status.in_words()} at {peak:.0f} MiB; the limit is {limit}"
    allowed = bot.spec.limits.cpu_seconds
    if allowed is not None and status.cpu_ms >= NEAR_LIMIT * allowed * 1000:
        used = status.cpu_ms / 1000
        return "cpu_limit", f"{status.in_words()} after {used:.1f} s of CPU; the limit is {allowed}"
    if status.killed_by_us:
        return kind, "it closed its output and went on running"
    if not status.reported and not bot.ready:
        return kind, f"the program could not be executed: {bot.log_tail().strip()[-200:]}"
    return kind, status.in_words()


def refusal(match: Match, answer: Answer) -> str:
    """What to say of an answer that is not legal in the match's pending decision."""
    decision = match.pending
    assert decision is not None, "an answer without a decision"
    legal = ", ".join(decision.legal)
    return f"{answer.action[:100]!r} in phase {decision.phase!r}; legal: {legal[:500]}"
