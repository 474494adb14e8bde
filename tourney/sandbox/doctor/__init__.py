"""Find out whether this machine can run bots safely and time them fairly, by really trying.

Prints nothing and changes nothing; `tourney doctor` shows what is found.
"""

from tourney.sandbox.doctor.lines import Line, State
from tourney.sandbox.doctor.machine import examine, machine_name

__all__ = ("Line", "State", "examine", "machine_name")
