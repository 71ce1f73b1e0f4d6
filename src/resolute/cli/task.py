"""`resolute task`."""

from typing import Annotated, Any

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.logs import log_command
from resolute.cli.output import moment
from resolute.client.logs import LogFilter

app = group("Everything that holds or wants slots.")


@command(app, "list", "ls")
def list_tasks(run: Run) -> None:
    """List what holds or wants slots."""
    found = list(run.client.cluster.tasks().values())
    headers = ("Task", "Allocation", "Name", "Slots", "Pool", "Priority", "Since")
    run.show(headers, [_row(t) for t in found], found)


def _row(task: dict[str, Any]) -> tuple[Any, ...]:
    keys = ("taskId", "allocationId", "name", "slotsNeeded", "resourcePool", "priority")
    return (*(task.get(key) for key in keys), moment(task.get("registeredTime")))


@log_command(app)
def logs(
    run: Run, task_id: Annotated[str, typer.Argument(metavar="TASK", help="Id of the task.")], wanted: LogFilter
) -> Any:
    """Logs of a task."""
    return run.client.cluster.task_logs(task_id, wanted)
