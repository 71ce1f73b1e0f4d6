"""READY means that it answers: who only says so gets no request, and does not stay."""

import threading
from dataclasses import replace
from typing import Any

import pytest

from resolute.domain.deployment import RevisionState, Scaling, Serving
from resolute.engine.deployments import deployments as engine
from resolute.engine.deployments.proofs import Proofs
from resolute.engine.deployments.replicas import seen_by_router
from resolute.engine.deployments.rollouts import Rollouts
from resolute.serving.router.process import RouterProcess

NO_ANSWER = "no answer within 1 s"


def test_who_does_not_answer_its_first_probe_gets_no_request(stage: Any) -> None:
    stage.router.mute = NO_ANSWER
    stage.create()

    stage.settle()

    shown = seen_by_router(stage.platform, stage.replicas()[0])
    assert stage.router.routed("echo").split == ()
    assert stage.revision(1).state is RevisionState.STARTING
    assert (shown.state, shown.reason) == ("STARTING", f"it says that it is ready, and its probe failed: {NO_ANSWER}")


def test_as_soon_as_it_answers_it_gets_them(stage: Any) -> None:
    stage.router.mute = NO_ANSWER
    stage.create()
    stage.settle()

    stage.router.mute = ""
    stage.settle()

    assert stage.split() == {1: 100.0}
    address, path = stage.router.probed[-1]
    assert address == stage.replicas()[0].address
    assert path == "/v2/health/ready"


def test_a_revision_that_only_says_so_is_given_up_with_the_reason(stage: Any) -> None:
    stage.router.mute = NO_ANSWER
    stage.create(serving=Serving(startup_timeout_s=5.0))

    stage.settle(at_least=10)

    assert stage.revision(1).state is RevisionState.FAILED
    assert NO_ANSWER in stage.revision(1).reason


def test_an_update_that_only_says_so_takes_no_traffic(stage: Any) -> None:
    stage.create()
    stage.settle()
    before = stage.split()
    stage.router.mute = NO_ANSWER

    engine.update_deployment(stage.platform, "echo", stage.source(), lambda s: s)
    stage.settle()

    assert stage.split() == before == {1: 100.0}


def test_one_that_never_gets_ready_beside_others_is_replaced(stage: Any) -> None:
    stage.create(serving=Serving(startup_timeout_s=5.0), scaling=Scaling(min_replicas=1, max_replicas=3))
    stage.settle()
    stage.router.mute = NO_ANSWER
    engine.patch_deployment(
        stage.platform, "echo", lambda d: replace(d, scaling=Scaling(min_replicas=2, max_replicas=3))
    )
    stage.settle(at_least=12)
    started = len(stage.world.runner.started)
    stage.router.mute = ""
    stage.settle()

    assert started >= 3
    assert [each.state for each in stage.replicas()] == ["READY", "READY"]


def test_the_next_master_takes_over_those_that_get_requests_without_asking(stage: Any) -> None:
    stage.create()
    stage.settle()
    stage.router.mute = NO_ANSWER

    successor = Rollouts(stage.platform, stage.router)
    successor.pass_once()
    successor.close()

    assert stage.split() == {1: 100.0}
    assert stage.platform.traffic.unproven == {}


def test_without_a_path_its_word_is_taken(stage: Any) -> None:
    stage.router.mute = NO_ANSWER
    stage.create(serving=Serving(health_path=""))

    stage.settle()

    assert stage.split() == {1: 100.0}
    assert stage.router.probed == []


def test_an_answer_that_takes_time_is_not_waited_for() -> None:
    answers = threading.Event()

    def ask(address: str, path: str) -> str:
        answers.wait(10)
        return ""

    proofs = Proofs(ask)
    first = proofs.why_not("a", "x:1", "/")
    answers.set()
    while why := proofs.why_not("a", "x:1", "/"):
        assert why == first
    proofs.close()

    assert first == "it says that it is ready, and has not answered its first probe"


def test_who_has_gone_is_forgotten() -> None:
    asked: list[str] = []
    proofs = Proofs(lambda address, path: asked.append(address) or "", proven=["a", "b"])

    proofs.keep({"b"})
    whys = [proofs.why_not(name, name, "/") for name in ("a", "b")]
    proofs.close()

    assert whys == ["", ""]
    assert asked == ["a"]


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nonsense", "127.0.0.1:99999"])
def test_an_address_where_nobody_is_has_its_reason(address: str, tmp_path: Any) -> None:
    assert RouterProcess(home=tmp_path).probe(address, "/v2/health/ready")
