"""A handler that answers with what it was given: types and values of its rows, and the headers of the request."""

from typing import Any


class Recorder:
    def initialize(self, context: Any) -> None: ...

    def handle(self, data: list[dict[str, Any]], context: Any) -> list[Any]:
        return [
            {
                "row": {name: [type(value).__name__, _plain(value)] for name, value in row.items()},
                "headers": context.get_all_request_header(index),
                "own": context.get_request_header(index, "X-Own"),
                "id": context.get_request_id(index),
            }
            for index, row in enumerate(data)
        ]


def _plain(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes | bytearray) else value
