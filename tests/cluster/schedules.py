"""What may befall a run, and when: schedules drawn from a seed."""

import random
from dataclasses import dataclass

KINDS = ("bot", "worker", "raylet", "machine", "driver", "head", "disk", "pause", "cut")

WITHIN = 0.4
"""All events of a schedule begin in this part of the undisturbed run's time: late enough to find
work done, early enough to find work left."""

LONGEST_SECONDS = 30.0
"""Of a pause or a cut; a node that is silent for twenty is given up."""


@dataclass(frozen=True)
class Event:
    """What happens, and when."""

    at: float
    """Seconds after the run's first commit."""
    kind: str
    where: int
    """Which machine, worker or bot, modulo how many there are."""
    seconds: float
    """How long, for what passes."""

    def __str__(self) -> str:
        lasts = f" for {self.seconds:.0f} s" if self.kind in {"pause", "cut", "disk"} else ""
        return f"{self.at:.1f} s {self.kind}{lasts}"


def schedule(seed: str, seconds: float) -> list[Event]:
    """Three to five events, drawn from the seed, in a run of so many undisturbed seconds."""
    dice = random.Random(seed)
    drawn = [
        Event(
            at=dice.uniform(0, WITHIN) * seconds,
            kind=dice.choice(KINDS),
            where=dice.randrange(1000),
            seconds=dice.choice((3.0, 8.0, LONGEST_SECONDS)),
        )
        for _ in range(dice.randint(3, 5))
    ]
    return sorted(drawn, key=lambda event: event.at)
