"""`resolute agent`: the nodes that trials run on."""

from typing import Annotated, Any

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.output import moment
from resolute.domain.errors import InvalidInput

app = group("Nodes that trials run on.")

AgentId = Annotated[str | None, typer.Argument(metavar="[AGENT]", help="Id of the node.")]
All = Annotated[bool, typer.Option("--all", help="Every node.")]


@command(app, "list", "ls")
def list_agents(run: Run) -> None:
    """List the nodes."""
    found = run.client.cluster.agents()
    headers = ("Agent", "Slots", "In use", "Pools", "Enabled", "Draining", "Addresses", "Since")
    run.show(headers, [_row(a) for a in found], found)


def _row(agent: dict[str, Any]) -> tuple[object, ...]:
    slots = list((agent.get("slots") or {}).values())
    return (
        agent["id"],
        len(slots),
        sum(bool(slot.get("container")) for slot in slots),
        agent.get("resourcePools"),
        agent.get("enabled"),
        agent.get("draining"),
        agent.get("addresses"),
        moment(agent.get("registeredTime")),
    )


@command(app, "enable")
def enable(run: Run, agent_id: AgentId = None, everything: All = False) -> None:
    """Let a node take new work again."""
    for name in _chosen(run, agent_id, everything):
        run.client.cluster.set_agent(name, is_enabled=True)
        run.say(f"Enabled agent {name}")


@command(app, "disable")
def disable(
    run: Run,
    agent_id: AgentId = None,
    everything: All = False,
    drain: Annotated[bool, typer.Option("--drain", help="Let what runs there finish.")] = False,
) -> None:
    """Keep new work away from a node; without --drain what runs there is stopped."""
    for name in _chosen(run, agent_id, everything):
        run.client.cluster.set_agent(name, is_enabled=False, drain=drain)
        run.say(f"{'Draining' if drain else 'Disabled'} agent {name}")


def _chosen(run: Run, agent_id: str | None, everything: bool) -> list[str]:
    if (agent_id is None) != everything:
        raise InvalidInput("Name one agent, or give --all.")
    return [agent_id] if agent_id else [agent["id"] for agent in run.client.cluster.agents()]
