"""Calls every public method of the official SDK once. Standard input: things of the test's own. Standard output: what
each said, an empty text where it worked.
"""

import inspect
import itertools
import json
import logging
import os
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from determined.experimental import client

KNOWN = json.load(sys.stdin)
CLASSES = ("Checkpoint", "Determined", "Experiment", "Model", "ModelVersion", "Project", "ResourcePool", "Trial")
CLASSES += ("User", "Workspace")
_numbers = itertools.count()


def main() -> None:
    logging.disable(logging.CRITICAL)
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the client itself prints
    client.login()
    said = {}
    for name in sorted(public_names(), key=lambda name: (name.endswith("logout"), name)):
        try:
            RECIPES[name]()
            said[name] = ""
        except KeyError as error:
            said[name] = "nobody tries it" if name not in RECIPES else f"KeyError: {error}"
        except BaseException as error:
            said[name] = f"{type(error).__name__}: {error}".splitlines()[0]
    with answer:
        json.dump(said, answer)


def public_names() -> set[str]:
    functions = {name for name, _ in inspect.getmembers(client, inspect.isfunction) if not name.startswith("_")}
    methods = {f"{each}.{name}" for each in CLASSES for name, _ in inspect.getmembers(getattr(client, each), callable)}
    return functions | {name for name in methods if "._" not in name}


def fresh(stem: str) -> str:
    return f"{KNOWN['mark']}{stem}{next(_numbers)}"


def experiment() -> Any:
    return client.get_experiment(KNOWN["done"])


def paused() -> Any:
    """One of its own, which trains nothing."""
    created = client.create_experiment(KNOWN["config"], KNOWN["model"])
    created.pause()
    return created


def killed() -> Any:
    created = paused()
    created.kill()
    created.wait(interval=0.2)
    return created


def trial() -> Any:
    return client.get_trial(KNOWN["trial"])


def checkpoint() -> Any:
    return client.get_checkpoint(KNOWN["checkpoint"])


def model() -> Any:
    return client.create_model(fresh("m"))


def version() -> Any:
    return model().register_version(KNOWN["checkpoint"])


def workspace() -> Any:
    return client.create_workspace(fresh("w"))


def project() -> Any:
    return workspace().create_project("shelf")


def user() -> Any:
    return client.create_user(fresh("u"), False, "Password123")


def pool() -> Any:
    return client.get_workspace("Uncategorized").list_pools()[0]


def want(found: Any, what: Any = True) -> None:
    assert found == what, f"{found!r}, not {what!r}"


def _noted() -> None:
    shelf = project()
    shelf.add_note("a", "b")
    shelf.remove_note("a")
    want(shelf.notes, [])


def _labelled() -> None:
    one = paused()
    one.add_label("a")
    one.remove_label("a")
    want(set(one.labels or ()), set())


def _removed_key() -> None:
    one = model()
    one.add_metadata({"a": 1})
    one.remove_metadata(["a"])
    want(one.metadata, {})


def _deleted_project() -> None:
    place = workspace()
    place.create_project("shelf")
    want(place.delete_project("shelf"), None)


def _moved() -> None:
    place = workspace()
    place.create_project("shelf")
    killed().move_to_project(place.name, "shelf")


def _linked() -> None:
    someone = user()
    someone.link_with_agent(agent_uid=1000, agent_gid=1000, agent_user="me", agent_group="us")
    someone.reload()
    want(someone.agent_uid, 1000)


def _folder() -> str:
    return tempfile.mkdtemp()


def _streamed(stream: Any) -> None:
    want(bool(list(stream)))


def _spare() -> Any:
    return client.get_checkpoint(KNOWN["spare"])


OF_CLIENT: dict[str, Callable[[Any], Any]] = {
    "add_oauth_client": lambda c: c.add_oauth_client(domain="localhost", name="x"),
    "create_experiment": lambda c: c.create_experiment(KNOWN["config"], KNOWN["model"]).kill(),
    "create_model": lambda c: c.create_model(fresh("m")),
    "create_user": lambda c: c.create_user(fresh("u"), False, "Password123"),
    "create_workspace": lambda c: c.create_workspace(fresh("w")),
    "delete_workspace": lambda c: c.delete_workspace(workspace().name),
    "get_checkpoint": lambda c: want(c.get_checkpoint(KNOWN["checkpoint"]).uuid, KNOWN["checkpoint"]),
    "get_experiment": lambda c: want(c.get_experiment(KNOWN["done"]).id, KNOWN["done"]),
    "get_model": lambda c: c.get_model(model().name),
    "get_model_by_id": lambda c: c.get_model_by_id(model().model_id),
    "get_model_labels": lambda c: c.get_model_labels(),
    "get_models": lambda c: c.get_models(),
    "get_session_username": lambda c: want(c.get_session_username(), "admin"),
    "get_trial": lambda c: want(c.get_trial(KNOWN["trial"]).id, KNOWN["trial"]),
    "get_user_by_id": lambda c: c.get_user_by_id(1),
    "get_user_by_name": lambda c: c.get_user_by_name("admin"),
    "get_workspace": lambda c: c.get_workspace("Uncategorized"),
    "iter_trials_metrics": lambda c: _streamed(c.iter_trials_metrics([KNOWN["trial"]], "validation")),
    "list_experiments": lambda c: want(bool(c.list_experiments())),
    "list_models": lambda c: c.list_models(),
    "list_oauth_clients": lambda c: c.list_oauth_clients(),
    "list_users": lambda c: want(bool(c.list_users())),
    "list_workspaces": lambda c: want(bool(c.list_workspaces())),
    "remove_oauth_client": lambda c: c.remove_oauth_client("x"),
    "stream_trials_metrics": lambda c: _streamed(c.stream_trials_metrics([KNOWN["trial"]], "validation")),
    "stream_trials_training_metrics": lambda c: _streamed(c.stream_trials_training_metrics([KNOWN["trial"]])),
    "stream_trials_validation_metrics": lambda c: _streamed(c.stream_trials_validation_metrics([KNOWN["trial"]])),
    "whoami": lambda c: want(c.whoami().username, "admin"),
}
RECIPES: dict[str, Callable[[], Any]] = {
    **{name: (lambda call=call: call(client)) for name, call in OF_CLIENT.items()},
    **{f"Determined.{name}": (lambda call=call: call(client.Determined())) for name, call in OF_CLIENT.items()},
    "login": lambda: want(client.get_session_username(), "admin"),
    "logout": lambda: client.logout(),
    "Determined.logout": lambda: client.Determined().logout(),
    "Checkpoint.add_metadata": lambda: checkpoint().add_metadata({"a": 1}),
    "Checkpoint.delete": lambda: _spare().delete(),
    "Checkpoint.download": lambda: checkpoint().download(_folder() + "/files"),
    "Checkpoint.get_metrics": lambda: list(checkpoint().get_metrics()),
    "Checkpoint.get_pachyderm_commit": lambda: want(checkpoint().get_pachyderm_commit(), "abc"),
    "Checkpoint.reload": lambda: checkpoint().reload(),
    "Checkpoint.remove_files": lambda: checkpoint().remove_files(["none"]),
    "Checkpoint.remove_metadata": lambda: (checkpoint().add_metadata({"b": 1}), checkpoint().remove_metadata(["b"])),
    "Checkpoint.write_metadata_file": lambda: checkpoint().write_metadata_file(_folder() + "/metadata.json"),
    "Experiment.activate": lambda: (one := paused(), one.activate(), one.kill()),
    "Experiment.add_label": lambda: paused().add_label("a"),
    "Experiment.archive": lambda: killed().archive(),
    "Experiment.await_first_trial": lambda: want(experiment().await_first_trial().id, KNOWN["trial"]),
    "Experiment.cancel": lambda: paused().cancel(),
    "Experiment.delete": lambda: killed().delete(),
    "Experiment.delete_tensorboard_files": lambda: killed().delete_tensorboard_files(),
    "Experiment.download_code": lambda: experiment().download_code(_folder()),
    "Experiment.get_pachyderm_config": lambda: want(
        experiment().get_pachyderm_config(), {"dataset": {"commit": "abc"}}
    ),
    "Experiment.get_trials": lambda: want(len(experiment().get_trials()), 1),
    "Experiment.iter_trials": lambda: want(len(list(experiment().iter_trials())), 1),
    "Experiment.kill": lambda: paused().kill(),
    "Experiment.list_checkpoints": lambda: want(bool(experiment().list_checkpoints())),
    "Experiment.list_trials": lambda: want(len(experiment().list_trials()), 1),
    "Experiment.move_to_project": _moved,
    "Experiment.pause": paused,
    "Experiment.reload": lambda: experiment().reload(),
    "Experiment.remove_label": _labelled,
    "Experiment.set_description": lambda: paused().set_description("a"),
    "Experiment.set_labels": lambda: paused().set_labels({"a", "b"}),
    "Experiment.set_name": lambda: paused().set_name("a"),
    "Experiment.set_notes": lambda: paused().set_notes("a"),
    "Experiment.top_checkpoint": lambda: experiment().top_checkpoint(),
    "Experiment.top_n_checkpoints": lambda: want(len(experiment().top_n_checkpoints(1)), 1),
    "Experiment.unarchive": lambda: (one := killed(), one.archive(), one.unarchive()),
    "Experiment.wait": lambda: want(str(experiment().wait(interval=0.2)), "ExperimentState.COMPLETED"),
    "Model.add_metadata": lambda: model().add_metadata({"a": 1}),
    "Model.archive": lambda: model().archive(),
    "Model.delete": lambda: model().delete(),
    "Model.get_version": lambda: (one := model(), one.register_version(KNOWN["checkpoint"]), one.get_version(1)),
    "Model.get_versions": lambda: model().get_versions(),
    "Model.list_versions": lambda: list(model().list_versions()),
    "Model.move_to_workspace": lambda: model().move_to_workspace(workspace().name),
    "Model.register_version": version,
    "Model.reload": lambda: model().reload(),
    "Model.remove_metadata": _removed_key,
    "Model.set_description": lambda: model().set_description("a"),
    "Model.set_labels": lambda: model().set_labels(["a"]),
    "Model.unarchive": lambda: (one := model(), one.archive(), one.unarchive()),
    "ModelVersion.delete": lambda: version().delete(),
    "ModelVersion.get_metrics": lambda: list(version().get_metrics()),
    "ModelVersion.iter_metrics": lambda: list(version().iter_metrics()),
    "ModelVersion.reload": lambda: version().reload(),
    "ModelVersion.set_name": lambda: version().set_name("a"),
    "ModelVersion.set_notes": lambda: version().set_notes("a"),
    "Project.add_note": lambda: project().add_note("a", "b"),
    "Project.archive": lambda: project().archive(),
    "Project.list_experiments": lambda: list(project().list_experiments()),
    "Project.reload": lambda: project().reload(),
    "Project.remove_note": _noted,
    "Project.set_description": lambda: project().set_description("a"),
    "Project.set_key": lambda: project().set_key(f"K{next(_numbers)}"),
    "Project.set_name": lambda: project().set_name("b"),
    "Project.unarchive": lambda: (one := project(), one.archive(), one.unarchive()),
    "ResourcePool.add_bindings": lambda: pool().add_bindings(["Uncategorized"]),
    "ResourcePool.list_workspaces": lambda: pool().list_workspaces(),
    "ResourcePool.remove_bindings": lambda: pool().remove_bindings(["Uncategorized"]),
    "ResourcePool.replace_bindings": lambda: pool().replace_bindings(["Uncategorized"]),
    "Trial.get_checkpoints": lambda: want(bool(trial().get_checkpoints())),
    "Trial.get_experiment": lambda: want(trial().get_experiment().id, KNOWN["done"]),
    "Trial.iter_logs": lambda: _streamed(trial().iter_logs()),
    "Trial.iter_metrics": lambda: _streamed(trial().iter_metrics("training")),
    "Trial.kill": lambda: trial().kill(),
    "Trial.list_checkpoints": lambda: want(bool(trial().list_checkpoints())),
    "Trial.logs": lambda: want(list(trial().logs(sources=["nonesuch"])), []),
    "Trial.reload": lambda: trial().reload(),
    "Trial.select_checkpoint": lambda: trial().select_checkpoint(latest=True),
    "Trial.stream_metrics": lambda: _streamed(trial().stream_metrics("training")),
    "Trial.stream_training_metrics": lambda: _streamed(trial().stream_training_metrics()),
    "Trial.stream_validation_metrics": lambda: _streamed(trial().stream_validation_metrics()),
    "Trial.top_checkpoint": lambda: trial().top_checkpoint(),
    "User.activate": lambda: (one := user(), one.deactivate(), one.activate()),
    "User.change_display_name": lambda: user().change_display_name(fresh("d")),
    "User.change_password": lambda: user().change_password("Password456"),
    "User.deactivate": lambda: user().deactivate(),
    "User.link_with_agent": _linked,
    "User.reload": lambda: user().reload(),
    "User.rename": lambda: user().rename(fresh("r")),
    "Workspace.create_project": project,
    "Workspace.delete_project": _deleted_project,
    "Workspace.get_project": lambda: client.get_workspace("Uncategorized").get_project("Uncategorized"),
    "Workspace.list_pools": lambda: want(bool(client.get_workspace("Uncategorized").list_pools())),
    "Workspace.list_projects": lambda: want(bool(client.get_workspace("Uncategorized").list_projects())),
    "Workspace.reload": lambda: workspace().reload(),
}

if __name__ == "__main__":
    main()
