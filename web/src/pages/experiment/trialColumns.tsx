import { Link } from "react-router";
import type { TrialSort } from "../../api/queries";
import type { Experiment, Trial } from "../../api/types";
import { flatten, formatBytes, formatDuration, formatNumber, formatValue, secondsBetween } from "../../text/format";
import type { Column } from "../../ui/DataTable";
import { StateBadge } from "../../ui/parts";

/** Hyperparameters that differ come right after the metric; those all trials share are left out. */
export function varyingHparams(trials: readonly Trial[]): string[] {
  const seen = new Map<string, Set<string>>();
  for (const trial of trials) {
    for (const [name, value] of Object.entries(flatten(trial.hparams))) {
      seen.set(name, (seen.get(name) ?? new Set()).add(JSON.stringify(value)));
    }
  }
  return [...seen]
    .filter(([, values]) => values.size > 1 || trials.length === 1)
    .map(([name]) => name)
    .sort();
}

export function trialColumns(trials: readonly Trial[], experiment: Experiment): Column<Trial, TrialSort>[] {
  const metric = experiment.searcherMetric ?? "metric";
  const latest = (trial: Trial): unknown => trial.latestValidation?.metrics.avgMetrics[metric];
  return [
    {
      id: "id",
      title: "Trial",
      sort: "SORT_BY_ID",
      numeric: true,
      width: 1,
      cell: (trial) => <Link to={`/trials/${trial.id}`}>{trial.id}</Link>,
    },
    {
      id: "state",
      title: "State",
      sort: "SORT_BY_STATE",
      cell: (trial) => (
        <span className="row">
          <StateBadge state={trial.state} />
          {trial.id === experiment.bestTrialId && <span className="badge good">Best</span>}
        </span>
      ),
    },
    {
      id: "best",
      title: `Best ${metric}`,
      sort: "SORT_BY_BEST_VALIDATION_METRIC",
      numeric: true,
      cell: (trial) => formatNumber(trial.searcherMetricValue ?? undefined),
    },
    {
      id: "latest",
      title: "Latest",
      sort: "SORT_BY_LATEST_VALIDATION_METRIC",
      numeric: true,
      cell: (trial) => formatNumber(latest(trial) ?? undefined),
    },
    ...varyingHparams(trials).map((name): Column<Trial, TrialSort> => ({
      id: `hp:${name}`,
      title: name,
      numeric: true,
      cell: (trial) => <span className="clip">{formatValue(flatten(trial.hparams)[name])}</span>,
    })),
    {
      id: "batches",
      title: "Steps",
      sort: "SORT_BY_BATCHES_PROCESSED",
      numeric: true,
      cell: (trial) => trial.totalBatchesProcessed.toLocaleString("en-US"),
    },
    {
      id: "duration",
      title: "Duration",
      sort: "SORT_BY_DURATION",
      numeric: true,
      cell: (trial) =>
        formatDuration(trial.wallClockTime ?? secondsBetween(trial.startTime, trial.endTime, Date.now())),
    },
    { id: "restarts", title: "Restarts", sort: "SORT_BY_RESTARTS", numeric: true, cell: (trial) => trial.restarts },
    {
      id: "size",
      title: "Checkpoints",
      sort: "SORT_BY_CHECKPOINT_SIZE",
      numeric: true,
      cell: (trial) => formatBytes(trial.totalCheckpointSize ?? 0),
    },
  ];
}
