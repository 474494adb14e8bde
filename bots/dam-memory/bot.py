"""dam-memory: a threshold bot that also looks at what it knows of its own row.

The policy is M_t of the rules' validation numbers. Like dam-threshold it likes cards worth at most
t (option `threshold`, 6 unless given), but it goes on through its row only while there is
something to gain: a known card further on that is worse than the one in hand, or a slot it has
never seen. When neither is left it throws, and does not feed a good card to the next seat.

The bot keeps no memory between two questions, for it needs none: `view.rows` shows every card that
the seat knows. Slots before the one under decision hold the cards kept in this go, and the
slots from there on still hold what lay in them when the go began.
"""

from __future__ import annotations

from typing import Any

from tourney_bot import Act, Bot, run

DEFAULT_THRESHOLD = 6
NOTHING = -1
"""The worst of no cards at all, below every card of the base game."""


def card_values(rules: dict[str, Any]) -> dict[str, int]:
    """Points of every card (DAM-30) under `rules`, with the minus points of DAM-V1 if they hold."""
    values = {
        rank + suit: points for points, rank in enumerate("A23456789TJ", start=1) for suit in "CDHS"
    }
    values.update({"Q" + suit: 0 for suit in "CDHS"})
    values.update({"KC": 13, "KD": 13, "KH": 0, "KS": 13})
    minus_rank = "T" if rules.get("minus_rank") == 10 else str(rules.get("minus_rank"))
    minus_value = rules.get("minus_value", -1)
    return {card: minus_value if card[0] == minus_rank else value for card, value in values.items()}


def choose(
    phase: str, view: dict[str, Any], legal: list[str], values: dict[str, int], threshold: float
) -> str:
    """The action of M_t. In a phase it does not know, the first legal action."""
    row = view["rows"][view["seat"]]
    if phase == "source":
        wanted = "take" if _wants_discard(view["discard"], row, values, threshold) else "draw"
    elif phase == "decide":
        # Without a slot the whole row has been replaced, and throwing is all that is left.
        ahead = row[view["slot"] - 1 :] if view["slot"] else []
        wanted = "keep" if _wants_to_keep(view["hand"], ahead, values, threshold) else "throw"
    else:
        return legal[0]
    if wanted == "draw" and "pass" in legal:  # DAM-V5: the stock is empty, play goes on without it
        wanted = "pass"
    return wanted if wanted in legal else legal[0]


def _wants_discard(
    discard: list[str], row: list[str | None], values: dict[str, int], threshold: float
) -> bool:
    if not discard or values[discard[-1]] > threshold:
        return False
    return None in row or _worst(row, values) > values[discard[-1]]


def _wants_to_keep(
    hand: str, ahead: list[str | None], values: dict[str, int], threshold: float
) -> bool:
    value, worst = values[hand], _worst(ahead, values)
    if value > threshold and value >= worst:
        return False
    return worst > value or None in ahead


def _worst(row: list[str | None], values: dict[str, int]) -> int:
    """The highest value among the known cards of `row`."""
    return max([values[card] for card in row if card is not None], default=NOTHING)


class MemoryBot(Bot):
    """M_t with t from the option `threshold`."""

    def hello(self) -> None:
        """Read the threshold and what the cards are worth."""
        self.threshold = self.options.get("threshold", DEFAULT_THRESHOLD)
        self.values = card_values(self.rules)

    def decide(self, act: Act) -> str:
        """Weigh the card at hand against the known part of the row."""
        return choose(act.phase, act.view, act.legal, self.values, self.threshold)


if __name__ == "__main__":
    run(MemoryBot)
