/** The page people keep open: what it is, how far it is, and its curves as they grow. */
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";
import { Link, useNavigate } from "react-router";
import { isLearning, metricIds, useExperimentSeries } from "../../api/series";
import { experimentDatasetsQuery, trialsQuery } from "../../api/queries";
import type { Experiment, Trial } from "../../api/types";
import { MetricCharts, type TrialInk } from "../../charts/MetricCharts";
import { FailurePanel } from "../../logs/FailurePanel";
import { strokeOf } from "../../charts/palette";
import { useTheme } from "../../theme/theme";
import { formatBytes, formatDuration, formatNumber, plural, secondsBetween } from "../../text/format";
import { isLive } from "../../text/state";
import { Ago, Empty, ErrorNote, Facts, Panel } from "../../ui/parts";
import { useNow } from "../../ui/useNow";

const MOST_TRIALS = 12;

export function OverviewTab({ experiment }: { experiment: Experiment }): ReactNode {
  const theme = useTheme();
  const navigate = useNavigate();
  const [lit, setLit] = useState<string | null>(null);
  const live = isLive(experiment.state);
  // Best first, so that a large search shows the trials worth looking at.
  const page = useQuery(trialsQuery(experiment.id, { sortBy: "SORT_BY_BEST_VALIDATION_METRIC", limit: MOST_TRIALS }));
  const trials = useMemo(() => page.data?.trials ?? [], [page.data]);
  const metrics = useMemo(() => metricIds(trials).filter(isLearning), [trials]);
  const trialIds = useMemo(() => trials.map((trial) => trial.id).sort((a, b) => a - b), [trials]);
  const growing = useMemo(() => trials.filter((trial) => isLive(trial.state)).map((trial) => trial.id), [trials]);
  const drawn = useExperimentSeries(experiment.id, metrics, { trialIds, growing }, live);
  const inks = useMemo(
    () => trials.map((trial): TrialInk => ({ id: trial.id, label: `trial ${trial.id}`, ...strokeOf(trial.id, theme) })),
    [trials, theme],
  );
  const rest = (page.data?.pagination.total ?? 0) - trials.length;
  return (
    <div className="stack">
      <LastFailure experiment={experiment} />
      <Panel>
        <Summary experiment={experiment} trials={trials} />
      </Panel>
      <ErrorNote error={page.error ?? drawn.error} />
      {(experiment.warnings ?? []).map((warning) => (
        <div key={warning} className="banner" style={{ borderRadius: "var(--radius)", border: 0 }}>
          {warning}
        </div>
      ))}
      {!trials.length && !page.isPending ? (
        <Panel>
          <Empty title="No trial has started yet">
            <p>
              The experiment waits for free slots. See <Link to="/queue">the job queue</Link>.
            </p>
          </Empty>
        </Panel>
      ) : (
        <MetricCharts
          metrics={metrics}
          series={drawn.series}
          isPending={drawn.isPending}
          trials={inks}
          first={experiment.searcherMetric ?? ""}
          highlight={lit}
          onHighlight={setLit}
          onPick={(id) => void navigate(`/trials/${id}`)}
        />
      )}
      {rest > 0 && (
        <p className="muted">
          Shown are the {MOST_TRIALS} best trials.{" "}
          <Link to={`/experiments/${experiment.id}/search`}>
            See all {plural(page.data!.pagination.total, "trial")}
          </Link>
        </p>
      )}
    </div>
  );
}

/** Of an experiment that failed: its last failed trial says why. */
function LastFailure({ experiment }: { experiment: Experiment }): ReactNode {
  const isFailed = experiment.state === "STATE_ERROR";
  const asked = { states: ["STATE_ERROR"], sortBy: "SORT_BY_END_TIME", descending: true, limit: 1 } as const;
  const page = useQuery({ ...trialsQuery(experiment.id, { ...asked, states: [...asked.states] }), enabled: isFailed });
  const trial = page.data?.trials[0];
  return isFailed && trial ? <FailurePanel trial={trial} /> : null;
}

function Summary({ experiment, trials }: { experiment: Experiment; trials: readonly Trial[] }): ReactNode {
  const now = useNow(1000);
  const datasets = useQuery(experimentDatasetsQuery(experiment.id)).data ?? [];
  const only = experiment.searcherType === "single" ? trials[0] : undefined;
  const best = experiment.bestTrialSearcherMetric;
  const slots = (experiment.config["resources"] as Record<string, unknown> | undefined)?.["slots_per_trial"];
  return (
    <Facts
      items={[
        [
          `Best ${experiment.searcherMetric ?? "metric"}`,
          best == null ? "none yet" : <b key="b">{formatNumber(best, 5)}</b>,
        ],
        experiment.bestTrialId
          ? [
              "Best trial",
              <Link key="t" to={`/trials/${experiment.bestTrialId}`}>
                Trial {experiment.bestTrialId}
              </Link>,
            ]
          : only
            ? [
                "Trial",
                <Link key="t" to={`/trials/${only.id}`}>
                  Trial {only.id}
                </Link>,
              ]
            : null,
        [
          "Searcher",
          `${experiment.searcherType}, ${experiment.smallerIsBetter === false ? "larger" : "smaller"} is better`,
        ],
        ["Trials", experiment.numTrials],
        ["Started", <Ago key="s" when={experiment.startTime} />],
        ["Duration", formatDuration(secondsBetween(experiment.startTime, experiment.endTime, now))],
        ["User", experiment.displayName || experiment.username],
        ["Slots per trial", String(slots ?? 1)],
        ["Resource pool", experiment.resourcePool || "default"],
        ["Checkpoints", `${experiment.checkpointCount ?? 0}, ${formatBytes(experiment.checkpointSize ?? 0)}`],
        datasets.length
          ? [
              "Data",
              datasets.map((dataset) => (
                <Link key={dataset.id} to={`/datasets/${encodeURIComponent(dataset.name)}/${dataset.version}`}>
                  {dataset.reference}{" "}
                </Link>
              )),
            ]
          : null,
        experiment.forkedFrom
          ? [
              "Forked from",
              <Link key="f" to={`/experiments/${experiment.forkedFrom}`}>
                Experiment {experiment.forkedFrom}
              </Link>,
            ]
          : null,
      ]}
    />
  );
}
