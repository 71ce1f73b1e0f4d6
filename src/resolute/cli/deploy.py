"""`resolute deploy`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.inference_service import apply_inference_service
from resolute.cli.logs import Line, log_command
from resolute.cli.output import moment
from resolute.client.deployments import Deployment
from resolute.client.logs import LogFilter
from resolute.client.resource import bare
from resolute.domain.errors import InvalidInput
from resolute.spec.deployment import read_deployment
from resolute.spec.inference_service import is_inference_service, read_inference_service

app = group("Serve models: deploy, canary, promote, roll back.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the deployment.")]
Model = Annotated[str | None, typer.Option("--model", help="Registered model, `name/version` or `name`.")]
Checkpoint = Annotated[str | None, typer.Option("--checkpoint", help="Uuid of a checkpoint.")]
ModelUri = Annotated[str | None, typer.Option("--model-uri", help="Path or URL of a model folder or archive.")]
Slots = Annotated[int | None, typer.Option(min=0, help="Slots per replica; 0 takes none.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A key of `serving`, such as max_batch_size=16; repeatable."),
]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until the new revision is ready.")]
MinReplicas = Annotated[int | None, typer.Option(min=0, help="0: down to none when idle.")]
MaxReplicas = Annotated[int | None, typer.Option(min=1)]
Target = Annotated[float | None, typer.Option(help="What one replica should carry of the metric.")]
Metric = Annotated[str | None, typer.Option(help="concurrency or rate.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

_HEADERS = ("NAME", "STATE", "READY", "PREV", "LATEST", "CANARY", "URL", "UPDATED")


@command(app, "create")
def create(
    run: Run,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Name of the deployment.")] = None,
    config: Annotated[Path | None, typer.Option("--config", "-f", help="A file with all of it.")] = None,
    model: Model = None,
    checkpoint: Checkpoint = None,
    model_uri: ModelUri = None,
    slots: Slots = None,
    setting: Settings = None,
    min_replicas: MinReplicas = None,
    max_replicas: MaxReplicas = None,
    target: Target = None,
    metric: Metric = None,
    sticky: Annotated[str | None, typer.Option(help="header:<name> or cookie:<name>.")] = None,
    public: Annotated[bool, typer.Option("--public", help="Answer without a token or key.")] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Update a deployment of that name.")] = False,
    volume: Annotated[
        list[str] | None,
        typer.Option("--volume", metavar="CLAIM=FOLDER", help="Where a pvc:// of an InferenceService is; repeatable."),
    ] = None,
    wait: Wait = False,
) -> None:
    """Serve a model under a name. The file of `-f` may also be an InferenceService of KServe, which is applied."""
    text = _text_of(config)
    if config is not None and is_inference_service(text):
        apply_inference_service(run, read_inference_service(text, filename=str(config), volumes=_volumes(volume)), wait)
        return
    given = _from_file(config, text)
    given["name"] = name or given.get("name")
    if not given["name"]:
        raise InvalidInput("Name the deployment: resolute deploy create NAME --model ...")
    source = _source(model, checkpoint, model_uri)
    if source:
        given = {k: v for k, v in given.items() if k not in ("model", "checkpoint_uuid", "model_uri")}
    given.setdefault("serving", {}).update(_serving(slots, setting))
    scaling = given.setdefault("scaling", {})
    scaling.update(_scaling(min_replicas, max_replicas, target, metric))
    if max_replicas is None:
        # Whoever asks for three at least does not mean one at most.
        scaling["max_replicas"] = max(scaling.get("max_replicas", 1), scaling.get("min_replicas", 1))
    if sticky is not None:
        given["sticky"] = sticky
    if public:
        given["public"] = True
    _rename(given)
    made = run.client.deployments.create(given.pop("name"), replace=replace, **source, **given)
    if wait:
        made.wait()
    sentence = f"Deployment {made.name} is {made.state}. Its key, shown once: {made.api_key}"
    run.say(sentence if not wait else f"{sentence}\n{made.url}", made.data)


@command(app, "list", "ls")
def list_deployments(run: Run) -> None:
    """List the deployments."""
    found = run.client.deployments.all()
    run.show(_HEADERS, [_row(each) for each in found], [each.data for each in found])


@command(app, "describe")
def describe(run: Run, name: Name) -> None:
    """Show a deployment with its revisions and replicas."""
    found = run.client.deployments.get(name)
    if run.is_json:
        run.show((), [], found.data)
        return
    run.show(_HEADERS, [_row(found)], found.data)
    headers = ("REVISION", "SOURCE", "STATE", "TRAFFIC %", "READY", "WANTED", "CREATED", "REASON")
    run.show(headers, [_revision_row(each) for each in found.revisions], found.data)
    replicas = [(r["number"], each) for r in found.revisions for each in r.get("replicas") or []]
    rows = [(n, each["taskId"], bare(each["state"]), each.get("address"), each.get("reason")) for n, each in replicas]
    run.show(("REVISION", "REPLICA", "STATE", "ADDRESS", "REASON"), rows, found.data)


@command(app, "update")
def update(
    run: Run,
    name: Name,
    model: Model = None,
    checkpoint: Checkpoint = None,
    model_uri: ModelUri = None,
    slots: Slots = None,
    setting: Settings = None,
    wait: Wait = False,
) -> None:
    """Move a deployment to another model, without a pause."""
    found = run.client.deployments.get(name)
    found.update(**_source(model, checkpoint, model_uri), serving=_serving(slots, setting))
    _done(run, found, f"Deployment {name} is being updated", wait=wait)


@command(app, "canary")
def canary(
    run: Run,
    name: Name,
    percent: Annotated[int, typer.Option("--percent", help="Share of the requests, 0 to 100.")],
    model: Model = None,
    checkpoint: Checkpoint = None,
    model_uri: ModelUri = None,
    slots: Slots = None,
    setting: Settings = None,
    wait: Wait = False,
) -> None:
    """Give another model a share of the requests, or change the running canary's share."""
    found = run.client.deployments.get(name)
    found.canary(percent, **_source(model, checkpoint, model_uri), serving=_serving(slots, setting))
    _done(run, found, f"Deployment {name}: {percent} % to the canary as soon as it is ready", wait=wait)


@command(app, "promote")
def promote(run: Run, name: Name) -> None:
    """Give the canary all requests."""
    found = run.client.deployments.get(name).promote()
    run.say(f"The canary of {name} takes over", found.data)


@command(app, "rollback")
def rollback(run: Run, name: Name) -> None:
    """Give up the canary or the update, else go back to the revision before."""
    found = run.client.deployments.get(name).rollback()
    run.say(f"Deployment {name} goes back", found.data)


@command(app, "pin")
def pin(run: Run, name: Name, revision: Annotated[int, typer.Argument(metavar="REVISION")]) -> None:
    """Send all requests to one revision."""
    found = run.client.deployments.get(name).pin(revision)
    run.say(f"Deployment {name} is pinned to revision {revision}", found.data)


@command(app, "shadow")
def shadow(
    run: Run,
    name: Name,
    percent: Annotated[int, typer.Option("--percent", help="Share of the requests that is copied.")] = 100,
    model: Model = None,
    checkpoint: Checkpoint = None,
    model_uri: ModelUri = None,
    stop: Annotated[bool, typer.Option("--stop", help="End the shadow.")] = False,
) -> None:
    """Copy requests to another model, whose answers are dropped."""
    found = run.client.deployments.get(name)
    if stop:
        run.say(f"The shadow of {name} ends", found.stop_shadow().data)
        return
    found.shadow(percent, **_source(model, checkpoint, model_uri))
    run.say(f"Deployment {name}: {percent} % of the requests are copied to the shadow", found.data)


@command(app, "scale")
def scale(
    run: Run,
    name: Name,
    min_replicas: MinReplicas = None,
    max_replicas: MaxReplicas = None,
    target: Target = None,
    metric: Metric = None,
    idle: Annotated[float | None, typer.Option(help="Seconds without a request before it goes down to none.")] = None,
) -> None:
    """Change how many replicas a deployment has."""
    scaling = _scaling(min_replicas, max_replicas, target, metric)
    if idle is not None:
        scaling["idle_s"] = idle
    if not scaling:
        raise InvalidInput("Say what to change: --min-replicas, --max-replicas, --target, --metric or --idle.")
    found = run.client.deployments.get(name).scale(**scaling)
    run.say(f"Deployment {name}: {json.dumps(found.data['scaling'])}", found.data)


@command(app, "delete")
def delete(run: Run, name: Name, yes: Yes = False) -> None:
    """Take a deployment down. Requests under way are answered."""
    run.confirm(f"Delete deployment {name}?", is_agreed=yes)
    run.client.deployments.get(name).delete()
    run.say(f"Deleting deployment {name}")


@log_command(app)
def logs(run: Run, name: Name, wanted: LogFilter) -> Iterator[Line]:
    """Logs of a deployment's replicas."""
    return run.client.deployments.get(name).logs(wanted)


# ---------------------------------------------------------------------------------------------------------- shared


def _text_of(config: Path | None) -> str:
    if config is None:
        return ""
    try:
        return config.read_text()
    except OSError as problem:
        raise InvalidInput(f"--config: {config} cannot be read: {problem.strerror}.") from None


def _volumes(pairs: list[str] | None) -> dict[str, str]:
    found = {}
    for pair in pairs or ():
        claim, equals, folder = pair.partition("=")
        if not claim or not equals or not folder:
            raise InvalidInput(f"--volume: {pair!r} is not CLAIM=FOLDER, such as task-pv-claim=/mnt/data.")
        found[claim] = str(Path(folder).expanduser().absolute())
    return found


def _from_file(config: Path | None, text: str) -> dict[str, Any]:
    if config is None:
        return {}
    return read_deployment(text, filename=str(config)).model_dump(exclude_unset=True)


def _rename(given: dict[str, object]) -> None:
    """From a file's keys to the SDK's."""
    if "checkpoint_uuid" in given:
        given["checkpoint"] = given.pop("checkpoint_uuid")


def _source(model: str | None, checkpoint: str | None, model_uri: str | None) -> dict[str, str]:
    if model_uri is not None and "://" not in model_uri:
        model_uri = str(Path(model_uri).expanduser().absolute())
    given = {"model": model, "checkpoint": checkpoint, "model_uri": model_uri}
    return {key: value for key, value in given.items() if value is not None}


def _serving(slots: int | None, settings: list[str] | None) -> dict[str, object]:
    found: dict[str, object] = {} if slots is None else {"slots": slots}
    for setting in settings or ():
        key, equals, value = setting.partition("=")
        if not equals:
            raise InvalidInput(f"--set: {setting!r} is not KEY=VALUE, such as max_batch_size=16.")
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
    return found


def _scaling(least: int | None, most: int | None, target: float | None, metric: str | None) -> dict[str, object]:
    given = {"min_replicas": least, "max_replicas": most, "target": target, "metric": metric}
    return {key: value for key, value in given.items() if value is not None}


def _done(run: Run, found: Deployment, sentence: str, *, wait: bool) -> None:
    if wait:
        found.wait()
        sentence = f"{sentence}: revision {found.revisions[0]['number']} is ready"
    run.say(sentence, found.data)


def _row(found: Deployment) -> tuple[object, ...]:
    data = found.data
    ready = f"{sum(r['replicasReady'] for r in found.revisions)}/{sum(r['replicasWanted'] for r in found.revisions)}"
    canary = f"{data['canaryRevision']} at {data['canaryPercent']} %" if data.get("canaryRevision") else None
    latest = data.get("canaryRevision") or data.get("stableRevision")
    previous = data.get("stableRevision") if data.get("canaryRevision") else data.get("previousRevision")
    return (found.name, found.state, ready, previous, latest, canary, found.url, moment(data.get("updatedAt")))


def _revision_row(revision: dict[str, Any]) -> tuple[object, ...]:
    return (
        revision["number"],
        revision["source"],
        bare(revision["state"]),
        revision["trafficPercent"],
        revision["replicasReady"],
        revision["replicasWanted"],
        moment(revision["createdAt"]),
        revision.get("reason"),
    )
