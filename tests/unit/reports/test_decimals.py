import pytest

from tourney.reports.decimals import decimals


@pytest.mark.parametrize(
    ("error", "usual", "expected"),
    [
        (None, 1, 1),
        (0.0, 2, 2),
        (116.0, 0, 0),
        (1.0, 0, 0),
        (0.97, 0, 1),
        (0.0559, 0, 2),
        (0.1, 1, 1),
        (0.0114, 1, 2),
        (0.5, 2, 2),
        (1e-12, 1, 6),
        (float("inf"), 1, 1),
        (float("nan"), 1, 1),
    ],
)
def test_an_error_never_reads_as_nothing(error: float | None, usual: int, expected: int) -> None:
    assert decimals(error, usual) == expected
