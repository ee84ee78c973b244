"""Protects evidence of an interval: moments are counted exactly, and in bounded memory never too many."""

from harness.sightings import ConnectionSightings, Sightings, is_within


def test_an_interval_includes_both_of_its_ends() -> None:
    seen = Sightings()
    for at_ns in (10, 20, 20, 30):
        seen.add(at_ns)
    assert (seen.count(), seen.count(20, 30), seen.count(11, 19), seen.count(None, 20), seen.count(30)) == (
        4,
        3,
        0,
        3,
        1,
    )


def test_what_the_lab_did_itself_is_in_the_total_alone() -> None:
    seen = Sightings()
    seen.add(None)
    seen.add(5)
    assert (seen.total, seen.count()) == (2, 1)


def test_memory_is_bounded_and_counts_become_lower_bounds() -> None:
    exact, bounded = Sightings(limit=10_000), Sightings(limit=64)
    for at_ns in range(5_000):
        exact.add(at_ns)
        bounded.add(at_ns)
    assert bounded.count() == bounded.total == 5_000
    for since_ns, until_ns in [(0, 4_999), (100, 2_345), (17, 17), (4_000, 9_000), (2_500, 2_600)]:
        assert 0 <= bounded.count(since_ns, until_ns) <= exact.count(since_ns, until_ns)
    for since_ns in range(0, 4_000, 500):
        assert bounded.count(since_ns, since_ns + 500) >= 0.5 * 500


def test_connections_are_counted_once_however_often_they_are_seen() -> None:
    seen = ConnectionSightings()
    for port, at_ns in [(4001, 10), (4001, 20), (4002, 20)]:
        seen.add(port, at_ns)
    assert (seen.connections(), seen.connections(None, 10), seen.packets(15, 25)) == (2, 1, 2)


def test_a_missing_bound_is_none() -> None:
    assert is_within(5, None, None)
    assert is_within(5, 5, 5)
    assert not is_within(5, 6, None)
    assert not is_within(5, None, 4)
