"""Which cards come: the commitment, the key of a group, and the order of cards under a label.

Pure functions of the tournament's secret, so any language can recompute every card:

* commitment: SHA-256(secret), published when a run starts; the secret when it ends.
* group key:  HMAC-SHA-256(secret, "group/" + group id).
* order:      cards sorted by SHA-256(group key, label, 0 byte, card); a draw takes the first ones
  that are still candidates.
* bot seed:   first 53 bits of HMAC-SHA-256(secret, "bot/" + match id + "/" + seat).

No generator carries state: no match, bot or retry can move another's cards. Nothing here knows
a game, and nothing here may ever be sent to a bot but its own seed.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence, Set
from operator import itemgetter

from tourney.games.base import Chance
from tourney.games.cards import Card

__all__ = ("Deals", "bot_seed", "commitment", "group_key", "secret_from_seed")

SEED_BITS = 53
"""A bot's seed fits the integers of every JSON reader."""


def secret_from_seed(seed: int) -> bytes:
    """The secret of a reproducible tournament: 32 bytes, known to whoever knows `seed`."""
    return hashlib.sha256(f"tourney seed {seed}".encode()).digest()


def commitment(secret: bytes) -> str:
    """SHA-256 of the secret, in hex: published before the first deal."""
    return hashlib.sha256(secret).hexdigest()


def group_key(secret: bytes, group_id: str) -> bytes:
    """The key that fixes every card of a rotation group, 32 bytes."""
    return hmac.digest(secret, f"group/{group_id}".encode(), "sha256")


def bot_seed(secret: bytes, match_id: str, seat: int) -> int:
    """The bot's own seed: same match and seat, same seed; says nothing about the deal."""
    digest = hmac.digest(secret, f"bot/{match_id}/{seat}".encode(), "sha256")
    return int.from_bytes(digest[:8]) >> (64 - SEED_BITS)


class Deals:
    """The orders of one rotation group, worked out once and used in all its seatings."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._orders: dict[str, dict[Card, bytes]] = {}
        """By label the cards met so far, each with its place, in the order of their places."""

    def draw(self, chance: Chance) -> Sequence[Card]:
        """The cards that answer `chance`, in the order of its label."""
        cards = chance.cards if isinstance(chance.cards, Set) else frozenset(chance.cards)
        order = self._orders.get(chance.label, {})
        if not order.keys() >= cards:
            order = self._orders[chance.label] = self._order(chance, order)
        if chance.count == 1:
            for card in order:
                if card in cards:
                    return (card,)
        return [card for card in order if card in cards][: chance.count]

    def _order(self, chance: Chance, known: Mapping[Card, bytes]) -> dict[Card, bytes]:
        start = hashlib.sha256(self._key + chance.label.encode() + b"\0")
        places = dict(known)
        for card in chance.cards:
            if card not in places:
                digest = start.copy()
                digest.update(card.encode())
                places[card] = digest.digest()
        return dict(sorted(places.items(), key=itemgetter(1)))
