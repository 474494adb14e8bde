"""The JSON Schema of every message, generated from the types. `python -m` prints it."""

import json
import sys
from typing import Any

import msgspec

from tourney.protocol.messages import Act, Answer, End, Hello, Quit, Ready, Start

__all__ = ("MESSAGES", "schema")

MESSAGES = (Hello, Ready, Start, Act, Answer, End, Quit)


def schema() -> dict[str, Any]:
    """One document; each message is under `$defs` by its name."""
    _, components = msgspec.json.schema_components(MESSAGES, ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The tourney bot protocol, version 1",
        "description": "One JSON object a line. Unknown fields are ignored by both sides.",
        "$defs": dict(sorted(components.items())),
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schema(), indent=2) + "\n")
