"""The reference of every config key, generated from the models. `python -m` prints Markdown."""

import sys
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tourney.config.models import BotEntry, Limits, RunOptions, Stop, Tournament, Variant

__all__ = ("reference",)

SECTIONS: tuple[tuple[str, type[BaseModel]], ...] = (
    ("[tournament]", Tournament),
    ("[limits]", Limits),
    ("[run]", RunOptions),
    ("[stop]", Stop),
    ("[[bot]]", BotEntry),
    ("[[variant]]", Variant),
)

INTRODUCTION = """\
# The config of a tournament

A TOML file. `[rules]` holds options of the game (`tourney games show NAME`); every other key is
below. A wrong file is refused with the line, a caret and a hint.

Values come from, each beating the one before: the defaults here, the file, environment variables
(`TOURNEY_SET_LIMITS_MOVE_MS=500` for `limits.move_ms`), and `--set limits.move_ms=500`. A run keeps
the file as given and every value with where it came from.
"""


def reference() -> str:
    """The page as Markdown."""
    parts = [INTRODUCTION]
    for head, model in SECTIONS:
        meaning = (model.__doc__ or "").strip()
        parts.append(f"## `{head}`\n\n{meaning}\n\n| key | default | meaning |\n|---|---|---|\n")
        for name, field in model.model_fields.items():
            parts[-1] += f"| `{name}` | {_default(field)} | {field.description} |\n"
    return "\n".join(parts)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value: Any = field.get_default(call_default_factory=True)
    if value is None:
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        value = list(value)
    return f'`"{value}"`' if isinstance(value, str) else f"`{value}`"


if __name__ == "__main__":
    sys.stdout.write(reference())
