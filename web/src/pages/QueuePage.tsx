import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState, type DragEvent, type ReactNode } from "react";
import { Link } from "react-router";
import { useLive } from "../api/events";
import { api, type Request } from "../api/client";
import { jobsQuery, poolsQuery } from "../api/queries";
import type { Job } from "../api/types";
import { useFeedback } from "../ui/Feedback";
import { TextField } from "../ui/fields";
import { FormDialog } from "../ui/FormDialog";
import { useForm } from "../ui/useForm";
import { Icon } from "../ui/Icon";
import { Ago, Bar, Empty, ErrorNote, NoRows, PageHead, Panel, StateBadge } from "../ui/parts";

type Change = NonNullable<Request<"post", "/api/v1/job-queues">["body"]["updates"]>[number];

export default function QueuePage(): ReactNode {
  useLive(["queue", "experiments"], [["queue"], ["cluster"]], 400);
  const pools = useQuery(poolsQuery);
  const [chosen, setChosen] = useState("");
  const pool =
    pools.data?.find((item) => item.name === chosen) ??
    pools.data?.find((item) => item.defaultComputePool) ??
    pools.data?.[0];
  const jobs = useQuery(jobsQuery(pool?.name ?? ""));
  return (
    <>
      <PageHead
        title="Job queue"
        actions={
          (pools.data?.length ?? 0) > 1 && (
            <select
              className="select"
              aria-label="Resource pool"
              value={pool?.name}
              onChange={(event) => setChosen(event.target.value)}
            >
              {pools.data!.map((item) => (
                <option key={item.name}>{item.name}</option>
              ))}
            </select>
          )
        }
      >
        {pool && (
          <span className="muted">
            Pool {pool.name}: {pool.slotsUsed} of {pool.slotsAvailable} slots in use
          </span>
        )}
      </PageHead>
      <ErrorNote error={pools.error ?? jobs.error} />
      <Panel flush>
        {jobs.data?.length ? (
          <Jobs jobs={jobs.data} />
        ) : (
          <NoRows of={pools.data && !pool ? pools : jobs}>
            <Empty title="The queue is empty">
              <p>Experiments that run or wait for slots are listed here.</p>
            </Empty>
          </NoRows>
        )}
      </Panel>
    </>
  );
}

function Jobs({ jobs }: { jobs: readonly Job[] }): ReactNode {
  const client = useQueryClient();
  const { complain, say } = useFeedback();
  const [dragged, setDragged] = useState<string | null>(null);
  const [over, setOver] = useState<string | null>(null);
  const [edited, setEdited] = useState<Job | null>(null);
  const ids = useMemo(() => jobs.map((job) => job.jobId), [jobs]);
  const update = async (...updates: Change[]): Promise<void> => {
    await api.post("/api/v1/job-queues", { body: { updates } });
    say("The queue was changed");
    await client.invalidateQueries({ queryKey: ["queue"] });
  };
  const place = (jobId: string, targetId: string): void => {
    const [from, to] = [ids.indexOf(jobId), ids.indexOf(targetId)];
    if (from === to || from < 0 || to < 0) return;
    void update(from > to ? { jobId, aheadOf: targetId } : { jobId, behindOf: targetId }).catch(complain);
  };
  const drop = (event: DragEvent, target: string): void => {
    event.preventDefault();
    if (dragged) place(dragged, target);
    setDragged(null);
    setOver(null);
  };
  return (
    <div className="table-wrap">
      <table className="table" aria-label="Jobs">
        <thead>
          <tr>
            <th style={{ width: 1 }}>
              <span className="sr">Order</span>
            </th>
            <th>Job</th>
            <th>State</th>
            <th>Progress</th>
            <th className="num">Slots</th>
            <th className="num">Priority</th>
            <th className="num">Weight</th>
            <th>User</th>
            <th className="num">Submitted</th>
            <th>
              <span className="sr">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job, at) => (
            <tr
              key={job.jobId}
              draggable
              onDragStart={() => setDragged(job.jobId)}
              onDragOver={(event) => {
                event.preventDefault();
                setOver(job.jobId);
              }}
              onDrop={(event) => drop(event, job.jobId)}
              className={over === job.jobId && dragged ? "selected" : ""}
            >
              <td className="num faint" style={{ cursor: "grab" }}>
                {at + 1}
              </td>
              <td>
                {job.type === "TYPE_EXPERIMENT" ? (
                  <Link className="clip" to={`/experiments/${job.entityId}`}>
                    {job.entityId} {job.name}
                  </Link>
                ) : (
                  <Link className="clip" to={`/tasks/${job.entityId}`}>
                    {job.name}
                  </Link>
                )}
              </td>
              <td>
                <StateBadge state={job.summary?.state ?? ""} />
                {job.summary?.waitingReason && <div className="why">{job.summary.waitingReason}</div>}
              </td>
              <td style={{ width: 90 }}>
                <Bar share={job.progress ?? 0} />
              </td>
              <td className="num">
                {job.allocatedSlots} of {job.requestedSlots}
              </td>
              <td className="num">{job.priority ?? "–"}</td>
              <td className="num">{job.weight ?? "–"}</td>
              <td>{job.username}</td>
              <td className="num">
                <Ago when={job.submissionTime} />
              </td>
              <td style={{ width: 1 }}>
                <span className="row">
                  <button
                    className="btn quiet icon"
                    aria-label={`Move ${job.name} up`}
                    disabled={at === 0}
                    onClick={() => place(job.jobId, ids[at - 1]!)}
                  >
                    <Icon name="up" />
                  </button>
                  <button
                    className="btn quiet icon"
                    aria-label={`Move ${job.name} down`}
                    disabled={at === jobs.length - 1}
                    onClick={() => place(job.jobId, ids[at + 1]!)}
                  >
                    <Icon name="down" />
                  </button>
                  <button className="btn quiet" onClick={() => setEdited(job)}>
                    Edit
                  </button>
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {edited && <JobDialog job={edited} onClose={() => setEdited(null)} onSave={update} />}
    </div>
  );
}

function JobDialog({
  job,
  onClose,
  onSave,
}: {
  job: Job;
  onClose: () => void;
  onSave: (...changes: Change[]) => Promise<void>;
}): ReactNode {
  const form = useForm({
    initial: { priority: String(job.priority ?? ""), weight: String(job.weight ?? "") },
    run: async ({ priority, weight }) => {
      const changes: Change[] = [];
      if (priority && Number(priority) !== job.priority) changes.push({ jobId: job.jobId, priority: Number(priority) });
      if (weight && Number(weight) !== job.weight) changes.push({ jobId: job.jobId, weight: Number(weight) });
      if (changes.length) await onSave(...changes);
    },
    onDone: onClose,
  });
  return (
    <FormDialog title={job.name} action="Save" form={form} onClose={onClose}>
      <TextField label="Priority, 1 goes first, 99 last" type="number" min={1} max={99} {...form.field("priority")} />
      <TextField label="Weight, for fair-share scheduling" type="number" min={0} step="any" {...form.field("weight")} />
    </FormDialog>
  );
}
