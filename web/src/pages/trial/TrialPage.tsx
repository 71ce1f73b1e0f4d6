import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, type ReactNode } from "react";
import { Link, Navigate, Route, Routes, useParams } from "react-router";
import { useLive } from "../../api/events";
import { api } from "../../api/client";
import { experimentQuery, taskQuery, trialQuery } from "../../api/queries";
import { isLearning, metricIds, useTrialSeries } from "../../api/series";
import type { Experiment, Trial } from "../../api/types";
import { MetricCharts } from "../../charts/MetricCharts";
import { colorAt } from "../../charts/palette";
import { FailurePanel } from "../../logs/FailurePanel";
import { LogView } from "../../logs/LogView";
import { useTheme } from "../../theme/theme";
import {
  flatten,
  formatBytes,
  formatDuration,
  formatNumber,
  formatTime,
  formatValue,
  secondsBetween,
} from "../../text/format";
import { isEnded } from "../../text/state";
import { useFeedback } from "../../ui/Feedback";
import { Icon } from "../../ui/Icon";
import { Ago, Empty, ErrorNote, Facts, Loading, PageHead, Panel, StateBadge, Tabs } from "../../ui/parts";
import { useNow } from "../../ui/useNow";
import { CheckpointsTab } from "../experiment/CheckpointsTab";
import { ProfilerTab } from "./ProfilerTab";

/** Facts change with every report of a metric; its curve follows faster than they do. */
const FACTS_MS = 1500;

const TABS = [
  ["", "Overview"],
  ["hyperparameters", "Hyperparameters"],
  ["profiler", "Profiler"],
  ["checkpoints", "Checkpoints"],
  ["logs", "Logs"],
] as const;

export default function TrialPage(): ReactNode {
  const id = Number(useParams()["id"]);
  const log = useMemo(() => ({ trial: id }), [id]);
  const { data: trial, error, isPending } = useQuery(trialQuery(id));
  // Why it waits changes with what other trials do.
  useLive([`trial/${id}`, ...(trial?.state === "STATE_QUEUED" ? ["queue"] : [])], [["trial", id]], FACTS_MS);
  const experiment = useQuery({ ...experimentQuery(trial?.experimentId ?? 0), enabled: !!trial }).data;
  if (isPending) return <Loading />;
  if (!trial) return <ErrorNote error={error} />;
  const base = `/trials/${id}`;
  return (
    <>
      <Head trial={trial} experiment={experiment} />
      <Tabs base={base} tabs={TABS} />
      <ErrorNote error={error} />
      <Routes>
        <Route index element={<Overview trial={trial} experiment={experiment} />} />
        <Route path="hyperparameters" element={<Hyperparameters trial={trial} />} />
        <Route path="profiler" element={<ProfilerTab trial={trial} />} />
        <Route
          path="checkpoints"
          element={<CheckpointsTab of="trials" id={id} metric={experiment?.searcherMetric ?? ""} />}
        />
        <Route path="logs" element={<LogView source={log} live={!isEnded(trial.state)} />} />
        <Route path="*" element={<Navigate to={base} replace />} />
      </Routes>
    </>
  );
}

function Head({ trial, experiment }: { trial: Trial; experiment: Experiment | undefined }): ReactNode {
  const { ask } = useFeedback();
  const client = useQueryClient();
  const kill = (): void =>
    ask({
      title: `Kill trial ${trial.id}?`,
      text: "It ends at once. Work since its last checkpoint is lost.",
      action: "Kill",
      danger: true,
      done: `Trial ${trial.id} killed`,
      run: async () => {
        await api.post("/api/v1/trials/{trial_id}/kill", { path: { trial_id: trial.id } });
        await client.invalidateQueries({ queryKey: ["trial", trial.id] });
      },
    });
  const actions = (
    <>
      <Link className="btn" to={`/experiments/new?fork=${trial.experimentId}&trial=${trial.id}`}>
        <Icon name="fork" />
        Fork with these values
      </Link>
      {!isEnded(trial.state) && (
        <button className="btn danger" onClick={kill}>
          Kill
        </button>
      )}
    </>
  );
  const crumbs = [
    {
      label: `Experiment ${trial.experimentId}${experiment ? `, ${experiment.name}` : ""}`,
      to: `/experiments/${trial.experimentId}`,
    },
  ];
  return (
    <PageHead
      crumbs={crumbs}
      actions={actions}
      title={
        <>
          Trial {trial.id} <StateBadge state={trial.state} />
          {experiment?.bestTrialId === trial.id && <span className="badge good">Best</span>}
        </>
      }
    >
      {trial.waitingReason && <p className="why">{trial.waitingReason}</p>}
    </PageHead>
  );
}

function Overview({ trial, experiment }: { trial: Trial; experiment: Experiment | undefined }): ReactNode {
  const theme = useTheme();
  const now = useNow(1000);
  const metric = experiment?.searcherMetric ?? "";
  const metrics = useMemo(() => metricIds([trial]).filter(isLearning), [trial]);
  const drawn = useTrialSeries(trial.id, metrics, !isEnded(trial.state));
  const inks = useMemo(
    () => [{ id: trial.id, label: `trial ${trial.id}`, color: colorAt(trial.id, theme) }],
    [trial.id, theme],
  );
  return (
    <div className="stack">
      <FailurePanel trial={trial} />
      <Panel>
        <Facts
          items={[
            [`Best ${metric || "metric"}`, <b key="b">{formatNumber(trial.searcherMetricValue ?? undefined, 5)}</b>],
            [
              "Latest validation",
              trial.latestValidation
                ? `${formatNumber(trial.latestValidation.metrics.avgMetrics[metric])} at step ${formatNumber(trial.latestValidation.totalBatches)}`
                : "none yet",
            ],
            ["Steps", trial.totalBatchesProcessed.toLocaleString("en-US")],
            ["Started", <Ago key="s" when={trial.startTime} />],
            ["Duration", formatDuration(secondsBetween(trial.startTime, trial.endTime, now))],
            ["Checkpoints", `${trial.checkpointCount ?? 0}, ${formatBytes(trial.totalCheckpointSize ?? 0)}`],
            ["Restarts", trial.restarts],
            trial.warmStartCheckpointUuid
              ? [
                  "Started from",
                  <span key="w" className="mono">
                    {trial.warmStartCheckpointUuid.slice(0, 8)}
                  </span>,
                ]
              : null,
            trial.exitReason ? ["Ended because", trial.exitReason] : null,
          ]}
        />
      </Panel>
      <ErrorNote error={drawn.error} />
      <MetricCharts metrics={metrics} series={drawn.series} isPending={drawn.isPending} trials={inks} first={metric} />
      <Restarts trial={trial} />
    </div>
  );
}

function Restarts({ trial }: { trial: Trial }): ReactNode {
  const task = useQuery(taskQuery(trial.taskId ?? "")).data;
  const runs = task?.allocations ?? [];
  if (runs.length < 2) return null;
  return (
    <Panel title="Runs of this trial" flush>
      <div className="table-wrap">
        <table className="table">
          <thead>
            <tr>
              <th>Run</th>
              <th>State</th>
              <th className="num">Slots</th>
              <th>Started</th>
              <th>Ended</th>
              <th>Ended because</th>
            </tr>
          </thead>
          <tbody>
            {runs.map((run, i) => (
              <tr key={run.allocationId}>
                <td>{i + 1}</td>
                <td>
                  <StateBadge state={run.state} />
                </td>
                <td className="num">{run.slots}</td>
                <td>{formatTime(run.startTime)}</td>
                <td>{formatTime(run.endTime)}</td>
                <td>
                  <span className="clip" title={run.exitReason ?? ""}>
                    {run.exitReason || "–"}
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function Hyperparameters({ trial }: { trial: Trial }): ReactNode {
  const rows = Object.entries(flatten(trial.hparams));
  if (!rows.length)
    return (
      <Panel>
        <Empty title="This trial has no hyperparameters">
          <p>
            Give values under <code>hyperparameters</code> in the configuration, and the trial reads them.
          </p>
        </Empty>
      </Panel>
    );
  return (
    <Panel flush>
      <table className="table" aria-label="Hyperparameters">
        <thead>
          <tr>
            <th>Name</th>
            <th>Value</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, value]) => (
            <tr key={name}>
              <td>{name}</td>
              <td className="mono">{formatValue(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
