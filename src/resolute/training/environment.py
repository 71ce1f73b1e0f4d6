"""What a process can know about the trial it runs in, read once from its environment variables.

The master sets `DET_*` for every trial; torchrun and MPI set the rank. Reads only: it opens no connection.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from resolute.domain.errors import InvalidInput
from resolute.host.trust import Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where this process stands among the processes of its trial, as torchrun tells it."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    local_size: int = 1
    restart: int = 0
    """How often the launcher has started the ranks again within this allocation."""

    @property
    def is_chief(self) -> bool:
        return self.rank == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialEnvironment:
    """One run of one trial on a master."""

    master: str
    token: str = field(repr=False)
    trial_id: int
    experiment_id: int
    allocation_id: str
    task_id: str
    run_id: int
    seed: int
    slots: int
    agent_id: str
    hparams: dict[str, Any]
    config: dict[str, Any]
    latest_checkpoint: str | None
    steps_completed: int
    trust: Trust = field(default_factory=Trust)

    @property
    def storage(self) -> dict[str, Any]:
        storage = self.config.get("checkpoint_storage")
        if not isinstance(storage, dict):
            raise InvalidInput(
                "The experiment's configuration has no checkpoint_storage section, so checkpoints have nowhere to go. "
                "Add one to the experiment's YAML, for example {type: shared_fs, host_path: /some/folder}."
            )
        return storage

    @property
    def searcher_metric(self) -> str:
        return str(self.config.get("searcher", {}).get("metric", ""))


def read_place(env: Mapping[str, str] = os.environ) -> Place:
    """Rank and size from torchrun's variables, else from Open MPI's; alone when there are none."""
    for rank, size, local_rank, local_size in _RANK_VARIABLES:
        if rank in env:
            total = _int(env, size, 1)
            return Place(
                rank=_int(env, rank, 0),
                size=total,
                local_rank=_int(env, local_rank, 0),
                local_size=_int(env, local_size, total),
                restart=_int(env, "TORCHELASTIC_RESTART_COUNT", 0),
            )
    return Place()


def read_trial(env: Mapping[str, str] = os.environ) -> TrialEnvironment | None:
    """The trial this process belongs to; None off-cluster. A half-set environment is refused by name."""
    if "DET_TRIAL_ID" not in env or "DET_MASTER" not in env:
        return None
    missing = [name for name in _REQUIRED if name not in env]
    if missing:
        raise InvalidInput(
            f"DET_TRIAL_ID is set but {', '.join(missing)} is not: this is neither a whole trial environment nor none. "
            "Start the script through the master, or unset DET_TRIAL_ID to run off-cluster."
        )
    return TrialEnvironment(
        master=env["DET_MASTER"],
        token=env["DET_SESSION_TOKEN"],
        trial_id=_int(env, "DET_TRIAL_ID", 0),
        experiment_id=_int(env, "DET_EXPERIMENT_ID", 0),
        allocation_id=env["DET_ALLOCATION_ID"],
        task_id=env.get("DET_TASK_ID", ""),
        run_id=_int(env, "DET_TRIAL_RUN_ID", 0),
        seed=_int(env, "DET_TRIAL_SEED", 0),
        slots=len(_json(env, "DET_SLOT_IDS", [])),
        agent_id=env.get("DET_AGENT_ID", ""),
        hparams=_json(env, "DET_HPARAMS", {}),
        config=_json(env, "DET_EXPERIMENT_CONFIG", {}),
        latest_checkpoint=env.get("DET_LATEST_CHECKPOINT") or None,
        steps_completed=_int(env, "DET_STEPS_COMPLETED", 0),
        trust=Trust.of(env),
    )


_RANK_VARIABLES = (
    ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
)
_REQUIRED = ("DET_SESSION_TOKEN", "DET_ALLOCATION_ID", "DET_EXPERIMENT_CONFIG")


def _int(env: Mapping[str, str], name: str, default: int) -> int:
    text = env.get(name, "")
    if not text:
        return default
    try:
        return int(text)
    except ValueError:
        raise InvalidInput(f"Environment variable {name} is {text!r}; it must be a whole number.") from None


def _json(env: Mapping[str, str], name: str, default: Any) -> Any:
    text = env.get(name, "")
    if not text:
        return default
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"Environment variable {name} is not JSON ({error}); the master sets it.") from None
