"""`resolute job`: the queue."""

from typing import Annotated, Any

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.output import moment
from resolute.client.resource import bare
from resolute.domain.errors import InvalidInput
from resolute.domain.queue import check_priority

app = group("The queue: who runs next.")


@command(app, "list", "ls")
def list_jobs(
    run: Run,
    resource_pool: Annotated[
        str | None, typer.Option("--resource-pool", "-p", help="The default one if left out.")
    ] = None,
    reverse: Annotated[bool, typer.Option("--reverse", help="Last first.")] = False,
) -> None:
    """List the queue of a pool, first to run first."""
    found = run.client.cluster.jobs(resource_pool, is_reversed=reverse)
    headers = ("#", "Job", "Type", "Name", "Priority", "Weight", "State", "Slots", "Progress", "User", "Submitted")
    run.show(headers, [_row(n, job) for n, job in enumerate(found)], found)
    if not run.is_json:
        _tell_why_they_wait(found)


def _row(position: int, job: dict[str, Any]) -> tuple[object, ...]:
    summary = job.get("summary") or {}
    progress = job.get("progress")
    return (
        summary.get("jobsAhead", position),
        job.get("jobId"),
        str(job.get("type") or "").removeprefix("TYPE_").lower(),
        job.get("name"),
        job.get("priority"),
        job.get("weight"),
        bare(str(summary.get("state") or "")),
        f"{job.get('allocatedSlots', 0)}/{job.get('requestedSlots', 0)}",
        None if progress is None else f"{100 * progress:.0f} %",
        job.get("username"),
        moment(job.get("submissionTime")),
    )


def _tell_why_they_wait(jobs: list[dict[str, Any]]) -> None:
    """Below the table: a sentence is too long for a column."""
    reasons = {job.get("jobId"): (job.get("summary") or {}).get("waitingReason") for job in jobs}
    waiting = [job for job in jobs if reasons[job.get("jobId")]]
    if waiting:
        typer.echo()
    for job in waiting:
        kind = str(job.get("kind") or "job").lower()
        typer.echo(f"{kind} {job.get('entityId')} ({job.get('name')}): {reasons[job.get('jobId')]}")


@command(app, "update", "u")
def update(
    run: Run,
    job_id: Annotated[str, typer.Argument(metavar="JOB", help="Id of the job.")],
    priority: Annotated[int | None, typer.Option("--priority", "-p", help="1 to 99; the lower runs first.")] = None,
    weight: Annotated[float | None, typer.Option("--weight", "-w", help="Under fair share.")] = None,
    resource_pool: Annotated[str | None, typer.Option(help="Move it to this pool.")] = None,
    ahead_of: Annotated[str | None, typer.Option(metavar="JOB", help="Put it directly ahead of this job.")] = None,
    behind_of: Annotated[str | None, typer.Option(metavar="JOB", help="Put it directly behind this job.")] = None,
) -> None:
    """Change one thing about a job."""
    wanted = {
        "priority": None if priority is None else check_priority(priority),
        "weight": weight,
        "resourcePool": resource_pool,
        "aheadOf": ahead_of,
        "behindOf": behind_of,
    }
    change = {key: value for key, value in wanted.items() if value is not None}
    if len(change) != 1:
        options = "--priority, --weight, --resource-pool, --ahead-of or --behind-of"
        raise InvalidInput(f"Give exactly one of {options}; {len(change)} were given.")
    run.client.cluster.update_job(job_id, **change)
    run.say(f"Updated job {job_id}", {"jobId": job_id, **change})
