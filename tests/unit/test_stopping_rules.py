"""Stopping rules of a config and a run that ends by one."""

from pathlib import Path
from typing import Any

import pytest

from tests.unit.ratings.simulated import rows_of, simulate
from tests.unit.store.test_store import create
from tests.unit.test_runner import FakeExecutor, committed
from tourney.config.models import DEALS_UNTIL_STOPPED, Stop, TournamentConfig
from tourney.errors import ConfigError
from tourney.ratings import sketches
from tourney.runner.loop import Progress, Runner
from tourney.runner.stopping import StopCheck
from tourney.schedule.scheduler import Scheduler
from tourney.store import RunReader


def play(folder: Path, stop: Stop, groups: int = 400) -> tuple[bool, Runner, FakeExecutor]:
    writer = create(folder)
    executor = FakeExecutor()
    seen: list[Progress] = []
    runner = Runner(
        writer, executor, Scheduler(groups, (), 0.5), 0.0, seen.append, 0, StopCheck(stop)
    )
    plan: Any = None
    done = runner.run(plan, {}, None)
    assert all(one.eta_seconds is None for one in seen)
    return done, runner, executor


def test_a_cap_on_matches_ends_a_run_as_done_with_its_reason(tmp_path: Path) -> None:
    done, _, executor = play(tmp_path / "r", Stop(max_matches=40))
    assert done
    assert executor.closed
    played = len(committed(tmp_path / "r"))
    assert 40 <= played < 800
    # What was in play came to its end: nothing that was handed out is lost.
    assert played == 2 * sum(len(block.groups) for block in executor.submitted)
    assert "40" in info_of(tmp_path / "r").reason


def info_of(folder: Path) -> Any:
    return RunReader(folder).info


def test_bots_told_apart_end_a_run(tmp_path: Path) -> None:
    # In the fake's matches bot a always comes before bot b.
    writer = create(tmp_path / "r")
    runner = Runner(
        writer,
        FakeExecutor(),
        Scheduler(2000, (), 0.5),
        0.0,
        lambda _: None,
        0,
        StopCheck(Stop(pairs="separated")),
    )
    plan: Any = None
    assert runner.run(plan, {}, None)
    assert 50 <= writer.info.counts.groups < 2000
    assert writer.info.reason == "stopped by rule: 1 neighbours told apart"


def test_a_run_whose_rule_never_holds_plays_its_schedule(tmp_path: Path) -> None:
    done, _, _ = play(tmp_path / "r", Stop(interval=0.01), groups=30)
    assert done
    assert len(committed(tmp_path / "r")) == 60
    assert info_of(tmp_path / "r").reason == ""


def test_every_rule_has_a_reason_in_words() -> None:
    check = StopCheck(Stop(wall="2m", max_matches=10))
    assert check.reason((), 9, 119.9) is None
    assert check.reason((), 9, 120.0) == "stopped by rule: played for 2m"
    assert check.reason((), 10, 0.0) == "stopped by rule: 10 matches of at most 10"
    equal = StopCheck(Stop(within=60, interval=50))
    assert equal.reason((), 5, 1.0) is None
    known = sketches(rows_of(simulate(1, (0.0, 0.0), 2, 3000)))
    assert equal.reason(known, 5, 1.0) == (
        "stopped by rule: 0 neighbours told apart, 1 equal within 60 and every rating known to ±50"
    )


def test_only_a_rule_on_knowledge_asks_for_sums() -> None:
    assert not StopCheck(Stop(max_matches=10, wall="2m")).waits
    assert StopCheck(Stop(pairs="separated")).waits


@pytest.mark.parametrize(("wall", "seconds"), [("90s", 90), ("10m", 600), ("2h", 7200)])
def test_wall_times(wall: str, seconds: float) -> None:
    assert Stop(wall=wall).wall_seconds == seconds
    assert Stop().wall_seconds is None


def config(**tables: Any) -> TournamentConfig:
    tournament = {"name": "t", "game": "dam", **tables.pop("tournament", {})}
    bots = [{"path": "a"}, {"path": "b"}]
    return TournamentConfig.model_validate({"tournament": tournament, "bot": bots, **tables})


def test_a_rule_takes_the_place_of_a_number_of_deals() -> None:
    assert config().tournament.deals == 100
    assert config(stop={"pairs": "separated"}).tournament.deals == DEALS_UNTIL_STOPPED
    written = config(stop={"pairs": "separated"}, tournament={"deals": 7})
    assert written.tournament.deals == 7


@pytest.mark.parametrize(
    "stop", [{"pairs": "yes"}, {"wall": "10"}, {"within": 0}, {"max_matches": 0}, {"los": 0.99}]
)
def test_rules_that_mean_nothing_are_refused(stop: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="stop"):
        config(stop=stop)


def test_an_unknown_rule_is_named_with_its_place(tmp_path: Path) -> None:
    from tourney.config import load_config

    path = tmp_path / "t.toml"
    path.write_text(
        '[tournament]\nname = "t"\ngame = "dam"\n[stop]\nintervall = 5\n'
        '[[bot]]\npath = "a"\n[[bot]]\npath = "b"\n'
    )
    with pytest.raises(ConfigError, match=r"(?s):5:1.*did you mean `interval`"):
        load_config(path)
