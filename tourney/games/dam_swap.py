"""Dam's swap question (DAM-V4): who may ask for what, and what changes places.

Knowledge travels with the card: whoever knew it knows where it lies now.
"""

from dataclasses import replace
from typing import Any

from tourney.games.base import Action, Decision, Event, Seat, Step
from tourney.games.dam_rows import put, replaced
from tourney.games.dam_state import DamState

__all__ = ("answer", "ask", "ask_decision", "confirm", "reply_decision")


def ask_decision(state: DamState, ask_object: str) -> Decision:
    """Every question the seat may put, in order of seat, own slot, other's slot."""
    me = state.to_act
    legal: list[Action] = ["no-ask"]
    for seat in range(state.seats):
        if seat == me:
            continue
        slots = range(1, len(state.rows[seat]) + 1)
        if ask_object == "row":
            legal.append(f"ask {seat}")
        elif ask_object == "slot":
            legal += [f"ask {seat} {own} {other}" for own in slots for other in slots]
        else:
            # A card that the asker knows is not unseen.
            unseen = [i for i in slots if state.seen[me][seat][i - 1] is None]
            legal += [f"ask {seat} {other}" for other in unseen]
    return Decision(me, "ask", tuple(legal), "no-ask")


def reply_decision(state: DamState) -> Decision:
    """The answer of the seat that was asked, or a confirmation under `nonbinding`.

    The cautious action comes first, as with `no-ask`: a bot that takes the first legal action in a
    phase it does not know gives nothing away.
    """
    asked = state.request[0]
    if state.phase == "answer":
        return Decision(asked, "answer", ("no", "yes"), "no")
    seat = state.to_act if state.phase == "confirm-asker" else asked
    return Decision(seat, "confirm", ("withdraw", "confirm"), "withdraw")


def ask(state: DamState, action: Action, back: str) -> Step[DamState]:
    """Put a question, or none; `back` is the phase that follows a turn without a question."""
    if action == "no-ask":
        return Step(replace(state, phase=back, asked=True))
    request = tuple(int(word) for word in action.split()[1:])
    after = replace(state, phase="answer", request=request, asked=True)
    return Step(after, (Event("ask", state.to_act, _public(request)),))


def answer(state: DamState, action: Action, *, binding: bool, back: str) -> Step[DamState]:
    """Take the answer: a yes swaps at once when binding, else both confirm."""
    told = Event("answer", state.request[0], {"answer": action})
    if action == "no":
        return Step(_closed(state, back), (told,))
    if binding:
        return _swap(state, back, told)
    return Step(replace(state, phase="confirm-asker"), (told,))


def confirm(state: DamState, action: Action, back: str) -> Step[DamState]:
    """Take a confirmation: the asker's first, then the other's; one withdrawal ends it."""
    asker = state.phase == "confirm-asker"
    told = Event("confirm", state.to_act if asker else state.request[0], {"answer": action})
    if action == "withdraw":
        return Step(_closed(state, back), (told,))
    if asker:
        return Step(replace(state, phase="confirm-other"), (told,))
    return _swap(state, back, told)


def _closed(state: DamState, back: str) -> DamState:
    return replace(state, phase=back, request=())


def _swap(state: DamState, back: str, told: Event) -> Step[DamState]:
    other, *slots = state.request
    me = state.to_act
    closed = _closed(state, back)
    if not slots:
        after = _swap_rows(closed, me, other)
    elif len(slots) == 2:
        after = _swap_slots(closed, (me, slots[0] - 1), (other, slots[1] - 1))
    else:
        after = _swap_hand(closed, other, slots[0] - 1)
    return Step(after, (told, Event("swap", me, _public(state.request))))


def _public(request: tuple[int, ...]) -> dict[str, int]:
    """A request is public (DAM-V4): the other seat, then the asker's slot and the other's."""
    other, *slots = request
    names = ("own", "other") if len(slots) == 2 else ("other",)
    return {"to": other, **dict(zip(names, slots, strict=False))}


def _swap_rows(state: DamState, a: Seat, b: Seat) -> DamState:
    def swapped(rows: tuple[Any, ...]) -> tuple[Any, ...]:
        return replaced(replaced(rows, a, rows[b]), b, rows[a])

    seen = tuple(swapped(rows) for rows in state.seen)
    return replace(state, rows=swapped(state.rows), seen=seen)


def _swap_slots(state: DamState, a: tuple[Seat, int], b: tuple[Seat, int]) -> DamState:
    card_a, card_b = state.rows[a[0]][a[1]], state.rows[b[0]][b[1]]
    seen, known_a = put(state.seen, *a, card_b, 0)
    seen, known_b = put(seen, *b, card_a, known_a)
    seen, _ = put(seen, *a, card_b, known_b)
    rows = replaced(state.rows, a[0], replaced(state.rows[a[0]], a[1], card_b))
    rows = replaced(rows, b[0], replaced(rows[b[0]], b[1], card_a))
    return replace(state, rows=rows, seen=seen)


def _swap_hand(state: DamState, other: Seat, slot: int) -> DamState:
    """The card in hand goes to the other's slot; what lay there comes to the hand and is seen."""
    seen, before = put(state.seen, other, slot, state.hand, state.hand_known)
    return replace(
        state,
        rows=replaced(state.rows, other, replaced(state.rows[other], slot, state.hand)),
        seen=seen,
        hand=state.rows[other][slot],
        hand_known=before | 1 << state.to_act,
    )
