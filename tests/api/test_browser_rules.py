"""What answers tell a browser: which scripts may run, and that data is never a page of ours."""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient


def policy_of(answer: Any) -> dict[str, str]:
    parts = (part.strip().partition(" ") for part in answer.headers["content-security-policy"].split(";"))
    return {name: value for name, _, value in parts}


@pytest.mark.parametrize("path", ["/det/", "/det/experiments/3"])
def test_a_page_runs_only_scripts_and_styles_of_its_own_build(nobody: Any, path: str) -> None:
    policy = policy_of(nobody.client.get(path))

    assert policy["default-src"] == "'none'"
    assert (policy["script-src"], policy["style-src"], policy["connect-src"]) == ("'self'", "'self'", "'self'")
    assert (policy["object-src"], policy["base-uri"], policy["frame-ancestors"]) == ("'none'", "'none'", "'self'")


@pytest.mark.parametrize("path", ["/", "/info", "/api/v1/me", "/api/v1/teapots", "/favicon.ico", "/detours"])
def test_whatever_is_no_page_is_sandboxed(nobody: Any, path: str) -> None:
    policy = policy_of(nobody.client.get(path, follow_redirects=False))

    assert "sandbox" in policy
    assert policy["default-src"] == "'none'"


@pytest.mark.parametrize("headers", [{}, {"Host": "evil.example"}, {"Origin": "https://evil.example"}])
def test_every_answer_is_read_as_what_it_says_it_is(nobody: Any, headers: dict[str, str]) -> None:
    answer = nobody.client.get("/info", headers=headers)

    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"


def test_an_uploaded_page_is_a_download_without_rights(api: Any) -> None:
    uuid = api.running().checkpoint(1, {"page.html": b"<script>1</script>"})

    answer = api.client.get(f"/api/v1/checkpoints/{uuid}/file", params={"path": "page.html"}, headers=api.headers)

    assert answer.headers["content-disposition"] == "attachment"
    assert "sandbox" in policy_of(answer)


@pytest.fixture
def signed_in(nobody: Any) -> Iterator[TestClient]:
    """A browser's view: the cookie and nothing else."""
    nobody.client.post("/api/v1/auth/login", json={"username": "admin", "password": ""})
    yield nobody.client
    nobody.client.cookies.clear()


@pytest.mark.parametrize("origin", ["https://evil.example", "http://testserver:81", "null"])
def test_a_foreign_page_cannot_use_the_cookie(signed_in: TestClient, origin: str) -> None:
    answer = signed_in.post("/api/v1/auth/logout", headers={"Origin": origin, "Host": "localhost"})

    assert answer.status_code == 403
    assert signed_in.get("/api/v1/me").json()["user"]["username"] == "admin"


def test_the_cookie_alone_signs_in_and_signing_out_ends_it(signed_in: TestClient) -> None:
    cookie = signed_in.cookies["auth"]

    origin = str(signed_in.base_url).rstrip("/")
    answer = signed_in.post("/api/v1/auth/logout", headers={"Origin": origin, "Referer": f"{origin}/det/"})

    assert answer.status_code == 200
    assert "auth" not in signed_in.cookies
    assert signed_in.get("/api/v1/me", headers={"Cookie": f"auth={cookie}"}).status_code == 401
