"""Geometry, sentences and tables of the pages, without a page."""

from typing import Any

import pytest

from tests.unit.dashboard.client import client_of
from tests.unit.dashboard.synthetic import make_run
from tests.unit.dashboard.test_pages import page_of
from tourney.dashboard.charts import Axis, compared, heat, history, rating_axis, timeline
from tourney.dashboard.glyphs import are_cards, card_name, is_card
from tourney.dashboard.tables import AnyTable, phrase, table_of
from tourney.dashboard.templating import duration, moment, number, score, thinking
from tourney.dashboard.values import Moment
from tourney.games.registry import game_names, make_game
from tourney.ratings import Line
from tourney.reports.panels import HistoryPoint


def line(rating: float, low: float | None, high: float | None, bar: float | None) -> Line:
    return Line(
        table=1,
        rank=1,
        rank_best=1,
        rank_worst=1,
        bot="a",
        rating=rating,
        bound="",
        rating_se=None,
        rating_low=low,
        rating_high=high,
        rating_bar=bar,
        letters="a",
        placement_rating=rating,
        placement_rating_se=None,
        placement_rank=1,
        win_rating=rating,
        win_rating_se=None,
        win_rank=1,
        orders_differ=False,
        matches=2,
        table_groups=1,
    )


@pytest.mark.parametrize(
    ("lines", "axis"),
    [
        ([], (1400, 1600)),
        ([(1500, None, None, None)], (1500, 1510)),
        ([(1490, 1484, 1497, None), (1512, 1506, 1518, None)], (1480, 1520)),
        ([(2031, 1973, 2089, 30), (1138, 950, 1326, 90)], (800, 2200)),
        ([(100, -4000, 4100, None)], (-4000, 5000)),
    ],
)
def test_an_axis_has_room_for_every_interval(
    lines: list[tuple[float, float | None, float | None, float | None]],
    axis: tuple[float, float],
) -> None:
    assert tuple(rating_axis([line(*values) for values in lines])) == axis


def test_two_bars_touch_where_their_difference_is_two_errors() -> None:
    # Bars of 30 and 40 stand for a difference with the error 50; alike bars for 1.96 exactly.
    assert compared(line(0, None, None, 30)) == pytest.approx(30 * 1.96 / 2**0.5)
    assert compared(line(0, None, None, None)) is None


def point(bot: str, matches: int, rating: float, reach: float | None = 10) -> HistoryPoint:
    return HistoryPoint(
        matches=matches,
        seconds=1.0,
        bot=bot,
        rating=rating,
        rating_low=None if reach is None else rating - reach,
        rating_high=None if reach is None else rating + reach,
        placement_rating=rating - 100,
        win_rating=rating,
    )


def test_a_history_is_a_line_a_bot_with_the_best_first() -> None:
    points = [
        point("a", 0, 1500),
        point("b", 0, 1500),
        point("a", 100, 1400),
        point("b", 100, 1600),
    ]
    chart = history(points, "win", "win")
    assert chart is not None
    assert (chart.matches, *chart.axis) == (100, 1400, 1600)
    assert [(one.bot, one.colour, one.rating) for one in chart.series] == [
        ("b", 0, 1600),
        ("a", 1, 1400),
    ]
    assert chart.series[0].line == "0,50 100,0"
    assert chart.series[1].line == "0,50 100,100"
    # Up along the upper ends, back along the lower ones, cut at the chart's edge.
    assert chart.series[0].band == "0,45 100,0 100,5 0,55"


def test_a_history_of_the_other_rating_has_no_bands() -> None:
    chart = history([point("a", 0, 1500), point("a", 50, 1520)], "placement", "win")
    assert chart is not None
    assert chart.series[0].band == ""
    assert chart.series[0].rating == 1420


def test_a_history_of_one_moment_is_none() -> None:
    assert history([point("a", 5, 1500), point("b", 5, 1500)], "win", "win") is None


def test_places_on_an_axis_are_per_cent_and_never_outside() -> None:
    axis = Axis(0.2, 0.6)
    assert [axis.at(value) for value in (0.1, 0.2, 0.3, 0.6, 0.9)] == [0, 0, 25, 100, 100]


def test_heat_is_even_in_the_middle() -> None:
    assert [heat(share) for share in (0, 0.5, 1)] == [0, 5, 10]


def test_a_bar_is_a_go() -> None:
    bars = timeline([0, 0, 1, 0], [99, 0, 9, 0], {3})
    assert [(bar.seat, bar.first, bar.last, bar.fault) for bar in bars] == [
        (0, 1, 2, False),
        (1, 3, 3, True),
        (0, 4, 4, False),
    ]
    assert [bar.x for bar in bars] == [0, 50, 75]
    assert [bar.height for bar in bars] == [34, 34, 5]
    assert timeline([], [], set()) == []


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"event": "keep", "seat": 0, "slot": 3, "card": "QH"}, "keeps QH in slot 3"),
        ({"event": "keep", "seat": 0, "slot": 3}, "keeps a card in slot 3"),
        ({"event": "draw", "seat": 1, "card": None}, "draws a card from the stock"),
        (
            {"event": "round", "round": 2, "rows": [["QH"]], "scores": [0, 5]},
            "Deal 2 ends; the rows are worth [0, 5]",
        ),
        (
            {"event": "exchange", "seat": 1, "count": 1, "drawn": ["7S"]},
            "exchanges 1 cards drawn ['7S']",
        ),
        ({"event": "turn-up", "last_one": "KS", "odd": {"x": 1}}, "turn up last one KS"),
        ({"event": "vote", "seat": 1}, "votes ?"),
        ({"event": "beat", "card": "KS", "with": "AS"}, "beat KS with AS"),
    ],
)
def test_events_read_as_sentences(event: dict[str, Any], said: str) -> None:
    assert " ".join(map(str, phrase("dam", event))) == said


def test_words_of_one_game_are_not_put_into_anothers_mouth() -> None:
    draw = {"event": "draw", "seat": 1, "card": "QH"}
    assert phrase("dam", draw) == ["draws", "QH", "from the stock"]
    assert phrase("svarte-petter", draw) == ["draws", "QH"]


def test_a_table_of_any_game_has_a_line_a_seat() -> None:
    view = {
        "trump": "D",
        "hand": ["QH", "7C"],
        "points": [3, 4],
        "hands": [["QH"], None],
        "trick": [{"seat": 0, "card": "QH"}, {"seat": 1, "card": "KS"}],
    }
    shown = Moment(
        step=0,
        seat=None,
        action=None,
        forced=False,
        stand_in=False,
        think_us=0,
        note="",
        fault="",
        events=(),
        view=view,
        to_act=0,
        phase="play",
        legal=(),
    )
    table = table_of("other", 2, shown, [])
    assert isinstance(table, AnyTable)
    assert table.columns == ("points", "hands")
    assert table.lines == ((3, ["QH"]), (4, None))
    assert set(table.facts) == {"trump", "hand", "trick"}


def test_cards_are_told_from_other_words() -> None:
    assert is_card("TS")
    assert not any(map(is_card, ("D", "10S", "1S", "QX", 7, None)))
    assert are_cards(["QH", None])
    assert not any(map(are_cards, ([None, None], [], "QH", ["QH", 1])))
    assert card_name("QH") == "queen of hearts"


def test_numbers_for_people() -> None:
    assert number(1204880) == "1\u202f204\u202f880"
    assert number(-1.25, 1) == "\u22121.2"
    assert [score(value) for value in (7.0, 7.5)] == ["7", "7.50"]
    assert [duration(s) for s in (0.25, 61, 7260)] == ["0.2 s", "1 min 1 s", "2 h 1 min"]
    assert [thinking(us) for us in (3, 1500, 2_500_000)] == ["3 µs", "1.5 ms", "2.50 s"]
    assert moment("2026-11-03T14:02:11+00:00") == "3 Nov 2026, 14:02 UTC"
    assert moment("yesterday") == "yesterday"


@pytest.mark.parametrize("game", game_names())
def test_every_registered_game_can_be_looked_at(
    tmp_path_factory: pytest.TempPathFactory, game: str
) -> None:
    folder = tmp_path_factory.mktemp(game)
    seats = make_game(game, {}).info.min_seats
    bots = [f"guess-{place}" for place in range(seats)]
    make_run(folder / "any", game_name=game, rules={}, bots=bots, seats=seats, deals=1)
    client = client_of(folder)
    replay = client.get("/api/v1/runs/any/matches/1").json()
    assert replay["locked"] == ""
    last = len(replay["moments"]) - 1
    for step in {*range(0, last, max(1, last // 8)), last}:
        for seat in ("all", "0", "1", "public"):
            page = page_of(client, f"/runs/any/matches/1?step={step}&seat={seat}")
            assert page.open == []
            assert f"step {step} of {last}" in page.text
