"""Read a config file: defaults, then the file, then the environment, then `--set`.

Every problem of a file is reported at once, each with its line, a caret and a hint.
"""

import difflib
import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from tourney.config.models import TournamentConfig, Variant
from tourney.errors import ConfigError

if TYPE_CHECKING:
    # Loaded where an error is due.
    from tourney.config.positions import Span

__all__ = ("LoadedConfig", "config_from", "load_config")

ENV_PREFIX = "TOURNEY_SET_"


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """A config with its file and where each value came from."""

    config: TournamentConfig
    path: Path
    text: str
    """The file as given."""
    sources: Mapping[str, str]
    """`section.key` to `default`, `file`, `environment` or `--set`."""

    def bot_path(self, entry_path: str) -> Path:
        """A bot's package; relative paths start at the config file's folder."""
        return (self.path.parent / entry_path).resolve()

    def variants(self) -> "list[LoadedConfig]":
        """One config for each `[[variant]]`, or this one where there is none.

        Raises:
            ConfigError: two variants have one name.
        """
        names = [variant.name for variant in self.config.variant]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ConfigError(f"{self.path}: two variants are called {twice!r}")
        return [self._variant(variant) for variant in self.config.variant] or [self]

    def _variant(self, variant: Variant) -> "LoadedConfig":
        base = self.config.tournament
        changed = {"seats": variant.seats, "deals": variant.deals}
        tournament = base.model_copy(
            update={
                "name": f"{base.name}-{variant.name}",
                **{key: value for key, value in changed.items() if value is not None},
            }
        )
        config = self.config.model_copy(
            update={
                "tournament": tournament,
                "rules": {**self.config.rules, **variant.rules},
                "variant": (),
            }
        )
        return replace(self, config=config)

    def refused(self, name: str, reason: str) -> ConfigError:
        """An error about the value of `name`, as `tournament.seats`, with its place in the file."""
        # Loaded here: only an error needs the positions.
        from tourney.config.positions import spans

        origin = self.sources.get(name, "default")
        place = ("value", tuple(name.split(".")))
        span = spans(self.text).get(place) if origin == "file" else None
        if span is None:
            return ConfigError(f"{self.path}: {name} (from {origin}): {reason}")
        shown = _pointed(self.path, self.text.splitlines(), span, reason)
        return ConfigError("\n".join([f"{self.path} has 1 problem", *shown]))

    def resolved(self) -> dict[str, Any]:
        """Every value with its source, JSON-able."""
        values = self.config.model_dump(mode="json")
        return {"values": values, "sources": dict(self.sources)}


def load_config(
    path: Path, overrides: Sequence[str] = (), environ: Mapping[str, str] | None = None
) -> LoadedConfig:
    """Read the config at `path`.

    Args:
        path: a TOML file.
        overrides: `section.key=value` each, value in TOML's notation (a bare word is a string).
        environ: variables `TOURNEY_SET_SECTION_KEY` override the file; os.environ by default.

    Raises:
        ConfigError: the file is unreadable or wrong; the text lists every problem with its place.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the config {path}: {error}") from error
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}") from error
    return _build(path, text, data, overrides, os.environ if environ is None else environ)


def config_from(data: dict[str, Any], overrides: Sequence[str] = ()) -> LoadedConfig:
    """A config made by a command instead of a file; bot paths are absolute.

    Raises:
        ConfigError: a value is wrong.
    """
    return _build(Path("the command line"), "", data, overrides, {})


def _build(
    path: Path,
    text: str,
    data: dict[str, Any],
    overrides: Sequence[str],
    environ: Mapping[str, str],
) -> LoadedConfig:
    sources = dict.fromkeys(_leaves(data), "file")
    for name, value in _environment(environ):
        _put(data, name, value)
        sources[name] = "environment"
    for override in overrides:
        name, value = _parse_override(override)
        _put(data, name, value)
        sources[name] = "--set"
    try:
        config = TournamentConfig.model_validate(data)
    except ValidationError as error:
        raise ConfigError(_explain(path, text, error, sources)) from None
    for name in _leaves(config.model_dump()):
        sources.setdefault(name, "default")
    return LoadedConfig(config, path, text, dict(sorted(sources.items())))


def _leaves(data: Mapping[str, Any]) -> Iterator[str]:
    for section, table in data.items():
        if isinstance(table, Mapping):
            yield from (f"{section}.{key}" for key in table)
        else:
            yield section


def _environment(environ: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for variable, value in sorted(environ.items()):
        if variable.startswith(ENV_PREFIX):
            section, _, key = variable[len(ENV_PREFIX) :].lower().partition("_")
            yield f"{section}.{key}", _parse_value(value)


def _parse_override(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"\w+\.[\w.-]+", name.strip()):
        raise ConfigError(f"--set {text!r}: write section.key=value, as in run.workers=2")
    return name.strip(), _parse_value(value.strip())


def _parse_value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _put(data: dict[str, Any], name: str, value: Any) -> None:
    *tables, key = name.split(".")
    for table in tables:
        data = data.setdefault(table, {})
        if not isinstance(data, dict):
            raise ConfigError(f"cannot set {name}: {table} is not a table")
    data[key] = value


def _explain(path: Path, text: str, error: ValidationError, sources: Mapping[str, str]) -> str:
    # Loaded here: only an error needs the positions.
    from tourney.config.positions import spans

    places = spans(text)
    lines = text.splitlines()
    problems = error.errors(include_url=False)
    out = [f"{path} has {len(problems)} problem{'s' if len(problems) > 1 else ''}"]
    for problem in problems:
        loc = tuple(part for part in problem["loc"] if part not in _UNION_PARTS)
        message, hint, kind = _message(problem, loc)
        # An item of a list has no place of its own, a key that is missing has its table's.
        nearest = [(kind, loc), ("key", loc), ("value", loc[:-1]), ("key", loc[:-1])]
        span = next((places[one] for one in nearest if one in places), None)
        name = ".".join(str(part) for part in loc)
        origin = sources.get(name, "file")
        if span is None or origin != "file":
            where = "" if origin == "file" else f" (from {origin})"
            out.append(f"  {name}{where}: {message}")
        else:
            out += _pointed(path, lines, span, message)
        if hint:
            out.append(f"  = hint: {hint}")
    return "\n".join(out)


def _pointed(path: Path, lines: Sequence[str], span: "Span", message: str) -> list[str]:
    """The line with the problem, and a caret under it."""
    gutter = " " * len(str(span.line))
    return [
        f"  --> {path}:{span.line}:{span.column}",
        f" {gutter} |",
        f" {span.line} | {lines[span.line - 1]}",
        f" {gutter} | {' ' * (span.column - 1)}{'^' * span.width} {message}",
    ]


_UNION_PARTS = frozenset({"int", "literal['auto']", "str"})
"""Pydantic names the tried member of a union in an error's place; a person does not care."""


def _message(problem: Any, loc: tuple[str | int, ...]) -> tuple[str, str, str]:
    if problem["type"] == "extra_forbidden":
        section = ".".join(str(part) for part in loc[:-1]) or "the file"
        close = difflib.get_close_matches(str(loc[-1]), _keys(loc[:-1]), n=1)
        hint = f"did you mean `{close[0]}`?" if close else f"known: {', '.join(_keys(loc[:-1]))}"
        return f"unknown key in {section}", hint, "key"
    if problem["type"] == "too_short" and loc == ("bot",):
        return "a tournament has at least two bots", "", "key"
    if problem["type"] == "missing":
        return f"`{loc[-1]}` is missing here", "", "key"
    # What we say ourselves needs no echo of the value.
    got = None if problem["type"] == "value_error" else problem.get("input")
    shown = (
        json.dumps(got, default=str, ensure_ascii=False)
        if isinstance(got, str | int | float | bool)
        else ""
    )
    said = problem["msg"].removeprefix("Value error, ")
    text = said[0].lower() + said[1:]
    return f"{text}{f', not {shown}' if shown else ''}", "", "value"


def _keys(path: Sequence[str | int]) -> list[str]:
    model: Any = TournamentConfig
    for part in path:
        if isinstance(part, int):
            continue
        annotation = model.model_fields[part].annotation
        args = getattr(annotation, "__args__", (annotation,))
        model = next((a for a in args if isinstance(a, type) and issubclass(a, BaseModel)), None)
        if model is None:
            return []
    return sorted(model.model_fields)
