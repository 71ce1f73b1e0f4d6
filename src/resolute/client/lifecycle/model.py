"""`Model`: one object from a trainer's file to a rolled-out endpoint.

It says what happens as it goes. Everything it does is an experiment, a model version or a deployment of the master,
and can be looked at and changed there too.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from resolute.client.lifecycle.algorithm import Algorithm
from resolute.client.lifecycle.capacity import check_count
from resolute.client.lifecycle.config import Config
from resolute.client.lifecycle.contract import plain
from resolute.client.lifecycle.definition import define
from resolute.client.lifecycle.domain import Domain, space_of
from resolute.client.lifecycle.faults import ModelAlreadyExistsException
from resolute.client.lifecycle.framework import ModelFramework
from resolute.client.lifecycle.messages import Messages
from resolute.client.lifecycle.plan import Goal, Search
from resolute.client.lifecycle.quantity import Amount, Resources, requested
from resolute.client.lifecycle.record import ModelRecord, SavedModel
from resolute.client.lifecycle.rollout import Rollout, check_settings
from resolute.client.lifecycle.runs import Runs
from resolute.client.lifecycle.sources import find_source
from resolute.client.lifecycle.storage import MODEL_FILE, ModelStorage
from resolute.domain.errors import InvalidInput

Json = dict[str, Any]
DAY_S = 86_400.0
READY_S = 300.0
_MOST_REPLICAS = 4


class Model:
    """A model, and what has been done with it. Nothing is read or sent before an action."""

    def __init__(
        self,
        id: str,
        name: str,
        description: str,
        version: str,
        framework: ModelFramework | str,
        framework_version: str,
        main_file: str,
        image_name: str | None = None,
        base_image: str | None = None,
        extra_files: Sequence[str] | None = None,
        requirements: str | None = None,
        labels: Mapping[str, str] | Sequence[str] | None = None,
        config: Config | None = None,
        serving_config: Mapping[str, Any] | None = None,
    ) -> None:
        self._definition = define(
            id=id,
            name=name,
            description=description,
            version=version,
            framework=framework,
            framework_version=framework_version,
            main_file=main_file,
            image_name=image_name,
            base_image=base_image,
            extra_files=extra_files,
            requirements=requirements,
            labels=labels,
            serving_config=serving_config,
        )
        self._config = config or Config.default()
        self._record = ModelRecord()
        self._storage = ModelStorage(self._config, id)
        self._messages = Messages()

    @property
    def _runs(self) -> Runs:
        return Runs(self._definition, self._config, self._record, self._messages)

    # ------------------------------------------------------------------------------------------------ what it is

    @property
    def id(self) -> str:
        return self._definition.id

    @property
    def name(self) -> str:
        return self._definition.name

    @property
    def version(self) -> str:
        return self._definition.version

    @property
    def framework(self) -> ModelFramework:
        return self._definition.framework

    @property
    def state(self) -> str:
        """untrained, trained, tuned or deployed."""
        return self._record.state

    @property
    def revision(self) -> str:
        """Changes with every action."""
        return self._record.revision

    @property
    def hyperparameters(self) -> Json:
        """Of the last training, or the best ones of the last search."""
        return dict(self._record.hyperparameters)

    @property
    def metrics(self) -> dict[str, Json]:
        """By type: training, testing, validation, production."""
        return {kind: dict(values) for kind, values in self._record.metrics.items()}

    @property
    def saved_models(self) -> tuple[SavedModel, ...]:
        """What trainings and searches of this object exported, oldest first."""
        return tuple(self._record.saved)

    @property
    def best_trial_name(self) -> str | None:
        return self._record.best_trial_name

    def meta(self) -> Json:
        """All that is known of the model, as JSON."""
        return {**self._definition.as_data(), "image": self._definition.image, **self._record.as_data()}

    def __repr__(self) -> str:
        return f"Model(id={self.id!r}, version={self.version!r}, state={self.state!r})"

    # ------------------------------------------------------------------------------------------------- actions

    def build(self, verbose: bool | None = None) -> bool:
        """Nothing is built: the files travel with each experiment. True, for code that waits for an image."""
        self._messages.say(f"Skipping image build: the files of {self.id} travel with each experiment.")
        return True

    def train(
        self,
        hyperparameters: Mapping[str, Any],
        args: Mapping[str, Any] | None = None,
        gpus: int | None = None,
        cpu: Amount = None,
        memory: Amount = None,
        resources: Resources | None = None,
        workers: int = 2,
        verbose: bool | None = None,
        ttl_seconds_after_finished: int | None = None,
        force_cleanup: bool | None = None,
        timeout: float = DAY_S,
    ) -> bool:
        """Train on `workers` processes. True when it succeeded; False, with the log shown, when the trainer failed.

        Raises before anything is created for what cannot work, and WorkloadDeploymentError after `timeout` seconds.
        A finished experiment stays for its metrics; `force_cleanup` archives it.
        """
        claim = requested(gpus, cpu, memory, resources)
        demand = self._runs.demand(workers, claim, plain("args", args), timeout)
        return self._runs.train(
            plain("hyperparameters", hyperparameters),
            demand,
            is_verbose=_is_set(verbose, "KAPTAIN_SDK_VERBOSE", default="true"),
            is_archived=_is_set(force_cleanup, "KAPTAIN_SDK_FORCE_CLEANUP"),
        )

    def tune(
        self,
        hyperparameters: Mapping[str, Domain],
        objectives: Sequence[str],
        objective_goal: float | None = None,
        objective_type: str = "maximize",
        workers: int = 2,
        gpus: int | None = None,
        cpu: Amount = None,
        memory: Amount = None,
        resources: Resources | None = None,
        trials: int = 16,
        parallel_trials: int = 2,
        failed_trials: int = 4,
        algorithm: str | Algorithm = "random",
        algorithm_setting: Mapping[str, Any] | None = None,
        args: Mapping[str, Any] | None = None,
        verbose: bool | None = None,
        delete_experiment: bool | None = None,
        ttl_seconds_after_finished: int | None = None,
        timeout: float = DAY_S,
    ) -> bool:
        """Search for the best hyperparameters; the best trial's model is kept. True when the search succeeded.

        It ends when `trials` are done, the primary objective reaches its goal, or more than `failed_trials` failed.
        A finished experiment stays for its metrics; `delete_experiment` archives it.
        """
        claim = requested(gpus, cpu, memory, resources)
        search = Search(
            space=space_of(hyperparameters),
            goal=Goal.of(objectives, objective_type, objective_goal),
            algorithm=Algorithm.of(algorithm),
            settings=dict(algorithm_setting or {}),
            trials=check_count("trials", trials),
            parallel_trials=check_count("parallel_trials", parallel_trials),
            failed_trials=check_count("failed_trials", failed_trials, least=0),
        )
        demand = self._runs.demand(workers, claim, plain("args", args), timeout)
        is_archived = _is_set(delete_experiment, "KAPTAIN_SDK_DELETE_EXPERIMENT")
        return self._runs.tune(search, demand, is_archived=is_archived)

    def deploy(
        self,
        model_uri: str | None = None,
        autoscale: int = 2,
        gpus: int | None = None,
        cpu: Amount = None,
        memory: Amount = None,
        resources: Resources | None = None,
        replace: bool = False,
        *,
        max_replicas: int = _MOST_REPLICAS,
        timeout: float = READY_S,
        **kwargs: Any,
    ) -> bool:
        """Serve the newest saved model, or the one at `model_uri`. Waits until it answers.

        `autoscale` is how many requests at once a replica should carry. False, with a sentence, when it is deployed
        already and `replace` is not set. `kwargs` are settings of the deployment: public=, sticky=, guard=, serving=.
        """
        claim = requested(gpus, cpu, memory, resources)
        check_count("autoscale", autoscale)
        check_settings(kwargs)
        rollout = self._rollout(timeout)
        if not replace and rollout.find() is not None:
            self._messages.say(
                f"ERROR: Model {self.id} is already deployed as {self._definition.service}. Use deploy(replace=True) "
                "to put this one in its place, or deploy_canary() to try it on a share of the requests."
            )
            return False
        scaling = {"target": autoscale, "max_replicas": check_count("max_replicas", max_replicas)}
        serving = {"slots": claim.gpus, **(kwargs.pop("serving", None) or {})}
        deployment = rollout.deploy(
            find_source(self._definition, self._record, self._config, model_uri),
            replace=replace,
            scaling=scaling,
            serving=serving,
            **kwargs,
        )
        self._record.moved_to("deployed")
        rollout.show(deployment)
        self._messages.say(f"Model {self.id} deployed successfully. Cluster URL: {rollout.address(deployment)}")
        return True

    def deploy_canary(
        self, canary_traffic_percentage: int, model_uri: str | None = None, *, timeout: float = READY_S
    ) -> bool:
        """Send a share of the requests to the newest saved model, or to the one at `model_uri`.

        Called again for the same model, it changes the share. Raises ModelDeploymentException when nothing is deployed.
        """
        rollout = self._rollout(timeout)
        rollout.deployed()
        deployment = rollout.canary(
            canary_traffic_percentage, find_source(self._definition, self._record, self._config, model_uri)
        )
        self._record.renew()
        rollout.show(deployment)
        return True

    def promote_canary(self, *, timeout: float = READY_S) -> bool:
        """All requests to the canary. Raises ModelDeploymentException when there is none."""
        rollout = self._rollout(timeout)
        deployment = rollout.promote()
        self._record.renew()
        rollout.show(deployment)
        return True

    def rollback_canary(self, *, timeout: float = READY_S) -> bool:
        """No requests to the canary any more. Raises ModelDeploymentException when there is none."""
        rollout = self._rollout(timeout)
        deployment = rollout.roll_back()
        self._record.renew()
        rollout.show(deployment)
        return True

    def undeploy(self, *, timeout: float = READY_S) -> bool:
        """Raises ModelDeploymentException when it is not deployed."""
        self._rollout(timeout).undeploy()
        kind = self._record.latest.kind if self._record.latest else "untrained"
        self._record.moved_to(kind)
        self._messages.say(f"Model {self.id} is no longer deployed.")
        return True

    # ------------------------------------------------------------------------------------------ what is known of it

    def log_metrics(self, metrics: Mapping[str, Any], metrics_type: str, uri: str | None = None) -> None:
        """`metrics_type`: training, testing, validation or production."""
        self._record.log_metrics(metrics, metrics_type, uri)

    def log_data(
        self,
        name: str,
        uri: str,
        description: str | None = None,
        features: Sequence[str] | None = None,
        version: str | None = None,
    ) -> None:
        """Remember what it was trained on."""
        listed = list(features) if features is not None else None
        self._record.log_data(name=name, uri=uri, description=description, features=listed, version=version)

    def save_as_json(self, path: str | Path = "", overwrite: bool = False) -> str:
        """Where it was written: `path`, or `model.json` in the model's storage."""
        uri = _whole(str(path)) if str(path) else f"{self._storage.base}/{MODEL_FILE}"
        if not overwrite and self._storage.exists(uri):
            raise ModelAlreadyExistsException(f"{uri} exists already. Use overwrite=True, or another path.")
        self._storage.write_json(uri, {"format": 1, **self._definition.as_data(), "record": self._record.as_data()})
        return uri

    @classmethod
    def load_from_json(cls, model_uri: str | Path, config: Config | None = None) -> "Model":
        """The model that `save_as_json` wrote. `model_uri` may be its folder."""
        config = config or Config.default()
        uri = _whole(str(model_uri).rstrip("/"))
        content = ModelStorage(config, "").read_json(uri if uri.endswith(".json") else f"{uri}/{MODEL_FILE}")
        try:
            record = ModelRecord.of_data(content.pop("record"))
            content.pop("format")
            model = cls(**content, config=config)
        except (KeyError, TypeError) as problem:
            raise InvalidInput(
                f"{uri} is not the JSON of a model: {problem}. Save it again with save_as_json."
            ) from None
        model._record = record
        return model

    def _rollout(self, timeout: float) -> Rollout:
        interval_s = min(self._config.interval_s, 0.1)
        return Rollout(self._config.client, self._definition, self._messages, timeout_s=timeout, interval_s=interval_s)


def _is_set(given: bool | None, variable: str, *, default: str = "") -> bool:
    """The argument, else the environment's word."""
    if given is not None:
        return given
    return os.environ.get(variable, default).lower() in ("true", "yes", "y", "1")


def _whole(uri: str) -> str:
    """A path as an absolute one; an address as it is."""
    return uri if "://" in uri else str(Path(uri).expanduser().absolute())
