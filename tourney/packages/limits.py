"""What one bot process may use: the one value that packages and sandboxes share."""

from dataclasses import dataclass

__all__ = ("ProcessLimits",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLimits:
    """What one bot process may use."""

    memory_mb: int = 256
    """Resident memory of all its processes together with what it wrote to /tmp."""
    tmp_mb: int = 16
    """Size of its private /tmp, and of any one file it writes."""
    processes: int = 64
    """Processes and threads at the same time, the sandbox's own first process among them."""
    cpu_seconds: int | None = None
    """CPU seconds of one process over its life, or None for no such limit."""
