"""rams-random: every legal action with equal chance.

It knocks every other time and throws away aces, so whatever wins less than this bot has a fault.
Almost any set of cards is as likely to be thrown as any other, which makes it buy a lot.
"""

from __future__ import annotations

import random

from tourney_bot import Act, Bot, run


def choose(legal: list[str], chance: random.Random) -> str:
    """One of `legal`, each as likely as the others."""
    return legal[chance.randrange(len(legal))]


class RandomBot(Bot):
    """Draws from the match's own generator, so that a match played again goes the same way."""

    def decide(self, act: Act) -> str:
        """Choose by lot."""
        return choose(act.legal, act.match.random)


if __name__ == "__main__":
    run(RandomBot)
