"""A KServe `InferenceService` (v1beta1) as what it means here: a deployment, and a canary's share. Pure; no I/O.

What has no counterpart is either passed over by name, or refused where the model would answer otherwise without it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError

from resolute.domain.errors import InvalidConfig
from resolute.spec.deployment import DeploymentConfig
from resolute.spec.problem import Problem
from resolute.spec.source import Source, read_source

Json = dict[str, object]
KIND = "InferenceService"
_SERVED = ("pytorch", "torchserve", "triton", "onnx", "model")
_FORMATS = ("pytorch", "torchscript", "triton", "onnx", "torchserve")
_OF_PREDICTOR = {
    "minReplicas": ("scaling", "min_replicas"),
    "maxReplicas": ("scaling", "max_replicas"),
    "scaleTarget": ("scaling", "target"),
    "timeout": ("serving", "timeout_s"),
}
_METRICS = {"concurrency": "concurrency", "rps": "rate"}
_GPUS = ("nvidia.com/gpu", "amd.com/gpu")
_PVC = re.compile(r"pvc://([^/]+)/?(.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceService:
    config: DeploymentConfig
    canary_percent: int | None
    """None: the file does not ask for a canary."""
    passed_over: tuple[str, ...]
    """Keys that have no counterpart here."""


def is_inference_service(text: str) -> bool:
    return re.search(rf"""^kind:\s*["']?{KIND}\b""", text, re.MULTILINE) is not None


def read_inference_service(
    text: str, *, filename: str = "service", volumes: Mapping[str, str] | None = None
) -> InferenceService:
    """`volumes`: the folder of each persistent volume claim. Raises InvalidConfig with all that is wrong."""
    source = read_source(text, filename=filename)
    reading = _Reading(source, volumes or {})
    config = reading.deployment()
    if reading.problems or config is None:
        raise InvalidConfig(source.sentences(reading.problems))
    return InferenceService(
        config=config, canary_percent=reading.canary_percent, passed_over=tuple(sorted(reading.passed_over))
    )


@dataclass(slots=True)
class _Reading:
    """One pass over the document; what is wrong is gathered."""

    source: Source
    volumes: Mapping[str, str]
    problems: list[Problem] = field(default_factory=list)
    passed_over: set[str] = field(default_factory=set)
    canary_percent: int | None = None
    model_uri: str = ""
    sections: dict[str, Json] = field(default_factory=lambda: {"serving": {}, "scaling": {}})

    def deployment(self) -> DeploymentConfig | None:
        self.problems += self.source.problems
        document = self.source.config
        if document.get("kind") != KIND:
            self._wrong(("kind",), f"is {document.get('kind')!r}; wanted {KIND}")
        metadata = self._map(document, ("metadata",))
        predictor = self._map(document, ("spec", "predictor"))
        for key in ("transformer", "explainer"):
            if key in self._map(document, ("spec",)):
                self._wrong(("spec", key), "is not run here: put its code into the model's handler, or leave it out")
        if not metadata.get("name"):
            self._wrong(("metadata", "name"), "is missing; it names the deployment")
        self.passed_over |= {f"metadata.{key}" for key in metadata.keys() - {"name", "namespace"}}
        self._predictor(predictor)
        given: Json = {"name": metadata.get("name"), "namespace": metadata.get("namespace") or "default"}
        given |= {"model_uri": self.model_uri, **self.sections}
        return None if self.problems else self._checked(given)

    def _predictor(self, predictor: Json) -> None:
        frameworks = [key for key in _SERVED if key in predictor]
        if len(frameworks) != 1:
            self._no_framework(predictor, frameworks)
            return
        self._framework(frameworks[0], self._map(self.source.config, ("spec", "predictor", frameworks[0])))
        for key, (section, name) in _OF_PREDICTOR.items():
            if predictor.get(key) is not None:
                self.sections[section][name] = predictor[key]
        least = self.sections["scaling"].get("min_replicas")
        self.sections["scaling"].setdefault("max_replicas", least if isinstance(least, int) and least > 0 else 1)
        self._metric(predictor.get("scaleMetric"))
        self._batcher(predictor.get("batcher"))
        self._canary(predictor.get("canaryTrafficPercent"))
        known = {*_OF_PREDICTOR, *_SERVED, "scaleMetric", "batcher", "canaryTrafficPercent"}
        self.passed_over |= {f"spec.predictor.{key}" for key in predictor.keys() - known}

    def _no_framework(self, predictor: Json, found: list[str]) -> None:
        path = ("spec", "predictor")
        if found:
            self._wrong(path, f"names {' and '.join(found)}; one of them serves the model")
            return
        keys = ", ".join(predictor) or "nothing"
        self._wrong(path, f"has {keys}, and none of {', '.join(_SERVED)}, whose models are served here")

    def _framework(self, name: str, framework: Json) -> None:
        path = ("spec", "predictor", name)
        form = self._map(self.source.config, (*path, "modelFormat")).get("name") if name == "model" else name
        if name == "model" and form not in _FORMATS:
            self._wrong((*path, "modelFormat", "name"), f"is {form!r}; served here are {', '.join(_FORMATS)}")
        uri = framework.get("storageUri")
        if not isinstance(uri, str) or not uri:
            self._wrong((*path, "storageUri"), "is missing; it says where the model is")
        else:
            self.model_uri = self._place((*path, "storageUri"), uri)
        self.sections["serving"]["slots"] = self._gpus((*path, "resources"), framework.get("resources"))
        self.sections["serving"]["environment"] = self._environment((*path, "env"), framework.get("env"))
        known = {"storageUri", "resources", "env", "modelFormat", "name"}
        self.passed_over |= {f"{'.'.join(path)}.{key}" for key in framework.keys() - known}

    def _place(self, path: tuple[str, ...], uri: str) -> str:
        claim = _PVC.fullmatch(uri)
        if claim is None:
            return uri
        folder = self.volumes.get(claim[1])
        if folder is None:
            self._wrong(path, f"is on the volume claim {claim[1]!r}; say where that is: --volume {claim[1]}=/folder")
            return uri
        if ".." in claim[2].split("/"):
            self._wrong(path, f"{uri!r} leads out of the volume")
        return f"{folder.rstrip('/')}/{claim[2]}".rstrip("/") or "/"

    def _gpus(self, path: tuple[str, ...], resources: object) -> int:
        if not isinstance(resources, dict):
            return 0
        asked = {**(resources.get("requests") or {}), **(resources.get("limits") or {})}
        self.passed_over |= {f"{'.'.join(path)} {key}" for key in asked.keys() - set(_GPUS)}
        gpus = [asked[key] for key in _GPUS if key in asked]
        if not gpus:
            return 0
        if not str(gpus[0]).isdigit():
            self._wrong(path, f"asks for {gpus[0]!r} GPUs; wanted a whole number")
            return 0
        return int(gpus[0])

    def _environment(self, path: tuple[str, ...], env: object) -> dict[str, str]:
        found = {}
        for row in env if isinstance(env, list) else []:
            if not isinstance(row, dict) or "name" not in row or "value" not in row:
                self._wrong(path, "holds a variable without name or value; values from secrets are not read here")
                continue
            found[str(row["name"])] = str(row["value"])
        return found

    def _metric(self, metric: object) -> None:
        if metric is None:
            return
        if not isinstance(metric, str) or metric not in _METRICS:
            self._wrong(("spec", "predictor", "scaleMetric"), f"is {metric!r}; wanted {' or '.join(_METRICS)}")
            return
        self.sections["scaling"]["metric"] = _METRICS[metric]

    def _batcher(self, batcher: object) -> None:
        if not isinstance(batcher, dict):
            return
        if "maxBatchSize" in batcher:
            self.sections["serving"]["max_batch_size"] = batcher["maxBatchSize"]
        if "maxLatency" in batcher:
            self.sections["serving"]["max_batch_delay_ms"] = batcher["maxLatency"]

    def _canary(self, percent: object) -> None:
        if percent is None:
            return
        if isinstance(percent, bool) or not isinstance(percent, int) or not 0 <= percent <= 100:
            path = ("spec", "predictor", "canaryTrafficPercent")
            self._wrong(path, f"is {percent!r}; wanted a whole number from 0 to 100")
            return
        self.canary_percent = percent

    def _checked(self, given: Json) -> DeploymentConfig | None:
        try:
            return DeploymentConfig.model_validate(given, context={})
        except ValidationError as error:
            for fault in error.errors():
                key = str(fault["loc"][-1]) if fault["loc"] else ""
                self.problems.append(Problem((), f"{key}: {fault['msg'].removeprefix('Value error, ')}"))
            return None

    def _map(self, document: Mapping[str, object], path: tuple[str, ...]) -> Json:
        value: object = document
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if value is None:
            return {}
        if not isinstance(value, dict):
            self._wrong(path, f"is {value!r}; wanted keys and values")
            return {}
        return value

    def _wrong(self, path: tuple[str, ...], message: str) -> None:
        problem = Problem(path, message)
        if problem not in self.problems:
            self.problems.append(problem)
