"""Trainings and searches of a model: checked, submitted, watched, and what they exported kept."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from resolute.client.checkpoint import Checkpoint
from resolute.client.experiment import Experiment
from resolute.client.lifecycle.capacity import Capacity, check_count, slots_of
from resolute.client.lifecycle.config import Config
from resolute.client.lifecycle.contract import TrialOrder
from resolute.client.lifecycle.definition import Definition
from resolute.client.lifecycle.files import requirements_of, serving_parts, staged
from resolute.client.lifecycle.framework import ModelFramework
from resolute.client.lifecycle.messages import Messages
from resolute.client.lifecycle.naming import job_name, trial_name
from resolute.client.lifecycle.plan import Search, Work, training_config, tuning_config
from resolute.client.lifecycle.quantity import Resources
from resolute.client.lifecycle.record import ModelRecord
from resolute.client.lifecycle.saving import metrics_of, save_exported
from resolute.client.lifecycle.storage import TRAINED, TUNED, ModelStorage
from resolute.client.lifecycle.watching import SUCCEEDED, Pace, best_of, watch_search, watch_training

Json = dict[str, Any]
_NOTHING_EXPORTED = (
    "the trainer exported no model, so there is nothing to deploy. Call ModelExportUtil().upload_model(path) in it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What each run gets."""

    workers: int
    claim: Resources
    args: Mapping[str, Any]
    timeout_s: float

    @property
    def slots(self) -> int:
        return slots_of(self.workers, self.claim.gpus)


class Runs:
    """Of one model. Writes what comes out into its record."""

    def __init__(self, definition: Definition, config: Config, record: ModelRecord, messages: Messages) -> None:
        self._definition = definition
        self._config = config
        self._record = record
        self._messages = messages
        self._storage = ModelStorage(config, definition.id)

    def demand(self, workers: int, claim: Resources, args: Mapping[str, Any] | None, timeout_s: float) -> Demand:
        """Only trainers that can meet run as several processes."""
        check_count("workers", workers)
        workers = workers if self._definition.framework.is_distributed else 1
        return Demand(workers=workers, claim=claim, args=dict(args or {}), timeout_s=timeout_s)

    def train(self, hyperparameters: Mapping[str, Any], demand: Demand, *, is_verbose: bool, is_archived: bool) -> bool:
        self._capacity(demand)
        token = uuid.uuid4().hex
        kind = "pytorchjob" if self._definition.framework is ModelFramework.PYTORCH else "job"
        order = self._order("train", hyperparameters, demand)
        work = self._work(order, demand, kind=kind, folder=TRAINED, token=token)
        self._messages.say(f'Submitting a new training job "{work.name}".')
        experiment = self._submit(training_config(work, hyperparameters))
        state = watch_training(experiment, self._messages, self._pace(demand), verbose=is_verbose)
        if state != SUCCEEDED:
            self._messages.say(f"Training result: Failed. Experiment {experiment.id} is {state}; its log says why.")
            return False
        self._keep_trained(experiment, token)
        self._record.hyperparameters = dict(hyperparameters)
        self._record.moved_to("trained")
        if is_archived:
            experiment.archive()
        self._messages.say("Training result: Succeeded")
        return True

    def tune(self, wanted: Search, demand: Demand, *, is_archived: bool) -> bool:
        search, told = wanted.fitted()
        search = search.with_parallel(self._parallel(min(search.parallel_trials, search.trials), demand))
        if told:
            self._messages.say(f"WARNING: {told}")
        token = uuid.uuid4().hex
        order = self._order("tune", search.space, demand, is_stopped_early=search.algorithm.stops_trials)
        work = self._work(order, demand, kind="tune", folder=TUNED, token=token)
        self._messages.say(f"Creating experiment {work.name}")
        experiment = self._submit(tuning_config(work, search))
        self._messages.say(f"Experiment {work.name} has been created.")
        state = watch_search(experiment, self._messages, self._pace(demand), trials=search.trials, goal=search.goal)
        self._messages.say(f"Model tuning completed, final status: {'Succeeded' if state == SUCCEEDED else 'Failed'}")
        is_kept = state == SUCCEEDED and self._keep_best(experiment, search, token)
        if is_archived:
            experiment.archive()
        return is_kept

    def _keep_trained(self, experiment: Experiment, token: str) -> None:
        newest = experiment.await_first_trial().list_checkpoints(limit=1)
        if not newest:
            self._messages.say(f"WARNING: {_NOTHING_EXPORTED}")
            return
        self._keep(newest[0], kind=TRAINED, token=token)

    def _keep_best(self, experiment: Experiment, search: Search, token: str) -> bool:
        """The best model counts, not the best moment: a trial may have been better before it ended."""
        checkpoint = experiment.top_checkpoint()
        trials = experiment.trials()
        best = best_of(trials, search.goal)
        if checkpoint is not None:
            best = next((trial for trial in trials if trial.id == checkpoint.trial_id), best)
        if best is None:
            self._messages.say(f"ERROR: no trial of experiment {experiment.id} recorded {search.goal.primary!r}.")
            return False
        self._record.hyperparameters = {name: str(best.hparams[name]) for name in search.space if name in best.hparams}
        self._record.best_trial_name = trial_name(experiment.name, best.id)
        self._messages.say(
            f"Experiment results:\n    parameters: {self._record.hyperparameters}, "
            f"best_trial_name: {self._record.best_trial_name}"
        )
        if checkpoint is None:
            self._messages.say(f"WARNING: {_NOTHING_EXPORTED}")
        else:
            self._messages.say("Copying saved model with the best metrics from the trial to the target location.")
            self._keep(checkpoint, kind=TUNED, token=token)
        self._record.moved_to("tuned")
        return True

    def _keep(self, checkpoint: Checkpoint, *, kind: str, token: str) -> None:
        saved = save_exported(self._config.client, self._storage, self._definition, checkpoint, kind=kind, token=token)
        self._record.saved.append(saved)
        if values := metrics_of(checkpoint):
            self._record.log_metrics(values, "validation", None)

    def _order(
        self, phase: str, flags: Mapping[str, Any], demand: Demand, *, is_stopped_early: bool = False
    ) -> TrialOrder:
        parts = serving_parts(self._definition, self._config.base_dir)
        return TrialOrder(
            model_id=self._definition.id,
            phase=phase,
            main_file=self._definition.main_file,
            flags=tuple(flags),
            args=tuple(demand.args.items()),
            is_stopped_early=is_stopped_early,
            framework=self._definition.framework.value,
            serving=parts.document,
            serving_files=parts.files,
            serving_digest=parts.digest,
        )

    def _work(self, order: TrialOrder, demand: Demand, *, kind: str, folder: str, token: str) -> Work:
        return Work(
            definition=self._definition,
            order=order,
            name=job_name(self._definition.name, token, kind=kind),
            workers=demand.workers,
            claim=demand.claim,
            upload_path=self._storage.uri(folder, token),
            requirements=requirements_of(self._definition, self._config.base_dir),
        )

    def _submit(self, config: Json) -> Experiment:
        with staged(self._definition, self._config.base_dir) as folder:
            experiment = self._config.client.create_experiment(config, folder)
        for warning in experiment.data.get("warnings") or []:
            self._messages.say(f"WARNING: {warning}")
        return experiment

    def _pace(self, demand: Demand) -> Pace:
        return Pace(timeout_s=demand.timeout_s, interval_s=self._config.interval_s)

    def _capacity(self, demand: Demand) -> Capacity | None:
        capacity = Capacity.of(self._config.client.cluster.agents())
        if capacity is not None:
            capacity.check(demand.workers, demand.claim.gpus)
        return capacity

    def _parallel(self, wanted: int, demand: Demand) -> int:
        """Trials that cannot run now wait for slots; more at once than there are slots for is not promised."""
        capacity = self._capacity(demand)
        fits = wanted if capacity is None else capacity.parallel(wanted, demand.slots)
        if capacity is not None and fits < wanted:
            self._messages.say(
                f"WARNING: parallel_trials: {wanted} trials of {demand.slots} slots need more than the "
                f"{capacity.slots} that the cluster has; {fits} run at a time."
            )
        return fits
