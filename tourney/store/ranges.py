"""Sets of groups as sorted half-open ranges: 3, 4, 5, 9 are (3, 6), (9, 10). Pure.

Groups are played nearly in order, so a few ranges hold millions of them.
"""

from collections.abc import Iterable, Sequence

__all__ = ("Ranges", "contains", "count", "from_groups", "merge")

Ranges = Sequence[tuple[int, int]]


def from_groups(groups: Iterable[int]) -> list[tuple[int, int]]:
    """The groups as ranges; a group given twice counts once."""
    return merge([(group, group + 1) for group in sorted(groups)])


def merge(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The union of `ranges`, which may come in any order, overlap or touch."""
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def count(ranges: Ranges) -> int:
    """How many groups are in `ranges`, which do not overlap."""
    return sum(stop - start for start, stop in ranges)


def contains(ranges: Ranges, first: int, last: int) -> bool:
    """Whether any group from `first` to `last` is in `ranges`."""
    return any(start <= last and first < stop for start, stop in ranges)
