"""The bundled bots: their policies against the rules' exact numbers, and each as a process."""

import importlib.util
import itertools
import json
import random
import re
import select
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import msgspec
import pytest

from tourney.config import load_config
from tourney.games.cards import PACK
from tourney.games.dam_rules import DamRules, card_values
from tourney.games.registry import game_names
from tourney.sdk import tourney_bot

ROOT = Path(__file__).parents[2]
BOTS = ROOT / "bots"
SDK = Path(tourney_bot.__file__)
PACKAGES = sorted(manifest.parent.name for manifest in BOTS.glob("*/bot.toml"))


def module(package: str) -> ModuleType:
    """The bot.py of a package, imported without being run."""
    spec = importlib.util.spec_from_file_location(
        package.replace("-", "_"), BOTS / package / "bot.py"
    )
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "tourney_bot", tourney_bot)
        spec.loader.exec_module(loaded)
    return loaded


THRESHOLD = module("dam-threshold")
MEMORY = module("dam-memory")
RANDOM = module("dam-random")
VALUES: dict[str, int] = THRESHOLD.card_values({})


def manifest(package: str) -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((BOTS / package / "bot.toml").read_text())["bot"]
    return table


def test_python_bots_hold_exact_copies_of_the_sdk() -> None:
    copies = sorted(BOTS.glob("*/tourney_bot.py"))
    in_python = [package for package in PACKAGES if (BOTS / package / "bot.py").exists()]
    assert [copy.parent.name for copy in copies] == in_python
    for copy in copies:
        assert copy.read_bytes() == SDK.read_bytes(), f"copy {SDK.name} into {copy.parent.name}"


@pytest.mark.parametrize("package", PACKAGES)
def test_manifest_names_the_package_and_its_game(package: str) -> None:
    bot = manifest(package)
    assert bot["name"] == package
    game = package.partition("-")[0]
    assert bot["games"] == (list(game_names()) if game == "any" else [game])
    assert all(isinstance(word, str) for word in bot["run"])


@pytest.mark.parametrize("name", ["quickstart", "polyglot"])
def test_config_enters_packages_that_exist(name: str) -> None:
    loaded = load_config(ROOT / "configs" / f"{name}.toml")
    paths = [loaded.bot_path(entry.path) for entry in loaded.config.bot]
    assert all((path / "bot.toml").is_file() for path in paths)
    if name == "polyglot":
        of_dam = [package for package in PACKAGES if package.startswith("dam-")]
        assert sorted(path.name for path in paths) == of_dam


@pytest.mark.parametrize("bot", [THRESHOLD, MEMORY])
def test_bots_count_cards_as_the_rules_do(bot: ModuleType) -> None:
    assert bot.card_values({}) == card_values(DamRules())
    for rank in ("none", *range(2, 11)):  # DAM-V1
        rules = {"minus_rank": rank, "minus_value": -3}
        assert bot.card_values(rules) == card_values(msgspec.convert(rules, DamRules))


# The policies as the rules' validation numbers word them, over values, with the prefix spelled out.


def defined_source(discard: int | None, prefix: Sequence[int], length: int, t: int) -> str:
    if discard is None or discard > t:
        return "draw"
    return "take" if len(prefix) < length or max(prefix) > discard else "draw"


def defined_hand(value: int, j: int, prefix: Sequence[int], length: int, t: int) -> str:
    worst = max(prefix[j:], default=-1)
    if value > t and value >= worst:
        return "throw"
    if worst > value:
        return "keep"
    return "keep" if len(prefix) < length else "throw"


@pytest.mark.parametrize("rules", [{}, {"minus_rank": 7, "minus_value": -1}], ids=["base", "minus"])
@pytest.mark.parametrize("length", [4, 5, 7])
def test_memory_bot_plays_its_definition(length: int, rules: dict[str, Any]) -> None:
    dice = random.Random(length)
    values = MEMORY.card_values(rules)
    for _ in range(4000):
        cards = dice.sample(PACK, length + 9)
        known, t, seat = dice.randint(0, length), dice.randint(-1, 13), dice.randint(0, 1)
        old, discard, drawn = cards[:length], cards[length : length + 1], cards[length + 1 :]
        prefix = [values[card] for card in old[:known]]
        row = [*old[:known], *[None] * (length - known)]
        other = [cards[-1], *[None] * (length - 1)]
        rows = [row, other] if seat == 0 else [other, row]
        view = {"seat": seat, "rows": rows, "discard": discard, "hand": None, "slot": None}
        legal = ["draw", "take"]
        expected = defined_source(values[discard[0]], prefix, length, t)
        assert MEMORY.choose("source", view, legal, values, t) == expected

        # Keep j cards first, whatever a policy thinks of them: the hand is then the old slot j.
        j = dice.randint(0, length - 1)
        hand = old[j - 1] if j else drawn[0]
        row[:j] = [drawn[0], *old[: j - 1]][:j]
        view.update(hand=hand, slot=j + 1)
        expected = defined_hand(values[hand], j, prefix, length, t)
        assert MEMORY.choose("decide", view, ["keep", "throw"], values, t) == expected


def test_threshold_bot_plays_its_definition() -> None:
    for card, t in itertools.product(PACK, range(-1, 14)):
        low = VALUES[card] <= t
        source = {"discard": ["KS", card]}
        wish = THRESHOLD.choose("source", source, ["draw", "take"], VALUES, t)
        assert wish == ("take" if low else "draw")
        wish = THRESHOLD.choose("decide", {"hand": card}, ["keep", "throw"], VALUES, t)
        assert wish == ("keep" if low else "throw")


@pytest.mark.parametrize("bot", [THRESHOLD, MEMORY])
def test_policies_stay_legal_where_their_wish_is_not(bot: ModuleType) -> None:
    view = {"seat": 0, "rows": [["KS"] * 7, [None] * 7], "discard": ["QH"], "hand": "QH", "slot": 1}

    def choose(phase: str, *legal: str) -> str:
        choice: str = bot.choose(phase, view, list(legal), VALUES, 6)
        return choice

    assert choose("source", "draw") == "draw"
    assert choose("source", "draw", "take") == "take"
    assert choose("source", "take", "pass") == "take"
    assert choose("decide", "keep") == "keep"
    assert choose("decide", "throw") == "throw"
    assert choose("ask", "no-ask", "ask 1 1 1") == "no-ask"
    assert choose("never heard of", "b", "a") == "b"
    view.update(discard=[], slot=None)
    assert choose("source", "draw", "take") == "draw"
    assert choose("source", "take", "pass") == "pass"
    assert choose("decide", "throw") == "throw"


def test_random_bot_gives_each_action_the_same_chance() -> None:
    dice = random.Random(1)
    legal = ["a", "b", "c"]
    drawn = [RANDOM.choose(legal, dice) for _ in range(3000)]
    assert all(900 < drawn.count(action) < 1100 for action in legal)


class Policy(Protocol):
    def __call__(self, phase: str, view: dict[str, Any], legal: list[str]) -> str: ...


MINI_DECK = ("QC", "AC", "3C", "5C", "7C", "9C", "JC", "KC")


def mini_dam(deck: Sequence[str], policies: Sequence[Policy]) -> tuple[int, int, int]:
    """Row sums and turns of a round with two seats, two slots, four stock cards and cap 4."""
    rows, known = [list(deck[0:2]), list(deck[2:4])], [0, 0]
    stock, discard = list(deck[:3:-1]), list[str]()
    turns = streak = seat = 0
    while stock:
        row, policy = rows[seat], policies[seat]

        def view(keeps: int, hand: str | None, seat: int = seat) -> dict[str, Any]:
            seen = max(known[seat], keeps)
            slot = keeps + 1 if hand is not None and keeps < 2 else None
            own = rows[seat][:seen] + [None] * (2 - seen)
            shown = [own, [None, None]] if seat == 0 else [[None, None], own]
            return {"seat": seat, "rows": shown, "discard": discard, "hand": hand, "slot": slot}

        takes = False
        if discard and streak < 4:
            takes = policy("source", view(0, None), ["draw", "take"]) == "take"
        hand = discard.pop() if takes else stock.pop()
        streak = streak + 1 if takes else 0
        keeps = 0
        while keeps < 2:
            forced = takes and keeps == 0
            if not forced and policy("decide", view(keeps, hand), ["keep", "throw"]) == "throw":
                break
            row[keeps], hand = hand, row[keeps]
            keeps += 1
        known[seat] = max(known[seat], keeps)
        discard.append(hand)
        turns += 1
        seat = 1 - seat
    first, second = (sum(VALUES[card] for card in row) for row in rows)
    return first, second, turns


def policy(bot: ModuleType, threshold: int) -> Policy:
    def choose(phase: str, view: dict[str, Any], legal: list[str]) -> str:
        action: str = bot.choose(phase, view, legal, VALUES, threshold)
        return action

    return choose


# Seat 0, seat 1, then mean sum of each seat, win share of seat 0, tied decks, mean turns.
MINI_TABLE = [
    ((THRESHOLD, 4), (THRESHOLD, 4), "387/56", "13/2", "1/2", 0, "229/56"),
    ((MEMORY, 4), (THRESHOLD, 4), "289/42", "1097/168", "1/2", 0, "229/56"),
    ((THRESHOLD, 6), (THRESHOLD, 4), "863/140", "533/105", "53/160", 120, "631/140"),
    ((MEMORY, 4), (MEMORY, 4), "289/42", "13/2", "1/2", 0, "229/56"),
    ((MEMORY, 6), (MEMORY, 4), "2381/420", "598/105", "13/32", 24, "123/28"),
]


@pytest.mark.parametrize(("first", "second", "sum0", "sum1", "share", "ties", "turns"), MINI_TABLE)
def test_policies_give_the_exact_numbers_of_mini_dam(
    first: tuple[ModuleType, int],
    second: tuple[ModuleType, int],
    sum0: str,
    sum1: str,
    share: str,
    ties: int,
    turns: str,
) -> None:
    policies = (policy(*first), policy(*second))
    results = [mini_dam(deck, policies) for deck in itertools.permutations(MINI_DECK)]
    n = len(results)
    tied = sum(a == b for a, b, _ in results)
    assert Fraction(sum(a for a, _, _ in results), n) == Fraction(sum0)
    assert Fraction(sum(b for _, b, _ in results), n) == Fraction(sum1)
    assert Fraction(2 * sum(a < b for a, b, _ in results) + tied, 2 * n) == Fraction(share)
    assert tied == ties
    assert Fraction(sum(count for _, _, count in results), n) == Fraction(turns)


# Every bot as a process.

HELLO = {"type": "hello", "protocol": 1, "game": "dam", "rules": {"rounds": 1}, "limits": {}}
NEEDS = {"dam-random-js": "node", "dam-threshold-c": "cc"}
ANSWER_SECONDS = 10


def needing(packages: Sequence[str]) -> list[Any]:
    """The packages, each left out where the machine lacks its tool."""
    return [
        pytest.param(
            name,
            marks=pytest.mark.skipif(
                name in NEEDS and shutil.which(NEEDS[name]) is None, reason=f"needs {NEEDS[name]}"
            ),
        )
        if name in NEEDS
        else name
        for name in packages
    ]


class Process:
    """A bot's process, spoken to in lock-step: a line out, a line in."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self._bot = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        assert self._bot.stdin is not None
        assert self._bot.stdout is not None
        self._in, self._out = self._bot.stdin, self._bot.stdout

    def tell(self, message: dict[str, Any] | str) -> None:
        text = message if isinstance(message, str) else json.dumps(message)
        data = memoryview(text.encode() + b"\n")
        while data:
            data = data[self._in.write(data) or 0 :]

    def heard(self) -> dict[str, Any]:
        data = b""
        end = time.monotonic() + ANSWER_SECONDS
        while not data.endswith(b"\n"):
            ready, _, _ = select.select([self._out], [], [], end - time.monotonic())
            assert ready, f"no full line in {ANSWER_SECONDS} seconds, only {data!r}"
            more = self._out.read(1 << 16)
            assert more, f"the bot closed its output after {data!r}"
            data += more
        assert data.count(b"\n") == 1
        answer: dict[str, Any] = json.loads(data)
        return answer

    def ask(self, message: dict[str, Any] | str) -> dict[str, Any]:
        self.tell(message)
        return self.heard()

    def is_silent(self) -> bool:
        return not select.select([self._out], [], [], 0.02)[0]

    def close(self) -> int:
        """Close the bot's input and wait for its exit code."""
        self._in.close()
        try:
            return self._bot.wait(ANSWER_SECONDS)
        finally:
            self._bot.kill()
            self._bot.wait()
            self._out.close()


@pytest.fixture
def started(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Process]:
    """The package given by the test's parameter, built and running from a copy of its folder."""
    folder = tmp_path / request.param
    shutil.copytree(BOTS / request.param, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for command in manifest(request.param).get("build", []):
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)
    process = Process(manifest(request.param)["run"], folder)
    try:
        yield process
    finally:
        process.close()


def start(match: str, seed: int = 9182736455463) -> dict[str, Any]:
    return {"type": "start", "match": match, "seat": 1, "players": ["seat0", "seat1"], "seed": seed}


def act(phase: str, legal: Sequence[str], match: str = "m1", **view: Any) -> dict[str, Any]:
    own = [*view.pop("row", []), *[None] * 7][:7]
    origin = view.pop("origin", None)
    seen: dict[str, Any] = {
        "round": 1, "rounds": 1, "seat": 1, "dealer": 0, "stock": 23, "discard": ["QS", "9D"],
        "rows": [[None, "9C", None, None, None, None, None], own],
        "hand": None, "from": origin, "slot": None, "streak": 0, "totals": [0, 0],
    }  # fmt: skip
    return {
        "type": "act", "match": match, "turn": 12, "phase": phase, "view": {**seen, **view},
        "events": [{"seat": 0, "event": "draw"}, {"seat": 0, "event": "throw", "card": "9D"}],
        "legal": list(legal), "clock": {"move_ms": 1000, "bank_ms": None},
    }  # fmt: skip


def end(match: str) -> dict[str, Any]:
    message = {"type": "end", "match": match, "scores": [20.0, 31.0], "ranks": [1, 2]}
    return {**message, "outcome": ["finished", "finished"], "reveal": {}}


SOURCE = ("draw", "take")
DECIDE = ("keep", "throw")
FULL = ["QC", "QD", "QH", "AC", "AD", "2C", "5H"]

# A question, what a threshold of 6 answers, what a memory bot of 6 answers.
QUESTIONS = [
    (act("source", SOURCE), "draw", "draw"),
    (act("source", SOURCE, discard=["KS", "6D"]), "take", "take"),
    (act("source", SOURCE, discard=["QH", "KH"], row=["2C"]), "take", "take"),
    (act("source", SOURCE, discard=["6D"], row=FULL), "take", "draw"),
    (act("source", SOURCE, discard=["4D"], row=FULL), "take", "take"),
    (act("source", ("draw",), discard=["QH"], streak=4), "draw", "draw"),
    (act("source", ("draw",), discard=[]), "draw", "draw"),
    (act("source", ("take", "pass"), discard=["9D"], stock=0), "pass", "pass"),
    (act("source", ("take", "pass"), discard=["2D"], stock=0), "take", "take"),
    (act("decide", DECIDE, hand="7D", origin="stock", slot=1), "throw", "throw"),
    (act("decide", DECIDE, hand="6D", origin="stock", slot=1), "keep", "keep"),
    (act("decide", DECIDE, hand="7D", slot=1, row=["KC", "2C"]), "throw", "keep"),
    (act("decide", DECIDE, hand="7D", slot=2, row=["AC", "7C"]), "throw", "throw"),
    (act("decide", DECIDE, hand="5D", slot=7, row=FULL), "keep", "throw"),
    (act("decide", DECIDE, hand="4D", slot=7, row=FULL), "keep", "keep"),
    (act("decide", ("throw",), hand="QH", row=FULL), "throw", "throw"),
    (act("decide", ("keep",), hand="KS", origin="discard", slot=1), "keep", "keep"),
    (act("ask", ("no-ask", "ask 0 1 1")), "no-ask", "no-ask"),
    (act("answer", ("yes", "no")), "yes", "yes"),
    (act("confirm", ("confirm", "withdraw")), "confirm", "confirm"),
]


@pytest.mark.parametrize("started", needing(PACKAGES), indirect=True)
def test_bot_plays_a_session(started: Process, request: pytest.FixtureRequest) -> None:
    package = request.node.callspec.params["started"]
    hello = {**HELLO, "options": {"threshold": 6}, "novelty": {"deep": [{"a": [1]}, "}]"]}}
    assert started.ask(hello)["type"] == "ready"
    started.tell(start("m1"))
    started.tell({"type": "weather", "text": 'a "quoted" } line', "match": "m1"})
    started.tell(start("m2"))
    assert started.is_silent()
    for number, (question, threshold, memory) in enumerate(QUESTIONS):
        answer = started.ask({**question, "match": f"m{number % 2 + 1}", "novelty": [None]})
        wanted = {"dam-memory": [memory], "dam-threshold": [threshold]}.get(
            package.removesuffix("-c"), question["legal"]
        )
        assert answer["action"] in wanted, question
    padding = {"padding": 'åäö "\\' * 30_000}
    long = act("decide", DECIDE, hand="2D", slot=1) | padding
    assert started.ask(dict(reversed(long.items())))["action"] in DECIDE
    started.tell(end("m1"))
    assert started.ask({**act("source", ("draw",)), "match": "m2"}) == {"action": "draw"}
    started.tell(end("m2"))
    assert started.is_silent()
    started.tell({"type": "quit"})
    assert started.close() == 0


@pytest.mark.parametrize("started", needing(PACKAGES), indirect=True)
def test_bot_leaves_when_its_input_ends(started: Process) -> None:
    assert started.ask(HELLO)["type"] == "ready"
    started.tell(start("m1"))
    assert started.close() == 0


@pytest.mark.parametrize(
    "started", needing(["dam-memory", "dam-threshold", "dam-threshold-c"]), indirect=True
)
def test_options_and_rules_change_what_a_threshold_bot_likes(started: Process) -> None:
    rules = {"minus_rank": 10, "minus_value": -1}
    started.ask({**HELLO, "options": {"threshold": -1}, "rules": rules})
    for hand, action in (("TS", "keep"), ("QH", "throw"), ("AC", "throw")):
        assert started.ask(act("decide", DECIDE, hand=hand, slot=1)) == {"action": action}


@pytest.mark.parametrize("started", needing(["dam-random", "dam-random-js"]), indirect=True)
def test_random_bot_repeats_itself_in_the_same_match_only(started: Process) -> None:
    started.ask(HELLO)
    legal = [str(number) for number in range(50)]
    drawn = []
    for seed in (1, 1, 2, 2**53 - 1):
        started.tell(start("m1", seed))
        drawn.append([started.ask(act("decide", legal))["action"] for _ in range(40)])
        started.tell(end("m1"))
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2] != drawn[3]
    assert all(len(set(actions)) > 15 for actions in drawn)


@pytest.mark.parametrize("started", needing(["dam-threshold-c"]), indirect=True)
def test_c_bot_reads_any_spelling_of_json(started: Process) -> None:
    started.ask(json.dumps({**HELLO, "options": {"x": "threshold", "threshold": 3.5}}, indent=None))
    spelled = (
        r' { "legal" : [ "thr\u006Fw" , "k\u0065ep" ], "view" : {"hands":"KS", "h\u0061nd" : '
        r'"\u0034D", "deep": {"hand": "AC"} } ,'
        "\t"
        r'"match":"\"}{\\", "ph\u0061se":"\u0064ecide", "type":"\u0061ct" } '
    )
    assert started.ask(spelled + "\r") == {"action": "throw"}
    assert started.ask(spelled.replace(r"\u0034", "3")) == {"action": "keep"}
    strange = '{"type":"act","phase":"?","view":{},"legal":["a \\" \\u00e5 ]","b"]}'
    assert started.ask(strange) == {"action": 'a " å ]'}
    nested = "[" * 50_000 + "]" * 50_000
    assert started.ask('{"deep":' + nested + "," + strange[1:]) == {"action": 'a " å ]'}


@pytest.mark.parametrize("started", needing(["dam-threshold-c"]), indirect=True)
def test_c_bot_survives_broken_lines(started: Process) -> None:
    started.ask(HELLO)
    whole = json.dumps(act("decide", ("keep",), hand="4D", slot=1))
    for length in range(len(whole) - 5):
        started.tell(whole[:length])
    for line in ("", "]", "}{", '"', "\\", '{"type"', '{"type":"act","legal":[]}', "[1,2]", "null"):
        started.tell(line)
    # Where a cut leaves a legal action readable the bot may answer, so only its life is tested.
    started.tell({"type": "quit"})
    assert started.close() == 0


def test_the_bots_of_the_page_are_complete(tmp_path: Path) -> None:
    page = (BOTS / "README.md").read_text(encoding="utf-8")
    command = tomllib.loads(re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0])["bot"]["run"]
    shutil.copy(SDK, tmp_path)
    programs = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(programs) == 2
    for program in programs:
        (tmp_path / "bot.py").write_text(program, encoding="utf-8")
        process = Process(command, tmp_path)
        try:
            assert process.ask(HELLO) == {"type": "ready"}
            process.tell(start("m1"))
            assert process.ask(act("decide", DECIDE, hand="4D", slot=1)) == {"action": "keep"}
            process.tell(end("m1"))
            process.tell({"type": "quit"})
        finally:
            code = process.close()
        assert code == 0
