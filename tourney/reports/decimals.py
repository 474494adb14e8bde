"""How many decimals a number deserves, on a terminal and on a page."""

import math

__all__ = ("decimals",)

MOST = 6
"""More would be noise of the arithmetic."""


def decimals(error: float | None, usual: int) -> int:
    """Decimals to show a number with: the usual ones, or what its error needs not to read as 0."""
    if not error or not math.isfinite(error):
        return usual
    return min(MOST, max(usual, math.ceil(-math.log10(error))))
