import { useQuery } from "@tanstack/react-query";
import { useMemo, type ReactNode } from "react";
import { useParams } from "react-router";
import { taskQuery } from "../api/queries";
import { LogView } from "../logs/LogView";
import { ErrorNote, Loading, PageHead, StateBadge } from "../ui/parts";

/** One task that is not a trial: whether it is ready, a way in, and its log. */
export default function TaskPage(): ReactNode {
  const id = useParams()["id"] ?? "";
  const source = useMemo(() => ({ task: id }), [id]);
  const { data: task, error, isPending } = useQuery({ ...taskQuery(id), refetchInterval: 1500 });
  if (isPending) return <Loading />;
  if (!task) return <ErrorNote error={error} />;
  const latest = task.allocations[0];
  // Replicas of a deployment are tasks of no kind of their own: their id is `replica.<deployment>.<revision>.<key>`.
  const [first, deployment = "", revision = ""] = id.split(".");
  const isReplica = first === "replica";
  const kind = isReplica ? "replica" : task.taskType.replace("TASK_TYPE_", "").toLowerCase();
  const isServed = ["notebook", "tensorboard"].includes(kind);
  return (
    <>
      <PageHead
        crumbs={
          isReplica
            ? [
                { label: "Deployments", to: "/deployments" },
                { label: `${deployment}, revision ${revision}`, to: `/deployments/${deployment}` },
              ]
            : [{ label: "Tasks", to: "/tasks" }]
        }
        title={
          <>
            {kind.charAt(0).toUpperCase() + kind.slice(1)}{" "}
            <StateBadge state={task.endTime ? "STATE_TERMINATED" : (latest?.state ?? "STATE_QUEUED")} />
          </>
        }
        actions={
          isServed &&
          latest?.isReady &&
          !task.endTime && (
            <a className="btn primary" href={`/proxy/${id}/`} target="_blank" rel="noreferrer">
              Open
            </a>
          )
        }
      >
        <span className="muted mono">{id}</span>
        {latest?.waitingReason && <p className="why">{latest.waitingReason}</p>}
      </PageHead>
      <LogView source={source} live={!task.endTime} height="calc(100vh - 180px)" />
    </>
  );
}
