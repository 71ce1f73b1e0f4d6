import { useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode } from "react";
import { Link, Navigate, Route, Routes, useParams } from "react-router";
import { useLive } from "../../api/events";
import { experimentQuery } from "../../api/queries";
import type { Experiment } from "../../api/types";
import { isLive } from "../../text/state";
import { Bar, ErrorNote, Loading, PageHead, StateBadge, Tabs } from "../../ui/parts";
import { CheckpointsTab } from "./CheckpointsTab";
import { CodeTab } from "./CodeTab";
import { ConfigTab } from "./ConfigTab";
import { ExperimentActions } from "./ExperimentActions";
import { LogsTab } from "./LogsTab";
import { OverviewTab } from "./OverviewTab";
import { TrialsTab } from "./TrialsTab";

/** Facts change with every report of a metric; its curve follows faster than they do. */
const FACTS_MS = 1500;

const NotesTab = lazy(() => import("./NotesTab"));
const SearchTab = lazy(() => import("./SearchTab"));

export default function ExperimentPage(): ReactNode {
  const id = Number(useParams()["id"]);
  const { data: experiment, error, isPending } = useQuery(experimentQuery(id));
  // Why it waits changes with what other experiments do.
  const isQueued = experiment?.state === "STATE_QUEUED";
  useLive([`experiment/${id}`, ...(isQueued ? ["queue"] : [])], [["experiment", id]], FACTS_MS);
  if (isPending) return <Loading />;
  if (!experiment) return <ErrorNote error={error} />;
  const isSearch = experiment.searcherType !== "single";
  const base = `/experiments/${id}`;
  const tabs: [string, string][] = [
    ["", "Overview"],
    ["trials", isSearch ? `Trials (${experiment.numTrials})` : "Trials"],
    ...(isSearch ? [["search", "Search"] as [string, string]] : []),
    ["code", "Code"],
    ["config", "Configuration"],
    ["notes", "Notes"],
    ["checkpoints", "Checkpoints"],
    ["logs", "Logs"],
  ];
  return (
    <>
      <Head experiment={experiment} />
      <Tabs base={base} tabs={tabs} />
      <ErrorNote error={error} />
      <Routes>
        <Route index element={<OverviewTab experiment={experiment} />} />
        <Route path="trials" element={<TrialsTab experiment={experiment} />} />
        <Route path="search" element={<SearchTab experiment={experiment} />} />
        <Route path="code" element={<CodeTab experiment={experiment} />} />
        <Route path="config" element={<ConfigTab experiment={experiment} />} />
        <Route path="notes" element={<NotesTab experiment={experiment} />} />
        <Route
          path="checkpoints"
          element={<CheckpointsTab of="experiments" id={id} metric={experiment.searcherMetric ?? ""} />}
        />
        <Route path="logs" element={<LogsTab experiment={experiment} />} />
        <Route path="*" element={<Navigate to={base} replace />} />
      </Routes>
    </>
  );
}

function Head({ experiment }: { experiment: Experiment }): ReactNode {
  const crumbs = [
    {
      label: experiment.workspaceName || "Workspaces",
      to: experiment.workspaceId ? `/workspaces/${experiment.workspaceId}` : "/workspaces",
    },
    { label: experiment.projectName || "Project", to: `/projects/${experiment.projectId}` },
  ];
  return (
    <PageHead
      crumbs={crumbs}
      actions={<ExperimentActions experiment={experiment} />}
      title={
        <>
          <span className="faint">{experiment.id}</span> <span>{experiment.name}</span>{" "}
          <StateBadge state={experiment.state} />
          {experiment.archived && <span className="badge">Archived</span>}
        </>
      }
    >
      {experiment.waitingReason && <p className="why">{experiment.waitingReason}</p>}
      <div className="row wrap muted">
        {experiment.description && <span>{experiment.description}</span>}
        {(experiment.labels ?? []).map((label) => (
          <Link key={label} className="tag" to={`/experiments?label=${encodeURIComponent(label)}`}>
            {label}
          </Link>
        ))}
        {isLive(experiment.state) && (
          <div style={{ width: 160 }}>
            <Bar share={experiment.progress ?? 0} />
          </div>
        )}
      </div>
    </PageHead>
  );
}
