"""`tourney compare`: is one bot better than another, by a test that may be looked at any time."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    # Loading polars takes longer than `tourney --help` may.
    from tourney.ratings import Duel, Outcomes

__all__ = ("compare",)


def compare(
    bot: Annotated[str, typer.Argument(help="The bot that should be better.")],
    other: Annotated[str, typer.Argument(help="The bot it is measured against.")],
    run: Annotated[
        str, typer.Argument(help="A run's folder, or a folder of runs: its newest is taken.")
    ] = "results",
    low: Annotated[float, typer.Option(help="Normalised Elo that is not good enough.")] = 0.0,
    high: Annotated[float, typer.Option(help="Normalised Elo that is wanted.")] = 10.0,
    alpha: Annotated[
        float, typer.Option(min=1e-6, max=0.5, help="Chance of passing a bot that is at --low.")
    ] = 0.05,
    beta: Annotated[
        float, typer.Option(min=1e-6, max=0.5, help="Chance of failing a bot that is at --high.")
    ] = 0.05,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
) -> None:
    """Test whether BOT is better than OTHER, group by group.

    Uses every match of the run in which both sat. The test is sequential: play on and ask again
    as often as you like.

    Raises:
        ConfigError: a bot is not in the run, the two never met, or --low is not below --high.
        StoreError: there is no run, or it cannot be read.
    """
    from tourney.errors import ConfigError
    from tourney.ratings import arrange, duel, pair_outcomes, sketch
    from tourney.store import find_run

    if low >= high:
        raise ConfigError(f"--low {low:g} must be below --high {high:g}")
    reader = find_run(run)
    for name in (bot, other):
        if name not in reader.info.bots:
            known = ", ".join(reader.info.bots)
            raise ConfigError(f"no bot called {name!r} plays in {reader.info.id}, only {known}")
    arranged = arrange(reader.scan("seats"))
    met = duel([sketch(matches) for matches in arranged.values()], bot, other)
    if bot == other or not met.scores.groups:
        raise ConfigError(f"{bot} and {other} have no whole group together in {reader.info.id}")
    outcomes = pair_outcomes(arranged, bot, other)
    found = _tested(outcomes, met, (low, high), (alpha, beta))
    found = {"bot": bot, "other": other, **found}
    if as_json:
        import msgspec

        sys.stdout.write(msgspec.json.format(msgspec.json.encode(found)).decode() + "\n")
        return
    _print(found)


def _tested(
    outcomes: "Outcomes | None",
    met: "Duel",
    claims: tuple[float, float],
    errors: tuple[float, float],
) -> dict[str, Any]:
    from tourney.ratings import decide, elo_statement, gate_bounds, interval, stopped_elo

    size = met.matches // met.scores.groups
    ratio = _ratio(outcomes, met, claims)
    bounds = gate_bounds(*errors)
    low, high = interval(met.scores, errors[0] + errors[1])
    found: dict[str, Any] = {
        "matches": met.matches,
        "groups": met.scores.groups,
        "score": met.scores.mean,
        "score_low": low,
        "score_high": high,
        "low": claims[0],
        "high": claims[1],
        "llr": ratio,
        "llr_lower": bounds.lower,
        "llr_upper": bounds.upper,
        "decision": decide(ratio, bounds),
    }
    said = elo_statement(met.scores, matches=size)
    names = ("elo", "elo_error", "normalised", "normalised_error", "superiority")
    found |= {name: None if said is None else getattr(said, name) for name in names}
    after = stopped_elo(met.scores, claims, bounds, matches=size)
    found |= {
        "stopped_elo": None if after is None else after.elo,
        "stopped_low": None if after is None else after.low,
        "stopped_high": None if after is None else after.high,
    }
    found["matches_left"] = _left(found)
    return found


def _ratio(outcomes: "Outcomes | None", met: "Duel", claims: tuple[float, float]) -> float:
    """Exact from how often each outcome of a group came; by Student's t for unequal groups."""
    from tourney.ratings import normalised_ratio, t_ratio

    if outcomes is not None:
        return normalised_ratio(outcomes.counts, *claims, matches=outcomes.matches)
    return t_ratio(met.scores, *claims, matches=met.matches // met.scores.groups)


def _left(found: dict[str, Any]) -> int | None:
    """Matches to a decision at the present drift of the ratio; None if it goes nowhere."""
    if found["decision"] != "open":
        return 0
    ratio = found["llr"]
    if abs(ratio) < 1e-9:
        return None
    bound = found["llr_upper"] if ratio > 0 else found["llr_lower"]
    return int(found["matches"] * (bound / ratio - 1))


def _print(found: dict[str, Any]) -> None:
    print(
        f"{found['bot']} against {found['other']}: {found['score']:.2%} in {found['matches']:,} "
        f"matches, {found['groups']:,} groups\n"
        f"interval     {found['score_low']:.2%} to {found['score_high']:.2%}, valid at every look"
    )
    if found["elo"] is not None:
        print(
            f"Elo          {found['elo']:+.1f} ±{found['elo_error']:.1f}, normalised "
            f"{found['normalised']:+.1f} ±{found['normalised_error']:.1f}\n"
            f"superiority  {found['superiority']:.2%} (to read, not to stop by)"
        )
    print(
        f"test         {found['low']:g} against {found['high']:g} normalised Elo: "
        f"{found['llr']:+.2f} between {found['llr_lower']:.2f} and {found['llr_upper']:.2f}"
    )
    if found["stopped_elo"] is not None and found["decision"] != "open":
        print(
            f"Elo by test  {found['stopped_elo']:+.1f} ({found['stopped_low']:+.1f} to "
            f"{found['stopped_high']:+.1f}): corrected for having stopped here"
        )
    verdict = {
        "accepted": f"{found['bot']} is better",
        "rejected": f"{found['bot']} is not better by {found['high']:g}",
        "open": "not decided yet",
    }[found["decision"]]
    left = found["matches_left"]
    more = f", about {left:,} more matches" if left else ""
    print(f"verdict      {verdict}{more}")
