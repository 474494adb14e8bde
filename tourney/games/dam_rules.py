"""The options of Dam and which of them go together. How they play is in `dam`."""

from typing import Annotated, Literal

import msgspec

from tourney.errors import GameError
from tourney.games.base import Rules
from tourney.games.cards import PACK, RANKS, Card

__all__ = ("MIN_SEATS", "DamRules", "card_values", "check_rules", "check_seats")

MIN_SEATS = 2
SIDE_CARD_SEATS = 5
"""With one more card a seat, six seats would leave a stock of four: two seats might never play."""


class DamRules(Rules, frozen=True, kw_only=True):
    """Every option of Dam; the defaults are the base game."""

    rounds: Annotated[
        int | Literal["seats"],
        msgspec.Meta(description="deals in a match (DAM-40); seats = one that each seat begins"),
    ] = "seats"
    max_players: Annotated[
        Literal[6, 7], msgspec.Meta(description="most seats at a table (DAM-2)")
    ] = 6
    row_len: Annotated[Literal[7, 5, 4], msgspec.Meta(description="cards in a row (DAM-V2)")] = 7
    first: Annotated[
        Literal["lot", "seat0"], msgspec.Meta(description="who begins the first deal (DAM-6)")
    ] = "lot"
    discard_take: Annotated[
        Literal["must_keep", "free"],
        msgspec.Meta(description="whether a taken discard must be kept (DAM-18)"),
    ] = "must_keep"
    streak_cap: Annotated[
        int | Literal["2n", "n", "none"],
        msgspec.Meta(
            description="turns in a row that may begin with a take (DAM-19); none needs a turn_cap"
        ),
    ] = "2n"
    turn_cap: Annotated[
        int | Literal["none"],
        msgspec.Meta(description="turns after which a deal ends whatever is in the stock"),
    ] = "none"
    end: Annotated[
        Literal["complete_turn", "immediate", "last_lap", "equal_turns"],
        msgspec.Meta(description="what happens when the stock is empty (DAM-20, DAM-V5)"),
    ] = "complete_turn"
    tie: Annotated[
        Literal["share", "decider", "last_actor_loses", "replay"],
        msgspec.Meta(description="who wins a deal with equal lowest rows (DAM-32)"),
    ] = "share"
    decider: Annotated[
        Literal["own", "draw", "slot8"],
        msgspec.Meta(description="which card decides under tie = decider (DAM-V3)"),
    ] = "own"
    minus_rank: Annotated[
        int | Literal["none"],
        msgspec.Meta(description="pip value, 2 to 10, that counts minus_value instead (DAM-V1)"),
    ] = "none"
    minus_value: Annotated[
        int, msgspec.Meta(description="what a card of minus_rank counts (DAM-V1)")
    ] = -1
    ask: Annotated[
        Literal["off", "binding", "nonbinding"],
        msgspec.Meta(description="whether a seat may ask another to swap (DAM-V4)"),
    ] = "off"
    ask_object: Annotated[
        Literal["slot", "row", "hand"],
        msgspec.Meta(description="what changes places when a swap is agreed (DAM-V4)"),
    ] = "slot"
    match: Annotated[
        Literal["sum", "round_wins"], msgspec.Meta(description="what decides a match (DAM-40)")
    ] = "sum"
    stock: Annotated[
        Literal["streams", "pile"],
        msgspec.Meta(
            description="one order of the stock for each seat, or one pile; same law either way"
        ),
    ] = "streams"

    @property
    def side_cards(self) -> int:
        """Cards dealt to a seat besides its row (DAM-V3)."""
        return 1 if self.tie == "decider" and self.decider in {"own", "slot8"} else 0

    @property
    def chain_len(self) -> int:
        """Slots that a turn can visit: the row, and the eighth slot where there is one."""
        return self.row_len + (self.side_cards if self.decider == "slot8" else 0)


def card_values(rules: DamRules) -> dict[Card, int]:
    """DAM-30: ace 1, pips at face value, jack 11, queens 0, king of hearts 0, other kings 13.

    DAM-V1 gives one rank another value.
    """
    values = {}
    for card in PACK:
        value = RANKS.index(card[0]) + 1
        if card[0] == "Q" or card == "KH":
            value = 0
        elif value == rules.minus_rank:
            value = rules.minus_value
        values[card] = value
    return values


def check_rules(rules: DamRules) -> None:
    """Refuse options that do not go together.

    Raises:
        GameError: the sentence names both.
    """
    if isinstance(rules.rounds, int) and rules.rounds < 1:
        raise GameError(f"rounds = {rules.rounds}: a match has at least one deal")
    if isinstance(rules.streak_cap, int) and rules.streak_cap < 1:
        raise GameError(f"streak_cap = {rules.streak_cap}: the cap is at least 1 (DAM-19)")
    if isinstance(rules.turn_cap, int) and rules.turn_cap < 1:
        raise GameError(f"turn_cap = {rules.turn_cap}: a deal has at least one turn")
    if isinstance(rules.minus_rank, int) and not 2 <= rules.minus_rank <= 10:
        raise GameError(f"minus_rank = {rules.minus_rank}: a pip value from 2 to 10 (DAM-V1)")
    if rules.streak_cap == "none" and rules.turn_cap == "none":
        raise GameError(
            'streak_cap = "none" with turn_cap = "none": such a deal need not end (DAM-19); '
            "set a turn_cap"
        )
    idle = (
        ("decider", "own", "tie", "decider", rules.tie == "decider"),
        ("minus_value", -1, "minus_rank", "a rank", rules.minus_rank != "none"),
        ("ask_object", "slot", "ask", "binding or nonbinding", rules.ask != "off"),
    )
    for option, default, other, wanted, used in idle:
        value = getattr(rules, option)
        if value != default and not used:
            raise GameError(
                f"{option} = {value} means nothing with {other} = {getattr(rules, other)}: "
                f"set {other} to {wanted}, or leave {option} out"
            )


def check_seats(rules: DamRules, seats: int) -> None:
    """DAM-2, and the limit of DAM-V3.

    Raises:
        GameError: so many seats cannot play by these rules.
    """
    if rules.side_cards and rules.max_players >= seats > SIDE_CARD_SEATS:
        raise GameError(
            f"decider = {rules.decider} with {seats} seats: the decider's cards leave too small a "
            f"stock for more than {SIDE_CARD_SEATS} seats; use decider = draw or fewer seats"
        )
    if not MIN_SEATS <= seats <= rules.max_players:
        raise GameError(
            f"Dam is for {MIN_SEATS} to {rules.max_players} seats "
            f"(max_players = {rules.max_players}), not {seats}"
        )
