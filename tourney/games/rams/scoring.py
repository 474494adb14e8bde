"""Points, flights, the end of a deal, of a rams and of the match (RAMS-60 to RAMS-72)."""

from msgspec.structs import replace

from tourney.games.base import Event, Over, Seat, Step, competition_ranks
from tourney.games.rams.options import RamsRules
from tourney.games.rams.state import Ended, RamsState, clockwise, fresh_deal, replaced

__all__ = ("book_flights", "book_tricks", "end_deal", "match_over")


def book_tricks(rules: RamsRules, state: RamsState, seat: Seat, count: int) -> RamsState:
    """RAMS-60, RAMS-61: a point off for each trick, and who reaches zero is noted."""
    deal = state.deal
    before = state.points[seat]
    points = before - count if rules.floor == "none" else max(rules.floor, before - count)
    return replace(
        state,
        points=replaced(state.points, seat, points),
        deal=replace(
            deal,
            tricks=replaced(deal.tricks, seat, deal.tricks[seat] + count),
            home=(*deal.home, seat) if points <= 0 < before else deal.home,
        ),
    )


def book_flights(rules: RamsRules, state: RamsState) -> RamsState:
    """RAMS-62, RAMS-63: an active seat without a trick flies, also where the cap makes it free."""
    deal = state.deal
    flies = [
        bool(active) and not tricks for active, tricks in zip(deal.active, deal.tricks, strict=True)
    ]
    return replace(
        state,
        points=tuple(
            min(rules.cap, points + rules.fly) if flown else points
            for points, flown in zip(state.points, flies, strict=True)
        ),
        flights=tuple(flights + flown for flights, flown in zip(state.flights, flies, strict=True)),
    )


def end_deal(rules: RamsRules, state: RamsState, events: tuple[Event, ...]) -> Step[RamsState]:
    """Show the score; then the next deal, the next rams or the end of the match."""
    score = Event("score", None, {"points": state.points, "flights": state.flights})
    winners = _rams_winners(rules, state)
    if winners:
        return _end_rams(rules, state, winners, (*events, score))
    deal = state.deal
    dealer = (deal.dealer + 1) % state.seats  # RAMS-12
    after = replace(
        state,
        phase="deal",
        n_deals=state.n_deals + 1,
        passed_last=tuple(active is False for active in deal.active),
        deal=fresh_deal(deal.number + 1, dealer, state.points),
    )
    return Step(after, (*events, score))


def _rams_winners(rules: RamsRules, state: RamsState) -> tuple[Seat, ...]:
    """RAMS-64, RAMS-66: who has won the rams; nobody while it goes on."""
    deal, seats = state.deal, range(state.seats)
    if deal.home:
        if rules.first_zero == "trick_order":
            return deal.home[:1]
        return (min(deal.home, key=lambda seat: deal.points_before[seat] - deal.tricks[seat]),)
    if state.n_deals < rules.deal_cap:
        return ()
    keys = [(state.points[s], state.flights[s] - state.flights_before[s]) for s in seats]
    return tuple(s for s in seats if keys[s] == min(keys))


def _end_rams(
    rules: RamsRules, state: RamsState, winners: tuple[Seat, ...], events: tuple[Event, ...]
) -> Step[RamsState]:
    """RAMS-65, RAMS-70: all on ten again, flights and rotation carried on, or the match is over."""
    share = 1 if len(winners) == 1 else 1 / len(winners)
    wins = tuple(won + share if s in winners else won for s, won in enumerate(state.wins))
    sole = winners[0] if len(winners) == 1 else None
    events = (*events, Event("rams", sole, {"rams": state.rams, "winners": winners}))
    after = replace(state, wins=wins, ended=(*state.ended, Ended(winners, state.points)))
    if state.rams == rules.ramsar:
        return Step(replace(after, phase="over"), events)
    n, points = state.seats, (rules.start,) * state.seats
    after = replace(
        after,
        phase="deal",
        rams=state.rams + 1,
        n_deals=1,
        points=points,
        flights_before=state.flights,
        passed_last=(False,) * n,
        deal=fresh_deal(state.deal.number + 1, _next_dealer(rules, state, winners), points),
    )
    return Step(after, events)


def _next_dealer(rules: RamsRules, state: RamsState, winners: tuple[Seat, ...]) -> Seat:
    """RAMS-12: who deals first in the next rams; among several the first clockwise."""
    order = tuple(clockwise(state.forehand, state.seats))
    if rules.next_dealer == "rams_winner":
        return next(seat for seat in order if seat in winners)
    if rules.next_dealer == "rams_loser":
        return max(order, key=state.points.__getitem__)
    return order[0]


def match_over(rules: RamsRules, state: RamsState) -> Over:
    """Ramsar won (RAMS-70), fewest flights (RAMS-71), lowest end points (RAMS-72), else shared."""
    seats = range(state.seats)
    wins = tuple(round(won, 9) for won in state.wins)
    sums = tuple(sum(ended.points[s] for ended in state.ended) for s in seats)
    keys: list[tuple[float, float, float]]
    if rules.match == "rams_wins":
        keys = [(-wins[s], state.flights[s], sums[s]) for s in seats]
        scores = tuple(float(won) for won in wins)
    else:
        keys = [(sums[s], state.flights[s], -wins[s]) for s in seats]
        scores = tuple(float(total) for total in sums)
    detail = {
        "wins": wins,
        "flights": state.flights,
        "end_points": sums,
        "ramsar": [{"winners": ended.winners, "points": ended.points} for ended in state.ended],
        "deals": state.deal.number,
    }
    return Over(scores, competition_ranks(keys), detail)
