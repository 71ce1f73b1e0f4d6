"""`resolute deploy create -f` with KServe's InferenceService: it is made so, as `kubectl apply` does."""

from typing import Any

import typer

from resolute.cli.command import Run
from resolute.client.deployments import Deployment
from resolute.domain.errors import NotFound
from resolute.spec.inference_service import InferenceService


def apply_inference_service(run: Run, service: InferenceService, wait: bool) -> None:
    """One that is not there is created. Otherwise a percentage makes the model a canary, or changes the running one's
    share; without one, the running canary of that model is promoted, and any other model is an update."""
    for key in service.passed_over if not run.is_json else ():
        typer.echo(f"Note: {key} has no counterpart here and is passed over.", err=True)
    given = service.config.model_dump(exclude_unset=True)
    name, uri = given.pop("name"), given.pop("model_uri")
    try:
        found = run.client.deployments.get(name)
    except NotFound:
        made = run.client.deployments.create(name, model_uri=uri, **given)
        _say(run, made, f"Deployment {name} is created. Its key, shown once: {made.api_key}", wait)
        return
    _say(run, found, _changed(found, service, uri, given), wait)


def _changed(found: Deployment, service: InferenceService, uri: str, given: dict[str, Any]) -> str:
    name, percent = found.name, service.canary_percent
    is_canary = _source_of(found, found.data.get("canaryRevision")) == uri
    is_stable = _source_of(found, found.data.get("stableRevision")) == uri
    if percent is not None and is_canary:
        found.canary(percent)
        return f"Deployment {name}: the canary gets {percent} %"
    if percent is not None and not is_stable:
        found.canary(percent, model_uri=uri, serving=given["serving"])
        return f"Deployment {name}: {percent} % to the canary as soon as it is ready"
    if is_canary:
        found.promote()
        return f"The canary of {name} takes over"
    if is_stable and found.data.get("canaryRevision"):
        found.rollback()
        return f"Deployment {name} goes back to its stable revision"
    found.change(scaling=given["scaling"])
    found.update(model_uri=uri, serving=given["serving"])
    return f"Deployment {name} is being updated"


def _source_of(found: Deployment, number: int | None) -> str | None:
    return next((str(r["source"]).removeprefix("file://") for r in found.revisions if r["number"] == number), None)


def _say(run: Run, found: Deployment, sentence: str, wait: bool) -> None:
    if wait:
        found.wait()
        sentence = f"{sentence}\n{found.url}"
    run.say(sentence, found.data)
