"""Known luck: the cards that were really dealt, their exact means, and what they explain."""

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.unit.dashboard.synthetic import make_run
from tourney.deals import Deals, group_key, secret_from_seed
from tourney.games.registry import make_game
from tourney.referee.replay import group_id, replay
from tourney.reports import luck
from tourney.reports.luck import LEAST_GROUPS, RANKS, luck_lines
from tourney.store import RunReader

PAIRING = ("ada", "bo", "cleo")
SECRET = secret_from_seed(7)


def groups(count: int) -> pl.DataFrame:
    return pl.DataFrame(
        {"group": range(count), "pairing": ["+".join(PAIRING)] * count, "deal": range(count)}
    )


def dealt(game: str, count: int, **rules: Any) -> Any:
    return luck._all_dealt(make_game(game, rules), SECRET, groups(count))


def test_counts_are_those_of_the_cards_that_a_match_begins_with(tmp_path: Path) -> None:
    make_run(tmp_path / "r", bots=PAIRING, seats=3, deals=3)
    reader = RunReader(tmp_path / "r")
    game = make_game("dam", reader.info.rules)
    found = luck._all_dealt(game, SECRET, groups(3))
    assert found is not None
    for row in reader.scan("matches").collect().iter_rows(named=True):
        deals = Deals(group_key(SECRET, group_id(PAIRING, row["deal"])))
        first = next(replay(game, 3, deals, row["actions"]))
        for seat, cards in enumerate(game.view(first.state, None)["rows"]):
            wanted = [sum(card[0] == rank for card in cards) for rank in RANKS]
            assert found[row["group"]].counts[seat, :13].tolist() == wanted


def test_means_are_those_of_a_sample_without_replacement() -> None:
    # Seven of 52 cards hold 7/13 of each rank; so do the first ten of a stream of the stock.
    [one] = dealt("dam", 1)
    np.testing.assert_allclose(one.means[:, :13], 7 / 13)
    np.testing.assert_allclose(one.means[:, 13:], 10 / 13)
    assert one.counts.sum(axis=1).tolist() == [17.0] * 3


@pytest.mark.parametrize("game", ["dam", "rams", "hearts", "norrlandsknack"])
def test_what_is_dealt_has_the_mean_that_is_claimed(game: str) -> None:
    found = dealt(game, 600)
    gap = np.array([one.counts - one.means for one in found])
    # Of every seat, rank and source, over 600 deals: within five standard errors.
    error = gap.std(axis=0) / np.sqrt(len(gap))
    assert (np.abs(gap.mean(axis=0)) <= 5 * error + 1e-12).all()


def test_one_pile_for_all_has_no_streams() -> None:
    [one] = dealt("dam", 1, stock="pile")
    assert one.counts[:, 13:].sum() == 0
    assert one.means[:, 13:].sum() == 0


def test_a_hand_whose_size_depends_on_its_cards_is_no_simple_sample() -> None:
    assert dealt("svarte-petter", 30) is None


def planted(count: int) -> tuple[Any, pl.DataFrame, Any]:
    """Matches in which a bot's score is its skill, the queens it was dealt, and a little noise."""
    lot = random.Random(3)
    cards = dealt("dam", count)
    queens = RANKS.index("Q")
    rows = [
        {
            "group": group,
            "seat": (place + rotation) % 3,
            "bot": bot,
            "score": 10.0 * place
            - 4 * cards[group].counts[(place + rotation) % 3, queens]
            + lot.gauss(0, 0.2),
        }
        for group in range(count)
        for rotation in range(3)
        for place, bot in enumerate(PAIRING)
    ]
    frame = pl.DataFrame(rows).lazy()
    reader: Any = SimpleNamespace(scan=lambda _: frame, info=SimpleNamespace(id="r"))
    return reader, groups(count), cards


def test_planted_luck_is_taken_out_and_skill_stays() -> None:
    note, lines = luck._adjusted(*planted(200))
    share = int(note.split("explain ")[1].split(" %")[0])
    assert share >= 95
    queens = 4 * 7 / 13
    for place, line in enumerate(lines):
        assert line.bot == PAIRING[place]
        assert line.groups == 200
        # The mean of the queens is known: what is left is the skill of a bot of average luck.
        assert line.adjusted == pytest.approx(10 * place - queens, abs=0.1)
        assert line.adjusted_se is not None
        assert line.score_se is not None
        assert line.adjusted_se < line.score_se


def test_few_groups_say_nothing() -> None:
    note, lines = luck._adjusted(*planted(LEAST_GROUPS - 1))
    assert lines == ()
    assert str(LEAST_GROUPS) in note


def test_cards_stay_closed_while_a_secret_run_is_played(tmp_path: Path) -> None:
    make_run(tmp_path / "r", seed=None, secret=bytes(range(32)), play=5, finish=False)
    assert luck_lines([RunReader(tmp_path / "r")]) == (
        "The cards may be looked at once the run has finished.",
        (),
    )


def test_luck_is_that_of_one_run(tmp_path: Path) -> None:
    make_run(tmp_path / "r", deals=1)
    reader = RunReader(tmp_path / "r")
    assert luck_lines([reader, reader])[1] == ()
    assert luck_lines([reader]) == (luck.TOO_FEW, ())
