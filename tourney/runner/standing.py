"""The ratings of a run while it is played: sums of blocks in, now and then a new leaderboard.

Holds no row and touches no file. Adding is cheap; rating is asked for by whoever shows it, and
spaced so that it never takes more than a small part of the driver's time.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from tourney.ratings import (
    Model,
    Outlook,
    Report,
    Sums,
    add_sums,
    board_of_sums,
    outlook_of,
    report,
)

__all__ = ("Ratings",)

REFIT_SECONDS = 2.0
"""Ratings are worked out anew this often at most."""

SHARE = 20
"""And so seldom that it takes no more than this part of the time."""

UNADDED = 1 << 14
"""Pairings in sums of blocks that wait to be added; it bounds our memory."""


class Ratings:
    """Everything committed so far, as sums, and the last leaderboard made of them."""

    def __init__(
        self,
        headline: Model,
        stop: Mapping[str, Any],
        *,
        lower_is_better: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with nothing.

        Args:
            headline: what bots are ranked by.
            stop: the run's stopping rule.
            lower_is_better: whether a low score is good.
            clock: seconds, for the spacing.
        """
        self._headline, self._stop = headline, stop
        self._lower_is_better = lower_is_better
        self._clock = clock
        self._total: Sums | None = None
        self._fresh: list[Sums] = []
        self._waiting = 0
        self._report: Report | None = None
        self._stale = False
        self._next = self._next_look = -float("inf")
        self._outlook: Outlook | None = None

    def add(self, sums: Sums) -> None:
        """Count whole groups that were never counted before."""
        self._stale = True
        self._fresh.append(sums)
        self._waiting += sums.size
        if self._waiting > UNADDED:
            self._fresh = [one for one in (add_sums(self._fresh),) if one is not None]
            self._waiting = sum(one.size for one in self._fresh)
            if self._waiting > UNADDED // 2:
                self.sums()

    def sums(self) -> Sums | None:
        """Everything counted; None before the first group."""
        if self._fresh:
            # Small ones first: only their total meets the large one.
            fresh = add_sums(self._fresh)
            self._total = add_sums(one for one in (self._total, fresh) if one is not None)
            self._fresh, self._waiting = [], 0
        return self._total

    @property
    def is_due(self) -> bool:
        """Whether something was added since the last leaderboard, and enough time has passed."""
        return self._stale and self._clock() >= self._next

    def refit(self, *, last: bool = False) -> Report | None:
        """Rate everything counted; None before the first whole group.

        Args:
            last: nothing more will come, so that the outlook must be that of this moment too. It
                takes longer than the ratings and is worked out less often.
        """
        begin, self._stale = self._clock(), False
        total = self.sums()
        if total is not None and total.matches:
            board = board_of_sums(
                total, headline=self._headline, lower_is_better=self._lower_is_better
            )
            rated = self._clock()
            self._next = begin + max(REFIT_SECONDS, SHARE * (rated - begin))
            if last or rated >= self._next_look:
                self._outlook = outlook_of(board, self._stop)
                self._next_look = rated + SHARE * (self._clock() - rated)
            self._report = report(board, self._stop, self._outlook)
        return self._report

    @property
    def report(self) -> Report | None:
        """The last leaderboard made; None before the first."""
        return self._report
