"""Prints the OpenAPI document: `python -m resolute.server.openapi`. The web UI's types are made from it."""

import json
import sys
from pathlib import Path
from typing import Any, cast

from resolute.engine.platform import MasterConfig, Platform
from resolute.server.app import create_app
from resolute.server.schema import schema_of


def document() -> dict[str, object]:
    """Needs no running platform: routes are looked at, never called."""
    nothing = cast(Any, None)
    config = MasterConfig(home=Path())
    platform = Platform(
        store=nothing, runner=nothing, logs=nothing, blobs=nothing, clock=lambda: nothing, config=config
    )
    return schema_of(create_app(platform))


if __name__ == "__main__":
    json.dump(document(), sys.stdout, indent=1, sort_keys=True)
    sys.stdout.write("\n")
