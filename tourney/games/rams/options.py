"""The options of Rams, and which of them do not go together."""

from typing import Annotated, Literal

import msgspec

from tourney.errors import GameError
from tourney.games.base import Rules
from tourney.games.cards import PACK, PACK_32, Card
from tourney.games.tricks import ACE_HIGH, Strengths, strengths

__all__ = (
    "HAND",
    "MAX_SEATS",
    "MIN_SEATS",
    "RamsRules",
    "check_rules",
    "check_seats",
    "pack",
    "strengths_of",
)

MIN_SEATS = 2
MAX_SEATS = 5
"""RAMS-2."""

HAND = 5
"""Cards that a seat plays in a deal, and so the tricks of a deal."""

KING_OVER_ACE = ACE_HIGH[:-2] + "AK"

Count = Annotated[int, msgspec.Meta(ge=1)]


class RamsRules(Rules, frozen=True, kw_only=True):
    """Every option of Rams; the defaults are the game of Mattmar."""

    start: Annotated[Count, msgspec.Meta(description="points at the start of a rams (RAMS-3)")] = 10
    ramsar: Annotated[Count, msgspec.Meta(description="ramsar in a match (RAMS-70)")] = 6
    fly: Annotated[int, msgspec.Meta(ge=0, description="points a flight costs (RAMS-62)")] = 5
    cap: Annotated[Count, msgspec.Meta(description="a flight never goes above (RAMS-62)")] = 10
    floor: Annotated[
        Literal[0, "none"],
        msgspec.Meta(description="where booked points stop; none = below zero too (RAMS-61)"),
    ] = 0
    deck: Annotated[
        Literal[52, 32], msgspec.Meta(description="cards in the pack; 32 = seven to ace (EUR-11)")
    ] = 52
    offers: Annotated[
        Literal["unanimous", "majority", "dealer_only", "individual", "off"],
        msgspec.Meta(description="who has to accept forehand's offer (RAMS-21)"),
    ] = "unanimous"
    offers_per_deal: Annotated[
        Count, msgspec.Meta(description="offers that forehand may make in a deal (RAMS-23)")
    ] = 1
    swing_needs_vote: Annotated[
        bool, msgspec.Meta(description="whether a swing is voted on like other offers (RAMS-22)")
    ] = True
    better_from: Annotated[
        Literal["reshuffle", "talon"],
        msgspec.Meta(description="where better cards come from (RAMS-24)"),
    ] = "reshuffle"
    old_upcard: Annotated[
        Literal["out", "dealer_keeps_discards_two"],
        msgspec.Meta(description="what a swing does with the old trump card (RAMS-25)"),
    ] = "out"
    offerer_must_knock: Annotated[
        bool, msgspec.Meta(description="whether an offer obliges forehand to knock (RAMS-26)")
    ] = False
    lone: Annotated[
        Literal["five_tricks", "dealer_must_play"],
        msgspec.Meta(description="what a lone knocker gets (RAMS-34)"),
    ] = "five_tricks"
    exchange: Annotated[
        Literal["after_round", "immediate"],
        msgspec.Meta(description="when a knocker buys cards (RAMS-40)"),
    ] = "after_round"
    maning: Annotated[
        Literal["all_leaders", "first_lead", "opponents", "off"],
        msgspec.Meta(description="whose leads tvångsmaning binds (RAMS-51)"),
    ] = "all_leaders"
    maning_when: Annotated[
        Literal["start", "live"],
        msgspec.Meta(description="points that count for it: at the deal's start or now (RAMS-51)"),
    ] = "start"
    trump_order: Annotated[
        Literal["ace_high", "king_over_ace"],
        msgspec.Meta(description="the best trump (RAMS-5); the ace keeps its duty (RAMS-50)"),
    ] = "ace_high"
    undertrump: Annotated[
        Literal["forced", "free"],
        msgspec.Meta(description="whether a trump too low to win must be played (RAMS-54)"),
    ] = "forced"
    overtake_in_suit_when_trumped: Annotated[
        bool,
        msgspec.Meta(description="whether a trumped suit must still be overtaken (RAMS-53)"),
    ] = False
    first_zero: Annotated[
        Literal["trick_order", "lowest_raw"],
        msgspec.Meta(description="who wins when several reach zero in a deal (RAMS-64)"),
    ] = "trick_order"
    deal_cap: Annotated[
        Count, msgspec.Meta(description="a rams is decided after this many deals (RAMS-66)")
    ] = 200
    next_dealer: Annotated[
        Literal["rotate", "rams_winner", "rams_loser"],
        msgspec.Meta(description="who deals first in the next rams (RAMS-12)"),
    ] = "rotate"
    match: Annotated[
        Literal["rams_wins", "sum_of_end_points"],
        msgspec.Meta(description="what decides a match (RAMS-70)"),
    ] = "rams_wins"
    stock: Annotated[
        Literal["streams", "pile"],
        msgspec.Meta(
            description="one order of the talon for each seat, or one pile; same law either way"
        ),
    ] = "streams"


IDLE_WITHOUT_OFFERS = (
    "offers_per_deal",
    "swing_needs_vote",
    "better_from",
    "old_upcard",
    "offerer_must_knock",
)


def check_rules(rules: RamsRules) -> None:
    """Refuse options that contradict each other or mean nothing together.

    Raises:
        GameError: names the two options.
    """
    if rules.cap < rules.start:
        raise GameError(
            f"cap = {rules.cap} is below start = {rules.start}: a flight would lower the points"
        )
    if rules.offers == "off":
        for option in IDLE_WITHOUT_OFFERS:
            value = getattr(rules, option)
            if value != getattr(RamsRules(), option):
                raise GameError(
                    f"{option} = {_toml(value)} means nothing with offers = {_toml(rules.offers)}"
                )
    if rules.old_upcard != "out" and rules.offers_per_deal > 1:
        raise GameError(
            f"old_upcard = {_toml(rules.old_upcard)} is for one swing a deal, "
            f"not offers_per_deal = {rules.offers_per_deal}"
        )
    if rules.maning == "off" and rules.maning_when != "start":
        raise GameError(
            f'maning_when = {_toml(rules.maning_when)} means nothing with maning = "off"'
        )


def check_seats(rules: RamsRules, seats: int) -> None:
    """Refuse a number of seats that the rules cannot serve (RAMS-2).

    Raises:
        GameError: says why.
    """
    if not MIN_SEATS <= seats <= MAX_SEATS:
        raise GameError(f"Rams is for {MIN_SEATS} to {MAX_SEATS} seats, not {seats}")
    talon = rules.deck - HAND * seats - 1
    if rules.better_from == "talon" and talon < HAND * seats:
        raise GameError(
            f"deck = {rules.deck} leaves {talon} cards in the talon of {seats} seats, "
            f'too few for better_from = "talon"'
        )


def pack(rules: RamsRules) -> tuple[Card, ...]:
    """The cards in play (RAMS-1, EUR-11)."""
    return PACK if rules.deck == 52 else PACK_32


def strengths_of(rules: RamsRules, trump: str) -> Strengths:
    """How strong each card is in a deal with this trump suit (RAMS-5)."""
    ace_high = rules.trump_order == "ace_high"
    return strengths(ACE_HIGH, trump, "" if ace_high else KING_OVER_ACE)


def _toml(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()
