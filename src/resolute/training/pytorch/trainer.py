"""The training loop: runs a Trial anywhere, from one CPU process to many GPUs, and resumes it exactly.

Between the points where something is due (`Plan.next_stop`) it does no more than a hand-written loop would.
"""

import logging
import time
from typing import Any

from resolute.domain.errors import InvalidInput
from resolute.domain.metric import TRAINING, VALIDATION
from resolute.training.checkpoints import Restored
from resolute.training.profiling import Window
from resolute.training.pytorch.averages import Averages, combine
from resolute.training.pytorch.callbacks import Callback
from resolute.training.pytorch.context import StepMode, TrialContext
from resolute.training.pytorch.data import TrainingData, ValidationData, share_of
from resolute.training.pytorch.evaluation import evaluate
from resolute.training.pytorch.plan import Plan, make_plan, periods_from
from resolute.training.pytorch.rng import capture_rng, restore_rng
from resolute.training.pytorch.state import own_state, restore_own, restore_shared, shared_state
from resolute.training.pytorch.trial import Trial
from resolute.training.state_file import write_state

_log = logging.getLogger("resolute")


class Trainer:
    """`Trainer(trial, context).fit(max_length=Epoch(2))`. Periods not given come from the experiment's YAML."""

    def __init__(self, trial: Trial, context: TrialContext) -> None:
        self.trial = trial
        self.context = context
        self.run = context.run
        self._callbacks = trial.build_callbacks()
        self._averages = Averages()
        self._best: float | None = None
        self._validated_at: int | None = None
        self._saved_at: int | None = None
        self._first_step: int | None = None
        """Where a restored run took up: it has nothing to validate if it was already at its end."""
        self._data_wait_s = 0.0
        self._window_started = time.perf_counter()
        self._window_samples = 0
        self._was_told = False
        self._profiled = Window.of(self.run.config)

    def fit(
        self,
        max_length: Any = None,
        *,
        validation_period: Any = None,
        checkpoint_period: Any = None,
        reporting_period: Any = None,
        checkpoint_policy: str | None = None,
        step_zero_validation: bool | None = None,
        latest_checkpoint: str | None = None,
        profiling_enabled: bool | None = None,
    ) -> None:
        """Train to `max_length`, or until told to stop. Returns after the last checkpoint was handed over."""
        overrides = {
            "max_length": max_length,
            "validation_period": validation_period,
            "checkpoint_period": checkpoint_period,
            "reporting_period": reporting_period,
            "checkpoint_policy": checkpoint_policy,
            "step_zero_validation": step_zero_validation,
        }
        periods = periods_from(self.run.config, overrides)
        if profiling_enabled is not None:
            self._profiled = Window() if profiling_enabled else None
        data = self._training_data()
        self._validation = self._validation_data()
        plan = make_plan(
            periods,
            batches_per_epoch=data.batches_per_epoch,
            global_batch_size=self.context.get_global_batch_size(),
        )
        restored = self._restore(data, latest_checkpoint)
        self._begin(plan, restored)
        try:
            self._train(plan, data)
        finally:
            self._each("on_trial_shutdown")

    # ------------------------------------------------------------------------------------------------ set-up

    def _training_data(self) -> TrainingData:
        place = self.context.distributed
        return TrainingData(
            self.trial.training_data(),
            global_batch_size=self.context.get_global_batch_size(),
            rank=place.rank,
            size=place.size,
            seed=self.run.seed,
        )

    def _validation_data(self) -> ValidationData:
        place = self.context.distributed
        is_full = type(self.trial).evaluate_full_dataset is not Trial.evaluate_full_dataset
        return ValidationData(
            self.trial.validation_data(),
            rank=0 if is_full else place.rank,
            size=1 if is_full else place.size,
            per_slot_batch_size=self.context.get_per_slot_batch_size(),
        )

    def _restore(self, data: TrainingData, uuid: str | None) -> Restored | None:
        restored = self.run.checkpoint.restore(uuid)
        if restored is None:
            return None
        if restored.metadata.get("framework") != "resolute.pytorch":
            raise InvalidInput(
                f"Checkpoint {restored.uuid} was not written by this Trainer, so it cannot be resumed. "
                "Load its weights in the trial's __init__ instead."
            )
        own_file = f"state-rank{self.context.distributed.rank}.pt"
        chief = restored.load("state-rank0.pt")
        shared = chief["shared"]
        self._each("on_checkpoint_load_start", shared)
        data.position = restore_shared(self.context, shared, self._callbacks)
        self._best = shared["best"]
        is_chief = self.context.distributed.is_chief
        own = chief["own"] if is_chief else None
        if not is_chief and (restored.path / own_file).exists():
            own = restored.load(own_file)["own"]
        restore_own(self.context, own, shared["size"], self._averages)
        self.context.epoch = data.position.epoch
        self._saved_at = self._first_step = self.context.steps
        return restored

    def _begin(self, plan: Plan, restored: Restored | None) -> None:
        for model in self.context.models:
            model.train()
        self._each("on_trial_startup", self.context.steps, restored.uuid if restored else None)
        self._each("on_training_start")
        if restored is None and plan.initial_validation:
            self._validate(plan)

    # -------------------------------------------------------------------------------------------------- loop

    def _train(self, plan: Plan, data: TrainingData) -> None:
        self.run.state("training")
        while self.context.steps < plan.max_steps and not self._is_stopping():
            self._epoch(plan, data)
        if not self._was_told:
            self._finish(plan, data)
        elif self._saved_at != self.context.steps:
            self._checkpoint(data)

    def _epoch(self, plan: Plan, data: TrainingData) -> None:
        """The rest of one epoch, or until something ends training."""
        context, averages = self.context, self._averages
        epoch, is_last = data.position.epoch, False
        if data.position.batches == 0:
            self._each("on_training_epoch_start", epoch)
        due = plan.next_stop(context.steps)
        clock = time.perf_counter
        waited_from = clock()
        for batch, count in data.epoch():
            self._data_wait_s += clock() - waited_from
            averages.add(self._step(context.to_device(batch), count, epoch))
            context.steps += 1
            self._window_samples += count
            is_last = data.advance(count)
            if is_last:
                self._end_epoch(data)
            if context.steps >= due:
                self._due(plan, data)
                due = plan.next_stop(context.steps)
            if context.steps >= plan.max_steps or self._is_stopping():
                return
            waited_from = clock()
        if not is_last:
            self._end_epoch(data)

    def _step(self, batch: Any, count: int, epoch: int) -> Any:
        context = self.context
        place = context.distributed
        if place.size > 1:
            start, end = share_of(count, place.rank, place.size)
            context.loss_weight = (end - start) * place.size / count
        if context.aggregation == 1 and context.autocast_dtype is None:
            output = self.trial.train_batch(batch, epoch, context.steps)
        else:
            with context.gradient_sync(), context.autocast():
                output = self.trial.train_batch(batch, epoch, context.steps)
        if context.schedulers:
            self._step_schedulers(StepMode.STEP_EVERY_BATCH, context.steps + 1)
            if context.is_aggregation_end():
                self._step_schedulers(StepMode.STEP_EVERY_OPTIMIZER_STEP, (context.steps + 1) // context.aggregation)
        return output

    def _end_epoch(self, data: TrainingData) -> None:
        epoch = data.position.epoch
        data.end_epoch()
        self.context.epoch = data.position.epoch
        self._step_schedulers(StepMode.STEP_EVERY_EPOCH, epoch + 1)
        self._each("on_training_epoch_end", epoch)

    def _step_schedulers(self, mode: StepMode, count: int) -> None:
        for each in self.context.schedulers:
            if each.mode is mode and count % each.frequency == 0:
                each.scheduler.step()

    def _is_stopping(self) -> bool:
        if self.run.should_stop():
            self._was_told = True
        return self._was_told or self.context.get_stop_requested()

    # --------------------------------------------------------------------------------------------- what is due

    def _due(self, plan: Plan, data: TrainingData) -> None:
        steps = self.context.steps
        is_end = steps >= plan.max_steps
        if is_end or steps % plan.reporting == 0:
            self._report(plan)
        is_best = False
        if plan.validates_at(steps):
            is_best = self._validate(plan)
        wants = plan.policy == "all" and self._validated_at == steps
        wants = wants or (plan.policy == "best" and is_best)
        if wants or (plan.checkpoint and steps % plan.checkpoint == 0):
            self._checkpoint(data)

    def _finish(self, plan: Plan, data: TrainingData) -> None:
        """Every training that reaches its end is validated and saved there."""
        if self._validated_at != self.context.steps and self._first_step != self.context.steps:
            self._validate(plan)
        if self._saved_at != self.context.steps:
            self._checkpoint(data)
        if self.context.steps >= plan.max_steps:
            self.run.progress(1.0)

    def _report(self, plan: Plan) -> None:
        metrics: dict[str, Any] = combine(self.context.gather(self._averages.totals()))
        self._averages.reset()
        for each in self.context.reducers:
            if each.for_training:
                metrics |= each.reduce(self.context.gather)
                each.reducer.reset()
        self.run.report(TRAINING, self.context.steps, metrics)
        self.run.progress(min(self.context.steps / plan.max_steps, 1.0))
        self._each("on_training_workload_end", metrics, None)
        self._report_pace()

    def _report_pace(self) -> None:
        now = time.perf_counter()
        elapsed = max(now - self._window_started, 1e-9)
        if self._profiled and self._profiled.holds(self.context.steps) and self._window_samples:
            pace = {
                "samples_per_second": self._window_samples / elapsed,
                "data_wait_share": self._data_wait_s / elapsed,
            }
            self.run.report("throughput", self.context.steps, pace)
        self._window_started, self._window_samples, self._data_wait_s = now, 0, 0.0

    def _validate(self, plan: Plan) -> bool:
        """True when the searcher's metric is the best of this trial so far."""
        self.run.state("validating")
        callbacks = list(self._callbacks.values())
        self._each("on_validation_start")
        generators = capture_rng()
        metrics = evaluate(self.trial, self.context, self._validation, callbacks)
        restore_rng(generators)  # When and how often it is validated must not change what is learnt.
        self._each("on_validation_end", metrics)
        self.run.report(VALIDATION, self.context.steps, {**metrics, **self._time_metric()})
        self.run.hear_decision()
        self._validated_at = self.context.steps
        self.run.state("training")
        return self._is_best(metrics)

    def _time_metric(self) -> dict[str, int]:
        """Some searchers count time by a metric that must travel with each validation."""
        searcher = self.run.config.get("searcher") or {}
        length = searcher.get("max_length")
        in_epochs = isinstance(length, dict) and "epochs" in length and searcher.get("name") != "single"
        name = "epochs" if in_epochs else searcher.get("time_metric")
        values = {"batches": self.context.steps, "epochs": self.context.epoch}
        return {name: values[name]} if name in values else {}

    def _is_best(self, metrics: dict[str, Any]) -> bool:
        searcher = self.run.config.get("searcher") or {}
        name = searcher.get("metric") or next(iter(metrics))
        if name not in metrics:
            found = ", ".join(sorted(metrics))
            raise InvalidInput(
                f"The searcher's metric {name!r} is not among the validation metrics: {found}. "
                "Return it from evaluation, or change searcher.metric in the experiment's YAML."
            )
        value = float(metrics[name])
        is_smaller = searcher.get("smaller_is_better", True)
        if self._best is not None and (value >= self._best if is_smaller else value <= self._best):
            return False
        self._best = value
        return True

    def _checkpoint(self, data: TrainingData) -> None:
        place = self.context.distributed
        self.run.state("checkpointing")
        shared = shared_state(self.context, data.position, self._callbacks, self._best)
        self._each("on_checkpoint_save_start", shared)
        state: dict[str, Any] = {"own": own_state(self._averages)}
        if place.is_chief:
            state["shared"] = shared
        uuid = self._write(state, {"framework": "resolute.pytorch", "trial_class": type(self.trial).__name__})
        self._saved_at = self.context.steps
        if self._has("on_checkpoint_upload_end"):
            self.run.checkpoint.wait()
            self._each("on_checkpoint_upload_end", uuid)
        self.run.state("training")

    def _write(self, state: dict[str, Any], metadata: dict[str, str]) -> str:
        steps = self.context.steps
        if not self._has("on_checkpoint_write_end"):
            return self.run.checkpoint.save(state, steps=steps, metadata=metadata, shard=True)
        # A callback wants to add files: the folder must exist before the upload, so it is written here and now.
        with self.run.checkpoint.store(steps=steps, metadata=metadata, shard=True) as (folder, uuid):
            write_state(state, folder / f"state-rank{self.context.distributed.rank}.pt")
            if self.context.distributed.is_chief:
                self._each("on_checkpoint_write_end", folder)
        return uuid

    def _has(self, event: str) -> bool:
        return any(getattr(type(each), event) is not getattr(Callback, event) for each in self._callbacks.values())

    def _each(self, event: str, *values: Any) -> None:
        for callback in self._callbacks.values():
            getattr(callback, event)(*values)
