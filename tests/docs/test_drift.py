"""The documentation against the code: nothing registered, set or shown goes unmentioned."""

import re
from pathlib import Path

import pytest
import typer

from tourney import plugins
from tourney.cli.main import app
from tourney.config.reference import reference
from tourney.protocol.explanations import EXPLANATIONS
from tourney.protocol.faults import FAULT_KINDS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def commands() -> set[str]:
    group = typer.main.get_command(app)
    return set(group.commands)  # type: ignore[attr-defined]


def test_the_config_reference_is_current() -> None:
    assert (ROOT / "docs/config.md").read_text() == reference(), "run `make docs`"


def test_every_command_is_in_the_readme() -> None:
    missing = {name for name in commands() if f"`tourney {name}" not in README}
    assert not missing


def test_the_readme_names_no_command_that_is_not_there() -> None:
    named = set(re.findall(r"tourney ([a-z]+)", README)) - {"is"}
    assert named <= commands()


def test_every_fault_is_explained_and_in_the_protocol_page() -> None:
    page = (ROOT / "docs/protocol.md").read_text()
    assert set(EXPLANATIONS) == set(FAULT_KINDS)
    assert [kind for kind in FAULT_KINDS if f"`{kind}`" not in page] == []


@pytest.mark.parametrize("game", plugins.names("games"))
def test_every_game_has_a_page_in_english_and_swedish(game: str) -> None:
    for ending in (".md", ".sv.md"):
        assert (ROOT / "docs/rules" / f"{game}{ending}").stat().st_size > 1000


def test_local_links_lead_somewhere() -> None:
    broken = []
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "bots/README.md"]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            if not (page.parent / target).exists():
                broken.append(f"{page.name}: {target}")
    assert broken == []


def test_the_first_lines_of_the_readme_are_the_two_commands() -> None:
    block = README.split("```")[1].split("\n")
    assert [line.split()[:2] for line in block if line] == [["make", "demo"], ["make", "test"]]


def test_every_dependency_earns_a_line() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    page = (ROOT / "docs/dependencies.md").read_text()
    names = [re.split(r"[<>=\[]", line)[0] for line in project["dependencies"]]
    assert [name for name in names if name not in page] == []
