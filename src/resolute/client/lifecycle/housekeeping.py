"""What models have left on the master: trainings (jobs), searches (experiments) and inference services.

Deleting many is a rehearsal unless `force` is set: the names come back, and nothing happens.
"""

from collections.abc import Iterable

from resolute.client.client import Client
from resolute.client.experiment import Experiment
from resolute.client.lifecycle.contract import SECTION
from resolute.domain.errors import IllegalTransition, InvalidInput, NotFound

JOB, EXPERIMENT, SERVICE = "job", "experiment", "inference_service"


def list_jobs(client: Client | None = None) -> list[str]:
    """Names of trainings, oldest first."""
    return [each.name for each in _of_phase("train", client)]


def list_experiments(client: Client | None = None) -> list[str]:
    """Names of searches, oldest first."""
    return [each.name for each in _of_phase("tune", client)]


def list_inference_services(client: Client | None = None) -> list[str]:
    return [each.name for each in _connected(client).deployments.all() if each.state != "DELETING"]


def list_all_resources(client: Client | None = None) -> dict[str, list[str]]:
    client = _connected(client)
    return {
        JOB: list_jobs(client),
        EXPERIMENT: list_experiments(client),
        SERVICE: list_inference_services(client),
    }


def delete_job(name: str, kind: str | None = None, client: Client | None = None) -> None:
    """`kind` is what Kubernetes would call it; names are enough here."""
    _remove(_named(name, _of_phase("train", client), JOB))


def delete_experiment(name: str, client: Client | None = None) -> None:
    _remove(_named(name, _of_phase("tune", client), EXPERIMENT))


def delete_inference_service(name: str, client: Client | None = None) -> None:
    _connected(client).deployments.get(name).delete()


def delete_resource(kind: str, name: str, client: Client | None = None) -> None:
    """`kind`: job, experiment or inference_service."""
    match str(kind).lower():
        case "job":
            delete_job(name, client=client)
        case "experiment":
            delete_experiment(name, client)
        case "inference_service":
            delete_inference_service(name, client)
        case _:
            raise InvalidInput(f"kind: {kind!r} is unknown. Choose {JOB}, {EXPERIMENT} or {SERVICE}.")


def delete_jobs(force: bool = False, client: Client | None = None) -> list[str]:
    """Finished trainings; those that run are left alone."""
    return _remove_all(_of_phase("train", client), is_real=force)


def delete_experiments(force: bool = False, client: Client | None = None) -> list[str]:
    """Finished searches; those that run are left alone."""
    return _remove_all(_of_phase("tune", client), is_real=force)


def delete_inference_services(force: bool = False, client: Client | None = None) -> list[str]:
    client = _connected(client)
    names = list_inference_services(client)
    for name in names if force else []:
        delete_inference_service(name, client)
    return names


def clean(force: bool = False, client: Client | None = None) -> list[str]:
    """Finished trainings and searches. Services stay."""
    client = _connected(client)
    return [*delete_jobs(force, client), *delete_experiments(force, client)]


def clean_all(force: bool = False, client: Client | None = None) -> list[str]:
    """As `clean`, and every inference service."""
    client = _connected(client)
    return [*clean(force, client), *delete_inference_services(force, client)]


def diagnose(client: Client | None = None) -> dict[str, object]:
    """What a question about a cluster begins with: where it is, its version, its slots and what is on it."""
    client = _connected(client)
    slots = sum(len(agent.get("slots") or {}) for agent in client.cluster.agents())
    version = client.cluster.info().get("version")
    return {"master": client.master, "version": version, "slots": slots, **list_all_resources(client)}


def _connected(client: Client | None) -> Client:
    return client or Client()


def _of_phase(phase: str, client: Client | None) -> list[Experiment]:
    found = _connected(client).list_experiments(labels=[SECTION, phase], archived=False)
    return [each for each in found if {SECTION, phase} <= set(each.labels)]


def _named(name: str, experiments: Iterable[Experiment], kind: str) -> Experiment:
    listed = list(experiments)
    for experiment in listed:
        if experiment.name == name:
            return experiment
    names = ", ".join(each.name for each in listed) or "none"
    raise NotFound(f"There is no {kind} {name!r}. There are: {names}.")


def _remove_all(experiments: Iterable[Experiment], *, is_real: bool) -> list[str]:
    finished = [each for each in experiments if each.is_finished]
    for experiment in finished if is_real else []:
        _remove(experiment)
    return [each.name for each in finished]


def _remove(experiment: Experiment) -> None:
    """One whose model is registered is archived: deleting it would take the registered model away."""
    try:
        experiment.delete()
    except IllegalTransition:
        if not experiment.is_finished:
            raise
        experiment.archive()
