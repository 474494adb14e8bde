"""The packed form of matches: every number and word comes back, and it is small."""

import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import given, settings

from tourney import records
from tourney.store import codec

EDGES = [0, 1, 127, 128, 2**14 - 1, 2**14, 2**21 - 1, 2**21, 2**28 - 1, 2**28, 2**32 - 1]


def matches(*rows: tuple[list[str], list[int] | None]) -> pl.DataFrame:
    return records.frame("matches", [{"match": n, "actions": a, "think_us": t}
                                     for n, (a, t) in enumerate(rows)])  # fmt: skip


def unpacked(packed: pl.DataFrame) -> pl.DataFrame:
    return codec.unpack(packed.lazy(), "matches").collect()


def test_numbers_are_stored_as_leb128() -> None:
    """624485 is E5 8E 26: the example of the DWARF standard."""
    packed = codec.pack(matches(([], [624_485, 2, 127, 128])))
    assert packed["think_us"].to_list() == [bytes.fromhex("e58e26 02 7f 8001")]


@pytest.mark.parametrize(
    "rows", [[], [([], [])], [([], []), (["a"], [5]), ([], [])], [(["x"] * 11, EDGES)]]
)
def test_what_is_packed_comes_back(rows: list[tuple[list[str], list[int]]]) -> None:
    before = matches(*rows)
    assert unpacked(codec.pack(before)).equals(before)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.lists(st.tuples(st.text(max_size=5), st.integers(0, 2**32 - 1)), max_size=6)))
def test_any_match_comes_back(rows: list[list[tuple[str, int]]]) -> None:
    before = matches(*(([a for a, _ in row], [t for _, t in row]) for row in rows))
    assert unpacked(codec.pack(before)).equals(before)


def test_a_match_without_thinking_times_has_an_empty_list() -> None:
    assert unpacked(codec.pack(matches(([], None))))["think_us"].to_list() == [[]]


def test_packing_twice_and_unpacking_the_unpacked_change_nothing() -> None:
    plain = matches((["a", "b"], [1, 300]))
    packed = codec.pack(plain)
    assert codec.pack(packed).equals(packed)
    assert unpacked(plain).equals(plain)
