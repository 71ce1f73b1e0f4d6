"""How large bodies may be, by route."""

import pytest

from resolute.server.body_limits import DEFAULT_BYTES, LOGIN_BYTES, MAX_BODY_BYTES, MIB, bytes_for


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/api/v1/auth/login", LOGIN_BYTES),
        ("/api/v1/experiments", MAX_BODY_BYTES),
        ("/api/v1/experiments/dry-run", MAX_BODY_BYTES),
        ("/api/v1/allocations/1.a.1/resources/1.a.1.0/logs", 8 * MIB),
        ("/api/v1/datasets", MAX_BODY_BYTES),
        ("/api/v1/trials/7/metrics/batch", 32 * MIB),
        ("/task-logs", 8 * MIB),
        ("/api/v1/users", DEFAULT_BYTES),
        ("/api/v1/unheard-of", DEFAULT_BYTES),
    ],
)
def test_a_body_is_as_large_as_its_route_needs(path: str, expected: int) -> None:
    assert bytes_for(path) == expected
