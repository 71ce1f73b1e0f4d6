"""`resolute resource-pool`."""

from resolute.cli.command import Run, command, group

app = group("Pools of nodes.")


@app.callback()
def _pools() -> None:
    """Pools of nodes."""


@command(app, "list", "ls")
def list_pools(run: Run) -> None:
    """List the pools."""
    found = run.client.cluster.resource_pools()
    headers = ("Name", "Agents", "Slots in use", "Slots", "Slot type", "Scheduler", "Fitting", "Default")
    run.show(headers, [_row(p) for p in found], found)


def _row(pool: dict[str, object]) -> tuple[object, ...]:
    return (
        pool["name"],
        pool.get("numAgents"),
        pool.get("slotsUsed"),
        pool.get("slotsAvailable"),
        str(pool.get("slotType") or "").removeprefix("TYPE_"),
        str(pool.get("schedulerType") or "").removeprefix("SCHEDULER_TYPE_").lower(),
        str(pool.get("schedulerFittingPolicy") or "").removeprefix("FITTING_POLICY_").lower(),
        pool.get("defaultComputePool"),
    )
