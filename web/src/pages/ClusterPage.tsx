import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link } from "react-router";
import { useLive } from "../api/events";
import { api } from "../api/client";
import { agentsQuery, allocationsQuery, infoQuery, poolsQuery, usageQuery } from "../api/queries";
import type { Agent, AllocationSummary, Slot } from "../api/types";
import { formatDuration } from "../text/format";
import { useFeedback } from "../ui/Feedback";
import { useNow } from "../ui/useNow";
import { Ago, Bar, Empty, ErrorNote, Facts, Loading, NoRows, PageHead, Panel } from "../ui/parts";

export default function ClusterPage(): ReactNode {
  useLive(["queue", "experiments"], [["cluster"]], 500);
  const agents = useQuery({ ...agentsQuery, refetchInterval: 5000 });
  const pools = useQuery(poolsQuery);
  const tasks = useQuery({ ...allocationsQuery, refetchInterval: 5000 });
  const master = useQuery(infoQuery).data;
  return (
    <>
      <PageHead title="Cluster">
        {master && (
          <span className="muted">
            {master.cluster_name || "resolute"}, version {master.resolute_version ?? master.version}
          </span>
        )}
      </PageHead>
      <ErrorNote error={agents.error ?? pools.error ?? tasks.error} />
      <div className="grid cards">
        {(pools.data ?? []).map((pool) => (
          <Panel key={pool.name} title={pool.name}>
            <div className="stack tight">
              <div className="row spread">
                <span>
                  {pool.slotsUsed} of {pool.slotsAvailable} slots
                </span>
                <span className="muted">{pool.slotType.replace("TYPE_", "")}</span>
              </div>
              <Bar share={pool.slotsAvailable ? pool.slotsUsed / pool.slotsAvailable : 0} label="Slots in use" />
              <span className="muted">
                {pool.schedulerType.replace("SCHEDULER_TYPE_", "").toLowerCase().replace("_", " ")} scheduling
                {pool.stats ? `, ${pool.stats.queuedCount ?? 0} waiting` : ""}
              </span>
            </div>
          </Panel>
        ))}
      </div>
      {(agents.data ?? []).length ? (
        (agents.data ?? []).map((agent) => <Node key={agent.id} agent={agent} tasks={tasks.data ?? []} />)
      ) : (
        <NoRows of={agents}>
          <Panel>
            <Empty title="No node has joined">
              <p>Trials wait in the queue until one does.</p>
            </Empty>
          </Panel>
        </NoRows>
      )}
      <Panel title="Who uses what" flush>
        {tasks.data?.length ? (
          <Running tasks={tasks.data} />
        ) : (
          <NoRows of={tasks}>
            <Empty title="Nothing holds slots" />
          </NoRows>
        )}
      </Panel>
      <History />
    </>
  );
}

function Node({ agent, tasks }: { agent: Agent; tasks: readonly AllocationSummary[] }): ReactNode {
  const client = useQueryClient();
  const { ask } = useFeedback();
  const slots = Object.values(agent.slots ?? {}).sort((a, b) => Number(a.id) - Number(b.id));
  const used = slots.filter((slot) => slot.container).length;
  const brands = [...new Set(slots.map((slot) => slot.device?.brand).filter(Boolean))];
  const change = (verb: "enable" | "disable"): void =>
    ask({
      title: `${verb === "enable" ? "Enable" : "Drain"} node ${agent.id}?`,
      text:
        verb === "enable"
          ? "New work may be placed on it again."
          : "What runs there may finish; nothing new is placed on it.",
      action: verb === "enable" ? "Enable" : "Drain",
      run: async () => {
        const path = { agent_id: agent.id };
        if (verb === "enable") await api.post("/api/v1/agents/{agent_id}/enable", { path });
        else await api.post("/api/v1/agents/{agent_id}/disable", { path, body: { drain: true } });
        await client.invalidateQueries({ queryKey: ["cluster"] });
      },
    });
  return (
    <Panel
      title={
        <span className="row">
          {agent.id}
          {agent.enabled === false && <span className="badge warn">Disabled</span>}
          {agent.draining && <span className="badge warn">Draining</span>}
        </span>
      }
      actions={
        <button className="btn" onClick={() => change(agent.enabled === false ? "enable" : "disable")}>
          {agent.enabled === false ? "Enable" : "Drain"}
        </button>
      }
    >
      <div className="stack tight">
        <Facts
          items={[
            ["Slots", `${used} of ${slots.length} in use`],
            ["Device", brands.join(", ") || slots[0]?.device?.type?.replace("TYPE_", "") || "–"],
            ["Address", (agent.addresses ?? []).join(", ") || "–"],
            ["Pool", (agent.resourcePools ?? []).join(", ")],
            ["Joined", <Ago key="j" when={agent.registeredTime} />],
          ]}
        />
        <div className="slots" role="list" aria-label="Slots">
          {slots.map((slot) => (
            <SlotBox key={slot.id} slot={slot} tasks={tasks} />
          ))}
        </div>
      </div>
    </Panel>
  );
}

function SlotBox({ slot, tasks }: { slot: Slot; tasks: readonly AllocationSummary[] }): ReactNode {
  const user = tasks.find((task) => task.allocationId === slot.container?.id || task.taskId === slot.container?.parent);
  const what = slot.container ? (user?.name ?? "in use") : slot.enabled === false ? "disabled" : "free";
  return (
    <span
      role="listitem"
      className={`slot ${slot.container ? "used" : slot.enabled === false ? "off" : ""}`}
      title={`Slot ${slot.id}: ${what}`}
    >
      {slot.id}
    </span>
  );
}

function Running({ tasks }: { tasks: readonly AllocationSummary[] }): ReactNode {
  return (
    <div className="table-wrap">
      <table className="table" aria-label="Allocations">
        <thead>
          <tr>
            <th>Task</th>
            <th>Node</th>
            <th className="num">Slots</th>
            <th>Pool</th>
            <th className="num">Since</th>
          </tr>
        </thead>
        <tbody>
          {tasks.map((task) => (
            <tr key={task.allocationId}>
              <td>
                <TaskLink task={task} />
              </td>
              <td>
                {(task.resources ?? []).flatMap((resource) => Object.keys(resource.agentDevices ?? {})).join(", ") ||
                  "waiting"}
              </td>
              <td className="num">{task.slotsNeeded ?? 0}</td>
              <td>{task.resourcePool}</td>
              <td className="num">
                <Ago when={task.registeredTime} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function TaskLink({ task }: { task: AllocationSummary }): ReactNode {
  const experiment = /^(\d+)\./.exec(task.taskId)?.[1];
  return (
    <Link to={experiment ? `/experiments/${experiment}` : `/tasks/${task.taskId}`}>{task.name || task.taskId}</Link>
  );
}

const DAY_MS = 86_400_000;

/** Slot time per day. */
function History(): ReactNode {
  const [days, setDays] = useState(14);
  const now = useNow(DAY_MS / 24);
  const end = new Date(now);
  const start = new Date(now - (days - 1) * DAY_MS);
  const day = (date: Date): string => date.toISOString().slice(0, 10);
  const usage = useQuery(usageQuery(day(start), day(end)));
  if (usage.error) return null;
  const most = Math.max(1, ...(usage.data ?? []).map((entry) => entry.seconds));
  return (
    <Panel
      title="Slot time per day"
      actions={
        <select
          className="select"
          aria-label="Days"
          value={days}
          onChange={(event) => setDays(Number(event.target.value))}
        >
          {[7, 14, 30].map((n) => (
            <option key={n} value={n}>
              {n} days
            </option>
          ))}
        </select>
      }
    >
      {usage.isPending ? (
        <Loading />
      ) : !usage.data.some((entry) => entry.seconds) ? (
        <p className="muted">Nothing has run in this time.</p>
      ) : (
        <div className="stack tight">
          {usage.data.map((entry) => (
            <div key={entry.periodStart} className="row">
              <span className="muted nowrap" style={{ width: 84 }}>
                {entry.periodStart.slice(0, 10)}
              </span>
              <div className="bar grow" style={{ height: 8 }}>
                <i style={{ width: `${(100 * entry.seconds) / most}%` }} />
              </div>
              <span className="num" style={{ width: 90 }}>
                {entry.seconds ? formatDuration(entry.seconds) : "–"}
              </span>
            </div>
          ))}
        </div>
      )}
    </Panel>
  );
}
