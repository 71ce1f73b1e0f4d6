"""What users write about a deployment is checked, and refused with the key and the remedy."""

import pytest

from resolute.domain.deployment import Guard, Scaling, Serving
from resolute.domain.errors import InvalidConfig, InvalidInput
from resolute.spec.deployment import (
    check_label,
    check_percent,
    check_sticky,
    guard_of,
    read_deployment,
    scaling_of,
    serving_of,
)

FILE = """
name: plates
model: plates/3
serving:
  slots: 1
  max_batch_size: 16
  options: {score_threshold: 0.4}
scaling:
  min_replicas: 0
  max_replicas: 4
guard: {latency_factor: 3}
sticky: cookie:seat
"""


def test_a_file_is_read_with_its_defaults() -> None:
    config = read_deployment(FILE, filename="plates.yaml")

    assert (config.name, config.model, config.namespace) == ("plates", "plates/3", "default")
    assert (config.serving.slots, config.serving.timeout_s) == (1, 60.0)
    assert config.guard.latency_factor == 3
    assert config.public is False


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("model: a/1", "name: is missing"),
        ("name: Plates", "plates.yaml:1: name: 'Plates' cannot be part of a host name"),
        ("name: a\nsticky: session", "plates.yaml:2: sticky: 'session' is not understood"),
        ("name: a\nscaling:\n  min_replicas: -1", "plates.yaml:3: scaling.min_replicas: -1 is out of range"),
        ("name: a\nscaling:\n  min_replicas: 3", "scaling.max_replicas: 1 is less than min_replicas (3)"),
        ("name: a\nscaling: {metric: cpu}", "scaling.metric"),
        ("name: a\nmin_replicas: 2", "scaling.min_replicas"),
        ("name: a\nserving: {slots: two}", 'serving.slots: "two" is not a whole number'),
        (
            "name: a\nserving: {health_path: ready}",
            "serving.health_path: 'ready' cannot be asked for; it must begin with /",
        ),
        ("name: a\nserving: {health_path: '/a b'}", "serving.health_path: '/a b' cannot be asked for"),
        ("name: [", "is not YAML"),
    ],
)
def test_a_fault_is_named_with_its_place(text: str, sentence: str) -> None:
    with pytest.raises(InvalidConfig) as refusal:
        read_deployment(text, filename="plates.yaml")

    assert sentence in str(refusal.value)


def test_a_message_may_spell_keys_either_way() -> None:
    assert scaling_of({"minReplicas": 2, "max_replicas": 3}) == Scaling(min_replicas=2, max_replicas=3)
    assert guard_of({"minRequests": 5, "enabled": False}) == Guard(enabled=False, min_requests=5)


def test_what_is_left_out_stays_as_it_was() -> None:
    base = Serving(slots=1, timeout_s=5.0, options={"a": 1}, command=["x"])

    made = serving_of({"maxBatchSize": 2, "slots": None}, base)

    assert made == Serving(slots=1, timeout_s=5.0, options={"a": 1}, command=["x"], max_batch_size=2)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"timeoutS": 0}, "serving.timeout_s: 0 is out of range; it must be greater than 0"),
        ({"batch": 3}, "serving.batch"),
        ({"environment": {"A": 1}}, "serving.environment.A"),
        ({"maxBodyBytes": "1 GB"}, 'serving.max_body_bytes: "1 GB" is not a whole number'),
    ],
)
def test_a_bad_message_is_refused_with_the_key(given: dict[str, object], sentence: str) -> None:
    with pytest.raises(InvalidConfig) as refusal:
        serving_of(given)

    assert sentence in str(refusal.value)


@pytest.mark.parametrize("name", ["a", "a-b", "digits-2", "x" * 63])
def test_names_that_can_be_hosts(name: str) -> None:
    assert check_label(name) == name


@pytest.mark.parametrize("name", ["", "A", "1a", "-a", "a-", "a.b", "a_b", "x" * 64, "a b", "a\n"])
def test_names_that_cannot(name: str) -> None:
    with pytest.raises(InvalidInput, match="host name"):
        check_label(name)


@pytest.mark.parametrize("text", ["", "header:X-User", "cookie:seat"])
def test_ways_to_be_sticky(text: str) -> None:
    assert check_sticky(text) == text


@pytest.mark.parametrize("text", ["cookie", "cookie:", "query:a", "cookie:a b", "header:x\r\ny"])
def test_no_ways_to_be_sticky(text: str) -> None:
    with pytest.raises(InvalidInput, match="header:<name> or cookie:<name>"):
        check_sticky(text)


@pytest.mark.parametrize("percent", [-1, 101])
def test_a_percentage_out_of_range_is_refused(percent: int) -> None:
    with pytest.raises(InvalidInput, match="from 0 to 100"):
        check_percent(percent)
