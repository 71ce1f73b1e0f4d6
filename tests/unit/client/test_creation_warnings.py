"""What the master remarks on a new experiment reaches whoever created it."""

from typing import Any

import httpx
import pytest

from resolute.client import Client
from resolute.client.fake import FakeMaster


@pytest.mark.parametrize(
    ("own", "codes", "expected"),
    [
        (["searcher.name: is single"], ["LAUNCH_WARNING_CURRENT_SLOTS_EXCEEDED"], ["searcher.name: is single"]),
        ([], ["LAUNCH_WARNING_CURRENT_SLOTS_EXCEEDED"], ["LAUNCH_WARNING_CURRENT_SLOTS_EXCEEDED"]),
        ([], [], []),
    ],
    ids=["in words", "a code alone", "none"],
)
def test_remarks_in_words_come_before_codes(
    client: Client, master: FakeMaster, own: list[str], codes: list[str], expected: list[str]
) -> None:
    experiment: dict[str, Any] = {"id": 3, "state": "STATE_ACTIVE", "warnings": own}
    client.session.get("/api/v1/me")
    master.failures.append(httpx.Response(200, json={"experiment": experiment, "config": {}, "warnings": codes}))

    created = client.create_experiment({"name": "x", "entrypoint": "true"})

    assert created.data["warnings"] == expected
