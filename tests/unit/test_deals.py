"""Cards come in the order of SHA-256(group key, label, card), recomputed here by hand."""

import hashlib
import hmac

from tourney.deals import Deals, bot_seed, commitment, group_key, secret_from_seed
from tourney.games.base import Chance
from tourney.games.cards import PACK


def by_hand(secret: bytes, group: str, label: str, cards: list[str]) -> list[str]:
    key = hmac.new(secret, b"group/" + group.encode(), hashlib.sha256).digest()
    return sorted(
        cards,
        key=lambda card: hashlib.sha256(key + label.encode() + b"\0" + card.encode()).digest(),
    )


def test_a_deal_is_the_published_order() -> None:
    deals = Deals(group_key(b"secret", "a+b#3"))
    drawn = deals.draw(Chance(PACK, 14, "deal/1"))
    assert list(drawn) == by_hand(b"secret", "a+b#3", "deal/1", list(PACK))[:14]


def test_a_draw_takes_the_first_card_still_there() -> None:
    deals = Deals(group_key(b"secret", "a+b#3"))
    order = by_hand(b"secret", "a+b#3", "stock/1/0", list(PACK))
    stock = frozenset(order[5:])
    assert deals.draw(Chance(stock, 1, "stock/1/0")) == (order[5],)
    assert deals.draw(Chance(stock | {order[2]}, 1, "stock/1/0")) == (order[2],)


def test_labels_and_groups_are_independent_orders() -> None:
    key = group_key(b"secret", "a+b#3")
    one = list(Deals(key).draw(Chance(PACK, 52, "deal/1")))
    assert one != list(Deals(key).draw(Chance(PACK, 52, "deal/2")))
    assert one != list(Deals(group_key(b"secret", "a+b#4")).draw(Chance(PACK, 52, "deal/1")))
    assert sorted(one) == sorted(PACK)


def test_commitment_is_the_hash_of_the_secret() -> None:
    secret = secret_from_seed(7)
    assert commitment(secret) == hashlib.sha256(secret).hexdigest()
    assert secret != secret_from_seed(8)


def test_bot_seeds_fit_every_json_reader_and_differ_by_seat() -> None:
    seeds = {bot_seed(b"s", f"g{i}/0", seat) for i in range(200) for seat in (0, 1)}
    assert len(seeds) == 400
    assert all(0 <= seed < 2**53 for seed in seeds)


def test_every_card_is_equally_often_first() -> None:
    """Chi-square with 51 degrees of freedom; 99.99 % of fair samples stay below 100."""
    counts = dict.fromkeys(PACK, 0)
    n = 5200
    for i in range(n):
        (card,) = Deals(group_key(b"fair", str(i))).draw(Chance(PACK, 1, "deal/1"))
        counts[card] += 1
    expected = n / 52
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 100
