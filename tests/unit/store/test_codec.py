"""The packed form of matches: words come back as they were, times within 1/32."""

import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import given, settings

from tourney import records
from tourney.store import codec

EDGES = [
    0,
    1,
    31,
    32,
    33,
    63,
    64,
    127,
    128,
    2**14 - 1,
    2**14,
    2**21 - 1,
    2**21,
    2**28 - 1,
    2**28,
    2**32 - 1,
]


def matches(*rows: tuple[list[str], list[int] | None]) -> pl.DataFrame:
    return records.frame("matches", [{"match": n, "actions": a, "think_us": t}
                                     for n, (a, t) in enumerate(rows)])  # fmt: skip


def unpacked(packed: pl.DataFrame) -> pl.DataFrame:
    return codec.unpack(packed.lazy(), "matches").collect()


def test_numbers_are_stored_as_the_documentation_says() -> None:
    """By hand: 100 = 25 x 4 (d 2, code 57); 624485 is nearest to 19 x 2^15 (code 259 = 255 + 4)."""
    packed = codec.pack(matches(([], [0, 31, 32, 100, 624_485, 2])))
    assert packed["think_us"].to_list() == [bytes([0, 31, 32, 57, 255, 4, 2])]
    assert unpacked(packed)["think_us"].to_list() == [[0, 31, 32, 100, 19 << 15, 2]]


def is_near(kept: list[int], true: list[int]) -> bool:
    return len(kept) == len(true) and all(
        abs(a - b) <= b / 32 and (a == b or b >= 32) for a, b in zip(kept, true, strict=True)
    )


@pytest.mark.parametrize(
    "rows", [[], [([], [])], [([], []), (["a"], [5]), ([], [])], [(["x"] * len(EDGES), EDGES)]]
)
def test_what_is_packed_comes_back(rows: list[tuple[list[str], list[int]]]) -> None:
    before = matches(*rows)
    after = unpacked(codec.pack(before))
    assert after.drop("think_us").equals(before.drop("think_us"))
    kept = after["think_us"].to_list()
    assert all(is_near(a, b) for a, b in zip(kept, before["think_us"].to_list(), strict=True))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.lists(st.tuples(st.text(max_size=5), st.integers(0, 2**32 - 1)), max_size=6)))
def test_any_match_comes_back(rows: list[list[tuple[str, int]]]) -> None:
    before = matches(*(([a for a, _ in row], [t for _, t in row]) for row in rows))
    after = unpacked(codec.pack(before))
    assert after.drop("think_us").equals(before.drop("think_us"))
    kept = after["think_us"].to_list()
    assert all(is_near(a, b) for a, b in zip(kept, before["think_us"].to_list(), strict=True))
    assert unpacked(codec.pack(after)).equals(after), "rounded once, and never again"


def test_a_match_without_thinking_times_has_an_empty_list() -> None:
    assert unpacked(codec.pack(matches(([], None))))["think_us"].to_list() == [[]]


def test_packing_twice_and_unpacking_the_unpacked_change_nothing() -> None:
    plain = matches((["a", "b"], [1, 304]))
    packed = codec.pack(plain)
    assert codec.pack(packed).equals(packed)
    assert unpacked(plain).equals(plain)
