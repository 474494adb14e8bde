"""What a seat is told of an event: the only way from an event to the wire."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tourney.games.base import Event, Seat

__all__ = ("told",)


def told(event: "Event", seat: "Seat | None") -> dict[str, Any]:
    """The event's wire form for `seat`; None sees everything, a seat outside only what all see."""
    who = event.seat
    out: dict[str, Any] = (
        {"event": event.kind} if who is None else {"seat": who, "event": event.kind}
    )
    if event.data:
        out.update(event.data)
    if event.private and (seat is None or seat in event.audience):
        out.update(event.private)
    return out
