"""The core context: what a training script imports to report, checkpoint, stop in time and resume.

`with resolute.init() as run:` works the same inside a trial and off-cluster; nothing else in the script changes.
"""

import logging
import os
import sys
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from resolute.domain.errors import InvalidInput, ResoluteError
from resolute.domain.metric import VALIDATION
from resolute.store.blobs import open_blobs
from resolute.training.checkpoints import Checkpoints
from resolute.training.environment import Place, TrialEnvironment, read_place, read_trial
from resolute.training.master import Master, RestMaster
from resolute.training.metrics import check_group, check_metrics, check_steps
from resolute.training.offline import CHECKPOINTS, LocalMaster
from resolute.training.profiling import Profiler, Window
from resolute.training.reports import ReportQueue
from resolute.training.stopping import StopAgreement, StopWatcher

_log = logging.getLogger("resolute")

_time = time.time

HEAR_S = 5.0
"""How long a stop question waits for the master to take a validation in; beyond it, training goes on."""
EXIT_FLUSH_S = 600.0
"""How long the end of a run waits for a master that is away before it gives reports up."""


class InvalidHparams(ResoluteError):
    """These hyperparameters cannot work. The searcher is told; the process ends with code 0."""

    code = "invalid_hparams"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What a script may want to know and cannot change."""

    hparams: dict[str, Any]
    config: dict[str, Any]
    seed: int
    slots: int
    trial_id: int | None
    experiment_id: int | None
    is_on_cluster: bool


class Run:
    """One run of one trial, or of a script on its own. Made by `init`."""

    def __init__(
        self,
        *,
        master: Master,
        facts: RunFacts,
        place: Place,
        checkpoints: Checkpoints,
        queue: ReportQueue,
        watcher: StopWatcher,
    ) -> None:
        self.hparams = facts.hparams
        self.config = facts.config
        self.seed = facts.seed
        self.slots = facts.slots
        self.trial_id = facts.trial_id
        self.experiment_id = facts.experiment_id
        self.is_on_cluster = facts.is_on_cluster
        self.place = place
        self.rank, self.size, self.local_rank = place.rank, place.size, place.local_rank
        self.is_chief = place.is_chief
        self.checkpoint = checkpoints
        """Save and restore: see `Checkpoints`."""
        self.stopping = StopAgreement(watcher, place)
        self._master = master
        self._queue = queue
        self._put = queue.put
        self._watcher = watcher
        self._groups: set[str] = set()
        self._validated: set[str] = set()
        self._is_joined = False
        self._is_judged = True
        """False from a validation until the master was asked what the searcher made of it."""
        self._profiler: Profiler | None = None

    # ------------------------------------------------------------------------------------------------ saying

    def report(self, group: str, steps: int, metrics: Mapping[str, Any]) -> None:
        """Tell the master what was measured after `steps` steps. Never waits for it.

        Only the chief's reports count; on other ranks this checks the values and does nothing.
        """
        if type(steps) is not int or steps < 0:
            check_steps(steps)
        if group not in self._groups:
            check_group(group)
            self._groups.add(group)
        checked = check_metrics(group, metrics)
        if self._profiler is not None:
            self._profiler.batch = steps
        if self.is_chief:
            if group == VALIDATION:
                self._validated.update(checked)
                self._is_judged = False
            self._put((group, steps, _time(), checked))

    def progress(self, fraction: float) -> None:
        """How far the whole training is, from 0 to 1."""
        if not 0.0 <= fraction <= 1.0:
            raise InvalidInput(f"progress is {fraction!r}; give the share that is done, from 0 to 1.")
        if self.is_chief:
            self._queue.put_progress(float(fraction))

    def state(self, state: str) -> None:
        """One word for people: training, validating, checkpointing. Lost without harm when the master is away."""
        if not self.is_chief:
            return
        try:
            self._master.send_state(state)
        except ResoluteError as error:
            _log.debug("state %s was not sent: %s", state, error)

    def invalid_hparams(self, reason: str) -> NoReturn:
        """End this trial without a restart: the searcher learns that these hyperparameters cannot work."""
        raise InvalidHparams(reason)

    def flush(self, timeout_s: float = EXIT_FLUSH_S) -> bool:
        """Wait until all reports so far are acknowledged."""
        return self._queue.flush(timeout_s)

    # ----------------------------------------------------------------------------------------------- hearing

    def should_stop(self) -> bool:
        """True once the trial was asked to leave (pause, preemption, the searcher, SIGTERM): checkpoint, then return.

        All ranks get the same answer at the same call; cheap enough for every step. After a validation it knows what
        the searcher made of it: a script that asks once an epoch is stopped there, and not an epoch later.
        """
        if not self._is_joined:
            self._join_ranks()
        if not self._is_judged:
            self._hear()
        return self.stopping.should_stop()

    def hear_decision(self) -> None:
        """After a validation, on every rank: the next `should_stop` knows what the searcher made of it."""
        if not self._is_joined:
            self._join_ranks()
        self._hear()
        self.stopping.ask_at_once()

    def _hear(self) -> None:
        """The master decides while it takes a validation in, so once that is acknowledged one question is enough.

        A master that is away is not waited for: training goes on, as it would without this.
        """
        self._is_judged = True
        is_one = (self.config.get("searcher") or {}).get("name") == "single"
        if not self.is_on_cluster or not self.is_chief or is_one or self.stopping.agreed:
            return
        if not self._queue.is_away and self._queue.flush(HEAR_S):
            self._watcher.look()

    def _join_ranks(self) -> None:
        self._is_joined = True
        if self.size == 1:
            return
        from resolute.training.torch_exchange import TorchExchange, is_distributed  # Only ranks need torch here.

        if is_distributed():
            self.stopping.join(TorchExchange())
        elif not self.is_chief and self.is_on_cluster:
            self._watcher.watch_master()  # These ranks are on their own: each asks for itself.

    @property
    def stop_reason(self) -> str:
        return self._watcher.reason

    def best_validation(self) -> float | None:
        """The best value of the searcher's metric in the whole experiment so far."""
        return self._master.best_validation()

    # ------------------------------------------------------------------------------------------------ ending

    def __enter__(self) -> "Run":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        is_invalid = isinstance(error, InvalidHparams)
        try:
            if is_invalid and self.is_chief:
                _log.error("Invalid hyperparameters: %s", error)
                self._master.send_early_exit("INVALID_HP")
            self._close(is_clean=error is None)
        except Exception:
            if error is None or is_invalid:
                raise
            _log.exception("While ending after another error:")  # The first error is the one to show.
        return is_invalid

    def close(self) -> None:
        self._close(is_clean=True)

    def _start_profiling(self, node: str) -> None:
        """If the experiment asks for it. One per node; samples travel with the metrics."""
        window = Window.of(self.config)
        if window is not None and self.place.local_rank == 0:
            self._profiler = Profiler(self._put, node, window=window)
            self._profiler.start()

    def _close(self, *, is_clean: bool) -> None:
        if self._profiler is not None:
            self._profiler.close()
        try:
            self.checkpoint.close()
            is_complete = is_clean and not self._watcher.requested
            if is_complete:
                self._check_searcher_metric()
        finally:
            self._queue.close(EXIT_FLUSH_S if is_clean else 30.0)
            self._watcher.close()
            self._master.close()

    def _check_searcher_metric(self) -> None:
        wanted = self.config.get("searcher", {}).get("metric") or []
        metrics = [wanted] if isinstance(wanted, str) else wanted
        missing = [metric for metric in metrics if metric not in self._validated]
        # A run that had nothing left to do after a restart reports nothing, and that is fine.
        if not (self.is_chief and self.is_on_cluster and missing and self._groups):
            return
        found = ", ".join(sorted(self._validated)) or "none"
        raise InvalidInput(
            f"The searcher's metric {missing[0]!r} was never reported in group 'validation'; names reported there: "
            f"{found}. Report it with run.report('validation', steps, ...), or change searcher.metric in the "
            "experiment's YAML."
        )


def init(
    *,
    hparams: Mapping[str, Any] | None = None,
    folder: str | Path | None = None,
    resume: str | Path | None = None,
) -> Run:
    """Join the trial this process belongs to, or start a run of its own off-cluster.

    `hparams` are defaults: the experiment's values win. `folder` (off-cluster only) is where metrics and checkpoints
    go, `./runs/<time>` unless given or set by RESOLUTE_RUN_FOLDER; `resume` is such a folder of an earlier run.
    """
    _set_up_logging()
    place = read_place()
    trial = read_trial()
    if trial is None:
        return _off_cluster(place, dict(hparams or {}), folder, resume)
    return _on_cluster(place, trial, {**(hparams or {}), **trial.hparams})


def _on_cluster(place: Place, trial: TrialEnvironment, hparams: dict[str, Any]) -> Run:
    master = RestMaster(trial)
    facts = RunFacts(
        hparams=hparams,
        config=trial.config,
        seed=trial.seed,
        slots=max(trial.slots, place.size),
        trial_id=trial.trial_id,
        experiment_id=trial.experiment_id,
        is_on_cluster=True,
    )
    name_base = f"{trial.master}/{trial.experiment_id}/{trial.trial_id}/{trial.allocation_id}/{place.restart}"
    latest = _newest(master) if place.restart else trial.latest_checkpoint
    run = _assemble(master, trial.storage, facts, place, name_base, latest)
    run._start_profiling(trial.agent_id or "node")
    return run


def _newest(master: Master) -> str | None:
    """The variable set when the allocation began is too old for ranks that were started again within it."""
    checkpoints = master.checkpoints()
    return checkpoints[0].uuid if checkpoints else None


def _off_cluster(place: Place, hparams: dict[str, Any], folder: str | Path | None, resume: str | Path | None) -> Run:
    home = Path(resume or folder or os.environ.get("RESOLUTE_RUN_FOLDER") or _new_run_folder(place))
    master = LocalMaster(home, echo=place.is_chief)
    existing = master.checkpoints()
    if resume is not None and not existing:
        raise InvalidInput(f"Cannot resume from {home}: it holds no checkpoints.jsonl of an earlier run.")
    home.mkdir(parents=True, exist_ok=True)
    facts = RunFacts(
        hparams=hparams,
        config={},
        seed=int(os.environ.get("RESOLUTE_SEED", "0")),
        slots=place.size,
        trial_id=None,
        experiment_id=None,
        is_on_cluster=False,
    )
    storage = {"type": "directory", "container_path": str((home / CHECKPOINTS).absolute())}
    latest = existing[0].uuid if existing else None
    return _assemble(master, storage, facts, place, f"{home.absolute()}/{_birth(place)}", latest)


def _assemble(
    master: Master, storage: dict[str, Any], facts: RunFacts, place: Place, name_base: str, latest: str | None
) -> Run:
    watcher = StopWatcher(master)
    queue = ReportQueue(master, on_replaced=lambda error: watcher.request(f"the run was replaced: {error}"))
    checkpoints = Checkpoints(
        master=master,
        blobs=open_blobs(storage),
        place=place,
        name_base=name_base,
        latest=latest,
        before_report=lambda: queue.flush(EXIT_FLUSH_S),
    )
    watcher.watch_signals()
    if facts.is_on_cluster and place.is_chief:
        watcher.watch_master()
    return Run(master=master, facts=facts, place=place, checkpoints=checkpoints, queue=queue, watcher=watcher)


def _new_run_folder(place: Place) -> Path:
    return Path("runs") / _birth(place)


def _birth(place: Place) -> str:
    """A name all ranks of one launch share: alone, a fresh one; together, one made from the launcher's process."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    if place.size == 1:
        return f"{stamp}-{uuid.uuid4().hex[:6]}"
    launcher = os.getppid()
    started = os.stat(f"/proc/{launcher}").st_mtime if os.path.exists(f"/proc/{launcher}") else 0
    restart = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    return f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(started))}-{launcher}-{restart}"


def _set_up_logging() -> None:
    """Give the `resolute` logger a voice unless the script has set logging up itself."""
    if logging.getLogger().handlers or _log.handlers:
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    _log.addHandler(handler)
    _log.setLevel(logging.INFO)
