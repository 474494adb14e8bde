"""What bot authors need: `tourney_bot.py`, the Python SDK in a single file.

A bot package is self-contained, and links out of it are refused, so the SDK is not imported from
here by bots: authors copy `tourney_bot.py` next to their `bot.py`, and it is theirs from then on.
The packages in `bots/` hold exact copies, which a test compares with this one.

The file stands alone on purpose. It imports nothing from tourney and nothing outside the standard
library, runs on Python 3.9 and newer, and does as little as it can for each message: one
read, one JSON parse, one write.

    Bot.hello        prepare, once a process; `self.rules` and `self.options` are known
    Bot.start        a match begins
    Bot.decide       choose one of `act.legal`; the only method a bot has to write
    Bot.decide_many  the same for many matches at once, when `batch` is above 1
    Bot.end          a match is over, with everybody's score and rank

docs/protocol.md describes what travels underneath.
"""
