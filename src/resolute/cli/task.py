"""`resolute task`."""

from typing import Annotated, Any

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.logs import log_command
from resolute.cli.output import moment
from resolute.client.logs import LogFilter

app = group("Everything that holds or wants slots.")

TaskId = Annotated[str, typer.Argument(metavar="TASK", help="Id of the task.")]


@command(app, "list", "ls")
def list_tasks(run: Run) -> None:
    """List what holds or wants slots."""
    found = list(run.client.cluster.tasks().values())
    headers = ("Task", "Allocation", "Name", "Slots", "Pool", "Priority", "Since")
    run.show(headers, [_row(t) for t in found], found)


def _row(task: dict[str, object]) -> tuple[object, ...]:
    keys = ("taskId", "allocationId", "name", "slotsNeeded", "resourcePool", "priority")
    return (*(task.get(key) for key in keys), moment(task.get("registeredTime")))


@command(app, "describe")
def describe(run: Run, task_id: TaskId) -> None:
    """Show the allocations that a task has had, newest first, and how far each of their nodes is."""
    task = run.client.cluster.task(task_id)
    rows = [row for allocation in task["allocations"] for row in _node_rows(allocation)]
    run.show(("Allocation", "State", "Rank", "Node", "Address", "Slots", "Phase", "Since", "Exit"), rows, task)


def _node_rows(allocation: dict[str, Any]) -> list[tuple[Any, ...]]:
    own = (allocation["allocationId"], allocation["state"].removeprefix("STATE_"))
    return [(*own, *_node_cells(node)) for node in allocation.get("nodes") or [dict[str, Any]()]]


def _node_cells(node: dict[str, Any]) -> tuple[Any, ...]:
    slots = ", ".join(map(str, node.get("slotIds") or ()))
    code, reason = node.get("exitCode"), node.get("reason") or ""
    end = reason if code is None else f"{code} {reason}".strip()
    where = (node.get("rank"), node.get("nodeId"), node.get("address"), slots)
    return (*where, node.get("phase"), moment(node.get("phaseSince")), end)


@log_command(app)
def logs(run: Run, task_id: TaskId, wanted: LogFilter) -> Any:
    """Logs of a task."""
    return run.client.cluster.task_logs(task_id, wanted)
