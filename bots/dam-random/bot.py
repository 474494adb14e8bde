"""dam-random: every legal action with equal chance.

It never looks at a card, which makes it the measure of luck in a game, and it needs to know nothing
about Dam: give it any other game in its bot.toml and it plays that too.
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
