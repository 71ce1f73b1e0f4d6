"""Five hundred ways to lead a request elsewhere, to learn who is calling, or to set something for the platform."""

from itertools import product

import pytest

from resolute.domain.errors import InvalidInput
from resolute.domain.listening import check_address
from resolute.server.proxy.headers import (
    Visit,
    check_path,
    check_query,
    cookie_from_task,
    cookies_of_task,
    location_from_task,
    to_browser,
    to_task,
)

TOKEN = "s3cr3t-t0k3n"
VISIT = Visit(task_id="t1", host="train.example:8080", scheme="https", client="10.1.2.3", tokens=(TOKEN,))

# ------------------------------------------------------------------------------------- where a task says it listens

_HOSTS = (
    *("169.254.169.254", "10.0.0.8", "0.0.0.0", "8.8.8.8", "192.168.0.1", "[::]", "[fe80::1]", "[::ffff:10.0.0.8]"),
    *(
        "metadata.google.internal",
        "evil.example",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "127.0.0.1.nip.io",
    ),
    *(
        "127.0.0.1@evil.example",
        "evil.example#127.0.0.1",
        "127.0.0.1\r\nX: y",
        "127.0.0.1 evil",
        "",
        "[127.0.0.1",
        "::1",
    ),
    *(
        "http://127.0.0.1",
        "//127.0.0.1",
        "127.0.0.1/..",
        "127.0.0.1%2f",
        "127.0.0.1\x00",
        "１２７.0.0.1",
        "localhost.evil",
    ),
)
_PORTS = ("80", "8888")
_BAD_PORTS = ("", "0", "65536", "-1", "+80", "8_0", "8080", "80 ", "٨٠", "80\r\n", "1e3", "0x50", "99999999")
ADDRESSES = [f"{host}:{port}" for host, port in product(_HOSTS, _PORTS)] + [f"127.0.0.1:{port}" for port in _BAD_PORTS]


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_task_leads_requests_nowhere_but_to_itself(address: str) -> None:
    with pytest.raises(InvalidInput):
        check_address(address, node_addresses=("127.0.0.1",), taken_ports={8080})


# ----------------------------------------------------------------------------------------------- paths and queries

_STEPS = (
    "..",
    ".",
    "%2e%2e",
    "%2E.",
    ".%2e",
    "%2e",
    "..%2f..",
    "%2e%2e%2f",
    "a%2f..%2fb",
    "..%5c",
    "\\",
    "%5c",
    "a%00b",
)
_PATHS = [f"/proxy/t1/{place}" for step in _STEPS for place in (step, f"{step}/api/v1/me", f"a/{step}", f"a/{step}/b")]
_OTHERS = (
    *("/proxy/t2/a", "/proxy/t1%2f../t2/", "/proxy/%74%31/a", "/proxy//t1/a", "//evil.example/proxy/t1/", "/proxy/t1"),
    *(
        "/proxy/T1/a",
        "/proxy/t1;x/a",
        "http://evil.example/proxy/t1/a",
        "/proxy/t1/a b",
        "/proxy/t1/a\tb",
        "/proxy/t1/\xff",
    ),
    *(
        "/proxy/t1/a#b",
        "/proxy/t1/a%0d%0aX:y",
        "/proxy/t1/a%0Ab",
        "proxy/t1/a",
        "",
        "*",
        "/proxy/t1/a\r\nX: y",
        "/proxy/t1/\x7f",
    ),
)


@pytest.mark.parametrize("path", [*_PATHS, *_OTHERS])
def test_a_path_that_two_readers_could_take_differently_is_refused(path: str) -> None:
    with pytest.raises(InvalidInput, match="is refused"):
        check_path(path.encode("latin-1"), "t1")


@pytest.mark.parametrize(
    "path", ["lab", "api/contents/a%20b", "100%25", "a%2Fb", "static/~x/(1)/@a:b", "a//b", "..a/b..", "%E2%82%AC"]
)
def test_a_path_that_everybody_reads_alike_goes_on_as_it_came(path: str) -> None:
    raw = f"/proxy/t1/{path}".encode()

    assert check_path(raw, "t1") == raw


@pytest.mark.parametrize("query", [b"a b", b"a\r\nX: y", b"a#b", b"\xff", b"a\x00"])
def test_a_query_that_breaks_a_request_line_is_refused(query: bytes) -> None:
    with pytest.raises(InvalidInput):
        check_query(query)


# ------------------------------------------------------------------------------------------- what the task gets

_SECRETS = (
    *("Authorization", "Proxy-Authorization", "Grpc-Metadata-x-user-token", "Grpc-Metadata-x-allocation-token"),
    *("Grpc-Metadata-anything", "X-Resolute-Forwarded", "Forwarded", "X-Real-IP"),
)
_VALUES = (f"Bearer {TOKEN}", TOKEN, f"bearer  {TOKEN}", f"Basic {TOKEN}", f'"{TOKEN}"', "")
_SPELLINGS = (str.lower, str.upper, str.title, lambda name: name.replace("-", "_"))
SECRETS = [(spell(name), value) for name, value, spell in product(_SECRETS, _VALUES, _SPELLINGS)]


@pytest.mark.parametrize(("name", "value"), SECRETS)
def test_what_proves_a_visitor_stays_here(name: str, value: str) -> None:
    sent = to_task([(name.encode(), value.encode())], VISIT)

    assert {key for key, _ in sent} == {b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host"}
    assert TOKEN not in str(sent)


_HOPS = (
    *("connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "host"),
    *(
        "content-length",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
        "x_forwarded_for",
        "http2-settings",
    ),
)


@pytest.mark.parametrize("name", _HOPS)
def test_what_frames_a_message_or_says_where_it_is_from_is_said_anew(name: str) -> None:
    sent = dict(to_task([(name.encode(), b"chunked, 6.6.6.6")], VISIT))

    assert b"chunked, 6.6.6.6" not in sent.values()
    assert sent[b"x-forwarded-for"] == b"10.1.2.3"


@pytest.mark.parametrize("named", ["x-secret", "X-Secret", "close, X-SECRET", "x-secret,,", " x-secret ,keep-alive"])
def test_headers_for_this_hop_end_here(named: str) -> None:
    sent = to_task([(b"Connection", named.encode()), (b"X-Secret", b"1"), (b"X-Kept", b"2")], VISIT)

    assert (b"x-kept", b"2") in sent
    assert b"x-secret" not in dict(sent)


_COOKIE_PLACES = ("{}", "a=1; {}", "{}; a=1", "a=1; {}; b=2", "a=1;{};b=2", " {} ;a=1", "a=1; {}; {}")
_COOKIES = (
    f"auth={TOKEN}",
    f"AUTH={TOKEN}",
    f"auth ={TOKEN}",
    f'"auth"={TOKEN}',
    "resolute_task=x.y",
    f"other={TOKEN}",
    TOKEN,
)


@pytest.mark.parametrize(("place", "cookie"), list(product(_COOKIE_PLACES, _COOKIES)))
def test_the_platforms_cookies_stay_here_and_the_tasks_own_go_on(place: str, cookie: str) -> None:
    kept = cookies_of_task(place.replace("{}", cookie), (TOKEN,))

    assert TOKEN not in kept
    assert "resolute_task" not in kept
    assert kept.split("; ") == [pair for pair in ("a=1", "b=2") if pair in place] or kept == ""


# --------------------------------------------------------------------------------------- what browsers are told


@pytest.mark.parametrize(
    "cookie",
    [
        f"{name}=x{rest}"
        for name in ("auth", "Auth", "AUTH", "resolute_task", "__Host-a", "__Secure-a", "__host-a", "a b", "")
        for rest in ("", "; Path=/", "; Path=/proxy/t1/")
    ]
    + ["no-value", "=x; Path=/"],
)
def test_a_task_sets_no_cookie_of_the_platforms(cookie: str) -> None:
    assert cookie_from_task(cookie, VISIT) is None


_PATHS_OF_COOKIES = (
    "/",
    "",
    "/api",
    "/proxy",
    "/proxy/",
    "/proxy/t2/",
    "/proxy/t1/../",
    "/proxy/t10/",
    "relative",
    "/proxy/t1/\x01",
)


@pytest.mark.parametrize(
    ("path", "domain"), list(product(_PATHS_OF_COOKIES, ("", "; Domain=example", "; domain=.train.example")))
)
def test_a_cookie_of_a_task_goes_to_that_task_alone(path: str, domain: str) -> None:
    assert cookie_from_task(f"a=1; Path={path}{domain}; HttpOnly", VISIT) == "a=1; HttpOnly; Path=/proxy/t1/; Secure"


@pytest.mark.parametrize(
    "location",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "ftp://x",
        "http://[",
        "/\\evil.example",
        "\\\\evil",
        "http://a\x00b",
        "ws://x",
        "vbscript:x",
    ],
)
def test_a_task_leads_nowhere_that_is_no_page(location: str) -> None:
    assert location_from_task(location, VISIT, "127.0.0.1:4000") is None


@pytest.mark.parametrize("host", ["127.0.0.1:4000", "train.example:8080", "TRAIN.example:8080"])
@pytest.mark.parametrize(
    ("path", "wanted"), [("/proxy/t1/lab?a=b#c", "/proxy/t1/lab?a=b#c"), ("", "/"), ("//evil.example", "/evil.example")]
)
def test_a_task_that_names_its_own_address_means_its_path(host: str, path: str, wanted: str) -> None:
    assert location_from_task(f"http://{host}{path}", VISIT, "127.0.0.1:4000") == wanted


_KEPT_FROM_BROWSERS = (
    *("service-worker-allowed", "clear-site-data", "strict-transport-security", "alt-svc", "nel", "report-to"),
    *("reporting-endpoints", "www-authenticate", "access-control-allow-origin", "access-control-allow-credentials"),
    *(
        "connection",
        "keep-alive",
        "transfer-encoding",
        "upgrade",
        "trailer",
        "proxy-authenticate",
        "refresh",
        "set-cookie2",
    ),
    *("referrer-policy", "x-resolute-anything", "grpc-metadata-anything", "sec-websocket-accept"),
)


@pytest.mark.parametrize("name", [*_KEPT_FROM_BROWSERS, *map(str.title, _KEPT_FROM_BROWSERS)])
def test_what_would_rule_the_platforms_pages_is_not_passed_on(name: str) -> None:
    assert to_browser([(name.encode(), b"/"), (b"content-type", b"text/html")], VISIT, "") == [
        (b"content-type", b"text/html")
    ]


def test_there_are_as_many_cases_as_promised() -> None:
    cookies = len(_COOKIE_PLACES) * len(_COOKIES)
    answers = 29 + 3 * len(_PATHS_OF_COOKIES) + 10 + 2 * len(_KEPT_FROM_BROWSERS)

    assert len(ADDRESSES) + len(_PATHS) + len(_OTHERS) + len(SECRETS) + len(_HOPS) + cookies + answers >= 500
