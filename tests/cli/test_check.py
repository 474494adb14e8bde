"""`tourney check`: what a bot's author reads before a tournament does."""

import json
from pathlib import Path

import pytest

from tests.cli.test_commands import ROOT, bot, tourney

ANSWER = """
import json, random, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"ready"}', flush=True)
    elif message["type"] == "act":
        {do}
    elif message["type"] == "quit":
        {quit}
"""


def write(tmp_path: Path, do: str, quit_: str = "break") -> Path:
    text = ANSWER.replace("{do}", do).replace("{quit}", quit_)
    return bot(tmp_path, "mine", 'run = ["python3", "bot.py"]', bot__py=text)


GOOD = 'print(json.dumps({"action": message["legal"][0]}), flush=True)'


def findings(path: Path, *more: str) -> tuple[int, dict[str, tuple[str, str]]]:
    result = tourney("check", path, "--json", "--matches", "1", *more)
    found = json.loads(result.stdout)
    return result.returncode, {f["check"]: (f["state"], f["text"]) for f in found}


@pytest.mark.parametrize("name", ["dam-random", "dam-memory", "rams-simple"])
def test_our_own_bots_pass(name: str) -> None:
    code, found = findings(ROOT / "bots" / name)
    assert code == 0
    assert {state for state, _ in found.values()} == {"ok"}


@pytest.mark.parametrize(
    ("do", "words"),
    [
        ('print(json.dumps({"action": message["legal"][0]}))', "did the bot flush"),
        ('print(\'{"action":"fly"}\', flush=True)', "illegal_action"),
        ("sys.exit(9)", "exited with code 9"),
        ("print('keep', flush=True)", "bad_message"),
    ],
)
def test_a_wrong_bot_is_told_what_is_wrong(tmp_path: Path, do: str, words: str) -> None:
    code, found = findings(write(tmp_path, do), "--move-ms", "300")
    assert code == 1
    state, text = found["dam: legal play"]
    assert state == "error"
    assert words in text


def test_answers_that_do_not_repeat_are_a_warning(tmp_path: Path) -> None:
    do = 'print(json.dumps({"action": random.choice(message["legal"])}), flush=True)'
    path = write(tmp_path, do)
    code, found = findings(path)
    assert code == 0
    assert found["dam: repeatable"][0] == "warning"
    assert findings(path, "--strict")[0] == 1


def test_a_bot_that_stays_after_quit_is_a_warning(tmp_path: Path) -> None:
    code, found = findings(write(tmp_path, GOOD, "time.sleep(30)"))
    assert code == 0
    assert found["dam: quit"][0] == "warning"


def test_a_folder_without_a_manifest(tmp_path: Path) -> None:
    code, found = findings(tmp_path)
    assert code == 1
    assert "bot.toml" in found["manifest"][1]


def test_what_the_compiler_says_is_kept_and_shown(tmp_path: Path) -> None:
    program = """#warning look at me
#include <stdio.h>
int main(void) { char line[65536];
  puts("{\\"type\\":\\"ready\\"}"); fflush(stdout);
  while (fgets(line, sizeof line, stdin)) { }
  return 0; }
"""
    manifest = 'run = ["./bot"]\nbuild = [["cc", "-o", "bot", "bot.c"]]'
    path = bot(tmp_path, "warns", manifest, bot__c=program)
    shown = tourney("check", path, "--matches", "1", "--move-ms", "200").stdout
    assert "$ cc -o bot bot.c" in shown
    assert "look at me" in shown


ARRAYS = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if isinstance(message, list):
        acts = [one for one in message if one["type"] == "act"]
        answers = [{"action": one["legal"][0 if one["turn"] % 2 else -1]} for one in acts]
        print(json.dumps(WRONG), flush=True)
    elif message["type"] == "hello":
        print('{"type":"ready","batch":4}', flush=True)
    elif message["type"] == "act":
        legal = message["legal"]
        print(json.dumps({"action": legal[0 if message["turn"] % 2 else -1]}), flush=True)
    elif message["type"] == "quit":
        break
"""


@pytest.mark.parametrize(
    ("sent", "state", "words"),
    [
        ("answers", "ok", "4 matches at once"),
        ("answers[:-1] if len(answers) > 1 else answers", "error", "bad_message"),
        ("answers[0]", "error", "bad_message"),
        ('[{"action": acts[n]["legal"][0]} for n in range(len(acts))]', "warning", "order"),
    ],
)
def test_answers_to_arrays_are_checked(tmp_path: Path, sent: str, state: str, words: str) -> None:
    body = ARRAYS.replace("WRONG", sent)
    path = bot(tmp_path, "mine", 'run = ["python3", "bot.py"]', bot__py=body)
    _, found = findings(path)
    assert found["dam: legal play"][0] == "ok"
    assert found["dam: arrays"][0] == state
    assert words in found["dam: arrays"][1]
