"""Configs: precedence, and errors that say what, where and what to do."""

from pathlib import Path

import pytest

from tourney.config import load_config
from tourney.errors import ConfigError

GOOD = """\
[tournament]
name = "t"
game = "dam"
deals = 5

[limits]
move_ms = 500  # half a second

[[bot]]
path = "a"
[[bot]]
path = "b"
options = { threshold = 4 }
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "t.toml"
    path.write_text(text)
    return path


def problem(tmp_path: Path, text: str, *overrides: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(write(tmp_path, text), overrides, {})
    return str(caught.value)


def test_defaults_file_environment_and_set_in_that_order(tmp_path: Path) -> None:
    loaded = load_config(
        write(tmp_path, GOOD),
        ["limits.memory_mb=100"],
        {"TOURNEY_SET_LIMITS_MOVE_MS": "700", "TOURNEY_SET_LIMITS_MEMORY_MB": "99"},
    )
    limits = loaded.config.limits
    assert (limits.start_ms, limits.move_ms, limits.memory_mb) == (10_000, 700, 100)
    assert loaded.sources["limits.start_ms"] == "default"
    assert loaded.sources["tournament.deals"] == "file"
    assert loaded.sources["limits.move_ms"] == "environment"
    assert loaded.sources["limits.memory_mb"] == "--set"
    assert loaded.config.bot[1].options == {"threshold": 4}
    assert loaded.bot_path("a") == (tmp_path / "a").resolve()


def test_an_unknown_key_is_shown_with_its_place_and_a_hint(tmp_path: Path) -> None:
    text = problem(tmp_path, GOOD.replace("deals = 5", "seets = 5"))
    assert "t.toml:4:1" in text
    assert "4 | seets = 5" in text
    assert "did you mean `seats`?" in text


def test_every_problem_is_reported_at_once(tmp_path: Path) -> None:
    text = problem(tmp_path, GOOD.replace("deals = 5", "deals = 0").replace("500", '"fast"'))
    assert "2 problems" in text
    assert "t.toml:4:9" in text
    assert "t.toml:7:11" in text
    assert 'not "fast"' in text


def test_a_missing_key_points_at_its_table(tmp_path: Path) -> None:
    text = problem(tmp_path, GOOD.replace('path = "a"\n', ""))
    assert "`path` is missing here" in text
    assert "t.toml:9:3" in text


def test_a_wrong_override_names_where_it_came_from(tmp_path: Path) -> None:
    assert "run.workers (from --set)" in problem(tmp_path, GOOD, "run.workers=many")


@pytest.mark.parametrize("override", ["workers=2", "run.workers", "=", "a b.c=1"])
def test_a_malformed_override_shows_how_to_write_it(tmp_path: Path, override: str) -> None:
    assert "section.key=value" in problem(tmp_path, GOOD, override)


def test_a_syntax_error_and_a_missing_file(tmp_path: Path) -> None:
    assert "is not TOML" in problem(tmp_path, "[tournament\n")
    with pytest.raises(ConfigError, match="cannot read the config"):
        load_config(tmp_path / "absent.toml")


def test_the_shipped_configs_are_valid() -> None:
    from tourney.runner import prepare

    for path in sorted(Path("configs").glob("*.toml")):
        for variant in load_config(path, (), {}).variants():
            assert prepare(variant).schedule.matches > 0, path


def test_variants_change_what_they_name_and_keep_the_rest(tmp_path: Path) -> None:
    text = GOOD + '[rules]\nrounds = 1\n[[variant]]\nname = "short"\nrules = { row_len = 4 }\n'
    text += '[[variant]]\nname = "wide"\nseats = 2\ndeals = 9\n'
    short, wide = load_config(write(tmp_path, text), (), {}).variants()
    assert short.config.tournament.name == "t-short"
    assert short.config.rules == {"rounds": 1, "row_len": 4}
    assert short.config.tournament.deals == 5
    assert wide.config.rules == {"rounds": 1}
    assert wide.config.tournament.deals == 9
    assert len(load_config(write(tmp_path, GOOD), (), {}).variants()) == 1


def test_two_variants_of_one_name_are_refused(tmp_path: Path) -> None:
    text = GOOD + '[[variant]]\nname = "x"\n' * 2
    with pytest.raises(ConfigError, match="two variants are called 'x'"):
        load_config(write(tmp_path, text), (), {}).variants()
