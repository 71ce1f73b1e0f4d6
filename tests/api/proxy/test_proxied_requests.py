"""Requests to a task through the master: as they were sent, to that task alone, for those who may use it."""

import asyncio
import re
import socket
import threading
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from resolute.domain.task import TaskType
from resolute.engine.jobs.allocations import set_proxy_address
from resolute.engine.jobs.fencing import allocation_token, secret_of


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_every_method_reaches_the_task_with_its_path_query_and_body(
    world: Any, behind: Any, task: str, method: str
) -> None:
    target = f"/proxy/{task}/api/contents/a%20b%25%2Fc?x=1&y=%2F%20&snake_case=2"

    answer = world.http.request(method, target, content=b"" if method == "GET" else b"body")

    (seen,) = behind.seen
    assert (answer.status_code, answer.text) == (200, "hello from the task")
    assert (seen.method, seen.path + b"?" + seen.query) == (method, target.encode())
    assert seen.body == (b"" if method == "GET" else b"body")


def test_without_a_token_nothing_is_told_of_any_task(world: Any, behind: Any, task: str) -> None:
    known = httpx.get(f"{world.url}/proxy/{task}/")
    unknown = httpx.get(f"{world.url}/proxy/nobody-knows/")

    assert (known.status_code, known.text) == (unknown.status_code, unknown.text)
    assert known.status_code == 401
    assert behind.seen == []


@pytest.mark.parametrize("path", ["/proxy/{}/lab?token=a%2Fb&c", "/proxy/{}", "/det/interactive/{}/lab"])
def test_a_browser_that_is_not_signed_in_is_led_to_the_sign_in_page_and_back(
    world: Any, behind: Any, task: str, path: str
) -> None:
    asked = path.format(task)

    answer = httpx.get(f"{world.url}{asked}", headers={"Accept": "text/html,*/*;q=0.8", "Sec-Fetch-Mode": "navigate"})

    leads_to = urlsplit(answer.headers["location"])
    assert (answer.status_code, leads_to.netloc, leads_to.path) == (302, "", "/det/signin")
    assert parse_qs(leads_to.query) == {"next": [asked]}
    assert behind.seen == []


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("GET", {"Accept": "application/json"}),
        ("GET", {"Accept": "text/html", "Sec-Fetch-Mode": "cors"}),
        ("GET", {"Accept": "text/html", "Authorization": "Bearer wrong"}),
        ("POST", {"Accept": "text/html"}),
    ],
)
def test_programs_and_scripts_that_are_not_signed_in_are_told_so(
    world: Any, task: str, method: str, headers: dict[str, str]
) -> None:
    answer = httpx.request(method, f"{world.url}/proxy/{task}/", headers=headers)

    assert answer.status_code == 401


def test_a_page_above_the_tasks_own_leads_to_it(world: Any, behind: Any, task: str) -> None:
    answer = world.http.get(f"/proxy/{task}?a=b")

    assert (answer.status_code, answer.headers["location"]) == (307, f"/proxy/{task}/?a=b")


@pytest.mark.parametrize(
    ("type", "sentence"),
    [(TaskType.COMMAND, "Nothing of task .* is reached through /proxy"), (TaskType.SHELL, "has no pages")],
)
def test_a_task_without_pages_says_so(world: Any, behind: Any, type: TaskType, sentence: str) -> None:
    task = world.start(behind.served.address if type is TaskType.SHELL else "", type)

    answer = world.http.get(f"/proxy/{task}/")

    assert answer.status_code == 404
    assert re.search(sentence, answer.json()["error"]["error"])


def test_a_task_that_does_not_listen_yet_says_so(world: Any) -> None:
    task = world.start("", is_ready=False)

    answer = world.http.get(f"/proxy/{task}/")

    assert (answer.status_code, "does not listen yet" in answer.text) == (503, True)


def test_a_task_that_takes_no_connections_says_so(world: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    task = world.start(f"127.0.0.1:{port}")

    answer = world.http.get(f"/proxy/{task}/")

    assert (answer.status_code, "does not take connections at" in answer.text) == (503, True)


def test_a_task_that_has_ended_is_not_reached_any_more(world: Any, behind: Any, task: str) -> None:
    world.platform.runner.finish(world.allocation(task), 0)
    world.tick()

    answer = world.http.get(f"/proxy/{task}/")

    assert (answer.status_code, "has ended" in answer.text, behind.seen) == (404, True, [])


def test_a_tasks_token_opens_no_task(world: Any, behind: Any, task: str) -> None:
    with world.platform.store.read() as tx:
        token = allocation_token(secret_of(tx), world.allocation(task))

    answer = httpx.get(f"{world.url}/proxy/{task}/", headers={"Grpc-Metadata-x-allocation-token": f"Bearer {token}"})

    assert (answer.status_code, behind.seen) == (403, [])


def test_redirects_are_not_followed_and_lead_back_to_the_platform(world: Any, behind: Any, task: str) -> None:
    behind.status = 302
    behind.headers = [(b"location", f"http://{behind.served.address}/proxy/{task}/lab?x=1".encode())]

    answer = world.http.get(f"/proxy/{task}/")

    assert (answer.status_code, answer.headers["location"]) == (302, f"/proxy/{task}/lab?x=1")
    assert len(behind.seen) == 1


def test_the_task_learns_nothing_that_proves_its_visitor(world: Any, behind: Any, task: str) -> None:
    world.http.get(
        f"/proxy/{task}/",
        headers={
            "Cookie": f"auth={world.token}; _xsrf=1; AUTH={world.token}; other={world.token}",
            "Grpc-Metadata-x-user-token": world.token,
            "Grpc_Metadata_x_user_token": world.token,
            "X-Forwarded-For": "6.6.6.6",
            "Connection": "keep-alive, x-secret",
            "X-Secret": "for this hop",
        },
    )

    (seen,) = behind.seen
    assert world.token not in str(seen.headers)
    assert seen.values("cookie") == ["_xsrf=1"]
    assert seen.values("x-secret") == []
    assert seen.values("x-forwarded-for") == ["127.0.0.1"]
    assert seen.values("host") == [world.served.address]


def test_the_task_sets_cookies_below_its_own_path_alone(world: Any, behind: Any, task: str) -> None:
    behind.headers = [
        (b"set-cookie", b"auth=stolen; Path=/"),
        (b"set-cookie", b"_xsrf=2; Domain=example.org; Path=/; HttpOnly"),
        (b"set-cookie", f"mine=3; Path=/proxy/{task}/lab; Max-Age=5".encode()),
        (b"service-worker-allowed", b"/"),
        (b"clear-site-data", b'"*"'),
        (b"content-security-policy", b"default-src 'self'"),
    ]

    answer = world.http.get(f"/proxy/{task}/")

    assert answer.headers.get_list("set-cookie") == [
        f"_xsrf=2; HttpOnly; Path=/proxy/{task}/",
        f"mine=3; Max-Age=5; Path=/proxy/{task}/lab",
    ]
    assert not {"service-worker-allowed", "clear-site-data"} & set(answer.headers)
    assert answer.headers.get_list("content-security-policy") == ["default-src 'self'", "frame-ancestors 'self'"]


def test_a_cookie_opens_a_task_for_pages_of_the_platform_alone(world: Any, behind: Any, task: str) -> None:
    cookie = {"Cookie": f"auth={world.token}"}
    url = f"{world.url}/proxy/{task}/"

    own = httpx.post(url, headers={**cookie, "Origin": world.url})
    foreign = httpx.post(url, headers={**cookie, "Origin": "http://evil.example"})
    silent = httpx.post(url, headers=cookie)
    looking = httpx.get(url, headers=cookie)

    assert [each.status_code for each in (own, foreign, silent, looking)] == [200, 403, 403, 200]


def test_a_page_of_a_task_changes_nothing_of_the_platform_with_the_users_cookie(world: Any, task: str) -> None:
    browser = {"Cookie": f"auth={world.token}", "Origin": world.url, "Sec-Fetch-Site": "same-origin"}
    url = f"{world.url}/api/v1/auth/logout"

    by_task = httpx.post(url, headers={**browser, "Referer": f"{world.url}/proxy/{task}/lab"})
    hidden = httpx.post(url, headers=browser)
    by_platform = httpx.post(url, headers={**browser, "Referer": f"{world.url}/det/experiments"})

    assert [each.status_code for each in (by_task, hidden, by_platform)] == [403, 403, 200]


def test_use_is_remembered_for_whoever_stops_idle_tasks(world: Any, behind: Any, task: str) -> None:
    during: list[int] = []

    async def respond(scope: Any, receive: Any, send: Any) -> None:
        during.append(world.platform.visits.open_connections(task))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    behind.respond = respond
    before = world.platform.visits.last_activity(task)
    world.http.get(f"/proxy/{task}/")

    assert (before, world.platform.visits.last_activity(task)) == (None, world.clock.now)
    assert during == [1]


def test_a_task_that_moved_to_the_platforms_own_port_is_not_reached(world: Any, behind: Any, task: str) -> None:
    # The port is known only now that the master is up.
    object.__setattr__(world.platform.config, "own_ports", frozenset({world.served.port}))
    with world.platform.store.write() as tx:
        allocation = tx.allocations.get(world.allocation(task))
        tx.allocations.save(replace(allocation, proxy_address=world.served.address), expected=allocation.state)

    answer = world.http.get(f"/proxy/{task}/api/v1/me")

    assert (answer.status_code, "where the platform does" in answer.text) == (404, True)
    with pytest.raises(Exception, match="the platform's own"):
        set_proxy_address(world.platform, world.allocation(task), world.served.address)


# --------------------------------------------------------------------------------------------------------- streams


def test_an_answer_comes_as_the_task_writes_it(world: Any, behind: Any, task: str) -> None:
    go_on = threading.Event()

    async def respond(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        await send({"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True})
        await asyncio.to_thread(go_on.wait, 20)
        await send({"type": "http.response.body", "body": b"data: 2\n\n"})

    behind.respond = respond
    with world.http.stream("GET", f"/proxy/{task}/events") as answer:
        parts = answer.iter_raw()
        first = next(parts)
        go_on.set()
        rest = b"".join(parts)

    assert (first, rest) == (b"data: 1\n\n", b"data: 2\n\n")


def test_a_body_in_pieces_reaches_the_task_as_it_comes(world: Any, behind: Any, task: str) -> None:
    came = threading.Event()

    async def respond(scope: Any, receive: Any, send: Any) -> None:
        size, more = 0, True
        while more:
            message = await receive()
            size += len(message["body"])
            more = message["more_body"]
            came.set()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": str(size).encode()})

    def pieces() -> Any:
        yield b"a" * 1000
        assert came.wait(20), "the first piece waits for the last one"
        yield b"b" * 1000

    behind.respond = respond
    answer = world.http.post(f"/proxy/{task}/upload", content=pieces())

    assert answer.text == "2000"


def test_a_task_that_reads_slowly_slows_the_sender_down(world: Any, behind: Any, task: str) -> None:
    go_on, sent = threading.Event(), []

    async def respond(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.to_thread(go_on.wait, 30)
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body"})

    def pieces() -> Any:
        for number in range(256):
            sent.append(number)
            yield b"x" * 1024**2

    behind.respond = respond
    upload = threading.Thread(target=lambda: world.http.post(f"/proxy/{task}/upload", content=pieces()))
    upload.start()
    upload.join(2)  # systems hold some tens of MB on the way
    while_stuck = len(sent)
    go_on.set()
    upload.join(30)

    assert while_stuck < 200
    assert len(sent) == 256


def test_the_task_is_let_go_of_when_the_client_has_gone(world: Any, behind: Any, task: str) -> None:
    began, gone = threading.Event(), threading.Event()

    async def respond(scope: Any, receive: Any, send: Any) -> None:
        began.set()
        while (await receive())["type"] != "http.disconnect":
            pass
        gone.set()

    behind.respond = respond
    who = f"Host: {world.served.address}\r\nAuthorization: Bearer {world.token}"
    head = f"GET /proxy/{task}/slow HTTP/1.1\r\n{who}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", world.served.port)) as client:
        client.sendall(head.encode())
        assert began.wait(20)

    assert gone.wait(20)


def test_an_answer_that_breaks_off_does_not_look_whole(world: Any, behind: Any, task: str) -> None:
    async def respond(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})

    behind.respond = respond
    with pytest.raises(httpx.RemoteProtocolError):
        world.http.get(f"/proxy/{task}/")


def test_a_body_that_is_too_large_is_refused_before_it_is_sent(world: Any, behind: Any, task: str) -> None:
    head = (
        f"PUT /proxy/{task}/x HTTP/1.1\r\nHost: {world.served.address}\r\nAuthorization: Bearer {world.token}\r\n"
        f"Content-Length: {3 * 1024**3}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", world.served.port)) as client:
        client.sendall(head.encode())
        answer = client.recv(1 << 16)

    assert (b"413" in answer.split(b"\r\n")[0], behind.seen) == (True, [])


def test_a_stream_ends_with_the_session_that_opened_it(world: Any, behind: Any, task: str) -> None:
    go_on = threading.Event()

    async def respond(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"1", "more_body": True})
        await asyncio.to_thread(go_on.wait, 20)
        await send({"type": "http.response.body", "body": b"2", "more_body": True})
        await send({"type": "http.response.body", "body": b"3"})

    behind.respond = respond
    with world.http.stream("GET", f"/proxy/{task}/") as answer:
        parts = answer.iter_raw()
        first = next(parts)
        assert httpx.post(f"{world.url}/api/v1/auth/logout", headers=dict(world.http.headers)).status_code == 200
        go_on.set()
        rest = b"".join(parts)

    assert (first, rest) == (b"1", b"")


def test_the_key_that_a_notebooks_page_shows_is_not_taken_for_the_platforms(world: Any, behind: Any, task: str) -> None:
    shown = {"Cookie": f"auth={world.token}; _xsrf=1", "Authorization": "token of-jupyter"}

    signed_in = httpx.get(f"{world.url}/proxy/{task}/api/kernels", headers=shown)
    stranger = httpx.get(f"{world.url}/proxy/{task}/api/kernels", headers={"Authorization": "token of-jupyter"})

    assert (signed_in.status_code, stranger.status_code, len(behind.seen)) == (200, 401, 1)
