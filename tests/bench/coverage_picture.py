"""How often 95 % intervals hold the truth, drawn for docs/ratings.md.

    python -m tests.bench.coverage_picture

Simulates 400 tournaments a point at tables of four: six bots, with luck that a group's rotations
share, and writes docs/ratings-coverage.svg.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from tests.unit.ratings.simulated import simulate
from tourney.ratings import rate, sketch
from tourney.ratings.order import differences_se
from tourney.ratings.spread import covariance, meat

PICTURE = Path(__file__).parents[2] / "docs" / "ratings-coverage.svg"
STRENGTHS = (0.5, 0.3, 0.1, -0.1, -0.3, -0.5)
GROUPS = (10, 20, 50, 200)
TOURNAMENTS = 400
SEATS = 4
LUCKS = (0.0, 2.0)

KINDS = {
    "pairs taken as independent": "#c2410c",
    "matches taken as independent": "#b45309",
    "by group, normal quantile": "#0369a1",
    "by group, Student's t (shown)": "#15803d",
}


class Point(NamedTuple):
    """Coverage of each kind of interval."""

    luck: float
    groups: int
    shares: tuple[float, ...]


def measure(luck: float, groups: int) -> Point:
    """The share of differences of ratings whose interval holds the truth."""
    [truth] = rate(sketch(simulate(10**6, STRENGTHS, SEATS, 40_000, luck=luck)))
    upper = np.triu_indices(len(STRENGTHS), 1)
    wanted = np.subtract.outer(*[truth.placement.strengths] * 2)[upper]
    hits, trials = np.zeros(len(KINDS)), 0
    for seed in range(TOURNAMENTS):
        table, *others = rate(sketch(simulate(seed, STRENGTHS, SEATS, groups, luck=luck)))
        if others or len(table.bots) < len(STRENGTHS):
            continue
        found, [sums] = table.placement, table.sketches
        gap = np.abs(np.subtract.outer(*[found.strengths] * 2)[upper] - wanted)
        alone = covariance(
            found.fit.information,
            meat(sums, found.fit.strengths, "placement", by_match=True),
        )
        assert alone is not None
        assert found.spread is not None
        naive = differences_se(np.linalg.inv(found.fit.information))[upper]
        grouped = differences_se(found.spread)[upper]
        t = float(stdtrit(groups - 1, 0.975))
        for kind, half in enumerate(
            (1.96 * naive, 1.96 * differences_se(alone)[upper], 1.96 * grouped, t * grouped)
        ):
            hits[kind] += (gap < half).sum()
        trials += len(gap)
    return Point(luck, groups, tuple((hits / trials).tolist()))


def picture(points: list[Point]) -> str:
    """An SVG: one panel for each luck, groups across, coverage up."""
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 330" role="img" '
        'font-family="sans-serif" font-size="12" fill="#444">',
        "<title>Coverage of 95 % intervals by the unit of evidence</title>",
        '<rect width="720" height="330" fill="#fff"/>',
    ]
    for panel, luck in enumerate(LUCKS):
        left = 50 + 350 * panel
        said = "no luck shared in a group" if luck == 0 else "much luck shared in a group"
        lines.append(f'<text x="{left}" y="20" font-weight="bold">{said}</text>')
        for share in (0.8, 0.85, 0.9, 0.95, 1.0):
            y = _height(share)
            strong = ' stroke-dasharray="4 3" stroke="#111"' if share == 0.95 else ' stroke="#ddd"'
            lines.append(f'<line x1="{left}" x2="{left + 290}" y1="{y}" y2="{y}"{strong}/>')
            lines.append(f'<text x="{left - 34}" y="{y + 4}">{share:.0%}</text>')
        own = [point for point in points if point.luck == luck]
        for place, point in enumerate(own):
            lines.append(
                f'<text x="{left + 20 + 80 * place}" y="248" text-anchor="middle">'
                f"{point.groups}</text>"
            )
        for kind, colour in enumerate(KINDS.values()):
            dots = [
                (left + 20 + 80 * place, _height(point.shares[kind]))
                for place, point in enumerate(own)
            ]
            path = " ".join(f"{x},{y}" for x, y in dots)
            lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}"/>')
            lines += [f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}"/>' for x, y in dots]
    lines.append('<text x="300" y="268">rotation groups</text>')
    for kind, (said, colour) in enumerate(KINDS.items()):
        x, y = 60 + 330 * (kind % 2), 292 + 22 * (kind // 2)
        lines.append(f'<circle cx="{x}" cy="{y - 4}" r="4" fill="{colour}"/>')
        lines.append(f'<text x="{x + 12}" y="{y}">{said}</text>')
    return "\n".join([*lines, "</svg>", ""])


def _height(share: float) -> float:
    return round(230 - (max(share, 0.79) - 0.79) * 950, 1)


def main() -> None:
    """Measure, print and draw."""
    points = [measure(luck, groups) for luck in LUCKS for groups in GROUPS]
    for point in points:
        shares = " ".join(f"{share:.1%}" for share in point.shares)
        print(f"luck {point.luck:g}, {point.groups} groups: {shares}")
    PICTURE.write_text(picture(points))


if __name__ == "__main__":
    main()
