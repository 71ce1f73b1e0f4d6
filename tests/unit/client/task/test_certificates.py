"""Whoever talks to a master over TLS follows one rule: a CA file, another name, any certificate, or a clear refusal."""

import asyncio
import contextlib
import json
import ssl
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from resolute.client import Client
from resolute.client.task.fake import FakeTaskMaster
from resolute.domain.errors import ResoluteError, Unauthenticated, Untrusted
from resolute.runners.shepherd.master_link import MasterLink
from resolute.runners.shepherd.partners import meet
from resolute.serving.replica_report import MasterReport
from resolute.training.environment import read_trial
from resolute.training.launch.meeting import find_rendezvous
from resolute.training.master import RestMaster
from resolute.vision.data.registered import find_dataset

CERTIFICATES = Path(__file__).parent / "certificates"
DATASET = {
    "reference": "xview:3",
    "uri": "file:///data/xview",
    "annotations": ["train.json", "val.json"],
    "images": ["train", "val"],
    "classes": [],
}
ANSWERS = {
    "/api/v1/datasets/xview/3": {"dataset": DATASET},
    "/api/v1/allocations/3.abc.1/resources/r1/rendezvous": {
        "rendezvousInfo": {"addresses": ["10.0.0.1", "10.0.0.2"], "rank": 1, "slots": [1, 1]}
    },
}
Env = Mapping[str, str]


def a_trial(env: Env) -> None:
    trial = read_trial(env)
    assert trial is not None
    master = RestMaster(trial)
    try:
        master.send_progress(0.5)
    finally:
        master.close()


def a_wait(env: Env) -> None:
    trial = read_trial(env)
    assert trial is not None
    master = RestMaster(trial)
    try:
        assert not master.wait_for_stop(0)
    finally:
        master.close()


def a_dataset(env: Env) -> None:
    assert find_dataset("xview:3", env=env).data_dir == "/data/xview"


def a_launcher(env: Env) -> None:
    config = json.dumps({"resources": {"slots_per_trial": 2}})
    meeting = find_rendezvous(None, {**env, "DET_RESOURCES_ID": "r1", "DET_EXPERIMENT_CONFIG": config})
    assert meeting.node_rank == 1


def a_replica(env: Env) -> None:
    report = MasterReport.of(env)
    assert report is not None
    asyncio.run(asyncio.wait_for(report.is_ready(), 5.0))


def a_supervisor(env: Env) -> None:
    MasterLink(env).post_json("/api/v1/allocations/3.abc.1/resources/3.abc.1.0/phase", {"phase": "RUNNING"})


def a_person(env: Env) -> None:
    client = Client(env=env, token="t")
    try:
        # The fake knows tasks only: that it answers is what counts here.
        with contextlib.suppress(Unauthenticated):
            client.session.post("/api/v1/auth/logout")
    finally:
        client.session.close()


everybody = pytest.mark.parametrize(
    "consumer",
    [a_trial, a_wait, a_dataset, a_launcher, a_replica, a_supervisor, a_person],
    ids=lambda consumer: consumer.__name__,
)


def serving_with(name: str) -> FakeTaskMaster:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(CERTIFICATES / f"{name}.pem", CERTIFICATES / f"{name}.key")
    return FakeTaskMaster(answers=ANSWERS, tls=tls)


@pytest.fixture
def master() -> Iterator[FakeTaskMaster]:
    with serving_with("master") as running:
        yield running


@pytest.fixture
def complaint(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Callable[..., str]:
    """What is said when a consumer calls a master with these variables; nothing when all went well."""

    def call(consumer: Callable[[Env], None], master: FakeTaskMaster, **variables: str) -> str:
        try:
            consumer({**master.env(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), **variables})
        except ResoluteError as problem:
            return str(problem)
        return caplog.text  # A replica goes on serving, and logs.

    return call


@everybody
def test_a_file_of_certificates_is_trusted(
    consumer: Callable[[Env], None], master: FakeTaskMaster, complaint: Callable[..., str]
) -> None:
    said = complaint(consumer, master, DET_MASTER_CERT_FILE=str(CERTIFICATES / "master.pem"))

    assert said == ""


@everybody
def test_noverify_trusts_any_certificate(
    consumer: Callable[[Env], None], master: FakeTaskMaster, complaint: Callable[..., str]
) -> None:
    assert complaint(consumer, master, DET_MASTER_CERT_FILE="noverify") == ""


@everybody
def test_a_certificate_may_carry_another_name(consumer: Callable[[Env], None], complaint: Callable[..., str]) -> None:
    trusted = {"DET_MASTER_CERT_FILE": str(CERTIFICATES / "named.pem")}
    with serving_with("named") as master:
        with_its_name = complaint(consumer, master, **trusted, DET_MASTER_CERT_NAME="master.internal")
        without = complaint(consumer, master, **trusted)

    assert with_its_name == ""
    assert "IP address mismatch" in without


@everybody
@pytest.mark.parametrize("variables", [{"DET_MASTER_CERT_FILE": str(CERTIFICATES / "stranger.pem")}, {}])
def test_a_certificate_of_a_stranger_is_refused_in_words(
    consumer: Callable[[Env], None],
    variables: dict[str, str],
    master: FakeTaskMaster,
    complaint: Callable[..., str],
) -> None:
    said = complaint(consumer, master, **variables)

    assert f"The certificate of {master.url} is not trusted: " in said
    assert "DET_MASTER_CERT_FILE names the authority to trust, or is noverify" in said


@everybody
@pytest.mark.parametrize("name", ["absent.pem", "master.key"])
def test_a_file_without_certificates_is_refused_by_name(
    name: str, consumer: Callable[[Env], None], master: FakeTaskMaster, complaint: Callable[..., str]
) -> None:
    said = complaint(consumer, master, DET_MASTER_CERT_FILE=str(CERTIFICATES / name))

    assert f"{name}', which cannot be read as certificates" in said


def test_without_tls_the_variables_mean_nothing(complaint: Callable[..., str]) -> None:
    with FakeTaskMaster() as master:
        assert complaint(a_trial, master, DET_MASTER_CERT_FILE="/absent.pem") == ""


def test_nodes_that_meet_do_not_wait_for_a_certificate_to_become_good(master: FakeTaskMaster, tmp_path: Path) -> None:
    env = master.env(tmp_path)
    request = {"allocation_id": "3.abc.1", "rank": 0, "node_id": "n0", "node_count": 2, "slot_ids": [0]}

    with pytest.raises(Untrusted, match="is not trusted"):
        meet({**request, "address": "127.0.0.1", "env": env, "files": {}}, MasterLink(env), _no_wait)


def _no_wait(seconds: float) -> None:
    raise AssertionError("it waits")
