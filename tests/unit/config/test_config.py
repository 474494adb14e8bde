"""Configs: precedence, and errors that say what, where and what to do."""

from pathlib import Path

import pytest

from tourney.config import load_config
from tourney.config.models import DEALS_UNTIL_STOPPED, Tournament
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


def test_one_bot_is_no_tournament(tmp_path: Path) -> None:
    one = GOOD[: GOOD.rindex("[[bot]]")]
    assert "a tournament has at least two bots" in problem(tmp_path, one)


@pytest.mark.parametrize("workers", ["0", "-1"])
def test_a_run_has_at_least_one_worker(tmp_path: Path, workers: str) -> None:
    assert "run.workers (from --set)" in problem(tmp_path, GOOD, f"run.workers={workers}")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("nan", "no such number"),
        ("[1, inf]", "no such number"),
        ("1979-05-27", "no times"),
        ("{ deep = 07:32:00 }", "x.deep = 07:32:00: JSON has no times"),
    ],
)
def test_options_that_no_bot_can_be_told_are_refused(
    tmp_path: Path, value: str, words: str
) -> None:
    text = problem(tmp_path, GOOD.replace("{ threshold = 4 }", f"{{ x = {value} }}"))
    assert words in text
    assert "t.toml:" in text


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


def tournament(tmp_path: Path, lines: str, rest: str = "") -> Tournament:
    text = GOOD.replace("deals = 5\n", lines + "\n") + rest
    return load_config(write(tmp_path, text), (), {}).config.tournament


def test_seats_are_a_size_or_several(tmp_path: Path) -> None:
    assert tournament(tmp_path, "seats = 4").seats == (4,)
    assert tournament(tmp_path, "seats = [2, 3, 4]").seats == (2, 3, 4)
    assert tournament(tmp_path, "").seats == (2,)
    overridden = load_config(write(tmp_path, GOOD), ["tournament.seats=[2, 5]"], {})
    assert overridden.config.tournament.seats == (2, 5)


def test_length_depends_on_format_and_stopping_rule(tmp_path: Path) -> None:
    stop = "[stop]\nmax_matches = 9\n"
    lengths = {
        ("swiss", ""): (10, None),
        ("knockout", ""): (10, None),
        ("swiss", stop): (10, DEALS_UNTIL_STOPPED),
        ("adaptive", stop): (10, DEALS_UNTIL_STOPPED),
        ("knockout", stop): (10, None),
        ("balanced", stop): (DEALS_UNTIL_STOPPED, None),
        ("balanced", ""): (100, None),
    }
    for (form, rest), wanted in lengths.items():
        found = tournament(tmp_path, f'format = "{form}"', rest)
        assert (found.deals, found.rounds) == wanted, (form, rest)
    written = tournament(tmp_path, 'format = "adaptive"\ndeals = 3\nrounds = 4', stop)
    assert (written.deals, written.rounds) == (3, 4)


@pytest.mark.parametrize(
    ("lines", "place", "said"),
    [
        ("seats = [2, 2]", "4:9", "write each table size once"),
        ("seats = []", "4:9", "write each table size once"),
        ("seats = [2, 9]", "4:9", "less than or equal to 8, not 9"),
        ('seats = "many"', "4:9", "write a table size as 4, or several as [2, 3, 4]"),
        ("rounds = 4", "4:10", '`rounds` is for format = "swiss" or "adaptive"'),
        ('challengers = ["a"]', "4:15", '`challengers` is for format = "gauntlet"'),
        ('format = "swiss"\nadvance = 1', "5:11", '`advance` is for format = "knockout"'),
        ('format = "knockout"\nadvance = 2', "5:11", "of 2 at a table at most 1 can go on"),
        ('seats = [4, 3]\nformat = "knockout"\nadvance = 3', "6:11", "of 3 at a table at most 2"),
        ('format = "adaptive"', "1:2", "nothing ends this adaptive run"),
        ('format = "swis"', "4:10", "'swiss'"),
        ("apart = 3", "4:9", "boolean"),
    ],
)
def test_a_schedule_that_makes_no_sense_is_shown_with_its_place(
    tmp_path: Path, lines: str, place: str, said: str
) -> None:
    text = problem(tmp_path, GOOD.replace("deals = 5", lines))
    assert f"t.toml:{place}" in text
    assert said in text


BOTS = """\
[tournament]
name = "t"
game = "{game}"
{lines}
[[bot]]
path = "{root}/bots/dam-memory"
owner = "me"
[[bot]]
path = "{root}/bots/dam-random"
owner = "me"
[[bot]]
path = "{root}/bots/dam-threshold"
"""


@pytest.mark.parametrize(
    ("lines", "place", "said"),
    [
        ("seats = 7", "4:9", "7"),
        ("seats = 4", "4:9", "4 seats but only 3 bots"),
        ("seats = 3\napart = true", "5:9", "too few owners"),
        ('format = "gauntlet"\nchallengers = ["who"]', "5:15", "not who"),
        ('seats = 3\nformat = "swiss"\napart = true', "6:9", "too few owners"),
    ],
)
def test_bots_that_do_not_fill_the_schedule_are_refused_at_its_key(
    tmp_path: Path, lines: str, place: str, said: str
) -> None:
    from tourney.runner import prepare

    path = write(tmp_path, BOTS.format(game="dam", lines=lines, root=Path.cwd()))
    with pytest.raises(ConfigError) as caught:
        prepare(load_config(path, (), {}))
    assert f"t.toml:{place}" in str(caught.value)
    assert said in str(caught.value)


def test_an_owner_is_the_author_unless_the_config_says_another(tmp_path: Path) -> None:
    from tourney.runner import prepare

    text = BOTS.format(game="dam", lines="apart = true", root=Path.cwd())
    entrants = prepare(load_config(write(tmp_path, text), (), {})).entrants
    assert [one.owner for one in entrants] == ["me", "me", entrants[2].manifest.author]
    assert entrants[0].row()["owner"] == "me"
