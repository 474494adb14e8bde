"""The commands as a user types them, without Ray."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def tourney(*arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tourney", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=cwd,
    )


def write_config(tmp_path: Path, *bots: str, **tournament: object) -> Path:
    lines = ["[tournament]", 'name = "t"', 'game = "dam"', "deals = 2"]
    lines += [f"{key} = {value}" for key, value in tournament.items()]
    lines += [f"[[bot]]\npath = '{bot}'" for bot in bots]
    path = tmp_path / "t.toml"
    path.write_text("\n".join(lines))
    return path


def bot(tmp_path: Path, name: str, manifest: str, **files: str) -> Path:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "bot.toml").write_text(f'[bot]\nname = "{name}"\ngames = ["dam"]\n{manifest}\n')
    for file, content in files.items():
        (folder / file.replace("__", ".")).write_text(content)
    return folder


def test_play_shows_a_match_card_by_card_and_repeats_by_seed() -> None:
    arguments = ("play", "bots/dam-memory", "bots/dam-threshold", "--seed", "3")
    one, two = (tourney(*arguments, "--set", "rules.rounds=1") for _ in range(2))
    assert one.returncode == 0, one.stderr
    assert "seat 0  dam-memory" in one.stdout
    assert "keep" in one.stdout
    assert "♥" in one.stdout
    assert one.stdout.rstrip().endswith("seed 3")

    def without_times(text: str) -> list[str]:
        return [
            line.rpartition("  ")[0] if line.endswith("ms") else line for line in text.split("\n")
        ]

    assert without_times(one.stdout) == without_times(two.stdout)


def test_help_is_quick_and_loads_no_heavy_library() -> None:
    code = (
        "import sys, tourney.cli.main; "
        "print([m for m in ('ray', 'polars', 'fastapi', 'numpy') if m in sys.modules])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert loaded.stdout.strip() == "[]"


def test_a_wrong_config_is_exit_2_with_the_place(tmp_path: Path) -> None:
    config = write_config(tmp_path, "a", "b", seets=3)
    result = tourney("run", config)
    assert result.returncode == 2
    assert "did you mean `seats`?" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("game", "rules", "place", "words"),
    [
        ("damm", "rounds = 1", ":3:8", "did you mean 'dam'?"),
        ("dam", "roundz = 1", ":6:10", "did you mean `rounds`?"),
        ("dam", "rounds = 0", ":6:10", "a match has at least one deal"),
    ],
)
def test_what_is_wrong_with_the_game_is_shown_at_its_place(
    tmp_path: Path, game: str, rules: str, place: str, words: str
) -> None:
    path = tmp_path / "t.toml"
    bots = "".join(
        f"[[bot]]\npath = '{ROOT}/bots/{name}'\n" for name in ("dam-random", "dam-memory")
    )
    head = f'[tournament]\nname = "t"\ngame = "{game}"\ndeals = 2\n'
    path.write_text(f"{head}[rules]\n{rules}\n{bots}")
    refused = tourney("run", path, "--results", tmp_path)
    assert refused.returncode == 2
    assert f"t.toml{place}" in refused.stderr
    assert words in refused.stderr


def test_an_unknown_rule_and_a_bad_seat_count_are_refused(tmp_path: Path) -> None:
    config = write_config(tmp_path, f"{ROOT}/bots/dam-random", f"{ROOT}/bots/dam-memory")
    result = tourney("run", config, "--set", "rules.streek_cap=3")
    assert result.returncode == 2
    assert "did you mean `streak_cap`?" in result.stderr
    result = tourney("run", config, "--set", "tournament.seats=3")
    assert result.returncode == 2
    assert "3 seats but only 2 bots" in result.stderr


@pytest.mark.parametrize(
    ("manifest", "files", "words"),
    [
        ('run = ["no-such-runtime", "x"]', {}, "no-such-runtime"),
        (
            'run = ["./bot"]\nbuild = [["cc", "-o", "bot", "bot.c"]]',
            {"bot__c": "int main( {"},
            "error",
        ),
        ('run = ["python3", "bot.py"]', {"bot__py": "import sys\nsys.exit('no luck')"}, "no luck"),
    ],
)
def test_a_bot_that_cannot_start_is_refused_before_the_run(
    tmp_path: Path, manifest: str, files: dict[str, str], words: str
) -> None:
    bad = bot(tmp_path, "bad-bot", manifest, **files)
    config = write_config(tmp_path, str(bad), f"{ROOT}/bots/dam-memory")
    result = tourney("run", config, "--out", tmp_path / "r", cwd=tmp_path)
    assert result.returncode == 3, result.stderr
    assert words in result.stderr
    assert "bad-bot" in result.stderr
    assert not (tmp_path / "r").exists(), "nothing was begun"


def test_a_missing_bot_says_where_it_looked(tmp_path: Path) -> None:
    result = tourney("run", write_config(tmp_path, "nowhere", f"{ROOT}/bots/dam-memory"))
    assert result.returncode == 3
    assert str(tmp_path / "nowhere") in result.stderr


def test_ratings_without_a_run_is_a_clear_error(tmp_path: Path) -> None:
    result = tourney("ratings", tmp_path)
    assert result.returncode == 4
    assert "no run in" in result.stderr


def test_a_match_with_a_fault_shows_it_and_exits_1(tmp_path: Path) -> None:
    crash = 'import sys\nsys.stdin.readline()\nprint(\'{"type":"ready"}\', flush=True)\n1 / 0\n'
    bad = bot(tmp_path, "bad-bot", 'run = ["python3", "bot.py"]', bot__py=crash)
    begin = time.monotonic()
    result = tourney("play", bad, ROOT / "bots/dam-random", "--seed", "1")
    assert result.returncode == 1
    assert "crashed" in result.stdout
    assert "ZeroDivisionError" in result.stdout
    assert time.monotonic() - begin < 30


def crashing_run(tmp_path: Path) -> Path:
    crash = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if message['type'] == 'hello':\n"
        '        print(\'{"type":"ready"}\', flush=True)\n'
        "    elif message['type'] == 'act':\n"
        "        print('thinking \\x1b[2J', file=sys.stderr, flush=True)\n"
        "        raise SystemExit('no more')\n"
    )
    bad = bot(tmp_path, "bad-bot", 'run = ["python3", "bot.py"]', bot__py=crash)
    config = write_config(tmp_path, str(bad), f"{ROOT}/bots/dam-random", seed=3)
    result = tourney("run", config, "--out", tmp_path / "r", "--set", "run.workers=1")
    assert result.returncode == 0, result.stderr
    assert "faults" in result.stdout
    return tmp_path / "r"


def test_faults_logs_and_reproduce_tell_one_story(tmp_path: Path) -> None:
    run = crashing_run(tmp_path)
    listed = tourney("faults", run, "--json")
    faults = json.loads(listed.stdout)
    assert len(faults) == 4, "two deals, two rotations"
    first = faults[0]
    assert (first["bot"], first["kind"], first["detail"]) == (
        "bad-bot",
        "crashed",
        "exited with code 1",
    )
    shown = tourney("faults", run, "--bot", "bad-bot").stdout
    assert "no more" in shown
    assert first["reproduce"] in shown
    assert "\x1b" not in shown, "a bot cannot repaint the terminal"
    assert tourney("faults", run, "--bot", "dam-random").stdout.startswith("0 faults")
    logs = tourney("logs", run, str(first["match"])).stdout
    assert "thinking ·[2J" in logs
    words = first["reproduce"].split()[1:]
    again = tourney(*words)
    assert again.returncode == 1
    assert "crashed: exited with code 1" in again.stdout
    other = tourney(*words, "--bot", ROOT / "bots/dam-memory")
    assert other.returncode == 0, other.stderr


def test_explain_knows_every_fault() -> None:
    assert "illegal_action" in tourney("explain").stdout
    assert "not in `legal`" in tourney("explain", "illegal_action").stdout
    unknown = tourney("explain", "bad_luck")
    assert unknown.returncode == 2
    assert "timeout" in unknown.stderr
