"""Prints the OpenAPI document: `python -m resolute.server.openapi`. The web UI's types are made from it."""

import json
import sys
from pathlib import Path
from typing import Any, cast

from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from resolute.engine.platform import MasterConfig, Platform
from resolute.server.app import create_app
from resolute.spec.wire import metrics, trials

# Parsed by hand on the hot path, so the framework does not know them.
_EXTRA = (metrics.ReportTrialMetricsRequest, metrics.ReportMetricsBatchRequest, trials.ReportTrialProgressRequest)


def document() -> dict[str, Any]:
    """Needs no running platform: routes are looked at, never called."""
    nothing = cast(Any, None)
    config = MasterConfig(home=Path())
    platform = Platform(
        store=nothing, runner=nothing, logs=nothing, blobs=nothing, clock=lambda: nothing, config=config
    )
    app = create_app(platform)
    found = get_openapi(title=app.title, version=app.version, routes=app.routes)
    _, extra = models_json_schema(
        [(model, "validation") for model in _EXTRA], ref_template="#/components/schemas/{model}"
    )
    for name, schema in extra["$defs"].items():
        found["components"]["schemas"].setdefault(name, schema)
    return found


if __name__ == "__main__":
    json.dump(document(), sys.stdout, indent=1, sort_keys=True)
    sys.stdout.write("\n")
