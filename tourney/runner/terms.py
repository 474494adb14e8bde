"""From a config to what its schedule is made from."""

from collections.abc import Mapping

from tourney.config.models import Tournament
from tourney.schedule.terms import Terms

__all__ = ("terms_of",)


def terms_of(asked: Tournament, owners: Mapping[str, str]) -> Terms:
    """The terms of a config.

    Args:
        asked: its [tournament].
        owners: of the bots, by name in the run; empty texts are nobody.
    """
    known = {bot: owner for bot, owner in owners.items() if owner}
    return Terms(
        form=asked.format,
        seats=asked.seats,
        deals=asked.deals,
        rounds=asked.rounds,
        advance=asked.advance,
        challengers=asked.challengers,
        owners=known if asked.apart else {},
    )
