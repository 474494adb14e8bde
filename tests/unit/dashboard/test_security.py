"""Which addresses are this machine's own."""

import pytest

from tourney.dashboard.security import allowed_hosts, is_loopback


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_loopback_is_answered_under_its_own_names_only(host: str) -> None:
    assert is_loopback(host)
    allowed = allowed_hosts(host)
    assert "*" not in allowed
    assert {"127.0.0.1", "localhost"} <= set(allowed)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "example.org", "localhost.example"])
def test_anything_else_is_open_to_others(host: str) -> None:
    assert not is_loopback(host)
