"""rams-simple: counts the tricks that its hand should take, and acts on that one number.

It goes in when the count reaches a threshold, and wants other cards or another trump when it does
not. It keeps the cards that carry the count, and plays high to win and low to lose. The option
`threshold` sets how careful it is (1.0 unless given), so that one package can enter a tournament
several times:

    [[bot]]
    path = "../bots/rams-simple"
    name = "rams-careful"
    options = { threshold = 1.5 }

Its weakness is worth knowing: it never thinks about the others. It does not see that somebody is
about to win the rams and has to be stopped, and it forgets which cards are gone.
"""

from __future__ import annotations

from typing import Any

from tourney_bot import Act, Bot, run

DEFAULT_THRESHOLD = 1.0
ORDER = "23456789TJQKA"

TRUMP_TRICKS = {"A": 1.0, "K": 0.85, "Q": 0.7, "J": 0.6, "T": 0.5}
LOW_TRUMP_TRICKS = 0.4
PLAIN_TRICKS = {"A": 0.5, "K": 0.25, "Q": 0.1}
BOUGHT_TRICKS = 0.15
"""What a card from the talon should be worth, not yet seen."""

WORTH_KEEPING = 0.25


def tricks_of(card: str, trump: str) -> float:
    """The share of a trick that `card` should take."""
    if card[1] == trump:
        return TRUMP_TRICKS.get(card[0], LOW_TRUMP_TRICKS)
    return PLAIN_TRICKS.get(card[0], 0.0)


def expected_tricks(hand: list[str], trump: str) -> float:
    """Tricks of the best five cards, the poor ones bought anew (RAMS-40)."""
    best = sorted((tricks_of(card, trump) for card in hand), reverse=True)[:5]
    return sum(max(tricks, BOUGHT_TRICKS) for tricks in best)


def strength(card: str, trump: str) -> int:
    """Orders cards from the lowest plain one to the highest trump."""
    return ORDER.index(card[0]) + (len(ORDER) if card[1] == trump else 0)


def goes_in(view: dict[str, Any], threshold: float, cap: int) -> bool:
    """Whether to knock: when the count says so, or when a flight costs nothing (RAMS-62)."""
    free = view["points"][view["seat"]] >= cap
    return free or expected_tricks(view["hand"], view["trump"]) >= threshold


def exchange(view: dict[str, Any], legal: list[str]) -> str:
    """Throw what is not worth keeping, or as near to that as is legal (RAMS-42, EUR-11)."""
    trump = view["trump"]
    poor = {card for card in view["hand"] if tricks_of(card, trump) < WORTH_KEEPING}

    def cost(action: str) -> tuple[int, int]:
        thrown = action.split()[1:]
        return len(poor.symmetric_difference(thrown)), sum(strength(c, trump) for c in thrown)

    return min(legal, key=cost)


def play(view: dict[str, Any], legal: list[str]) -> str:
    """High to win, low to lose; the last to play wins as cheaply as it can."""
    trump, trick = view["trump"], [laid["card"] for laid in view["trick"]]
    order = sorted(legal, key=lambda action: strength(action[-2:], trump))
    if not trick:
        return order[-1]
    last = len(trick) == view["active"].count(True) - 1
    return order[-1] if not last and takes(order[-1][-2:], trick, trump) else order[0]


def takes(card: str, trick: list[str], trump: str) -> bool:
    """Whether `card` beats every card of `trick` (RAMS-56)."""
    led = trick[0][1]
    rivals = [laid for laid in trick if laid[1] in (led, trump)]
    return card[1] in (led, trump) and all(
        strength(card, trump) > strength(laid, trump) for laid in rivals
    )


def choose(phase: str, view: dict[str, Any], legal: list[str], threshold: float, cap: int) -> str:
    """The action of the policy. In a phase it does not know, the first legal action."""
    if phase == "exchange":
        return exchange(view, legal)
    if phase == "play":
        return play(view, legal)
    wanted = legal[0]
    if phase == "knock":
        wanted = "knock" if goes_in(view, threshold, cap) else "pass"
    elif phase in ("offer", "vote"):
        poor = expected_tricks(view["hand"], view["trump"]) < threshold
        yes, no = ("better", "stand") if phase == "offer" else ("accept", "reject")
        wanted = yes if poor else no
    return wanted if wanted in legal else legal[0]


class SimpleBot(Bot):
    """The policy with the threshold from the option."""

    def hello(self) -> None:
        """Read the threshold, and where flying stops."""
        self.threshold = self.options.get("threshold", DEFAULT_THRESHOLD)
        self.cap = self.rules.get("cap", 10)

    def decide(self, act: Act) -> str:
        """Count tricks and act on it."""
        return choose(act.phase, act.view, act.legal, self.threshold, self.cap)


if __name__ == "__main__":
    run(SimpleBot)
