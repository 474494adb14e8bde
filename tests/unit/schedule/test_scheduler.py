"""The scheduler: whole groups, exactly once, under any order of joins, losses and stops."""

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tourney.schedule.groups import Group
from tourney.schedule.scheduler import IN_FLIGHT, MAX_ATTEMPTS, Block, Scheduler


def test_a_joining_worker_gets_its_blocks_and_no_more() -> None:
    scheduler = Scheduler(100, (), 2.0)
    blocks = scheduler.worker_joined("w0")
    assert [block.groups for block in blocks] == [(0,), (1,)]
    assert scheduler.refill("w0") == []


def test_blocks_grow_with_measured_speed_up_to_the_wanted_time() -> None:
    scheduler = Scheduler(10_000, (), 2.0)
    held = scheduler.worker_joined("w0")
    sizes = []
    for _ in range(12):
        block = held.pop(0)
        _, more = scheduler.block_done("w0", block.id, 0.02 * len(block.groups))
        held += more
        sizes.append(len(more[0].groups))
    assert sizes[0] == 8, "eight times the first block at the most"
    assert sizes[-1] == 100, "two seconds at 0.02 s a group"


def test_groups_done_before_are_left_out() -> None:
    scheduler = Scheduler(6, [(0, 1), (2, 4)], 2.0)
    assert scheduler.left == 3
    assert [b.groups for b in scheduler.worker_joined("w0")] == [(1,), (4,)]


def test_a_lost_workers_blocks_go_to_another() -> None:
    scheduler = Scheduler(10, (), 2.0)
    lost = scheduler.worker_joined("w0")
    kept = scheduler.worker_joined("w1")
    assert scheduler.worker_lost("w0") == []
    given = []
    for block in kept:
        given += scheduler.block_done("w1", block.id, 0.1)[1]
    assert {b.groups for b in given} >= {b.groups for b in lost}
    attempts = {b.groups: b.attempt for b in given}
    assert attempts[lost[0].groups] == 2, "it was in play, and may be the reason"
    assert attempts[lost[1].groups] == 1, "it only waited"


def test_a_block_that_went_down_with_its_node_is_not_suspect() -> None:
    scheduler = Scheduler(2, (), 2.0)
    for number in range(2 * MAX_ATTEMPTS):
        blocks = scheduler.worker_joined(f"w{number}")
        assert [(b.groups, b.attempt) for b in blocks] == [((0,), 1), ((1,), 1)]
        assert scheduler.worker_lost(f"w{number}", node_lost=True) == []


def test_a_leaving_worker_finishes_what_it_holds_and_gets_nothing_more() -> None:
    scheduler = Scheduler(3, (), 2.0)
    first, second = scheduler.worker_joined("w0")
    scheduler.worker_leaving("w0")
    assert scheduler.block_done("w0", first.id, 0.1) == ((0,), [])
    assert scheduler.block_done("w0", second.id, 0.1) == ((1,), [])
    assert not scheduler.over
    assert [b.groups for b in scheduler.worker_joined("w1")] == [(2,)]


def test_a_block_given_up_counts_nothing_when_it_comes_late() -> None:
    scheduler = Scheduler(4, (), 2.0)
    block = scheduler.worker_joined("w0")[0]
    scheduler.worker_lost("w0")
    groups, more = scheduler.block_done("w0", block.id, 0.1)
    assert (groups, more) == ((), [])
    assert scheduler.left == 4


def test_a_block_that_always_fails_ends_the_run() -> None:
    scheduler = Scheduler(1, (), 2.0)
    (block,) = scheduler.worker_joined("w0")
    for _ in range(MAX_ATTEMPTS - 1):
        (block,) = scheduler.block_failed("w0", block.id)
    with pytest.raises(RuntimeError, match="failed 3 times"):
        scheduler.block_failed("w0", block.id)


def test_a_stop_waits_for_what_is_in_play_and_gives_nothing_new() -> None:
    scheduler = Scheduler(100, (), 2.0)
    blocks = scheduler.worker_joined("w0")
    scheduler.stopping = True
    assert not scheduler.over
    for block in blocks:
        assert scheduler.block_done("w0", block.id, 0.1)[1] == []
    assert scheduler.over
    assert scheduler.left == 98


class SchedulerMachine(RuleBasedStateMachine):
    """Any order of joins, results, losses and a stop."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 40
        self.scheduler = Scheduler(self.total, [(3, 5)], 1.0)
        self.held: dict[str, dict[int, Block]] = {}
        self.finished: list[int] = []
        self.names = 0
        self.leaving: set[str] = set()
        self.losses = 0

    def take(self, worker: str, blocks: list[Block]) -> None:
        assert worker not in self.leaving or not blocks
        for block in blocks:
            self.held[worker][block.id] = block

    @rule()
    def join(self) -> None:
        name = f"w{self.names}"
        self.names += 1
        self.held[name] = {}
        self.take(name, self.scheduler.worker_joined(name))

    @precondition(lambda self: any(self.held.values()))
    @rule(data=st.data(), seconds=st.floats(0.001, 5))
    def finish(self, data: st.DataObject, seconds: float) -> None:
        worker = data.draw(st.sampled_from([w for w, held in self.held.items() if held]))
        block_id = data.draw(st.sampled_from(sorted(self.held[worker])))
        del self.held[worker][block_id]
        groups, more = self.scheduler.block_done(worker, block_id, seconds)
        self.finished += groups
        self.take(worker, more)

    @precondition(lambda self: self.held and self.losses < MAX_ATTEMPTS - 1)
    @rule(data=st.data())
    def lose(self, data: st.DataObject) -> None:
        worker = data.draw(st.sampled_from(sorted(self.held)))
        del self.held[worker]
        self.losses += 1
        self.leaving.discard(worker)
        for other, block in self.scheduler.worker_lost(worker):
            self.held[other][block.id] = block

    @precondition(lambda self: len(self.held) > 1)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        worker = data.draw(st.sampled_from(sorted(self.held)))
        self.leaving.add(worker)
        self.scheduler.worker_leaving(worker)

    @precondition(lambda self: self.losses == MAX_ATTEMPTS - 1)
    @rule()
    def stop(self) -> None:
        self.scheduler.stopping = True

    @invariant()
    def every_group_is_somewhere_exactly_once(self) -> None:
        playing = [
            g for held in self.held.values() for block in held.values() for g in block.groups
        ]
        assert len(set(playing)) == len(playing)
        assert len(set(self.finished)) == len(self.finished)
        assert not set(playing) & set(self.finished)
        assert not {3, 4} & {*playing, *self.finished}
        assert self.scheduler.left == self.total - 2 - len(self.finished)

    @invariant()
    def nobody_holds_too_much(self) -> None:
        assert all(len(held) <= IN_FLIGHT for held in self.held.values())

    @invariant()
    def it_is_over_only_when_all_is_done(self) -> None:
        if self.scheduler.over and not self.scheduler.stopping:
            assert len(self.finished) == self.total - 2


TestSchedulerMachine = SchedulerMachine.TestCase
TestSchedulerMachine.settings = settings(max_examples=60, deadline=None)


def sizes_to_the_end(workers: int, seconds_a_group: float, starting: float = 0.0) -> list[int]:
    """Sizes of the blocks of 1,000 groups, played by `workers` in turn; starting is a block's."""
    scheduler = Scheduler(1000, (), 2.0)
    held = [(f"w{n}", block) for n in range(workers) for block in scheduler.worker_joined(f"w{n}")]
    sizes = []
    while held:
        worker, block = held.pop(0)
        sizes.append(len(block.groups))
        seconds = len(block.groups) * seconds_a_group + starting
        _, given = scheduler.block_done(worker, block.id, seconds, starting)
        held += [(worker, more) for more in given]
    assert sum(sizes) == 1000
    return sizes


def test_blocks_get_smaller_at_the_end_so_that_no_worker_idles_long() -> None:
    sizes = sizes_to_the_end(workers=4, seconds_a_group=0.01)
    # Eight blocks of one group and one of eight are over when the first large one is given.
    assert max(sizes) == (1000 - 16) // 16, "a sixteenth of what is left"
    assert all(size <= 25 for size in sizes[-6:]), "a quarter of a second"
    assert all(size == 25 for size in sizes[-4:-1]), "and not less: starts of bots cost more"


def test_blocks_hold_more_play_where_starting_the_bots_takes_long() -> None:
    sizes = sizes_to_the_end(workers=1, seconds_a_group=1 / 64, starting=0.5)
    assert max(sizes) == 320, "5 s of play, of which half a second is a tenth"
    sizes = sizes_to_the_end(workers=1, seconds_a_group=1 / 16, starting=8.0)
    assert max(sizes) == 320, "ten times the two seconds of a block, and no more"
    assert sizes_to_the_end(1, 1 / 64, 0.125) == sizes_to_the_end(1, 1 / 64)


def test_a_worker_that_is_alone_gets_whole_blocks_to_the_end() -> None:
    sizes = sizes_to_the_end(workers=1, seconds_a_group=0.01)
    assert sizes == [1, 1, 8, 8, 64, 64, 200, 200, 200, 200, 54]


def test_a_drawn_round_goes_to_all_workers_with_its_groups() -> None:
    def look_up(number: int) -> Group:
        return Group(number, ("a", "b"), number, ("a", "b"))

    scheduler = Scheduler(2, (), 2.0, look_up)
    [one, two] = scheduler.worker_joined("w0")
    assert scheduler.worker_joined("w1") == []
    assert one.drawn == (look_up(0),)
    for block in (one, two):
        scheduler.block_done("w0", block.id, 1.0)
    assert scheduler.over
    given = scheduler.extend(5)
    assert not scheduler.over
    assert scheduler.left == 3
    assert sorted(n for _, block in given for n in block.groups) == [2, 3, 4]
    assert {worker for worker, _ in given} == {"w0", "w1"}
    assert all([one.number for one in block.drawn] == list(block.groups) for _, block in given)


def test_a_round_that_was_drawn_goes_on_where_it_stopped() -> None:
    scheduler = Scheduler(6, [(0, 5)], 2.0)
    assert [block.groups for block in scheduler.worker_joined("w0")] == [(5,)]
