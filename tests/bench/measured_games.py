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
from scipy.special import chdtrc

from tourney.deals import Deals, group_key
from tourney.games.base import Chance, Over
from tourney.games.dam import Dam, DamRules
from tourney.games.registry import make_game
from tourney.ratings import ELO, Matches, group_gain, neighbour_effects, rate, sketch
from tourney.ratings.matches import FloatArray
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
    length: int
    """Decisions of all seats together."""


class Session(NamedTuple):
    """Many matches."""

    matches: Matches
    lengths: FloatArray


def play(game: Any, policies: Sequence[Policy], deals: Deals) -> Played:
    """A match between policies, seat 0 first."""
    state, length = game.start(len(policies)), 0
    while not isinstance(turn := game.turn(state), Over):
        if isinstance(turn, Chance):
            state = game.drawn(state, deals.draw(turn)).state
        else:
            state = game.act(state, policies[turn.seat](game, state, turn)).state
            length += 1
    return Played(turn.scores, turn.ranks, length)


def groups(
    game: Any,
    field: Mapping[str, Policy],
    seats: int,
    seconds: float,
    *,
    cycle: Sequence[Sequence[int]] = (),
    turns: int | None = None,
) -> Session:
    """Groups of random pairings for so long.

    Args:
        game: the rules.
        field: policies by name.
        seats: at a table.
        seconds: how long to play.
        cycle: circular orders, as places in the field, that the groups take in turn; by default
            every group draws its own.
        turns: rotations that are played of each deal; all by default.
    """
    names = tuple(sorted(field))
    listed = [names.index(name) for name in field]
    lot = np.random.default_rng(seats)
    turns = turns or seats
    seating: list[list[int]] = []
    results: list[Played] = []
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        order = lot.permutation(len(names))[:seats].tolist()
        if cycle:
            order = [listed[place] for place in cycle[number % len(cycle)]]
        deals = Deals(group_key(b"measure", f"{seats}/{turns}/{number}"))
        for turn in range(turns):
            seated = order[turn:] + order[:turn]
            seating.append(seated)
            results.append(play(game, [field[names[bot]] for bot in seated], deals))
        number += 1
    matches = Matches(
        bots=names,
        groups=np.arange(number),
        starts=np.arange(number) * turns,
        seating=np.array(seating).T,
        ranks=np.array([one.ranks for one in results]).T.astype(np.uint8),
        scores=np.array([one.scores for one in results]).T,
    )
    return Session(matches, np.array([one.length for one in results], dtype=float))


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
            played = groups(game, field, seats, seconds)
            yield f"| {seats} | {stock} | {name} | {gains(played.matches)} |"


def rams_gains(seconds: float) -> Iterator[str]:
    """The same for Rams, a match of one rams."""
    field = {f"simple-{t}": rams_simple(t) for t in (0.4, 0.7, 1.0, 1.3, 1.6)}
    yield "| k | stock | groups | win gain | win s.e. | place gain | place s.e. |"
    yield "|---|---|---|---|---|---|---|"
    for seats, stock in itertools.product(range(2, 6), ("pile", "streams")):
        game = make_game("rams", {"ramsar": 1, "stock": stock})
        yield f"| {seats} | {stock} | {gains(groups(game, field, seats, seconds).matches)} |"


class Sample(NamedTuple):
    """Statistics of many matches, and how far their means are from the law's."""

    names: list[str]
    means: FloatArray
    covariance: FloatArray


def statistics(played: Session, score_edges: FloatArray, length_edges: FloatArray) -> Sample:
    """What a match of the game is like, with the covariance of the means by group."""
    matches = played.matches
    assert matches.scores is not None
    scores, first = matches.scores, matches.ranks == 1
    rows: dict[str, FloatArray] = {
        "mean score": scores.mean(axis=0),
        "mean squared score": (scores**2).mean(axis=0),
        "lowest score": scores.min(axis=0),
        "highest score": scores.max(axis=0),
        "first is shared": (first.sum(axis=0) > 1).astype(float),
    }
    for seat in range(matches.seats - 1):
        rows[f"seat {seat} wins"] = first[seat] / first.sum(axis=0)
        rows[f"score of seat {seat}"] = scores[seat]
    for low, high in itertools.pairwise(score_edges):
        inside = (scores > low) & (scores <= high)
        rows[f"scores in ({low:g}, {high:g}]"] = inside.mean(axis=0)
    for low, high in itertools.pairwise(length_edges):
        rows[f"length in ({low:g}, {high:g}]"] = (
            (played.lengths > low) & (played.lengths <= high)
        ).astype(float)
    values = np.stack(list(rows.values()))
    by_group = np.add.reduceat(values, matches.starts, axis=1) / matches.sizes
    # What the rules or the rotations hold constant says nothing here.
    varied = by_group.var(axis=1) > 1e-12
    return Sample(
        [name for name, keep in zip(rows, varied, strict=True) if keep],
        by_group.mean(axis=1)[varied],
        np.cov(by_group[varied]) / by_group.shape[1],
    )


def alike(one: Session, two: Session) -> str:
    """Cells of a table: Wald's test that both have one law, and the statistic that differs most."""
    scores = one.matches.scores
    assert scores is not None
    # Eight parts each; the first is what the others leave.
    parts = [
        np.unique(np.quantile(values, np.linspace(0, 1, 9)))[1:] for values in (scores, one.lengths)
    ]
    first, second = (statistics(played, parts[0], parts[1]) for played in (one, two))
    common = [name for name in first.names if name in second.names]
    take = [[sample.names.index(name) for name in common] for sample in (first, second)]
    gap = first.means[take[0]] - second.means[take[1]]
    spread = (
        first.covariance[np.ix_(take[0], take[0])] + second.covariance[np.ix_(take[1], take[1])]
    )
    square = float(gap @ np.linalg.pinv(spread, rcond=1e-9, hermitian=True) @ gap)
    degrees = int(np.linalg.matrix_rank(spread, rtol=1e-9, hermitian=True))
    z = gap / np.sqrt(np.diag(spread))
    worst = int(np.abs(z).argmax())
    far = f"{common[worst]}, {z[worst]:+.1f}"
    return f"{square:.1f} ({degrees}) | {chdtrc(degrees, square):.2f} | {far}"


def laws(seconds: float) -> Iterator[str]:
    """Whether groups and streams leave the law of one match as it is."""
    tests = "groups against independent | p | largest z | streams against pile | p | largest z"
    yield f"| game, k | matches | {tests} |"
    yield "|---|---|---|---|---|---|---|---|"
    simple = {f"simple-{t}": rams_simple(t) for t in (0.4, 0.7, 1.0, 1.3, 1.6)}
    for name, seats in [("Dam", k) for k in range(2, 7)] + [("Rams", k) for k in range(2, 6)]:
        field: Mapping[str, Policy] = MIXED if name == "Dam" else simple
        pile, streams = (
            Dam(DamRules(rounds=1, stock=stock))
            if name == "Dam"
            else make_game("rams", {"ramsar": 1, "stock": stock})
            for stock in ("pile", "streams")
        )
        alone = groups(pile, field, seats, seconds, turns=1)
        piles, streamed = (groups(game, field, seats, seconds) for game in (pile, streams))
        count = sum(len(one.lengths) for one in (alone, piles, streamed))
        yield f"| {name}, {seats} | {count} | {alike(piles, alone)} | {alike(streamed, piles)} |"


def orders(seconds: float) -> Iterator[str]:
    """Twins in each of the (k-1)! circular orders: how far an order favours one of them."""
    columns = ("k", "orders", "groups", "sd", "chi-square (df)", "furthest order", "all", "z")
    yield f"| {' | '.join(columns)} |"
    yield "|---|---|---|---|---|---|---|---|"
    field = {
        "twin-a": memory(6),
        "flat-6": threshold(6),
        "twin-b": memory(6),
        "noisy-7": memory(7, 0.2, 1),
        "flat-4": threshold(4),
        "memory-5": memory(5),
    }
    game = Dam(DamRules(rounds=1))
    for seats, share in ((3, 1.0), (4, 1.5), (5, 1.5), (6, 1.0)):
        chosen = dict(itertools.islice(field.items(), seats))
        cycle = [(0, *rest) for rest in itertools.permutations(range(1, seats))]
        matches = groups(game, chosen, seats, 7 * seconds * share, cycle=cycle).matches
        lead = twin_lead(matches)
        of = np.arange(len(lead)) % len(cycle)
        count = np.bincount(of)
        mean = np.bincount(of, lead) / count
        noise = float(((lead - mean[of]) ** 2).sum() / (len(lead) - len(cycle)))
        square = float((count * (mean - lead.mean()) ** 2).sum() / noise)
        between = max(0.0, float(mean.var(ddof=1)) - noise * float((1 / count).mean()))
        far = int(np.abs(mean).argmax())
        error = float(lead.std(ddof=1) / np.sqrt(len(lead)))
        names = list(chosen)
        yield (
            f"| {seats} | {len(cycle)} | {len(lead)} | {np.sqrt(between):.1f} "
            f"| {square:.0f} ({len(cycle) - 1}) "
            f"| {', '.join(names[bot] for bot in cycle[far])}: {mean[far]:+.1f} ± "
            f"{np.sqrt(noise / count[far]):.1f} "
            f"| {lead.mean():+.2f} ± {error:.2f} | {lead.mean() / error:+.1f} |"
        )


def twin_lead(matches: Matches) -> FloatArray:
    """How many rating points twin-a is ahead of twin-b by each group alone, to first order."""
    one, two = (
        (matches.ranks * (matches.seating == matches.bots.index(twin))).sum(axis=0, dtype=int)
        for twin in ("twin-a", "twin-b")
    )
    ahead = np.add.reduceat(np.sign(two - one), matches.starts) / matches.sizes
    # A lead of d in shares is a score of 1/2 + d/2, whose slope in points is 4 ELO.
    lead: FloatArray = 2 * ELO * ahead
    return lead


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
    for name, cycle in (("fixed", [range(4)]), ("by lot", [])):
        [table, *_] = rate(sketch(groups(game, field, 4, 3 * seconds, cycle=cycle).matches))
        one, two = (table.bots.index(twin) for twin in ("twin-a", "twin-b"))
        found = table.placement
        assert found.spread is not None
        gap = float(found.strengths[one] - found.strengths[two])
        error = float(differences_se(found.spread)[one, two])
        yield f"| {name} | {gap * ELO:+.1f} | {gap / error:+.1f} |"
    for line in neighbour_effects(groups(game, field, 4, 3 * seconds).matches):
        yield f"behind {line.bot}: {line.points:+.2f} ± {line.points_se or 0:.2f} points"


PARTS = {
    "gains": dam_gains,
    "laws": laws,
    "neighbours": dam_neighbours,
    "orders": orders,
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
