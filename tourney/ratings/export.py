"""Standings as text for other programs: the same values in JSON and in CSV."""

import csv
import io
from collections.abc import Sequence

import msgspec

__all__ = ("to_csv", "to_json")


def to_json(lines: Sequence[msgspec.Struct]) -> str:
    """A JSON list of objects, in order."""
    return msgspec.json.format(msgspec.json.encode(lines)).decode() + "\n"


def to_csv(lines: Sequence[msgspec.Struct]) -> str:
    """A head of field names and a row a line; what is undefined is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if lines:
        writer.writerow(lines[0].__struct_fields__)
    writer.writerows(msgspec.structs.astuple(line) for line in lines)
    return out.getvalue()
