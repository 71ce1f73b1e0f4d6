"""What a gang looks like to somebody who wants to see it before it runs: JSON values, no secrets, nothing started."""

import re
from dataclasses import asdict

from resolute.engine.ports.runner import Gang

HIDDEN = "********"
_SECRET_NAME = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|PRIVATE|API_?KEY|ACCESS_?KEY", re.IGNORECASE)


def render_gang(gang: Gang) -> dict[str, object]:
    """The same gang always renders to the same value."""
    return {
        "allocation_id": gang.allocation_id,
        "task_id": gang.task_id,
        "run_id": gang.run_id,
        "resource_pool": gang.resource_pool,
        "slots": gang.slots,
        "nodes": [
            {
                "rank": part.rank,
                "node_id": part.share.node_id,
                "slot_ids": list(part.share.slot_ids),
                "env": without_secrets(part.env),
                "files": sorted(part.files),
            }
            for part in gang.nodes
        ],
        "entrypoint": gang.entrypoint if isinstance(gang.entrypoint, str) else list(gang.entrypoint),
        "env": without_secrets(gang.env),
        "account": None if gang.account is None else asdict(gang.account),
        "context_id": gang.context_id,
        # Contents stay out: the info files carry the allocation's token.
        "files": sorted(gang.files),
        "environment": {
            "python": gang.environment.python,
            "requirements": list(gang.environment.requirements),
            "image": gang.environment.image,
        },
        "native": gang.native,
        "bind_mounts": [
            {"host_path": host, "container_path": container, "read_only": read_only}
            for host, container, read_only in gang.bind_mounts
        ],
        "model_path": gang.model_path,
        "log_path": gang.log_path,
    }


def unused_here(gang: Gang) -> tuple[str, ...]:
    """What a runner without containers or an engine has to say about options that it does not follow."""
    notes = []
    if gang.environment.image:
        notes.append(
            f"environment.image {gang.environment.image} is not used: there are no containers here. The run has the "
            "platform's Python, or the one of environment.python or environment.requirements."
        )
    if gang.native:
        notes.append(f"Options for other engines are not used here: {', '.join(sorted(gang.native))}.")
    return tuple(notes)


def without_secrets(env: dict[str, str]) -> dict[str, str]:
    return {name: HIDDEN if _SECRET_NAME.search(name) else value for name, value in sorted(env.items())}
