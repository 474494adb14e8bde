"""Real runs made in this process: Dam played by simple policies, written by the store's writer."""

import itertools
import math
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tourney.deals import Deals, bot_seed, commitment, group_key, secret_from_seed
from tourney.games.base import Game
from tourney.games.registry import make_game
from tourney.protocol.faults import Fault
from tourney.protocol.messages import Act
from tourney.ratings import sums
from tourney.records import SCHEMAS, frame
from tourney.referee.match import Match
from tourney.referee.replay import group_id, match_id
from tourney.referee.rows import Rows, add_rows
from tourney.referee.specs import MatchSpec
from tourney.runner.snapshots import Snapshots
from tourney.runner.standing import Ratings
from tourney.store import Host, RunCounts, RunInfo, RunWriter

SEED = 7
POLICIES: dict[str, Callable[[Act, random.Random], str]] = {}
FAULTY = "clumsy"
"""This bot gives up in the middle of every match whose number 3 divides."""
LATE = "a & b/ü"
"""This bot does not answer where 3 leaves 1, and crashes where it leaves 2."""


def card_value(card: str) -> int:
    """Points in Dam's base game, written out here so that the rules are not asked."""
    worth = {"A": 1, "T": 10, "J": 11, "Q": 0, "K": 0 if card == "KH" else 13}
    return worth[card[0]] if card[0] in worth else int(card[0])


def policy(name: str) -> Callable[[Callable[[Act, random.Random], str]], Any]:
    def register(function: Callable[[Act, random.Random], str]) -> Any:
        POLICIES[name] = function
        return function

    return register


@policy("chance")
def play_at_random(act: Act, lot: random.Random) -> str:
    return lot.choice(act.legal)


@policy("always-throw")
def always_throw(act: Act, lot: random.Random) -> str:
    return next(word for word in ("draw", "throw", "keep") if word in act.legal)


def threshold(limit: int) -> Callable[[Act, random.Random], str]:
    def choose(act: Act, lot: random.Random) -> str:
        if act.phase == "source":
            low = "take" in act.legal and card_value(act.view["discard"][-1]) <= limit
            return "take" if low else "draw"
        keep = "keep" in act.legal and card_value(act.view["hand"]) <= limit
        return "keep" if keep or act.legal == ["keep"] else "throw"

    return choose


POLICIES["flat-6"] = threshold(6)
POLICIES["flat-4"] = threshold(4)
POLICIES[FAULTY] = threshold(9)


@policy("memory")
def remember(act: Act, lot: random.Random) -> str:
    """Keep what is lower than what is known, or than 5 where nothing is."""
    row = act.view["rows"][act.view["seat"]]
    known = [card_value(card) for card in row if card is not None]
    limit = max([*known, 5]) if len(known) < len(row) else max(known) - 1
    return threshold(min(limit, 6))(act, lot)


def make_run(
    folder: Path,
    *,
    bots: Sequence[str] = ("memory", "flat-6", "flat-4", "chance"),
    seats: int = 2,
    deals: int = 6,
    play: int | None = None,
    seed: int | None = SEED,
    secret: bytes | None = None,
    game_name: str = "dam",
    rules: Mapping[str, Any] | None = None,
    finish: bool = True,
    history: int = 0,
) -> RunWriter:
    """Write a run of `deals` groups a pairing into `folder`, of which `play` groups are played.

    With `history` it is committed so many groups at a time, and what is derived is kept.
    """
    game = make_game(game_name, {"rounds": 1} if rules is None else rules)
    key = secret if secret is not None else secret_from_seed(SEED if seed is None else seed)
    pairings = list(itertools.combinations(bots, seats))
    total = len(pairings) * deals
    info = RunInfo(
        id=folder.name,
        name="quickstart",
        status="running",
        game=game_name,
        rules=msgspec.to_builtins(game.rules),
        seats=seats,
        bots=list(bots),
        sandbox="bwrap",
        workers=2,
        started="2026-11-30T14:02:11+00:00",
        updated="2026-11-30T14:02:11+00:00",
        commitment=commitment(key),
        counts=RunCounts(groups_total=total, matches_total=total * seats),
        host=Host(python="3.11.2", system="Linux", cores=2),
    )
    limits = {"move_ms": 1000, "memory_mb": 256, "bank_ms": None}
    writer = RunWriter.create(
        folder,
        info,
        secret=key,
        config_text="[tournament]\n",
        resolved={"values": {"tournament": {"seed": seed}, "limits": limits}, "sources": {}},
        bots=[_bot(name) for name in bots],
    )
    planned = list(enumerate(itertools.product(range(deals), pairings)))[:play]
    live = Ratings(game.info.headline, {}, lower_is_better=game.info.lower_is_better)
    snapshots = Snapshots(writer)
    for start in range(0, len(planned), history or 40):
        part = planned[start : start + (history or 40)]
        tables: Rows = {name: [] for name in SCHEMAS if name != "bots"}
        for group, (deal, pairing) in part:
            _play_group(game, key, group, deal, pairing, tables)
        frames = {name: frame(name, rows) for name, rows in tables.items()}
        writer.commit([group for group, _ in part], frames, seconds=1.5)
        if history:
            live.add(sums(frames["seats"]))
            shown, known = live.refit(last=True), live.sums()
            assert shown is not None
            assert known is not None
            snapshots.remember(shown, known.matches, 1.5)
            snapshots.write(shown, known)
    if finish:
        writer.finish()
    return writer


def _bot(name: str) -> dict[str, Any]:
    return {
        "bot": name,
        "digest": f"{len(name):02x}" * 32,
        "package": f"dam-{name}",
        "version": "1.0.0",
        "language": "python",
        "author": "<b>anna</b>",
        "description": "",
        "options": '{"limit": 6}' if name == "flat-6" else "{}",
    }


def _play_group(
    game: Game[Any],
    key: bytes,
    group: int,
    deal: int,
    pairing: tuple[str, ...],
    tables: Rows,
) -> None:
    seats = len(pairing)
    name = group_id(pairing, deal)
    for rotation in range(seats):
        spec = MatchSpec(
            match=group * seats + rotation,
            group=group,
            pairing=pairing,
            deal=deal,
            rotation=rotation,
            seating=tuple(pairing[(s + rotation) % seats] for s in range(seats)),
        )
        seeds = [bot_seed(key, match_id(name, rotation), seat) for seat in range(seats)]
        match = Match(spec, game, Deals(group_key(key, name)), seeds=seeds)
        play_match(match, spec, seeds)
        add_rows(tables, match, seconds=0.004 * len(match.actions))


def play_match(match: Match, spec: MatchSpec, seeds: Sequence[int]) -> None:
    lots = [random.Random(seed) for seed in seeds]
    while match.pending is not None:
        seat = match.pending.seat
        act = match.question()
        bot = spec.seating[seat]
        if bot == FAULTY and spec.match % 3 == 0 and act.turn > 20:
            match.fault(seat, _crash(act))
            continue
        if bot == LATE and spec.match % 3:
            late = Fault(kind="timeout", detail="no answer within 1000 ms")
            match.fault(seat, late if spec.match % 3 == 1 else _crash(act))
            continue
        choice = POLICIES.get(bot, play_at_random)(act, lots[seat])
        # Thinking times spread over a few powers of ten, as those of real bots do.
        think_us = round(10 ** (1 + 2.5 * abs(math.sin(act.turn * (seat + 1)))))
        note = f"<i>{choice}</i> at turn {act.turn}" if act.turn % 5 == 0 else ""
        assert match.answer(choice, think_us, note)


def _crash(act: Act) -> Fault:
    return Fault(
        kind="crashed",
        detail="the process ended while it was asked",
        last_sent=(f'{{"type":"act","turn":{act.turn}}}',),
        last_received=('{"action":"draw"}',),
        exit_status="exit code 1",
        cpu_ms=12.5,
        memory_mb=9.25,
        stderr_tail="Traceback (most recent call last):\nKeyError: '<script>alert(1)</script>'",
    )
