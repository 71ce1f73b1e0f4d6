"""On the node itself: from a request that fits any machine to a run directory that fits this one. Starts nothing.

The standard library and `domain` only: it runs wherever a supervisor does.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from resolute.domain.node import Node
from resolute.runners.environments import Environment
from resolute.runners.node_request import NodeRequest
from resolute.runners.process_env import process_env
from resolute.runners.shepherd.account import Account
from resolute.runners.shepherd.ownership import mark_of
from resolute.runners.shepherd.run_directory import RunDirectory


def run_directory(runs: Path, name: str) -> RunDirectory:
    """Ids become names of directories: a dot at the start or a slash must not mean anything."""
    quoted = quote(name, safe="")
    return RunDirectory(runs / (quoted if not quoted.startswith(".") else f"%2E{quoted[1:]}"))


def session_request(
    request: NodeRequest,
    environment: Environment,
    *,
    node: Node,
    run: RunDirectory,
    contexts: Path,
    inherited: Mapping[str, str],
    cgroups: Sequence[str] = (),
    account: Account | None = None,
) -> dict[str, Any]:
    """What the supervisor reads from `request.json`. `cgroups`: below which it may make a control group, best first.
    `account`: as whom it starts user code; None: as itself."""
    return {
        **request.as_json(),
        "env": process_env(request, environment, node=node, run=run, inherited=inherited),
        "interpreter": environment.python,
        "python": None if environment.is_found_as_python3 else environment.python,
        "build": environment.build.as_json() if environment.build is not None else None,
        "contexts": str(contexts),
        "mark": mark_of(run.path),
        "cgroups": list(cgroups),
        "account": None if account is None else account.as_json(),
        "log_path": os.path.abspath(request.log_path) if request.log_path else "",
    }
