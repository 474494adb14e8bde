"""What the seats are told of an event: the only way from an event to the wire."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tourney.games.base import Event, Seat

__all__ = ("tell", "told")


def told(event: "Event", seat: "Seat | None") -> dict[str, Any]:
    """The event's wire form for `seat`; None sees everything."""
    out = _public(event)
    if event.private and (seat is None or seat in event.audience):
        out.update(event.private)
    return out


def tell(event: "Event", unseen: list[list[dict[str, Any]]]) -> None:
    """Add the event's wire form to what each seat has not been sent yet, a list a seat."""
    # Seats that see the same of it share one object.
    public = _public(event)
    private = event.private
    if not private:
        for news in unseen:
            news.append(public)
        return
    whole = {**public, **private}
    audience = event.audience
    for seat, news in enumerate(unseen):
        news.append(whole if seat in audience else public)


def _public(event: "Event") -> dict[str, Any]:
    who = event.seat
    out: dict[str, Any] = (
        {"event": event.kind} if who is None else {"seat": who, "event": event.kind}
    )
    data = event.data
    if data:
        out.update(data)
    return out
