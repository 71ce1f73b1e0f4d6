"""The OpenAPI document of an app: its routes as they are declared, and the messages of those that parse by hand."""

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from resolute.spec.wire import metrics, trials

# Parsed by hand on the hot path, so the framework does not know them.
_EXTRA = (metrics.ReportTrialMetricsRequest, metrics.ReportMetricsBatchRequest, trials.ReportTrialProgressRequest)


def schema_of(app: FastAPI) -> dict[str, object]:
    """Takes a second or two, as every route is looked at; kept for the next call."""
    if app.openapi_schema is None:
        app.openapi_schema = _made(app)
    return app.openapi_schema


def _made(app: FastAPI) -> dict[str, object]:
    found = get_openapi(title=app.title, version=app.version, routes=app.routes)
    _, extra = models_json_schema(
        [(model, "validation") for model in _EXTRA], ref_template="#/components/schemas/{model}"
    )
    for name, schema in extra["$defs"].items():
        found["components"]["schemas"].setdefault(name, schema)
    return found
