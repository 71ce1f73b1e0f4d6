"""What official clients may call is served, or refused by name: none of it is an unknown path."""

import re
from typing import Any

import pytest

from resolute.server.app import declared_routes
from resolute.server.known_operations import Operation, form_of, known_operations, operation_of

SERVED = {(method, form_of(path)) for method, path, _ in declared_routes()}
UNSERVED = [each for each in known_operations() if (each.method, each.form) not in SERVED]


@pytest.mark.parametrize("operation", UNSERVED, ids=lambda operation: operation.name)
def test_an_operation_that_is_not_served_is_refused_by_its_name(operation: Operation, admin: Any) -> None:
    address = re.sub("{[^}]*}", "1", operation.path)

    sentence = admin.refusal(operation.method, address, {}, expect=501)

    assert sentence.startswith(f"This master does not serve {operation.name} (")


def test_nearly_all_that_official_clients_call_is_served() -> None:
    """Lower it when more is served; it is never raised."""
    assert len(UNSERVED) <= 59


def test_words_of_a_path_count_before_its_parameters() -> None:
    assert [operation_of("GET", path).name for path in ("/api/v1/users/setting", "/api/v1/users/7")] == [
        "GetUserSetting",
        "GetUser",
    ]


def test_a_path_that_nobody_knows_says_so(api: Any) -> None:
    assert "Check the address" in api.refusal("GET", "/api/v1/nothing", expect=404)
