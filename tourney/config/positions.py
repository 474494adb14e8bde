"""Where a key or a value stands in a TOML file, for error messages. Used only when one is due."""

from typing import NamedTuple

import tree_sitter
import tree_sitter_toml

__all__ = ("Span", "spans")

KeyPath = tuple[str | int, ...]


class Span(NamedTuple):
    """A piece of one line, all counted from 1."""

    line: int
    column: int
    width: int


def spans(source: str) -> dict[tuple[str, KeyPath], Span]:
    """Spans by `("key" | "value", path)`; array tables carry their index in the path.

    A table's head is the `key` span of its path.
    """
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_toml.language()))
    found: dict[tuple[str, KeyPath], Span] = {}
    arrays: dict[KeyPath, int] = {}
    for node in parser.parse(source.encode()).root_node.children:
        if node.type == "pair":
            _pair(node, (), found)
        elif node.type in {"table", "table_array_element"}:
            head = next(child for child in node.children if child.is_named)
            path: KeyPath = _names(head)
            if node.type == "table_array_element":
                arrays[path] = arrays.get(path, -1) + 1
                path = (*path, arrays[path])
            found["key", path] = _span(head)
            for child in node.children:
                if child.type == "pair":
                    _pair(child, path, found)
    return found


def _pair(node: tree_sitter.Node, prefix: KeyPath, found: dict[tuple[str, KeyPath], Span]) -> None:
    named = [child for child in node.children if child.is_named and child.type != "comment"]
    if len(named) < 2:
        return
    path = (*prefix, *_names(named[0]))
    found["key", path] = _span(named[0])
    found["value", path] = _span(named[-1])
    if named[-1].type == "inline_table":
        for child in named[-1].children:
            if child.type == "pair":
                _pair(child, path, found)


def _names(node: tree_sitter.Node) -> KeyPath:
    return tuple(part.strip().strip("\"'") for part in (node.text or b"").decode().split("."))


def _span(node: tree_sitter.Node) -> Span:
    one_line = node.start_point.row == node.end_point.row
    width = node.end_point.column - node.start_point.column if one_line else 1
    return Span(node.start_point.row + 1, node.start_point.column + 1, width)
