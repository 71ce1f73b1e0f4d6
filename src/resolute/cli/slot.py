"""`resolute slot`."""

from typing import Annotated, Any

import typer

from resolute.cli.command import Run, command, group

app = group("Slots of the nodes.")

AgentId = Annotated[str, typer.Argument(metavar="AGENT", help="Id of the node.")]
SlotId = Annotated[str, typer.Argument(metavar="SLOT", help="Number of the slot.")]


@command(app, "list", "ls")
def list_slots(run: Run) -> None:
    """List every slot and what it does."""
    slots = [
        {**slot, "agentId": a["id"]} for a in run.client.cluster.agents() for slot in (a.get("slots") or {}).values()
    ]
    tasks = run.client.cluster.tasks().values()
    names = {task.get(key): task.get("name") for task in tasks for key in ("taskId", "allocationId")}
    run.show(("Agent", "Slot", "Type", "Device", "Enabled", "Draining", "Task"), [_row(s, names) for s in slots], slots)


def _row(slot: dict[str, Any], names: dict[object, object]) -> tuple[object, ...]:
    device, container = slot.get("device") or {}, slot.get("container") or {}
    held_by = names.get(container.get("parent")) or container.get("parent") or ("busy" if container else "free")
    kind = str(device.get("type") or "").removeprefix("TYPE_")
    return (
        slot["agentId"],
        slot.get("id"),
        kind,
        device.get("brand"),
        slot.get("enabled"),
        slot.get("draining"),
        held_by,
    )


@command(app, "enable")
def enable(run: Run, agent_id: AgentId, slot_id: SlotId) -> None:
    """Let a slot be used again."""
    run.client.cluster.set_slot(agent_id, slot_id, is_enabled=True)
    run.say(f"Enabled slot {slot_id} of agent {agent_id}")


@command(app, "disable")
def disable(run: Run, agent_id: AgentId, slot_id: SlotId) -> None:
    """Keep new work away from a slot."""
    run.client.cluster.set_slot(agent_id, slot_id, is_enabled=False)
    run.say(f"Disabled slot {slot_id} of agent {agent_id}")
