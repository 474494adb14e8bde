"""Whether a run has seen enough: the config's [stop] table against the sums of what is committed.

Looks after every commit, which confidence sequences allow; decides nothing about matches.
"""

from collections.abc import Sequence

from tourney.config.models import Stop
from tourney.ratings import Model, Outlook, Sketch, StopRule, outlook

__all__ = ("StopCheck", "stop_rule")


def stop_rule(stop: Stop) -> StopRule:
    """The part of the config's table that waits for knowledge."""
    return StopRule(separated=stop.pairs == "separated", within=stop.within, interval=stop.interval)


class StopCheck:
    """Says when the run may end."""

    def __init__(self, stop: Stop, headline: Model = "win") -> None:
        """Take the rule.

        Args:
            stop: the config's table.
            headline: what bots are ranked by.
        """
        self._stop = stop
        self._rule = stop_rule(stop)
        self._headline = headline

    @property
    def waits(self) -> bool:
        """Whether it asks for knowledge, and so for sums."""
        return self._rule.waits

    def reason(self, sums: Sequence[Sketch], matches: int, seconds: float) -> str | None:
        """Why the run may end now, in a sentence; None while it must go on.

        Args:
            sums: of everything committed; not looked at unless the rule waits for knowledge.
            matches: committed so far.
            seconds: of play so far.
        """
        if self._stop.max_matches is not None and matches >= self._stop.max_matches:
            return f"stopped by rule: {matches} matches of at most {self._stop.max_matches}"
        wall = self._stop.wall_seconds
        if wall is not None and seconds >= wall:
            return f"stopped by rule: played for {self._stop.wall}"
        if not self._rule.waits or not any(one.rows.height for one in sums):
            return None
        look = outlook(sums, self._rule, headline=self._headline)
        return f"stopped by rule: {_known(self._rule, look)}" if look.enough else None


def _known(rule: StopRule, look: Outlook) -> str:
    said = []
    if rule.separated or rule.within is not None:
        equal = sum(pair.verdict == "equal" for pair in look.neighbours)
        told = f"{len(look.neighbours) - equal} neighbours told apart"
        said.append(told + (f", {equal} equal within {rule.within:g}" if equal else ""))
    if rule.interval is not None:
        said.append(f"every rating known to ±{rule.interval:g}")
    return " and ".join(said)
