"""`tourney games`: the list, one game, and the battery as a command."""

import json
import shlex
from typing import Any

import pytest

from tests.cli.test_commands import tourney
from tourney.cli import games
from tourney.games.checks import Case, CheckFailed, Report
from tourney.games.registry import game_names, rules_type_of

OURS = ["dam", "hearts", "norrlandsknack", "rams", "rams-european", "svarta-maja", "svarte-petter"]


def shown(*arguments: str) -> str:
    result = tourney("games", *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_list_has_every_game_with_seats_and_defaults() -> None:
    text = shown()
    for name in OURS:
        assert f"\n{name} " in f"\n{text}"
    assert "Rams, 2 to 5 seats" in text
    assert 'streak_cap = "2n"' in text
    assert "swing_needs_vote = true" in text


def test_the_list_as_json() -> None:
    listed = {game["name"]: game for game in json.loads(shown("--json"))}
    assert sorted(listed) == OURS
    assert listed["dam"]["seats"] == [2, 3, 4, 5, 6]
    assert listed["dam"]["lower_is_better"] is True
    assert listed["rams"]["lower_is_better"] is False
    [tie] = [option for option in listed["dam"]["options"] if option["name"] == "tie"]
    assert tie["default"] == "share"
    assert set(tie["values"]) == {"share", "decider", "last_actor_loses", "replay"}
    assert "DAM-32" in tie["description"]


def test_a_game_shows_words_actions_and_options() -> None:
    text = shown("show", "rams")
    assert text.startswith("Rams (rams), 2 to 5 seats\n")
    assert "the highest wins" in text
    assert "förhand" in text
    for action in ("better", "swing", "accept", "reject", "knock", "pass", "exchange ", "play "):
        assert action in text
    assert 'maning = "all_leaders" | ' in text
    assert "start = 10 | a number from 1" in text


@pytest.mark.parametrize("name", OURS)
def test_every_option_of_every_game_is_described(name: str) -> None:
    told = json.loads(shown("show", name, "--json"))
    options = {option["name"]: option for option in told["options"]}
    assert list(options) == list(rules_type_of(name).__struct_fields__)
    for option in options.values():
        assert option["description"], option["name"]
        assert option["values"], option["name"]
    assert told["phases"]


def test_options_change_what_is_shown() -> None:
    assert "ask 1 1 1" not in shown("show", "dam")
    assert "ask 1 1 1" in shown("show", "dam", "--set", "ask=binding")
    told = json.loads(shown("show", "hearts", "--set", "limit=50", "--json"))
    assert told["highest_score"] == 75


@pytest.mark.parametrize(("flag", "words"), [("--rules", "DAM-19"), ("--swedish", "slänghög")])
def test_the_page_of_rules_is_printed_whole(flag: str, words: str) -> None:
    text = shown("show", "dam", flag)
    assert text.startswith("# Dam")
    assert words in text


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("show", "poker"), 2, "known: dam"),
        (("show", "dam", "--set", "streek_cap=2"), 2, "did you mean `streak_cap`"),
        (("show", "dam", "--set", "ask"), 2, "write OPTION=VALUE"),
        (("check", "poker"), 2, "known: dam"),
        (("check", "dam", "--policy", "clever"), 2, "first, last, random"),
        (("check", "dam", "--seats", "9"), 2, "2 to 6 seats"),
    ],
)
def test_what_is_wrong_is_said(arguments: tuple[str, ...], code: int, words: str) -> None:
    result = tourney("games", *arguments)
    assert result.returncode == code
    assert words in result.stderr
    assert "Traceback" not in result.stderr


def test_a_check_prints_a_line_a_game() -> None:
    text = shown("check", "svarte-petter", "--matches", "6")
    head, line = text.splitlines()
    assert head.split() == ["game", "matches", "actions", "compared", "seconds"]
    assert line.split()[:2] == ["svarte-petter", "6"]
    assert line.endswith("ok")


def test_a_check_of_all_games_as_json() -> None:
    results = json.loads(shown("check", "--matches", "1", "--json"))
    assert [result["game"] for result in results] == OURS
    assert all(result["failure"] is None and result["actions"] > 0 for result in results)


def test_a_failure_gives_the_command_that_repeats_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The words of the command, read back, are the very case."""
    run: list[Case] = []

    def fail_at_the_fifth(case: Case, witness: Any = None) -> Report:
        run.append(case)
        if len(run) == 5:
            raise CheckFailed("leak", "too much is told")
        return Report(1, 1)

    monkeypatch.setattr(Case, "run", fail_at_the_fifth)
    only = {"fixed": {"tie": "decider", "rounds": 2}, "seats": None, "policy": None, "seed": 3}
    result = games._check("dam", 50, only)
    assert result["matches"] == 5
    failure = result["failure"]
    assert (failure["check"], failure["reason"]) == ("leak", "too much is told")
    command = shlex.split(failure["repeat"])
    assert command[:3] == ["tourney", "games", "check"]
    options = games._parse([command[i + 1] for i, word in enumerate(command) if word == "--set"])
    flags = dict(zip(command[4::2], command[5::2], strict=True))
    repeated = {
        "fixed": options,
        "seats": int(flags["--seats"]),
        "policy": flags["--policy"],
        "seed": int(flags["--seed"]),
    }
    assert int(flags["--matches"]) == 1
    games._check("dam", 1, repeated)
    assert run[-1] == run[4]
    games._print_result(result)
    assert "FAILED\n  leak: too much is told\n  repeat: tourney" in capsys.readouterr().out


def test_the_games_here_are_ours() -> None:
    assert list(game_names()) == OURS
