"""Golden playthroughs: a match of each game, move by move, is what it was when somebody read it.

A file shows, for each step, the state, the legal actions, every seat's view and the events as each
seat sees them. After a change that is meant, `python -m tests.golden.write` writes them anew; a new
game gets an entry in `write.MATCHES`. The diff is to be read like code.
"""

from importlib.metadata import entry_points

import pytest

from tests.golden.write import FOLDER, MATCHES, file_of, lines_of
from tourney.games.base import Decision
from tourney.games.checks import play
from tourney.games.registry import make_game

OURS = sorted(
    point.name
    for point in entry_points(group="tourney.games")
    if point.value.startswith("tourney.")
)


@pytest.mark.parametrize(("name", "seats"), MATCHES, ids=[f"{n}_{s}" for n, s in MATCHES])
def test_a_match_is_played_as_it_was(name: str, seats: int) -> None:
    golden = file_of(name, seats).read_text().split("\n")
    played = lines_of(name, seats, MATCHES[name, seats])
    for number, (before, now) in enumerate(zip(golden, played, strict=False), 1):
        assert now == before, f"{file_of(name, seats).name}, line {number} is the first to differ"
    assert len(played) == len(golden)


def test_every_game_has_a_golden_match() -> None:
    assert sorted({name for name, _ in MATCHES}) == OURS
    kept = {path.name for path in FOLDER.glob("*.txt")}
    assert kept == {file_of(name, seats).name for name, seats in MATCHES}


@pytest.mark.parametrize("name", OURS)
def test_golden_matches_pass_through_every_phase(name: str) -> None:
    """What random matches of the base game are asked for is in the golden ones as well."""

    def phases(seats: int, options: dict[str, object], seed: int) -> set[str]:
        moments = play(make_game(name, options), seats, "random", seed).moments
        return {moment.turn.phase for moment in moments if isinstance(moment.turn, Decision)}

    golden = "\n".join(file_of(game, seats).read_text() for game, seats in MATCHES if game == name)
    seats = make_game(name, {}).info.max_seats
    for phase in phases(seats, {}, 1) | phases(seats - 1, {}, 2):
        assert f", {phase}\n" in golden, phase
