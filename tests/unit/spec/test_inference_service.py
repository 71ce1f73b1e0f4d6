"""KServe's InferenceService as a deployment: what it means here, what is passed over, and what is refused."""

import pytest

from resolute.domain.errors import InvalidConfig
from resolute.spec.inference_service import InferenceService, is_inference_service, read_inference_service

TUTORIAL = """
apiVersion: "serving.kserve.io/v1beta1"
kind: "InferenceService"
metadata:
  name: "torchserve"
spec:
  predictor:
    pytorch:
      storageUri: pvc://task-pv-claim/
"""


def service(predictor: str, *, head: str = "") -> InferenceService:
    return read_inference_service(
        f"apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: xview{head}}}\n"
        f"spec:\n  predictor: {predictor}\n"
    )


def test_the_tutorials_file_is_understood_with_its_volume() -> None:
    found = read_inference_service(TUTORIAL, volumes={"task-pv-claim": "/mnt/data"})

    assert is_inference_service(TUTORIAL)
    assert (found.config.name, found.config.namespace) == ("torchserve", "default")
    assert found.config.model_uri == "/mnt/data"
    assert (found.canary_percent, found.passed_over) == (None, ())


def test_a_volume_that_nobody_names_is_refused_with_the_remedy() -> None:
    with pytest.raises(InvalidConfig, match=r"service:9: .*storageUri: .* --volume task-pv-claim=/folder"):
        read_inference_service(TUTORIAL)


@pytest.mark.parametrize("uri", ["/models/pv", "file:///models/pv", "s3://bucket/pv", "gs://bucket/pv"])
@pytest.mark.parametrize(
    "framework",
    [
        "pytorch: {storageUri: URI}",
        "triton: {storageUri: URI}",
        "model: {modelFormat: {name: pytorch}, storageUri: URI}",
    ],
)
def test_each_kind_of_predictor_names_its_model(framework: str, uri: str) -> None:
    assert service("{" + framework.replace("URI", uri) + "}").config.model_uri == uri


def test_scaling_batching_gpus_and_environment_have_their_counterparts() -> None:
    found = service(
        "{minReplicas: 0, maxReplicas: 3, scaleTarget: 8, scaleMetric: rps, timeout: 30, canaryTrafficPercent: 20, "
        "batcher: {maxBatchSize: 16, maxLatency: 50}, containerConcurrency: 5, pytorch: {storageUri: /m, "
        "protocolVersion: v2, resources: {limits: {nvidia.com/gpu: '1', cpu: '2'}}, env: [{name: A, value: 1}]}}",
        head=", namespace: demo, annotations: {a: b}",
    )

    scaling, serving = found.config.scaling, found.config.serving
    assert (scaling.min_replicas, scaling.max_replicas, scaling.target, scaling.metric) == (0, 3, 8, "rate")
    assert (serving.timeout_s, serving.max_batch_size, serving.max_batch_delay_ms) == (30, 16, 50)
    assert (serving.slots, serving.environment) == (1, {"A": "1"})
    assert (found.config.namespace, found.canary_percent) == ("demo", 20)
    assert found.passed_over == (
        "metadata.annotations",
        "spec.predictor.containerConcurrency",
        "spec.predictor.pytorch.protocolVersion",
        "spec.predictor.pytorch.resources cpu",
    )


@pytest.mark.parametrize(
    ("predictor", "sentence"),
    [
        ("{sklearn: {storageUri: /m}}", "spec.predictor: has sklearn, and none of pytorch, torchserve, triton"),
        ("{}", "spec.predictor: has nothing"),
        ("{pytorch: {storageUri: /m}, triton: {storageUri: /m}}", "names pytorch and triton; one of them"),
        ("{pytorch: {}}", "storageUri: is missing"),
        ("{model: {modelFormat: {name: xgboost}, storageUri: /m}}", "name: is 'xgboost'; served here are pytorch"),
        ("{canaryTrafficPercent: 120, pytorch: {storageUri: /m}}", "is 120; wanted a whole number from 0 to 100"),
        ("{scaleMetric: cpu, pytorch: {storageUri: /m}}", "is 'cpu'; wanted concurrency or rps"),
        ("{pytorch: {storageUri: /m, env: [{name: A, valueFrom: {}}]}}", "a variable without name or value"),
        ("{pytorch: {storageUri: /m, resources: {limits: {nvidia.com/gpu: half}}}}", "asks for 'half' GPUs"),
        ("{minReplicas: 5, maxReplicas: 2, pytorch: {storageUri: /m}}", "2 is less than min_replicas"),
        ("[1]", "spec.predictor: is .1.; wanted keys and values"),
    ],
)
def test_what_would_be_served_otherwise_is_refused_with_its_place(predictor: str, sentence: str) -> None:
    with pytest.raises(InvalidConfig, match=sentence):
        service(predictor)


def test_a_transformer_is_not_left_out_in_silence() -> None:
    text = TUTORIAL + "  transformer: {containers: []}\n"

    with pytest.raises(InvalidConfig, match=r"spec.transformer: is not run here"):
        read_inference_service(text, volumes={"task-pv-claim": "/mnt"})


def test_a_path_does_not_lead_out_of_its_volume() -> None:
    with pytest.raises(InvalidConfig, match="leads out of the volume"):
        read_inference_service(TUTORIAL.replace("claim/", "claim/../etc"), volumes={"task-pv-claim": "/mnt"})
