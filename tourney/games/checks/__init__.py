"""The battery that every game must pass, a stranger's as well as ours.

`tourney games check NAME` runs it, and so can a test of your own:

    from tourney.games.checks import check_match
    check_match(MyGame(MyRules()), seats=3, policy="stall", seed=7)

It plays whole matches under policies that wander, insist or put the end off, and checks at every
step that

* something is legal, nothing twice, and the stand-in's choice is among it; anything else is
  refused with a GameError;
* a step leaves the state it was played from alone, and the same state gives the same turn;
* no card is lost: what the state holds when cards are dealt, it holds until the next deal;
* views, events, rules and the reveal are JSON;
* a seat's messages depend on nothing but what its events have told it (`worlds`);
* the list of actions leads to the same end a second time;
* scores and ranks are what the game's info promises, and the match ends.

Where a `Witness` is given, it also checks that each card is in one place and that no seat is
told of a card it never saw. Pure, as the rules are: no clock, no file, no generator.
"""

from tourney.games.checks.battery import Report, check_match, check_rules, play
from tourney.games.checks.cases import Case, cases_of, option_sets, seat_counts
from tourney.games.checks.playing import POLICIES, CheckFailed, History, Moment
from tourney.games.checks.steps import Witness

__all__ = (
    "POLICIES",
    "Case",
    "CheckFailed",
    "History",
    "Moment",
    "Report",
    "Witness",
    "cases_of",
    "check_match",
    "check_rules",
    "option_sets",
    "play",
    "seat_counts",
)
