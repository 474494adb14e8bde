"""Draw the rounds of a recorded run again, from its rows alone: were they drawn as they should?"""

from tourney.ratings import Model, Sketch, StopRule, add_sketches, sketches
from tourney.runner.rounds import Results, known_from, table_results
from tourney.runner.withdrawal import FaultStreaks
from tourney.schedule.draws import Round
from tourney.schedule.rounds import Rounds
from tourney.store import RunReader
from tourney.store.rounds import RoundBook

__all__ = ("redrawn",)


def redrawn(
    reader: RunReader, schedule: Rounds, headline: Model, withdraw_after: int, rule: StopRule
) -> list[str]:
    """What differs from the rounds that the run has; `schedule` ends where the run stands.

    Args:
        reader: the run.
        schedule: of its config, without a round yet.
        headline: what the game ranks bots by.
        withdraw_after: faults in a row that take a bot out.
        rule: what the run waits for.

    Raises:
        StoreError: the run cannot be read.
    """
    found: list[str] = []
    sums: tuple[Sketch, ...] = ()
    streaks, out = FaultStreaks(withdraw_after), set[str]()
    for recorded in RoundBook(reader.folder, Round).rounds:
        known = known_from(sums, rule, headline) if schedule.needs_estimates else None
        wanted = schedule.draw(out, streaks.counts, known)
        if wanted != recorded:
            found.append(f"round {recorded.number + 1} is not the one that the results give")
        schedule.add(recorded)
        end = recorded.first + recorded.groups
        seats = reader.scan("seats", (recorded.first, end)).collect()
        if seats["group"].n_unique() < recorded.groups:
            return found
        out.update(streaks.add(seats))
        if schedule.needs_estimates:
            sums = add_sketches(sums, sketches(seats))
            schedule.take([])
        else:
            results: Results = {}
            table_results(schedule, seats, headline, results)
            by_table = results.get(recorded.number, {})
            schedule.take([by_table[table] for table in sorted(by_table)])
    known = known_from(sums, rule, headline) if schedule.needs_estimates else None
    is_over = reader.info.status == "finished" and not reader.info.stop
    if is_over and schedule.draw(out, streaks.counts, known) is not None:
        found.append("the run is finished, but its results give one more round")
    return found
