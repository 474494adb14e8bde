"""Results of other programs: what is read, and which line is wrong."""

import pytest

from tourney.ratings import from_csv, from_pgn, rate, sketches

CSV = """match,bot,rank,score
a,ada,1,12
a,bo,2,8
b,ada,2,3
b,bo,1,9
b,cleo,2,3
"""

PGN = """[Event "cup"]
[Round "1.1"]
[White "ada"]
[Black "bo \\"the rook\\""]
[Result "1-0"]

1. e4 e5 { [not a tag] } 1-0

[Event "cup"]
[Round "1.2"]
[White "bo \\"the rook\\""]
[Black "ada"]
[Result "1/2-1/2"]

1/2-1/2

[Event "cup"]
[White "ada"]
[Black "cleo"]
[Result "*"]

*
"""


def test_ranks_a_match_each_match_a_group() -> None:
    rows = from_csv(CSV)
    assert rows.columns == ["match", "group", "bot", "rank", "score"]
    assert rows["match"].to_list() == [0, 0, 1, 1, 1]
    assert rows["group"].to_list() == [0, 0, 1, 1, 1]
    assert rows["score"].to_list() == [12, 8, 3, 9, 3]
    found = sketches(rows, rotations=False)
    assert [(one.seats, one.matches) for one in found] == [(2, 1), (3, 1)]
    [table] = rate(*found)
    assert table.bots == ("ada", "bo", "cleo")
    assert table.matches == (2, 2, 1)


def test_a_group_column_says_which_matches_share_a_deal() -> None:
    text = "match,bot,rank,group\n1,a,1,g\n1,b,2,g\n2,a,2,g\n2,b,1,g\n3,a,1,h\n3,b,2,h\n"
    [found] = sketches(from_csv(text), rotations=False)
    assert (found.groups, found.matches) == (2, 3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("match,bot\n1,a\n", "must name the columns rank"),
        ("", "must name the columns match, bot, rank"),
        ("match,bot,rank\n1,a,first\n", "line 2"),
        ("match,bot,rank\n1,a,0\n", "a rank is a number from 1"),
        ("match,bot,rank\n1,a,1\n1,,2\n", "line 3: a cell is empty"),
        ("match,bot,rank\n1\n", "line 2"),
        ("match,bot,rank,score\n1,a,1,x\n", "line 2"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        from_csv(text)


def test_pgn_games_of_one_opening_are_a_group_and_unfinished_ones_are_left_out() -> None:
    rows = from_pgn(PGN)
    assert rows["bot"].to_list() == ["ada", 'bo "the rook"', 'bo "the rook"', "ada"]
    assert rows["rank"].to_list() == [1, 2, 1, 1]
    assert rows["group"].to_list() == [0, 0, 0, 0]
    [found] = sketches(rows, rotations=False)
    assert (found.groups, found.matches) == (1, 2)


def test_a_pgn_game_without_a_result_is_named() -> None:
    with pytest.raises(ValueError, match="game 1 has no Result"):
        from_pgn('[White "a"]\n[Black "b"]\n\n1. e4\n')
    assert from_pgn("").height == 0
