"""Whole matches of Rams: they end, lose no card, book five tricks and leak nothing."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.unit.games.rams_positions import Policy, act, at_points, dealt, play_match, rams, table
from tourney.errors import GameError
from tourney.games.base import Decision, Event, Over, Step
from tourney.games.cards import PACK, SUITS
from tourney.games.rams import Deal, Play, Rams, RamsState
from tourney.games.rams.options import pack
from tourney.games.tricks import ACE_HIGH

VARIANTS: list[dict[str, Any]] = [
    {},
    {"stock": "pile", "offers_per_deal": 3, "swing_needs_vote": False},
    {"offers": "individual", "better_from": "talon", "offers_per_deal": 2, "exchange": "immediate"},
    {"offers": "majority", "old_upcard": "dealer_keeps_discards_two", "lone": "dealer_must_play"},
    {"deck": 32, "offers": "dealer_only", "offerer_must_knock": True, "undertrump": "free"},
    {"deck": 32, "offers": "off", "maning": "off", "floor": "none", "match": "sum_of_end_points"},
    {"maning": "opponents", "maning_when": "live", "first_zero": "lowest_raw", "cap": 15},
    {"maning": "first_lead", "trump_order": "king_over_ace", "next_dealer": "rams_loser"},
    {"deal_cap": 2, "overtake_in_suit_when_trumped": True, "next_dealer": "rams_winner", "fly": 0},
]


def at_random(seed: int) -> Policy:
    dice = random.Random(seed)
    return lambda _, turn: dice.choice(turn.legal)


POLICIES: dict[str, Callable[[], Policy]] = {
    "random": lambda: at_random(1),
    "first": lambda: lambda _, turn: turn.legal[0],
    "last": lambda: lambda _, turn: turn.legal[-1],
    "fallback": lambda: lambda _, turn: turn.fallback,
    "eager": lambda: eager,
}


def eager(state: RamsState, turn: Decision) -> str:
    """Wants every offer, goes in every time, throws everything: as much flying as there can be."""
    for action in ("better", "accept", "knock"):
        if action in turn.legal:
            return action
    return turn.legal[-1]


def check(game: Rams, state: RamsState) -> None:
    """What holds in every position."""
    deal = state.deal
    assert all(flights >= 0 for flights in state.flights)
    assert max(state.points) <= game.rules.cap
    if not deal.upcard:
        return
    laid = [play.card for trick in (*deal.played, deal.trick) for play in trick]
    out = deal.old_upcards if game.rules.old_upcard == "out" else ()
    hands = [card for cards in (*deal.hands, *deal.thrown) for card in cards]
    assert sorted([*hands, *laid, *out, *deal.stock]) == sorted(pack(game.rules))
    if state.phase == "over":
        assert sum(deal.tricks) == 5
    turn = game.turn(state)
    if isinstance(turn, Decision):
        assert turn.legal
        assert len(set(turn.legal)) == len(turn.legal)
        assert turn.fallback in turn.legal


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_ends_within_the_bounds(policy: str, seats: int) -> None:
    game = rams()
    over, last = play_match(game, seats, POLICIES[policy](), policy, lambda s: check(game, s))
    assert last.deal.number <= game.rules.ramsar * game.rules.deal_cap
    assert sum(over.scores) == pytest.approx(6)
    assert all(game.info.lowest_score <= s <= game.info.highest_score for s in over.scores)


@pytest.mark.parametrize("options", VARIANTS, ids=lambda options: "-".join(options) or "base")
@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_every_variant_ends_within_the_bounds(options: dict[str, Any], seats: int) -> None:
    if options.get("better_from") == "talon" and options.get("deck") == 32 and seats > 3:
        pytest.skip("refused")
    game = rams(ramsar=2, **options)
    for policy in POLICIES:
        over, _ = play_match(game, seats, POLICIES[policy](), policy, lambda s: check(game, s))
        assert all(game.info.lowest_score <= s <= game.info.highest_score for s in over.scores)
        assert 1 in over.ranks


def steps(game: Rams, seats: int, seed: int) -> Iterator[tuple[RamsState, Step[RamsState]]]:
    """Every state of a random match with what came of it."""
    dice, state = random.Random(seed), game.start(seats)
    while not isinstance(turn := game.turn(state), Over):
        if isinstance(turn, Decision):
            step = game.act(state, dice.choice(turn.legal))
        else:
            step = game.drawn(state, dice.sample(sorted(turn.cards), turn.count))
        yield state, step
        state = step.state


def test_each_deal_books_five_tricks_and_flights_go_to_knockers_without_any() -> None:
    game = rams(cap=100, floor="none")
    for before, step in steps(game, 4, 3):
        score = [event for event in step.events if event.kind == "score"]
        if not score:
            continue
        deal = before.deal
        flown = [
            now - then for now, then in zip(score[0].data["flights"], before.flights, strict=True)
        ]
        change = sum(score[0].data["points"]) - sum(deal.points_before)
        assert change == 5 * sum(flown) - 5
        walked = any(event.kind == "walkover" for event in step.events)
        assert not (walked and any(flown))
        assert all(deal.active[s] and not deal.tricks[s] for s in range(4) if flown[s])


def hidden_from(state: RamsState, seat: int) -> list[str]:
    """The cards whose places `seat` does not know (RAMS-81, RAMS-82)."""
    deal = state.deal
    public = {deal.upcard, *deal.old_upcards} if deal.exchanged[deal.dealer] is None else set()
    cards = [*deal.stock]
    for other, hand in enumerate(deal.hands):
        if other != seat:
            cards += [*hand, *deal.thrown[other]]
    return sorted(set(cards) - public)


Renaming = dict[str, str]


def renamed(deal: Deal, names: Renaming) -> Deal:
    def new(cards: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names.get(card, card) for card in cards)

    return replace(
        deal,
        hands=tuple(map(new, deal.hands)),
        thrown=tuple(map(new, deal.thrown)),
        stock=frozenset(new(tuple(deal.stock))),
    )


def wire(value: Any) -> bytes:
    return msgspec.json.encode(value)


def seen(events: tuple[Event, ...], seat: int) -> bytes:
    return wire([event.seen_by(seat) for event in events])


@pytest.mark.parametrize("options", VARIANTS, ids=lambda options: "-".join(options) or "base")
def test_what_a_seat_cannot_see_never_reaches_it(options: dict[str, Any]) -> None:
    """Hidden cards change their names among themselves: view and events stay byte for byte."""
    game, dice = rams(ramsar=1, **options), random.Random(5)
    for seats, seed in ((2, 1), (3, 2), (5, 3)):
        if options.get("better_from") == "talon" and options.get("deck") == 32:
            continue
        for state, step in steps(game, seats, seed):
            for seat in range(seats):
                cards = hidden_from(state, seat)
                names = dict(zip(cards, dice.sample(cards, len(cards)), strict=True))
                other = replace(state, deal=renamed(state.deal, names))
                assert wire(game.view(other, seat)) == wire(game.view(state, seat))
                others = ("offer", "vote", "knock", "exchange", "draw")
                if state.to_act != seat and state.phase in others:
                    assert_same_events(game, state, step, other, names, seat)


def assert_same_events(
    game: Rams,
    state: RamsState,
    step: Step[RamsState],
    other: RamsState,
    names: Renaming,
    seat: int,
) -> None:
    """What another seat decides or draws tells `seat` the same in both worlds."""
    after = step.state.deal
    if state.phase in ("exchange", "draw"):
        if after.number != state.deal.number:
            return  # the last buyer of a deal without play: its cards are gone from the state
        place = "thrown" if state.phase == "exchange" else "hands"
        before = getattr(state.deal, place)[state.to_act]
        moved = getattr(after, place)[state.to_act][len(before) :]
        cards = [names.get(card, card) for card in moved]
        if state.phase == "draw":
            twin = game.drawn(other, cards)
        else:
            twin = game.act(other, " ".join(("exchange", *cards)))
    else:
        spoken = step.events[0]
        twin = game.act(other, str(spoken.data.get(spoken.kind, spoken.kind)))
    assert seen(twin.events, seat) == seen(step.events, seat)
    assert wire(game.view(twin.state, seat)) == wire(game.view(step.state, seat))


def test_bought_cards_are_told_to_the_buyer_only() -> None:
    game = rams()
    state = dealt(game, at_points(game, (10, 10, 10), dealer=2))
    state = act(game, state, "stand", "knock", "knock", "pass").state
    thrown = state.deal.hands[0][:2]
    state = game.act(state, " ".join(("exchange", *thrown))).state
    drawn = sorted(state.deal.stock)[:2]
    (event,) = game.drawn(state, drawn).events
    public = {"seat": 0, "event": "exchange", "count": 2}
    assert event.seen_by(1) == public
    assert event.seen_by(0) == {**public, "thrown": thrown, "drawn": tuple(drawn)}
    assert event.seen_by(None) == event.seen_by(0)


def test_the_deal_shows_each_seat_its_own_hand() -> None:
    game = rams()
    state = at_points(game, (10, 10), dealer=1)
    step = game.drawn(state, PACK[:11])
    deal, *hands = step.events
    assert deal.seen_by(0) == {"event": "deal", "dealer": 1, "upcard": PACK[6]}
    for event in hands:
        assert event.seat is not None
        assert event.seen_by(event.seat)["cards"] == step.state.deal.hands[event.seat]
        assert event.seen_by(1 - event.seat) == {"seat": event.seat, "event": "hand"}


FIELDS = (
    "ramsar rams deal seat dealer forehand trump upcard stock points flights wins passed_last "
    "hand active exchanged tricks trick played out forced_trump"
)
"""PROTOCOL.md section 5."""


def test_the_view_has_the_fields_of_the_protocol_and_what_else_a_seat_knows() -> None:
    game = rams()
    state = table(game, ["8D 4C", "3S 5S", "KH JC"], "D", trick=[(2, "QH")], points=(7, 3, 2))
    view = game.view(state, 0)
    assert set(view) == {*FIELDS.split(), "offer", "votes", "thrown"}
    assert view["trick"] == [{"seat": 2, "card": "QH"}]
    assert (view["hand"], view["seat"], view["dealer"], view["forehand"]) == (
        ("8D", "4C"),
        0,
        2,
        0,
    )
    assert msgspec.json.decode(wire(view))["points"] == [7, 3, 2]
    everything = game.view(state, None)
    assert everything["hands"] == state.deal.hands
    assert set(everything) == {*view, "hands"}


def test_points_in_the_view_count_down_with_each_trick() -> None:
    game = rams()
    state = act(game, table(game, ["AS 2H", "3S 4H"], "S", points=(7, 3)), "AS", "3S").state
    view = game.view(state, 1)
    assert (view["points"], view["tricks"]) == ((6, 3), (1, 0))
    assert view["played"] == [[{"seat": 0, "card": "AS"}, {"seat": 1, "card": "3S"}]]


def test_an_illegal_action_is_refused_and_names_what_is_legal() -> None:
    game = rams()
    with pytest.raises(GameError, match="nobody is to act"):
        game.act(game.start(2), "stand")
    state = table(game, ["8D 4C", "3S 5S"], "D", trick=[(1, "QD")])
    with pytest.raises(GameError, match="legal: play 8D"):
        game.act(state, "play 4C")


# An independent reading of RAMS-50 to RAMS-55: a position, a card, and each sentence in turn.


def value(card: str, led: str, trump: str) -> int:
    rank = ACE_HIGH.index(card[0])
    return 200 + rank if card[1] == trump else 100 + rank if card[1] == led else rank


def breaks_a_rule(card: str, hand: list[str], trick: list[str], trump: str, forced: bool) -> bool:
    if not trick:
        if "A" + trump in hand:
            return card != "A" + trump
        return forced and card[1] != trump and any(held[1] == trump for held in hand)
    led = trick[0][1]
    suits = {held[1] for held in hand}
    due = led if led in suits else trump if trump in suits else ""
    if due and card[1] != due:
        return True
    best = max(value(laid, led, trump) for laid in trick)
    beaten = [held for held in hand if value(held, led, trump) > best and held[1] == due]
    return bool(beaten) and card not in beaten


@settings(max_examples=400)
@given(
    st.lists(st.sampled_from(PACK), min_size=9, max_size=9, unique=True),
    st.integers(0, 4),
    st.integers(1, 5),
    st.sampled_from(SUITS),
    st.booleans(),
)
def test_legal_cards_are_those_that_break_no_rule(
    cards: list[str], laid: int, held: int, trump: str, forced: bool
) -> None:
    game = rams()
    trick, hand = cards[:laid], cards[4 : 4 + held]
    hands = ["2S"] * laid + [" ".join(hand)] + (["2S"] if not laid else [])
    before = [10] * len(hands)
    before[-1] = 1 if forced else 10
    on_table = table(game, hands, trump, points=before, to_act=laid)
    plays = tuple(Play(seat, card) for seat, card in enumerate(trick))
    on_table = replace(on_table, deal=replace(on_table.deal, trick=plays))
    turn = game.turn(on_table)
    assert isinstance(turn, Decision)
    fine = [card for card in hand if not breaks_a_rule(card, hand, trick, trump, forced)]
    assert list(turn.legal) == [f"play {card}" for card in fine]
    lowest = min(fine, key=lambda card: (card[1] == trump, ACE_HIGH.index(card[0])))
    assert turn.fallback == f"play {lowest}"
