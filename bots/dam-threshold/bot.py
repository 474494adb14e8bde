"""dam-threshold: keeps whatever is worth at most a threshold, and remembers nothing.

The policy is T_t of the rules' validation numbers: take the discard if its value is at most t,
otherwise draw; keep the card in hand if its value is at most t, otherwise throw it. The option
`threshold` sets t (6 unless given), so that one package can enter a tournament several times:

    [[bot]]
    path = "../bots/dam-threshold"
    name = "threshold-3"
    options = { threshold = 3 }

Its weakness is worth knowing: once the whole row is good it still keeps on, all the way to the
last slot, and has to throw a good card there, which the next seat takes.
"""

from __future__ import annotations

from typing import Any

from tourney_bot import Act, Bot, run

DEFAULT_THRESHOLD = 6


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
    """The action of T_t. In a phase it does not know, the first legal action."""
    if phase == "source":
        discard = view["discard"]
        wanted = "take" if discard and values[discard[-1]] <= threshold else "draw"
    elif phase == "decide":
        wanted = "keep" if values[view["hand"]] <= threshold else "throw"
    else:
        return legal[0]
    if wanted == "draw" and "pass" in legal:  # DAM-V5: the stock is empty, play goes on without it
        wanted = "pass"
    return wanted if wanted in legal else legal[0]


class ThresholdBot(Bot):
    """T_t with t from the option `threshold`."""

    def hello(self) -> None:
        """Read the threshold and what the cards are worth."""
        self.threshold = self.options.get("threshold", DEFAULT_THRESHOLD)
        self.values = card_values(self.rules)

    def decide(self, act: Act) -> str:
        """Compare one card with the threshold."""
        return choose(act.phase, act.view, act.legal, self.values, self.threshold)


if __name__ == "__main__":
    run(ThresholdBot)
