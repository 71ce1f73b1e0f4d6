"""The SDK's front door: one object per master, with everything reachable from it."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from resolute.client.address import find_master
from resolute.client.audit import Audit
from resolute.client.checkpoint import Checkpoint
from resolute.client.cluster import Cluster
from resolute.client.configuration import Configuration, as_dict, as_yaml, in_own_words
from resolute.client.context import pack
from resolute.client.credentials import TokenStore, default_path
from resolute.client.datasets import Datasets
from resolute.client.deployments import Deployments
from resolute.client.experiment import Experiment
from resolute.client.identity import Credentials, log_in
from resolute.client.interactive import InteractiveTasks
from resolute.client.models import Models
from resolute.client.session import Session
from resolute.client.templates import Templates
from resolute.client.trial import Trial
from resolute.client.users import Users
from resolute.client.workspaces import Projects, Workspaces
from resolute.domain.errors import InvalidInput, TooLarge
from resolute.host.trust import Trust


class Client:
    """A master, as one user. Nothing is sent until something is asked.

    Without arguments it follows the environment: RESOLUTE_MASTER or DET_MASTER, RESOLUTE_TOKEN, DET_USER and DET_PASS,
    then the login that is stored, then the user `determined` with the empty password.
    """

    def __init__(
        self,
        master: str | None = None,
        *,
        user: str | None = None,
        password: str | None = None,
        token: str | None = None,
        env: Mapping[str, str] | None = None,
        transport: httpx.BaseTransport | None = None,
        program: str = "resolute-sdk",
    ) -> None:
        """`program` is what the master's audit log calls it."""
        env = os.environ if env is None else env
        self._store = TokenStore(default_path(env))
        self._credentials = Credentials(env, self._store, user=user, password=password, token=token)
        self.session = Session(
            find_master(master, env),
            authenticate=self._credentials,
            transport=transport,
            trust=Trust.of(env),
            program=program,
        )
        self.workspaces = Workspaces(self.session)
        self.projects = Projects(self.session)
        self.templates = Templates(self.session)
        self.users = Users(self.session)
        self.audit = Audit(self.session)
        self.cluster = Cluster(self.session)
        self.deployments = Deployments(self.session)
        self.models = Models(self.session)
        self.datasets = Datasets(self.session)
        self.commands = InteractiveTasks(self.session, "command")
        self.notebooks = InteractiveTasks(self.session, "notebook")
        self.tensorboards = InteractiveTasks(self.session, "tensorboard")

    @property
    def master(self) -> str:
        return self.session.master

    @property
    def username(self) -> str:
        """Whom the next call is made as."""
        return self._credentials.user(self.master)

    def log_in(self, user: str, password: str = "") -> None:
        """Log in and remember it: later clients of this master are `user`."""
        self._store.remember(self.master, user, log_in(self.session, user, password), is_active=True)

    def log_out(self, user: str | None = None) -> str:
        """Forget the stored login, and end it on the master when that can be reached."""
        name = user or self.username
        if self._store.token(self.master, name):
            self.session.post("/api/v1/auth/logout")
        self._store.forget(self.master, name)
        return name

    def create_experiment(
        self,
        config: Configuration,
        model_dir: Path | str | None = None,
        *,
        include: Sequence[Path | str] = (),
        template: str | None = None,
        project_id: int | None = None,
        parent_id: int | None = None,
        activate: bool = True,
    ) -> Experiment:
        """Submit. `config` is YAML text, a path to a YAML file, or a dictionary."""
        body = _creation(config, model_dir, include, template=template, projectId=project_id, parentId=parent_id)
        answer = self._submit(config, {**body, "activate": activate})
        # What the master says in words stands with the experiment; its codes say less.
        warnings = {"warnings": answer["experiment"].get("warnings") or answer.get("warnings") or []}
        return Experiment(self.session, {"config": answer.get("config"), **answer["experiment"], **warnings})

    def validate_experiment(
        self,
        config: Configuration,
        model_dir: Path | str | None = None,
        *,
        include: Sequence[Path | str] = (),
        template: str | None = None,
        project_id: int | None = None,
    ) -> dict[str, Any]:
        """The configuration as it would run. Raises what `create_experiment` would raise; creates nothing."""
        body = _creation(config, model_dir, include, template=template, projectId=project_id)
        return dict(self._submit(config, {**body, "validateOnly": True}).get("config") or {})

    def dry_run_experiment(
        self,
        config: Configuration,
        model_dir: Path | str | None = None,
        *,
        include: Sequence[Path | str] = (),
        template: str | None = None,
        project_id: int | None = None,
    ) -> dict[str, Any]:
        """`request`: what its first trial would be started as, in the words of the engine. Creates nothing."""
        body = _creation(config, model_dir, include, template=template, projectId=project_id)
        return self._submit(config, body, "/api/v1/experiments/dry-run")

    def continue_experiment(self, experiment_id: int, overrides: dict[str, Any] | None = None) -> Experiment:
        body = {"id": experiment_id, "overrideConfig": as_yaml(overrides or {})}
        return Experiment(self.session, self.session.post("/api/v1/experiments/continue", body)["experiment"])

    def get_experiment(self, experiment_id: int) -> Experiment:
        return Experiment(self.session, {"id": experiment_id}).reload()

    def list_experiments(
        self,
        *,
        users: Sequence[str] = (),
        archived: bool | None = None,
        states: Sequence[str] = (),
        labels: Sequence[str] = (),
        project_id: int | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> Iterator[Experiment]:
        """Page by page as you consume them, oldest first."""
        query: dict[str, Any] = {
            "users": list(users),
            "archived": archived,
            "states": [f"STATE_{state}" for state in states],
            "labels": list(labels),
            "projectId": project_id,
            "offset": offset,
        }
        for item in self.session.pages("/api/v1/experiments", "experiments", limit=limit, **query):
            yield Experiment(self.session, item)

    def get_trial(self, trial_id: int) -> Trial:
        return Trial(self.session, {"id": trial_id}).reload()

    def get_checkpoint(self, uuid: str) -> Checkpoint:
        return Checkpoint(self.session, {"uuid": uuid}).reload()

    def delete_checkpoints(self, uuids: Sequence[str]) -> None:
        self.session.delete("/api/v1/checkpoints", {"checkpointUuids": list(uuids)})

    def preview_search(self, config: Configuration, *, seed: int | None = None) -> dict[str, Any]:
        """How many trials of which length a search would run."""
        body = {"config": as_dict(config), **({"seed": seed} if seed is not None else {})}
        return dict(self.session.post("/api/v1/preview-hp-search", body).get("summary") or {})

    def lineage(self, kind: str, thing_id: str | int) -> dict[str, Any]:
        """`nodes` and `edges` back to the data and forward to deployments; `kind` is dataset, experiment, trial,
        checkpoint, model_version or deployment."""
        return self.session.get("/api/v1/lineage", kind=kind, id=str(thing_id))

    def close(self) -> None:
        self.session.close()

    def _submit(self, config: Configuration, body: dict[str, Any], path: str = "/api/v1/experiments") -> dict[str, Any]:
        try:
            return self.session.post(path, body)
        except TooLarge:
            raise
        except InvalidInput as problem:
            raise in_own_words(problem, config) from problem

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _creation(
    config: Configuration, model_dir: Path | str | None, include: Sequence[Path | str], **rest: Any
) -> dict[str, Any]:
    text = as_yaml(config)
    files = pack(model_dir, include)
    return {"config": text, "modelDefinition": files, **{k: v for k, v in rest.items() if v is not None}}
