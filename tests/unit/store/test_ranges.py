"""Sets of groups as ranges."""

import hypothesis.strategies as st
from hypothesis import given

from tourney.store import ranges


def test_ranges_are_half_open_and_merged() -> None:
    assert ranges.from_groups([5, 3, 4, 9, 3]) == [(3, 6), (9, 10)]
    assert ranges.from_groups([]) == []
    assert ranges.merge([(4, 9), (0, 2), (2, 3), (5, 6)]) == [(0, 3), (4, 9)]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9))), st.integers(0, 40))
def test_they_hold_what_a_set_would(pairs: list[tuple[int, int]], first: int) -> None:
    given_ranges = [(start, start + length) for start, length in pairs]
    wanted = {group for start, stop in given_ranges for group in range(start, stop)}
    merged = ranges.merge(given_ranges)
    assert [group for start, stop in merged for group in range(start, stop)] == sorted(wanted)
    assert ranges.count(merged) == len(wanted)
    assert ranges.contains(merged, first, first + 3) == bool(wanted & set(range(first, first + 4)))
    assert ranges.from_groups(wanted) == merged
