"""The router as a process: started, found again, told, asked, ended."""

import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from resolute.domain.errors import Unavailable
from resolute.domain.routing import RoutedDeployment, RoutedReplica, RoutedRevision, RoutingTable
from resolute.host.process_identity import ProcessIdentity
from resolute.serving.router.process import RouterProcess

TABLE = RoutingTable(version=7, deployments=(RoutedDeployment(id=3, name="echo", wait_s=0.05),))


@pytest.fixture
def router(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RouterProcess]:
    monkeypatch.setattr("resolute.serving.router.process._LEAVE_WITHIN_S", 2.0)
    router = RouterProcess(home=tmp_path)
    yield router
    router.stop()


def test_it_starts_once_and_follows_its_table(router: RouterProcess) -> None:
    router.ensure()
    url = router.url

    router.publish(TABLE)
    router.ensure()
    counts = router.counts()

    assert router.url == url
    assert counts is not None
    assert (counts.version, list(counts.deployments)) == (7, [3])
    assert router.published() == TABLE


def test_the_next_master_finds_it(router: RouterProcess, tmp_path: Path) -> None:
    router.publish(TABLE)
    router.ensure()

    successor = RouterProcess(home=tmp_path)
    successor.ensure()

    assert successor.url == router.url
    assert successor.forward_token == router.forward_token
    assert successor.published() == TABLE


def test_a_request_that_waits_is_told_at_once(router: RouterProcess) -> None:
    router.publish(TABLE)
    router.ensure()
    started = time.monotonic()

    refused = httpx.post(f"{router.url}/serving/echo/v1", json={})
    counts = router.counts(wait_s=5.0)

    assert refused.status_code == 503
    assert time.monotonic() - started < 4.0
    assert counts is not None
    assert counts.deployments[3].asked == 1


def pid_of(router: RouterProcess, who: str = "router") -> int:
    return int(json.loads((router._folder / f"{who}.json").read_text())["pid"])


def until(is_so: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < ends_at
        time.sleep(0.01)


def test_one_that_was_killed_comes_back_at_its_port_by_itself(router: RouterProcess) -> None:
    router.publish(TABLE)
    router.ensure()
    url, killed = router.url, pid_of(router)

    os.kill(killed, signal.SIGKILL)
    # Who comes meanwhile waits for the next one instead of being refused.
    answer = httpx.get(f"{url}/healthz", timeout=20)
    until(lambda: pid_of(router) != killed)
    counts = router.counts()

    assert answer.status_code == 200
    assert router.url == url
    assert counts is not None
    assert counts.version == 7


def test_it_comes_back_as_often_as_it_is_killed(router: RouterProcess) -> None:
    router.ensure()
    seen = []
    for _ in range(3):
        seen.append(pid_of(router))
        os.kill(seen[-1], signal.SIGKILL)
        assert httpx.get(f"{router.url}/healthz", timeout=20).status_code == 200
        until(lambda: pid_of(router) != seen[-1])

    assert len(set(seen)) == 3


def test_without_its_supervisor_it_serves_on_and_the_next_look_gives_it_another_one(router: RouterProcess) -> None:
    router.ensure()
    url, serving, killed = router.url, pid_of(router), pid_of(router, "supervisor")

    os.kill(killed, signal.SIGKILL)
    alone = httpx.get(f"{url}/healthz").status_code
    until(lambda: not ProcessIdentity(killed, router._supervisor_state()["started"]).is_alive)  # type: ignore[index]
    router.ensure()
    until(lambda: pid_of(router, "supervisor") != killed)
    adopted = pid_of(router)
    os.kill(adopted, signal.SIGKILL)
    until(lambda: pid_of(router) != adopted)

    assert (alone, adopted) == (200, serving)
    assert router.url == url
    assert httpx.get(f"{url}/healthz", timeout=20).status_code == 200


def test_when_both_were_killed_the_next_look_starts_both_at_the_same_port(router: RouterProcess) -> None:
    router.ensure()
    url = router.url
    both = [router._identity(router._supervisor_state()), router._identity(router._state())]
    for each in both:
        os.kill(each.pid, signal.SIGKILL)
    until(lambda: router._reap() is None and not any(each.is_alive for each in both))

    router.ensure()

    assert router.url == url
    assert httpx.get(f"{url}/healthz").status_code == 200


def test_who_ends_it_ends_both(router: RouterProcess) -> None:
    router.ensure()
    both = [router._identity(router._state()), router._identity(router._supervisor_state())]
    assert all(each.is_alive for each in both)

    router.stop()

    assert not any(each.is_alive for each in both)
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{router.url}/healthz")


def test_one_that_is_adopted_is_ended_too(router: RouterProcess) -> None:
    router.ensure()
    os.kill(pid_of(router, "supervisor"), signal.SIGKILL)
    router._child.wait()  # type: ignore[union-attr]
    router.ensure()
    both = [router._identity(router._state()), router._identity(router._supervisor_state())]
    assert all(each.is_alive for each in both)

    router.stop()

    assert not any(each.is_alive for each in both)


def test_one_that_hangs_is_replaced_behind_the_same_socket(router: RouterProcess) -> None:
    router.ensure()
    url, hung = router.url, pid_of(router)
    os.kill(hung, signal.SIGSTOP)

    router.restart()

    assert pid_of(router) != hung
    assert router.url == url
    assert httpx.get(f"{url}/healthz", timeout=20).status_code == 200


def test_a_port_that_is_taken_is_left_to_its_owner(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as owner:
        taken = owner.getsockname()[1]
        router = RouterProcess(home=tmp_path, port=taken)

        router.ensure()
        url = router.url
        router.stop()

    assert url
    assert not url.endswith(f":{taken}")


def test_without_a_router_there_are_no_counts_and_no_address(tmp_path: Path) -> None:
    router = RouterProcess(home=tmp_path)

    assert router.counts() is None
    assert (router.url, router.forward_token, router.published()) == ("", "", None)
    router.stop()


def test_one_that_cannot_start_says_where_to_look(tmp_path: Path) -> None:
    router = RouterProcess(home=tmp_path, host="192.0.2.1")

    with pytest.raises(Unavailable, match=r"router\.log"):
        router.ensure()

    assert "cannot listen on 192.0.2.1" in (tmp_path / "router" / "router.log").read_text()


def test_a_table_that_cannot_be_read_changes_nothing(router: RouterProcess, tmp_path: Path) -> None:
    router.publish(TABLE)
    router.ensure()

    (tmp_path / "router" / "table.json").write_text("{half")
    router._ask("POST", "/reload", timeout_s=2)
    counts = router.counts()

    assert counts is not None
    assert counts.version == 7


@pytest.mark.parametrize("address", ["localhost", "x", "127.0.0.1:99999", "127.0.0.1:80\r\nX: y", ""])
def test_a_bad_address_leaves_out_one_replica_and_stops_nobody(
    router: RouterProcess, tmp_path: Path, address: str
) -> None:
    bad = RoutedRevision(number=1, replicas=(RoutedReplica(id="bad", address=address),))
    broken = RoutedDeployment(id=1, name="broken", split=((1, 100.0),), revisions=(bad,), wait_s=0.05)
    later = RoutedDeployment(id=2, name="later", wait_s=0.05)

    router.publish(RoutingTable(version=1, deployments=(broken,)))
    router.ensure()
    router.publish(RoutingTable(version=2, deployments=(broken, later)))
    counts = router.counts()

    assert counts is not None
    assert (counts.version, list(counts.deployments)) == (2, [1, 2])
    assert "Replica bad of broken is left out" in (tmp_path / "router" / "router.log").read_text()


def test_the_back_door_needs_the_token(router: RouterProcess) -> None:
    router.ensure()
    state = router._state()
    assert state is not None

    answer = httpx.get(f"http://127.0.0.1:{state['control_port']}/counts", headers={"Authorization": "Bearer x"})

    assert answer.status_code == 401
    assert (os.stat(router._folder / "router.json").st_mode & 0o077) == 0
