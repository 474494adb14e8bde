"""Luck-adjusted scores of a run: what the cards that a seat was dealt explain is taken out.

A seat's dealt cards are a simple sample of the deck, and so are the first ones of its own stream of
the stock, so the mean number of each rank among them is known exactly. The cards are dealt again
from the run's secret, once it may be known.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np
import polars as pl

from tourney.deals import Deals, group_key, secret_from_seed
from tourney.errors import GameError, StoreError
from tourney.games.base import Chance, Game
from tourney.games.registry import make_game
from tourney.ratings import luck_adjusted
from tourney.ratings.estimate import moments_of, ratio_mean
from tourney.ratings.matches import FloatArray
from tourney.referee.replay import group_id
from tourney.store import RunReader

__all__ = ("LuckLine", "luck_lines")

GROUPS = 2000
"""The first so many groups are dealt again; more would not change what is said."""

LEAST_GROUPS = 100
"""With fewer of a bot its coefficients are mostly chance."""

TOO_FEW = f"It takes {LEAST_GROUPS} groups of a bot to tell luck from skill."

MOST_DRAWN = 10
"""Cards of a seat's stream that are looked at, at most."""

RANKS = "A23456789TJQK"
DEALT = ("hands", "rows")
"""Where a game's full view has the cards of each seat."""

Cards = Sequence[Sequence[str]]


class LuckLine(msgspec.Struct, frozen=True, kw_only=True):
    """A bot's score, and what is left of it without the luck of the dealt cards."""

    bot: Annotated[str, msgspec.Meta(description="name of the bot in the run")]
    groups: Annotated[int, msgspec.Meta(description="rotation groups looked at")]
    score: Annotated[float, msgspec.Meta(description="mean score of a match in them")]
    score_se: Annotated[float | None, msgspec.Meta(description="its standard error, by group")]
    adjusted: Annotated[float, msgspec.Meta(description="without the luck of the dealt cards")]
    adjusted_se: Annotated[float | None, msgspec.Meta(description="its standard error, by group")]


class _Dealt(NamedTuple):
    """The ranks in each seat's cards, and how many are expected there."""

    counts: FloatArray
    means: FloatArray


def luck_lines(readers: Sequence[RunReader]) -> tuple[str, tuple[LuckLine, ...]]:
    """What was found in a sentence, and a line a bot; no lines where luck is not known.

    Raises:
        StoreError: a run is damaged.
        PluginError, GameError: the game or its rules are not those installed.
    """
    if len(readers) > 1:
        return "Luck is taken out of one run at a time.", ()
    [reader] = readers
    secret = _secret(reader)
    if secret is None:
        return "The cards may be looked at once the run has finished.", ()
    groups = (
        reader.scan("matches")
        .filter(pl.col("decisions") > 0)
        .group_by("group")
        .agg(pl.col("pairing", "deal").first())
        .sort("group")
        .head(GROUPS)
        .collect()
    )
    if groups.height < LEAST_GROUPS:
        return TOO_FEW, ()
    info = reader.info
    try:
        game = make_game(info.game, info.rules, version=info.game_version)
    except GameError as error:
        return f"The cards cannot be worked out: {error}", ()
    dealt = _all_dealt(game, secret, groups)
    if dealt is None:
        return f"What cards a seat gets in {game.info.title} is no simple sample of the deck.", ()
    return _adjusted(reader, groups, dealt)


def _secret(reader: RunReader) -> bytes | None:
    """The run's secret where anybody may know it: after its end, or from the seed in its config."""
    if reader.info.secret is not None:
        return bytes.fromhex(reader.info.secret)
    seed: int | None = reader.resolved().get("tournament", {}).get("seed")
    return None if seed is None else secret_from_seed(seed)


def _all_dealt(game: Game[Any], secret: bytes, groups: pl.DataFrame) -> list[_Dealt] | None:
    """Each group's cards; None where the number of a seat's cards depends on the cards."""
    found, sizes = [], set()
    for row in groups.iter_rows(named=True):
        pairing = tuple(row["pairing"].split("+"))
        key = group_key(secret, group_id(pairing, row["deal"]))
        deals = Deals(key)
        deck, hands = _deal(game, len(pairing), deals)
        if hands is None:
            return None
        sizes.add((len(pairing), tuple(sorted(map(len, hands)))))
        coming = _streams(game, deck, hands, deals)
        found.append(_joined(_count(deck, hands), _count(deck, coming)))
    return found if len(sizes) == len({seats for seats, _ in sizes}) else None


def _deal(game: Game[Any], seats: int, deals: Deals) -> tuple[Sequence[str], Cards | None]:
    """The deck of the first deal, and the cards of each seat after it."""
    state = game.start(seats)
    deck: Sequence[str] = ()
    turn = game.turn(state)
    while isinstance(turn, Chance):
        deck = max(deck, tuple(turn.cards), key=len)
        state = game.drawn(state, deals.draw(turn)).state
        turn = game.turn(state)
    view = game.view(state, None)
    hands = next((view[name] for name in DEALT if view.get(name)), None)
    return deck, hands


def _streams(game: Game[Any], deck: Sequence[str], hands: Cards, deals: Deals) -> Cards:
    """The cards that come first in each seat's own order of the stock, as many as it may draw."""
    dealt = {card for hand in hands for card in hand}
    stock = tuple(card for card in deck if card not in dealt)
    if getattr(game.rules, "stock", "pile") != "streams":
        return [()] * len(hands)
    count = min(MOST_DRAWN, len(stock) // len(hands))
    return [deals.draw(Chance(stock, count, f"stock/1/{seat}")) for seat in range(len(hands))]


def _joined(one: _Dealt, other: _Dealt) -> _Dealt:
    return _Dealt(np.hstack([one.counts, other.counts]), np.hstack([one.means, other.means]))


def _count(deck: Sequence[str], hands: Cards) -> _Dealt:
    def ranks(cards: Sequence[str]) -> list[int]:
        return [sum(card[0] == rank for card in cards) for rank in RANKS]

    share = np.array(ranks(deck)) / len(deck)
    counts = np.array([ranks(hand) for hand in hands], dtype=np.float64)
    return _Dealt(counts, np.outer([len(hand) for hand in hands], share))


def _adjusted(
    reader: RunReader, groups: pl.DataFrame, dealt: Sequence[_Dealt]
) -> tuple[str, tuple[LuckLine, ...]]:
    place = {group: at for at, group in enumerate(groups["group"].to_list())}
    rows = (
        reader.scan("seats")
        .filter(pl.col("group").is_in(groups["group"].implode()))
        .select("group", "seat", "bot", "score")
        .collect()
    )
    if not rows.height:
        raise StoreError(f"the run {reader.info.id} is damaged: its matches have no seats")
    at = np.array([place[group] for group in rows["group"]], dtype=np.int64)
    seats = rows["seat"].to_list()
    luck = np.stack(
        [dealt[k].counts[s] - dealt[k].means[s] for k, s in zip(at, seats, strict=True)]
    )
    told = rows.with_columns(adjusted=pl.lit(None, pl.Float64), at=pl.Series(at)).with_row_index()
    parts, spread, left = [], 0.0, 0.0
    for own in told.partition_by("bot"):
        if own["group"].n_unique() < LEAST_GROUPS:
            continue
        # Bot by bot: a card that helps one may leave another cold.
        scores = own["score"].to_numpy().astype(np.float64)
        mine = luck[own["index"].to_numpy()]
        found = luck_adjusted(scores, mine, np.zeros(mine.shape[1]), own["at"].to_numpy())
        spread, left = spread + float(scores.var()), left + float(found.scores.var())
        parts.append(own.with_columns(pl.Series("adjusted", found.scores)))
    if not parts:
        return TOO_FEW, ()
    lines = tuple(sorted(_lines(pl.concat(parts)), key=lambda line: line.bot))
    explained = 100 * max(1 - left / spread, 0.0) if spread else 0.0
    return (
        f"The dealt cards explain {explained:.0f} % of what a bot's scores differ by from match to "
        "match; rotations have taken most of that out already.",
        lines,
    )


def _lines(rows: pl.DataFrame) -> Iterator[LuckLine]:
    in_group = rows.group_by("bot", "group").agg(
        m=pl.len().cast(pl.Int64), score=pl.col("score").sum(), adjusted=pl.col("adjusted").sum()
    )
    for bot, own in in_group.partition_by("bot", as_dict=True).items():
        m = own["m"].to_numpy().astype(np.float64)

        score, adjusted = (
            ratio_mean(moments_of(own[name].to_numpy(), m)) for name in ("score", "adjusted")
        )
        yield LuckLine(
            bot=str(bot[0]),
            groups=own.height,
            score=score.mean,
            score_se=score.se,
            adjusted=adjusted.mean,
            adjusted_se=adjusted.se,
        )
