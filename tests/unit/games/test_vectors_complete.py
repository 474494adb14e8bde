"""Every vector and every rule of RULES.md has its place in the tests or the code.

A vector counts as tested when a test function bears its number (`test_dv_05_…`, or `DV-01` among
its parameters), asserts something, and names the cards that the vector names: a test that only
repeats the text, or plays another position, does not count. Ranges such as "RAMS-50 to RAMS-58"
name their ends, not what lies between.
"""

import ast
import dataclasses
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tourney.games.cards import PACK
from tourney.games.registry import make_game

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
VECTORS = json.loads((ROOT / "tests" / "data" / "rule_vectors.json").read_text())

NUMBER = re.compile(
    r"(?<![a-z])(dv|rv|ev|nv|sv|pv|hv)[_-](\d\d)(?:_(to|and)_(\d\d))?", re.IGNORECASE
)
CARD = re.compile(r"\b[A2-9TJQK][CDHS]\b")


class Module:
    """What a module of tests defines: each top-level name with its source."""

    def __init__(self, path: Path) -> None:
        source = path.read_text()
        self.sources: dict[str, str] = {}
        for node in ast.parse(source).body:
            lines = source.splitlines()[first_line(node) - 1 : node.end_lineno]
            for name in names_of(node):
                self.sources[name] = "\n".join(lines)

    def head(self, name: str) -> str:
        """A function's decorators and its name."""
        before, _, _ = self.sources[name].partition(f"def {name}(")
        return before + name

    def with_helpers(self, name: str) -> str:
        """The source of a function and of everything in the module that it uses."""
        used, waiting = dict[str, str](), [name]
        while waiting:
            one = waiting.pop()
            if one in self.sources and one not in used:
                used[one] = self.sources[one]
                waiting += re.findall(r"\w+", used[one])
        return "\n".join(used.values())


def first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def names_of(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (target.id for target in targets if isinstance(target, ast.Name))


@cache
def sources_by_vector() -> dict[str, str]:
    """Sources of the tests that bear a vector's number, joined."""
    shared = "\n".join(
        Module(path).sources.get("RV_01", "") for path in HERE.glob("*_positions.py")
    )
    found: dict[str, str] = {}
    for path in sorted(HERE.glob("test_*.py")):
        module = Module(path)
        for name in module.sources:
            if name.startswith("test_"):
                for vector in numbers_in(module.head(name)):
                    found[vector] = found.get(vector, shared) + module.with_helpers(name)
    return found


def numbers_in(text: str) -> set[str]:
    """`dv_01_to_04` is four vectors, `rv_12_and_13` two."""
    found = set()
    for letters, first, word, last in NUMBER.findall(text):
        numbers = range(int(first), int(last or first) + 1) if word == "to" else (first, last)
        found |= {f"{letters.upper()}-{int(number):02d}" for number in numbers if number}
    return found


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_every_vector_is_set_up_and_checked(vector: dict[str, str]) -> None:
    source = sources_by_vector().get(vector["id"])
    assert source is not None, f"no test bears the number {vector['id']}"
    assert re.search(r"^\s+(assert|with pytest\.raises)\b", source, re.MULTILINE)
    cards = set(CARD.findall(" ".join(vector.values())))
    assert cards <= set(CARD.findall(source)), "the test plays another position"


@pytest.mark.parametrize(
    ("length", "row", "value"),
    [
        (4, "QC QD QH KH", 0),
        (4, "KC KD KS JC", 50),
        (5, "QC QD QH QS KH", 0),
        (5, "KC KD KS JC JD", 61),
    ],
)
def test_dv_18_the_lowest_and_the_highest_short_row(length: int, row: str, value: int) -> None:
    """Scored at the end of a deal (DAM-V2), not only as the bounds of the rule set."""
    game: Any = make_game("dam", {"rounds": 1, "row_len": length})
    other = [card for card in PACK if card not in row][:length]
    state = dataclasses.replace(
        game.start(2),
        phase="decide",
        rows=(tuple(row.split()), tuple(other)),
        seen=(((None,) * length,) * 2,) * 2,
        hand="9C",
    )
    over = game.turn(game.act(state, "throw").state)
    assert over.scores[0] == value


def test_the_numbers_are_read_as_meant() -> None:
    assert numbers_in("test_dv_01_to_04_values RV-12 ev_02_x rv_12_and_13_y") == {
        "DV-01", "DV-02", "DV-03", "DV-04", "RV-12", "RV-13", "EV-02",
    }  # fmt: skip


# --- rules ---

RULES = {
    "DAM": [*range(1, 9), *range(10, 29), *range(30, 34), 40, 41, 42, "V1", "V2", "V3", "V4", "V5"],
    "RAMS": [
        *range(1, 6), 10, 11, 12, *range(20, 27), *range(30, 36), 40, 41, 42,
        *range(50, 59), *range(60, 67), 70, 71, 72, *range(80, 85),
    ],
    "EUR": range(1, 12),
    "NOR": range(1, 12),
    "SM": [1, 2, 3, 4, *range(9, 19)],
    "SP": range(1, 11),
    "HJ": range(1, 13),
}  # fmt: skip
"""Every numbered rule of section A; there is none that nothing could carry out."""

RULE = re.compile(r"\b(DAM|RAMS|EUR|NOR|SM|SP|HJ)-(V?\d+)")


@cache
def named_rules() -> set[str]:
    """Numbers that the games' code and their tests name."""
    own = Path(__file__)
    folders = (ROOT / "tourney" / "games", ROOT / "tests" / "property", HERE)
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    return {
        f"{game}-{number}"
        for path in paths
        if path != own
        for game, number in RULE.findall(path.read_text())
    }


@pytest.mark.parametrize("game", RULES)
def test_every_rule_is_named_where_it_is_carried_out_or_tested(game: str) -> None:
    rules = {f"{game}-{number}" for number in RULES[game]}
    assert rules - named_rules() == set()
    assert {rule for rule in named_rules() if rule.startswith(f"{game}-")} <= rules, "no such rule"
