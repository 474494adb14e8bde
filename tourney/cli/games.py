"""`tourney games`: which games there are, what they are called and allow, and whether they hold."""

import json
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tourney.errors import GameError

if TYPE_CHECKING:
    # `tourney --help` loads no game.
    from tourney.games.base import Game
    from tourney.games.checks import Case

__all__ = ("app",)

NUMBER = "a number"
"""Stands for the values of an option that is one."""

app = typer.Typer(help="List the games, show one, or check that it keeps its contract.")

Name = Annotated[str, typer.Argument(help="A registered game, as `dam`.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="OPTION=VALUE", help="An option of the game: ask=binding."),
]


@app.callback(invoke_without_command=True)
def games(context: typer.Context, as_json: AsJson = False) -> None:
    """List every registered game with its seats and its options.

    Raises:
        PluginError: a registered game does not import.
    """
    if context.invoked_subcommand is not None:
        return
    from tourney.games.registry import game_names, make_game

    all_games = [make_game(name, {}) for name in game_names()]
    if as_json:
        print(json.dumps([_facts(game) for game in all_games], ensure_ascii=False))
        return
    for game in all_games:
        info = game.info
        print(f"{info.name:<16} {info.title}, {_seats(game)} seats")
        _print_wrapped([f"{name} = {_toml(value)}" for name, value in _defaults(game)], 17)
    print("\n`tourney games show NAME` says what each option means.")


@app.command()
def show(
    name: Name,
    options: Options = None,
    rules: Annotated[bool, typer.Option("--rules", help="Print the whole page of rules.")] = False,
    swedish: Annotated[
        bool, typer.Option("--swedish", help="The page of rules in Swedish.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show a game: its words in English and Swedish, what a bot is asked, and every option.

    Raises:
        PluginError: no game has that name.
        GameError: an option is unknown or refused, or the game has no page of rules.
    """
    from tourney.games.registry import make_game

    game = make_game(name, _parse(options))
    if rules or swedish:
        print(_page(name, swedish=swedish))
        return
    if as_json:
        facts = {**_facts(game), "phases": _phases(game), "words": dict(_words(name))}
        print(json.dumps(facts, ensure_ascii=False))
        return
    info = game.info
    better = "lowest" if info.lower_is_better else "highest"
    print(f"{info.title} ({info.name}), {_seats(game)} seats")
    print(f"A match is scored by {info.score_name}; the {better} wins.")
    words = list(_words(name))
    if words:
        print("\nWords\n")
        _print_pairs(words)
    print("\nWhat a bot is asked, and examples of its actions\n")
    _print_pairs([(phase, ", ".join(actions)) for phase, actions in _phases(game).items()])
    print("\nOptions, for a config's table [rules]; the first value is the default\n")
    for option in _facts(game)["options"]:
        print(f"  {option['name']} = {_choice(option)}")
        print(f"      {option['description']}")
    if words:
        print(f"\n`tourney games show {name} --rules` prints all rules; --swedish på svenska.")


@app.command()
def check(
    name: Annotated[str | None, typer.Argument(help="A registered game. [default: all]")] = None,
    matches: Annotated[int, typer.Option(min=1, help="Matches to play of each game.")] = 60,
    seed: Annotated[int, typer.Option(help="Same seed, same matches.")] = 0,
    seats: Annotated[int | None, typer.Option(help="Only tables of this size.")] = None,
    policy: Annotated[
        str | None, typer.Option(help="Only first, last, random, fallback, habit or stall.")
    ] = None,
    options: Options = None,
    as_json: AsJson = False,
) -> None:
    """Play matches that look for every way in which a game can break its contract.

    Tables of every size, every value of every option, and policies that will not end; each match
    is also played as another, which one seat cannot tell from it. Exits 1 with a command that
    repeats the first failure of a game.

    Raises:
        PluginError: no game has that name.
        GameError: an option or the seats are refused.
    """
    from tourney.games.checks import POLICIES
    from tourney.games.registry import game_names

    if policy is not None and policy not in POLICIES:
        raise typer.BadParameter(f"known: {', '.join(POLICIES)}", param_hint="--policy")
    names = game_names() if name is None else (name,)
    only = {"fixed": _parse(options), "seats": seats, "policy": policy, "seed": seed}
    if not as_json:
        print(f"{'game':<16}{'matches':>9}{'actions':>10}{'compared':>10}{'seconds':>9}")
    results = []
    for game in names:
        result = _check(game, matches, only)
        results.append(result)
        if not as_json:
            _print_result(result)
    if as_json:
        print(json.dumps(results, ensure_ascii=False))
    raise typer.Exit(any(result["failure"] for result in results))


def _check(name: str, matches: int, only: Mapping[str, Any]) -> dict[str, Any]:
    """Run a game's cases up to the first that fails."""
    import itertools
    import time

    from tourney.games.checks import CheckFailed, cases_of

    begin = time.monotonic()
    played = actions = compared = 0
    failure = None
    for case in itertools.islice(cases_of(name, **only), matches):
        played += 1
        try:
            report = case.run()
        except CheckFailed as failed:
            failure = {"check": failed.check, "reason": failed.reason, "repeat": _command(case)}
            break
        actions += report.actions
        compared += report.worlds
    return {
        "game": name,
        "matches": played,
        "actions": actions,
        "compared": compared,
        "seconds": round(time.monotonic() - begin, 1),
        "failure": failure,
    }


def _print_result(result: Mapping[str, Any]) -> None:
    print(
        f"{result['game']:<16}{result['matches']:>9}{result['actions']:>10}"
        f"{result['compared']:>10}{result['seconds']:>9}  "
        f"{'FAILED' if result['failure'] else 'ok'}",
        flush=True,
    )
    failure = result["failure"]
    if failure:
        print(f"  {failure['check']}: {failure['reason'][:2000]}\n  repeat: {failure['repeat']}")


def _command(case: "Case") -> str:
    """The command that plays `case` alone."""
    words = ["tourney", "games", "check", case.game, "--matches", "1", "--seats", str(case.seats)]
    words += ["--policy", case.policy, "--seed", str(case.seed)]
    for option, value in case.options.items():
        words += ["--set", f"{option}={_toml(value)}"]
    return shlex.join(words)


# --- what there is to say of a game ---


def _parse(options: Sequence[str] | None) -> dict[str, Any]:
    """`ask=binding` and the like; values in TOML's notation, a bare word is a text."""
    parsed: dict[str, Any] = {}
    for text in options or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise GameError(f"--set {text!r}: write OPTION=VALUE, as in rounds=1")
        try:
            parsed[name.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            parsed[name.strip()] = value.strip()
    return parsed


def _seats(game: "Game[Any]") -> str:
    from tourney.games.checks import seat_counts

    counts = seat_counts(game)
    return f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])


def _facts(game: "Game[Any]") -> dict[str, Any]:
    from tourney.games.checks import seat_counts
    from tourney.games.registry import rules_type_of

    info = game.info
    return {
        "name": info.name,
        "title": info.title,
        "version": info.version,
        "seats": seat_counts(game),
        "score": info.score_name,
        "lower_is_better": info.lower_is_better,
        "lowest_score": info.lowest_score,
        "highest_score": info.highest_score,
        "options": list(_options(rules_type_of(info.name))),
    }


def _options(rules_type: Any) -> Iterator[dict[str, Any]]:
    import msgspec

    for field in msgspec.inspect.type_info(rules_type).fields:  # type: ignore[attr-defined]
        kind, description = field.type, ""
        if isinstance(kind, msgspec.inspect.Metadata):
            description = (kind.extra_json_schema or {}).get("description", "")
            kind = kind.type
        yield {
            "name": field.name,
            "default": field.default,
            "values": list(_values(kind)),
            "description": description,
        }


def _values(kind: Any) -> Iterator[Any]:
    """The values of an option; any whole number in its bounds is said in words."""
    from msgspec.inspect import BoolType, IntType, LiteralType

    from tourney.games.checks.options import leaves

    for leaf in leaves(kind):
        if isinstance(leaf, LiteralType):
            yield from leaf.values
        elif isinstance(leaf, BoolType):
            yield from (False, True)
        elif isinstance(leaf, IntType):
            yield NUMBER if leaf.ge is None else f"{NUMBER} from {leaf.ge}"


def _defaults(game: "Game[Any]") -> Iterator[tuple[str, Any]]:
    for option in _facts(game)["options"]:
        yield option["name"], option["default"]


def _choice(option: Mapping[str, Any]) -> str:
    others = [value for value in option["values"] if value != option["default"]]
    shown = [value if str(value).startswith(NUMBER) else _toml(value) for value in others]
    return " | ".join([_toml(option["default"]), *shown])


def _phases(game: "Game[Any]") -> dict[str, list[str]]:
    """What a bot is asked in some matches: examples of actions by phase, one a verb."""
    from tourney.games.base import Decision
    from tourney.games.checks import play, seat_counts

    counts = seat_counts(game)
    examples: dict[str, dict[str, str]] = {}
    for seats in (counts[0], counts[-1]):
        for moment in play(game, seats, "random", seed=1).moments:
            if isinstance(moment.turn, Decision):
                verbs = examples.setdefault(moment.turn.phase, {})
                for action in moment.turn.legal:
                    word, length = action.partition(" ")[0], action.count(" ")
                    # Two cards show best how an action goes on.
                    if word not in verbs or verbs[word].count(" ") < length <= 2:
                        verbs[word] = action
    return {phase: sorted(verbs.values()) for phase, verbs in examples.items()}


def _page(name: str, *, swedish: bool) -> str:
    """The game's page of rules: from the package, or from the checkout it is installed from."""
    import tourney

    package = Path(tourney.__file__).parent
    file = f"{name}.sv.md" if swedish else f"{name}.md"
    for folder in (package / "rules", package.parent / "docs" / "rules"):
        if (folder / file).is_file():
            return (folder / file).read_text(encoding="utf-8")
    raise GameError(f"{name} comes without a page of rules {file}")


def _words(name: str) -> Iterator[tuple[str, str]]:
    """English and Swedish words, from the first table of the game's page of rules."""
    try:
        lines = iter(_page(name, swedish=False).splitlines())
    except GameError:
        return
    for line in lines:
        if line.startswith("| English | "):
            next(lines)
            break
    for line in lines:
        if not line.startswith("|"):
            return
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        yield from ((en, sv) for en, sv in zip(cells[::2], cells[1::2], strict=False) if en)


def _toml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _print_pairs(pairs: Sequence[tuple[str, str]]) -> None:
    width = max((len(left) for left, _ in pairs), default=0)
    for left, right in pairs:
        print(f"  {left:<{width}}  {right}")


def _print_wrapped(words: Sequence[str], indent: int) -> None:
    import shutil
    import textwrap

    width = max(40, shutil.get_terminal_size().columns - 1)
    gap = " " * indent
    # An option and its value stay on one line.
    text = ", ".join(word.replace(" ", "\N{NO-BREAK SPACE}") for word in words)
    lines = textwrap.wrap(text, width, initial_indent=gap, subsequent_indent=gap)
    print("\n".join(lines).replace("\N{NO-BREAK SPACE}", " "))
