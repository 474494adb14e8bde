"""What to play next: events in, instructions out. No clock, no worker, no file.

It hands whole groups to workers in blocks sized by measured time, and every group is committed
exactly once however often a block is lost, late or played twice.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice

import msgspec

from tourney.schedule.groups import Group

__all__ = ("Block", "Scheduler")

IN_FLIGHT = 2
"""Blocks at one worker: one in play, one waiting, so that it never idles."""

FIRST_BLOCK_GROUPS = 1
"""The first block of a worker only measures the speed."""

GROWTH = 8
"""A block is at most this much larger than the last one: a lucky start must not make it huge."""

LAST_BLOCK_SECONDS = 0.25
"""Blocks at the end of a run are not made shorter: their new processes would cost more than a
worker's idling saves."""

STARTING_SHARE = 0.1
"""Where starting its bots takes more than this part of a block, the next ones hold more play: in a
field of many fast bots a block meets most of them."""

LONGEST_BLOCK = 10
"""Blocks grow for that reason to so many times `block_seconds`, and no further."""

MAX_ATTEMPTS = 3
"""A block that fails this often for our own reasons ends the run: something is wrong here."""


class Block(msgspec.Struct, frozen=True):
    """Whole groups for one worker."""

    id: int
    groups: tuple[int, ...]
    attempt: int = 1
    withdrawn: tuple[str, ...] = ()
    """Bots that are out: groups with one of them are recorded and not played."""
    drawn: tuple[Group, ...] = ()
    """The groups themselves, where their numbers do not say who plays."""

    @property
    def last_attempt(self) -> bool:
        """Whether failing once more ends the run."""
        return self.attempt >= MAX_ATTEMPTS


class Scheduler:
    """The state of one run's schedule."""

    def __init__(
        self,
        groups: int,
        done: Sequence[tuple[int, int]],
        block_seconds: float,
        look_up: Callable[[int], Group] | None = None,
    ) -> None:
        """Plan `groups` groups.

        Args:
            groups: how many, from number 0; more may come by `extend`.
            done: those finished in an earlier session, as sorted half-open ranges.
            block_seconds: how much play a block should hold.
            look_up: the group of a number, where workers cannot work it out.
        """
        self._groups = groups
        self._look_up = look_up
        self._todo = _remaining(groups, done)
        self._again: deque[Block] = deque()
        self._at: dict[str, dict[int, Block]] = {}
        self._seconds_a_group: dict[str, float] = {}
        self._starting: dict[str, float] = {}
        self._last_size: dict[str, int] = {}
        self._leaving: set[str] = set()
        self._block_seconds = block_seconds
        self._next_id = 0
        self.withdrawn: set[str] = set()
        """Bots that later blocks leave out."""
        self.left = groups - sum(stop - start for start, stop in done)
        """Groups not finished yet."""
        self.stopping = False

    def extend(self, groups: int) -> list[tuple[str, Block]]:
        """A round was drawn: there are `groups` groups now, and none of the earlier ones is left.

        Returns:
            blocks for the workers, by worker.
        """
        self._todo = iter(range(self._groups, groups))
        self.left += groups - self._groups
        self._groups = groups
        return [(worker, block) for worker in self._at for block in self.refill(worker)]

    def worker_joined(self, worker: str) -> list[Block]:
        """A worker can play; returns what it should."""
        self._at.setdefault(worker, {})
        return self.refill(worker)

    def worker_leaving(self, worker: str) -> None:
        """A worker finishes what it holds and gets nothing more."""
        self._leaving.add(worker)

    def worker_lost(self, worker: str, *, node_lost: bool = False) -> list[tuple[str, Block]]:
        """A worker is gone: its blocks go to others.

        Args:
            worker: its name.
            node_lost: it went with its node, so that no block of it is suspect.

        Returns:
            blocks for the workers that have room, by worker.

        Raises:
            RuntimeError: a block was lost `MAX_ATTEMPTS` times.
        """
        self._leaving.discard(worker)
        for place, block in enumerate(self._at.pop(worker, {}).values()):
            # Only the first was in play; those that waited have done nothing yet.
            self._play_again(block, suspect=place == 0 and not node_lost)
        return [(other, block) for other in self._at for block in self.refill(other)]

    def block_failed(self, worker: str, block_id: int) -> list[Block]:
        """The platform failed in a block; nothing of it counts.

        Raises:
            RuntimeError: it failed `MAX_ATTEMPTS` times.
        """
        block = self._at.get(worker, {}).pop(block_id, None)
        if block is not None:
            self._play_again(block, suspect=True)
        return self.refill(worker)

    def _play_again(self, block: Block, *, suspect: bool) -> None:
        if suspect and block.attempt >= MAX_ATTEMPTS:
            raise RuntimeError(
                f"groups {block.groups[0]} to {block.groups[-1]} failed {block.attempt} times"
            )
        self._again.append(self._block(block.groups, block.attempt + suspect))

    def block_done(
        self, worker: str, block_id: int, seconds: float, starting: float = 0.0
    ) -> tuple[tuple[int, ...], list[Block]]:
        """A block came back.

        Args:
            worker: who played it.
            block_id: which one.
            seconds: how long it took.
            starting: how much of that was the starting and ending of processes.

        Returns:
            the groups to commit (none if the block was given up before), and blocks for the worker.
        """
        block = self._at.get(worker, {}).pop(block_id, None)
        if block is None:
            # Given up as lost before: its groups are another block's by now.
            return (), self.refill(worker)
        self.left -= len(block.groups)
        self._seconds_a_group[worker] = max((seconds - starting) / len(block.groups), 1e-6)
        self._starting[worker] = starting
        self._last_size[worker] = len(block.groups)
        return block.groups, self.refill(worker)

    def refill(self, worker: str) -> list[Block]:
        """Blocks that bring the worker up to its number in flight."""
        held = self._at.get(worker)
        if held is None or self.stopping or worker in self._leaving:
            return []
        given = []
        while len(held) < IN_FLIGHT:
            block = self._again.popleft() if self._again else self._new_block(worker)
            if block is None:
                break
            held[block.id] = block
            given.append(block)
        return given

    def _new_block(self, worker: str) -> Block | None:
        groups = tuple(islice(self._todo, self._size(worker)))
        return self._block(groups, 1) if groups else None

    def _block(self, groups: tuple[int, ...], attempt: int) -> Block:
        drawn = tuple(map(self._look_up, groups)) if self._look_up is not None else ()
        return Block(self._new_id(), groups, attempt, tuple(sorted(self.withdrawn)), drawn)

    def _size(self, worker: str) -> int:
        seconds = self._seconds_a_group.get(worker)
        if seconds is None:
            return FIRST_BLOCK_GROUPS
        starting, shortest = self._starting[worker], self._block_seconds
        wanted = max(shortest, min(starting / STARTING_SHARE, shortest * LONGEST_BLOCK))
        size = min(int(wanted / seconds), self._last_size[worker] * GROWTH)
        if len(self._at) > 1:
            # Near the end small blocks keep all workers busy to the last.
            share = self.left // (2 * IN_FLIGHT * len(self._at))
            size = min(size, max(share, int(max(LAST_BLOCK_SECONDS, starting) / seconds)))
        return max(1, size)

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id

    def in_flight(self) -> int:
        """Blocks at workers."""
        return sum(len(held) for held in self._at.values())

    @property
    def over(self) -> bool:
        """Whether nothing is left to wait for."""
        if self.stopping:
            return self.in_flight() == 0
        return self.left == 0


def _remaining(groups: int, done: Sequence[tuple[int, int]]) -> Iterator[int]:
    """The gaps between `done`, group by group, without listing them."""
    starts = [0, *(stop for _, stop in done)]
    stops = [*(start for start, _ in done), groups]
    return chain.from_iterable(map(range, starts, stops))
