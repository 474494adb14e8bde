"""What rotation groups are worth on the real rules: the numbers of docs/ratings.md.

    python -m tests.bench.measured_games [SECONDS A CELL] [NAME...]

Plays reference policies in this process, through the rules and the deals but without bots'
processes. Nothing here is a test: figures depend on policies, and are printed, not asserted.
"""

import importlib.util
import itertools
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tourney.deals import Deals, group_key
from tourney.games.base import Chance, Over
from tourney.games.dam import Dam, DamRules
from tourney.games.registry import make_game
from tourney.ratings import ELO, Matches, group_gain, neighbour_effects, rate, sketch
from tourney.ratings.order import differences_se

ROOT = Path(__file__).parents[2]

Policy = Callable[[Any, Any, Any], str]
"""Game, state, decision to action."""


def threshold(limit: int) -> Policy:
    """Likes cards worth at most `limit`, whatever lies in its row."""

    def choose(game: Dam, state: Any, decision: Any) -> str:
        if decision.phase == "source":
            likes = "take" in decision.legal and game.values[state.discard[-1]] <= limit
            return "take" if likes else "draw"
        keeps = "keep" in decision.legal and game.values[state.hand] <= limit
        return "keep" if keeps or "throw" not in decision.legal else "throw"

    return choose


def memory(limit: int, noise: float = 0.0, seed: int = 0) -> Policy:
    """The policy of bots/dam-memory, which at times decides by lot."""
    lot = np.random.default_rng(seed)

    def choose(game: Dam, state: Any, decision: Any) -> str:
        if noise and lot.random() < noise:
            return str(lot.choice(decision.legal))
        values, seat = game.values, decision.seat
        start = state.keeps if decision.phase == "decide" else 0
        known = [who >> seat & 1 for who in state.known[seat]][start:]
        seen = [values[card] for card, k in zip(state.rows[seat][start:], known, strict=True) if k]
        worst, unseen = max(seen, default=-1), len(seen) < len(known)
        if decision.phase == "source":
            if "take" not in decision.legal:
                return "draw"
            top = values[state.discard[-1]]
            return "take" if top <= limit and (unseen or worst > top) else "draw"
        value = values[state.hand]
        keeps = (value <= limit or value < worst) and (worst > value or unseen)
        wanted = "keep" if keeps else "throw"
        return wanted if wanted in decision.legal else decision.legal[0]

    return choose


def rams_simple(careful: float) -> Policy:
    """The policy of bots/rams-simple."""
    folder = ROOT / "bots" / "rams-simple"
    sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location("rams_simple", folder / "bot.py")
    assert spec is not None
    assert spec.loader is not None
    bot = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bot)
    sys.path.remove(str(folder))

    def choose(game: Any, state: Any, decision: Any) -> str:
        view = game.view(state, decision.seat)
        return str(bot.choose(decision.phase, view, list(decision.legal), careful, game.rules.cap))

    return choose


MIXED: dict[str, Policy] = {
    "memory-7": memory(7),
    "memory-6": memory(6),
    "memory-5": memory(5),
    "flat-6": threshold(6),
    "flat-5": threshold(5),
    "flat-4": threshold(4),
}
CLOSE: dict[str, Policy] = {
    "memory-7": memory(7),
    "memory-6": memory(6),
    "memory-5": memory(5),
    "noisy-7": memory(7, 0.05, 1),
    "noisy-6": memory(6, 0.05, 2),
    "noisy-5": memory(5, 0.05, 3),
}


class Played(NamedTuple):
    """One match."""

    scores: tuple[float, ...]
    ranks: tuple[int, ...]


def play(game: Any, policies: Sequence[Policy], deals: Deals) -> Played:
    """A match between policies, seat 0 first."""
    state = game.start(len(policies))
    while not isinstance(turn := game.turn(state), Over):
        if isinstance(turn, Chance):
            state = game.drawn(state, deals.draw(turn)).state
        else:
            state = game.act(state, policies[turn.seat](game, state, turn)).state
    return Played(turn.scores, turn.ranks)


def groups(
    game: Any, field: Mapping[str, Policy], seats: int, seconds: float, *, fixed: bool = False
) -> Matches:
    """Whole groups of random pairings for so long; the circular order by lot, or the field's."""
    names = tuple(sorted(field))
    listed = [names.index(name) for name in field]
    lot = np.random.default_rng(seats)
    seating: list[list[int]] = []
    results: list[Played] = []
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        chosen = lot.permutation(len(names))[:seats].tolist()
        order = sorted(chosen, key=listed.index) if fixed else chosen
        deals = Deals(group_key(b"measure", f"{seats}/{number}"))
        for turn in range(seats):
            seated = order[turn:] + order[:turn]
            seating.append(seated)
            results.append(play(game, [field[names[bot]] for bot in seated], deals))
        number += 1
    return Matches(
        bots=names,
        groups=np.arange(number),
        starts=np.arange(number) * seats,
        seating=np.array(seating).T,
        ranks=np.array([one.ranks for one in results]).T.astype(np.uint8),
        scores=np.array([one.scores for one in results]).T,
    )


def gains(matches: Matches) -> str:
    """Cells of a table: what a match of a group is worth, and errors per 10,000 matches."""
    [table, *_] = rate(sketch(matches))
    cells = [f"{len(matches.groups)}"]
    for model in ("win", "placement"):
        gain = group_gain(table, model)
        spread = table.by(model).spread
        if gain is None or spread is None:
            cells += ["-", "-"]
            continue
        upper = np.triu_indices(len(table.bots), 1)
        error = float(np.exp(np.log(ELO * differences_se(spread)[upper]).mean()))
        grouped = error * np.sqrt(matches.seating.shape[1] / 1e4)
        cells += [f"{gain.gain:.2f}", f"{grouped * np.sqrt(gain.gain):.1f} -> {grouped:.1f}"]
    return " | ".join(cells)


def dam_gains(seconds: float) -> Iterator[str]:
    """Independent deals against groups, pile against streams, two to six seats."""
    yield "| k | stock | field | groups | win gain | win s.e. | place gain | place s.e. |"
    yield "|---|---|---|---|---|---|---|---|"
    for seats, stock in itertools.product(range(2, 7), ("pile", "streams")):
        game = Dam(DamRules(rounds=1, stock=stock))
        for name, field in (("mixed", MIXED), ("close", CLOSE)):
            yield f"| {seats} | {stock} | {name} | {gains(groups(game, field, seats, seconds))} |"


def rams_gains(seconds: float) -> Iterator[str]:
    """The same for Rams, a match of one rams."""
    field = {f"simple-{t}": rams_simple(t) for t in (0.4, 0.7, 1.0, 1.3, 1.6)}
    yield "| k | stock | groups | win gain | win s.e. | place gain | place s.e. |"
    yield "|---|---|---|---|---|---|---|"
    for seats, stock in itertools.product(range(2, 6), ("pile", "streams")):
        game = make_game("rams", {"ramsar": 1, "stock": stock})
        yield f"| {seats} | {stock} | {gains(groups(game, field, seats, seconds))} |"


def dam_law(seconds: float) -> Iterator[str]:
    """Whether pile and streams are the same game: means and spreads of scores, win shares."""
    yield "| k | what | pile | streams | z |"
    yield "|---|---|---|---|---|"
    for seats in (2, 4):
        found = [
            groups(Dam(DamRules(rounds=1, stock=stock)), MIXED, seats, 2 * seconds)
            for stock in ("pile", "streams")
        ]
        for what, values in _statistics(found):
            (one, one_se), (two, two_se) = values
            z = (one - two) / np.hypot(one_se, two_se)
            yield f"| {seats} | {what} | {one:.3f} | {two:.3f} | {z:+.1f} |"


def _statistics(found: Sequence[Matches]) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    def summed(which: Callable[[Matches], Any]) -> list[tuple[float, float]]:
        out = []
        for matches in found:
            by_group = np.add.reduceat(which(matches), matches.starts) / matches.seats
            out.append((by_group.mean(), by_group.std(ddof=1) / np.sqrt(len(by_group))))
        return out

    yield "mean score", summed(lambda m: m.scores.mean(axis=0))
    yield "mean squared score", summed(lambda m: (m.scores**2).mean(axis=0))
    yield "lowest score", summed(lambda m: m.scores.min(axis=0))
    yield "seat 0 wins", summed(lambda m: (m.ranks[0] == 1).astype(float))
    yield "first is shared", summed(lambda m: ((m.ranks == 1).sum(axis=0) > 1).astype(float))


def dam_neighbours(seconds: float) -> Iterator[str]:
    """Twins in one fixed circular order and in orders by lot, and who feeds the next seat."""
    game = Dam(DamRules(rounds=1))
    field = {
        "flat-6": threshold(6),
        "twin-a": memory(6),
        "noisy": memory(7, 0.2, 1),
        "twin-b": memory(6),
    }
    yield "| order | twin-a minus twin-b | z |"
    yield "|---|---|---|"
    for name, fixed in (("fixed", True), ("by lot", False)):
        [table, *_] = rate(sketch(groups(game, field, 4, 3 * seconds, fixed=fixed)))
        one, two = (table.bots.index(twin) for twin in ("twin-a", "twin-b"))
        found = table.placement
        assert found.spread is not None
        gap = float(found.strengths[one] - found.strengths[two])
        error = float(differences_se(found.spread)[one, two])
        yield f"| {name} | {gap * ELO:+.1f} | {gap / error:+.1f} |"
    for line in neighbour_effects(groups(game, field, 4, 3 * seconds)):
        yield f"behind {line.bot}: {line.points:+.2f} ± {line.points_se or 0:.2f} points"


PARTS = {
    "gains": dam_gains,
    "law": dam_law,
    "neighbours": dam_neighbours,
    "rams": rams_gains,
}


def main() -> None:
    """Print the parts that were asked for, or all."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 8.0
    for name in sys.argv[2:] or PARTS:
        print(f"\n## {name}\n")
        for line in PARTS[name](seconds):
            print(line, flush=True)


if __name__ == "__main__":
    main()
