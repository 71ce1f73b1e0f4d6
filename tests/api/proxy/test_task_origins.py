"""Tasks on origins of their own: a browser is led there, signed in for that task alone, and nothing else is there."""

from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest


@pytest.fixture
def app_options() -> dict[str, Any]:
    return {"task_domain": "tasks.example", "allowed_hosts": ("train.example",)}


class Browser:
    """Names are looked up nowhere: every host is the master."""

    def __init__(self, world: Any) -> None:
        self._world = world

    def ask(self, method: str, url: str, cookie: str = "", **headers: str) -> httpx.Response:
        parts = urlsplit(url)
        address = f"{self._world.url}{parts.path}" + (f"?{parts.query}" if parts.query else "")
        given = {"Host": parts.netloc, **({"Cookie": cookie} if cookie else {}), **headers}
        return httpx.request(method, address, headers=given, timeout=20)


@pytest.fixture
def browser(world: Any) -> Browser:
    return Browser(world)


def way_in(world: Any, browser: Browser, task: str) -> str:
    """Where the platform leads a browser that is signed in."""
    url = f"http://train.example:{world.served.port}/proxy/{task}/lab?a=b"
    led = browser.ask("GET", url, f"auth={world.token}")
    assert led.status_code == 302
    return str(led.headers["location"])


def test_a_browser_is_led_to_the_tasks_own_origin_and_signed_in_there(
    world: Any, behind: Any, task: str, browser: Browser
) -> None:
    there = way_in(world, browser, task)
    entered = browser.ask("GET", there)
    cookie = entered.headers["set-cookie"]
    page = f"http://{urlsplit(there).netloc}{entered.headers['location']}"
    answer = browser.ask("GET", page, cookie.partition(";")[0] + "; own=1")

    assert urlsplit(there).netloc == f"{task}.tasks.example:{world.served.port}"
    assert (entered.status_code, entered.headers["location"]) == (303, f"/proxy/{task}/lab?a=b")
    assert "HttpOnly" in cookie
    assert f"Path=/proxy/{task}/" in cookie
    assert world.token not in cookie
    assert answer.text == "hello from the task"
    (seen,) = behind.seen
    assert seen.values("cookie") == ["own=1"]


def test_a_way_in_is_good_once_and_for_its_task_alone(world: Any, behind: Any, task: str, browser: Browser) -> None:
    other = world.start(behind.served.address)
    there = way_in(world, browser, task)

    elsewhere = browser.ask("GET", there.replace(task, other))
    again = way_in(world, browser, task)
    first, second = browser.ask("GET", again), browser.ask("GET", again)

    assert [each.status_code for each in (elsewhere, first, second)] == [401, 303, 401]


def test_the_cookie_of_a_task_opens_no_other_and_ends_with_the_session(
    world: Any, behind: Any, task: str, browser: Browser
) -> None:
    other = world.start(behind.served.address)
    there = way_in(world, browser, task)
    origin = f"http://{urlsplit(there).netloc}"
    cookie = browser.ask("GET", there).headers["set-cookie"].partition(";")[0]

    of_other = browser.ask("GET", origin.replace(task, other) + f"/proxy/{other}/", cookie)
    crossed = browser.ask("GET", f"{origin}/proxy/{other}/", cookie)
    httpx.post(f"{world.url}/api/v1/auth/logout", headers=dict(world.http.headers))
    after = browser.ask("GET", f"{origin}/proxy/{task}/", cookie)

    assert [each.status_code for each in (of_other, crossed, after)] == [401, 404, 401]
    assert behind.seen == []


@pytest.mark.parametrize("path", ["/", "/det/", "/api/v1/me", "/info", "/proxy/other/", "/api/v1/auth/login"])
def test_nothing_but_the_task_is_served_at_its_origin(world: Any, task: str, browser: Browser, path: str) -> None:
    url = f"http://{task}.tasks.example:{world.served.port}{path}"

    answer = browser.ask("GET", url, f"auth={world.token}", Authorization=f"Bearer {world.token}")

    assert answer.status_code == 404
    assert "Nothing else is served here" in answer.text


def test_at_the_platforms_own_address_a_cookie_changes_nothing_of_a_task(
    world: Any, behind: Any, task: str, browser: Browser
) -> None:
    url = f"http://train.example:{world.served.port}/proxy/{task}/"
    origin = f"http://train.example:{world.served.port}"

    by_page = browser.ask("POST", url, f"auth={world.token}", Origin=origin)
    by_token = browser.ask("POST", url, Authorization=f"Bearer {world.token}")

    assert (by_page.status_code, by_token.status_code, len(behind.seen)) == (403, 200, 1)
