"""any-random: every legal action with equal chance, whatever the game.

The list of legal actions is all it needs. Use it to fill a table, to try a new game, or as the
mark that a bot with an idea should leave behind.
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
