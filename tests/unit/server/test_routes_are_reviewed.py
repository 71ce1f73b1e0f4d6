"""Who may call a route is written down by somebody, apart from the code: a new route does not land without its row."""

from tests.api.rights.table import ROWS, TABLE

from resolute.server.app import declared_routes


def test_every_route_has_a_row_and_every_row_a_route() -> None:
    served = {(method, path) for method, path, _ in declared_routes()}
    reviewed = [(row.method, row.path) for row in ROWS]

    assert served - set(reviewed) == set(), f"routes that nobody has reviewed; add them to {TABLE.name}"
    assert set(reviewed) - served == set()
    assert len(reviewed) == len(set(reviewed))
