"""What a gang looks like to somebody who wants to see it before it runs: JSON values, no secrets, nothing started."""

import hashlib
import re
from typing import Any

from resolute.engine.ports.runner import Gang

HIDDEN = "********"
_SECRET_NAME = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|PRIVATE|API_?KEY|ACCESS_?KEY", re.IGNORECASE)


def render_gang(gang: Gang) -> dict[str, Any]:
    """The same gang always renders to the same value."""
    return {
        "allocation_id": gang.allocation_id,
        "task_id": gang.task_id,
        "run_id": gang.run_id,
        "shares": [{"node_id": share.node_id, "slot_ids": list(share.slot_ids)} for share in gang.shares],
        "entrypoint": gang.entrypoint if isinstance(gang.entrypoint, str) else list(gang.entrypoint),
        "env": without_secrets(gang.env),
        "context_sha256": hashlib.sha256(gang.context).hexdigest() if gang.context is not None else None,
        # Contents stay out: the info files carry the allocation's token.
        "files": sorted(gang.files),
        "environment": {"python": gang.environment.python, "requirements": list(gang.environment.requirements)},
        "bind_mounts": [
            {"host_path": host, "container_path": container, "read_only": read_only}
            for host, container, read_only in gang.bind_mounts
        ],
        "log_path": gang.log_path,
    }


def without_secrets(env: dict[str, str]) -> dict[str, str]:
    return {name: HIDDEN if _SECRET_NAME.search(name) else value for name, value in sorted(env.items())}
