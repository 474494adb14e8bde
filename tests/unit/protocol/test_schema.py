"""The published schema is the one of the types, and messages on the wire obey it."""

import json
from pathlib import Path

from tourney.protocol.schema import MESSAGES, schema


def test_the_schema_in_the_docs_is_current() -> None:
    published = json.loads(Path("docs/protocol.schema.json").read_text())
    assert published == schema(), "run `make docs`"


def test_every_message_is_in_the_schema_with_its_type() -> None:
    definitions = schema()["$defs"]
    for message in MESSAGES:
        tag = message.__struct_config__.tag
        if tag is not None:
            assert definitions[message.__name__]["properties"]["type"]["enum"] == [tag]
    assert definitions["Act"]["required"] >= ["type", "match"]
