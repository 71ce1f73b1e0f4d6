"""What is installed with the platform has a hash and a licence that we accept, and known weaknesses are named."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.dependencies import Pin, advisories, installed_licences, is_accepted, pins_in, refused, unhashed

LOCK = """
good==1.0 \\
    --hash=sha256:00
    # via other
bare==2.0 ; python_full_version < '3.12'
    # via other
"""


def test_every_pin_of_every_lock_has_a_hash() -> None:
    assert unhashed() == []


def test_every_installed_package_has_a_licence_that_is_accepted() -> None:
    assert refused(dict(installed_licences())) == []


def test_a_pin_without_a_hash_is_seen() -> None:
    assert list(pins_in(LOCK)) == [
        Pin(name="good", version="1.0", has_hash=True),
        Pin(name="bare", version="2.0", has_hash=False),
    ]


@pytest.mark.parametrize(
    ("licence", "is_fine"),
    [
        ("MIT", True),
        ("Apache-2.0 AND BSD-2-Clause", True),
        ("Mozilla Public License 2.0 (MPL 2.0)", True),
        ("GPL-3.0-only", False),
        ("AGPL-3.0 OR MIT", False),
        ("GNU General Public License v3 (GPLv3)", False),
        ("LicenseRef-Proprietary", False),
        ("LGPL-3.0-only", False),
        ("", False),
    ],
)
def test_licences_that_bind_those_who_use_us_need_a_reason(licence: str, is_fine: bool) -> None:
    assert is_accepted("somebody", licence) is is_fine


def test_a_package_that_was_looked_at_by_hand_is_accepted() -> None:
    assert is_accepted("psycopg", "LGPL-3.0-only")
    assert is_accepted("nvidia-cublas", "LicenseRef-NVIDIA-Proprietary")


class Pypi(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        weak = self.path == "/pypi/weak/1.0/json"
        known = [{"id": "PYSEC-1", "fixed_in": ["1.1"]}, {"id": "PYSEC-2", "fixed_in": [], "withdrawn": "2026"}]
        body = json.dumps({"vulnerabilities": known if weak else []}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@pytest.fixture
def pypi() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Pypi) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


PINS = [Pin(name=name, version="1.0", has_hash=True) for name in ("fine", "weak")]


def test_an_advisory_that_stands_is_named_with_the_release_that_mends_it(pypi: str) -> None:
    assert advisories(PINS, pypi) == (
        ["weak==1.0: PYSEC-1, mended in 1.1."],
        "Advisories: 2 pins were looked up.",
    )


def test_without_a_source_of_advisories_a_sentence_says_so(pypi: str) -> None:
    found, note = advisories(PINS, "http://127.0.0.1:9")

    assert found == []
    assert note.startswith("Advisories: 0 of 2 pins were looked up, then http://127.0.0.1:9 gave none: ")
