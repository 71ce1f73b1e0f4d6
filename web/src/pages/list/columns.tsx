/** Columns of the experiment list, including one for each hyperparameter and metric found in what is shown. */
import { Link } from "react-router";
import type { ExperimentSort } from "../../api/queries";
import type { Experiment } from "../../api/types";
import { flatten, formatBytes, formatDuration, formatNumber, formatValue, secondsBetween } from "../../text/format";
import { isEnded } from "../../text/state";
import type { Column } from "../../ui/DataTable";
import { Ago, Bar, StateBadge } from "../../ui/parts";
import { isGap, type Row } from "./useExperimentRows";

type RowColumn = Column<Row, ExperimentSort> & { name: string; optional?: boolean };
type ExperimentColumn = Column<Experiment, ExperimentSort> & { name: string; optional?: boolean };

const FIXED: readonly ExperimentColumn[] = [
  {
    id: "id",
    name: "ID",
    title: "ID",
    sort: "SORT_BY_ID",
    numeric: true,
    width: 1,
    cell: (row) => <Link to={`/experiments/${row.id}`}>{row.id}</Link>,
  },
  {
    id: "name",
    name: "Name",
    title: "Name",
    sort: "SORT_BY_NAME",
    cell: (row) => (
      <Link className="clip" to={`/experiments/${row.id}`} title={row.name}>
        {row.name}
      </Link>
    ),
  },
  {
    id: "state",
    name: "State",
    title: "State",
    sort: "SORT_BY_STATE",
    cell: (row) => <StateBadge state={row.state} />,
  },
  {
    id: "progress",
    name: "Progress",
    title: "Progress",
    sort: "SORT_BY_PROGRESS",
    width: 90,
    cell: (row) => <Bar share={isEnded(row.state) && row.state.endsWith("COMPLETED") ? 1 : (row.progress ?? 0)} />,
  },
  {
    id: "metric",
    name: "Best metric",
    title: "Best metric",
    sort: "SORT_BY_SEARCHER_METRIC_VAL",
    numeric: true,
    cell: (row) => (
      <span title={row.searcherMetric ?? ""}>
        {row.bestTrialSearcherMetric == null ? "–" : formatNumber(row.bestTrialSearcherMetric)}
      </span>
    ),
  },
  { id: "searcher", name: "Searcher", title: "Searcher", cell: (row) => row.searcherType },
  {
    id: "trials",
    name: "Trials",
    title: "Trials",
    sort: "SORT_BY_NUM_TRIALS",
    numeric: true,
    cell: (row) => row.numTrials,
  },
  { id: "user", name: "User", title: "User", sort: "SORT_BY_USER", cell: (row) => row.displayName || row.username },
  {
    id: "started",
    name: "Started",
    title: "Started",
    sort: "SORT_BY_START_TIME",
    numeric: true,
    cell: (row) => <Ago when={row.startTime} />,
  },
  {
    id: "duration",
    name: "Duration",
    title: "Duration",
    numeric: true,
    cell: (row) => formatDuration(secondsBetween(row.startTime, row.endTime, Date.now())),
  },
  {
    id: "labels",
    name: "Tags",
    title: "Tags",
    cell: (row) => (
      <span className="row">
        {(row.labels ?? []).map((label) => (
          <span key={label} className="tag">
            {label}
          </span>
        ))}
      </span>
    ),
  },
  {
    id: "project",
    name: "Project",
    title: "Project",
    optional: true,
    cell: (row) => <Link to={`/projects/${row.projectId}`}>{row.projectName || row.projectId}</Link>,
  },
  {
    id: "pool",
    name: "Resource pool",
    title: "Resource pool",
    sort: "SORT_BY_RESOURCE_POOL",
    optional: true,
    cell: (row) => row.resourcePool ?? "",
  },
  {
    id: "checkpoints",
    name: "Checkpoints",
    title: "Checkpoints",
    sort: "SORT_BY_CHECKPOINT_COUNT",
    optional: true,
    numeric: true,
    cell: (row) => row.checkpointCount ?? 0,
  },
  {
    id: "size",
    name: "Checkpoint size",
    title: "Checkpoint size",
    sort: "SORT_BY_CHECKPOINT_SIZE",
    optional: true,
    numeric: true,
    cell: (row) => formatBytes(row.checkpointSize ?? 0),
  },
  {
    id: "parent",
    name: "Forked from",
    title: "Forked from",
    sort: "SORT_BY_FORKED_FROM",
    optional: true,
    numeric: true,
    cell: (row) => (row.forkedFrom ? <Link to={`/experiments/${row.forkedFrom}`}>{row.forkedFrom}</Link> : ""),
  },
  {
    id: "description",
    name: "Description",
    title: "Description",
    sort: "SORT_BY_DESCRIPTION",
    optional: true,
    cell: (row) => <span className="clip">{row.description}</span>,
  },
];

/** What the server can sort by, as an address may ask for it. */
export const sortOf = (text: string | null): ExperimentSort =>
  FIXED.find((column) => column.sort === text)?.sort ?? "SORT_BY_ID";

/** A searched hyperparameter is shown as its range; a fixed one as its value. */
export function hyperparameter(row: Experiment, name: string): string {
  const all = (row.hyperparameters ?? row.config?.["hyperparameters"] ?? {}) as Record<string, unknown>;
  const value = name
    .split(".")
    .reduce<unknown>(
      (node, key) => (node && typeof node === "object" ? (node as Record<string, unknown>)[key] : undefined),
      all,
    );
  return value === undefined ? "" : describe(value);
}

function describe(value: unknown): string {
  if (!value || typeof value !== "object" || Array.isArray(value)) return formatValue(value);
  const spec = value as Record<string, unknown>;
  if (spec["type"] === "const") return formatValue(spec["val"]);
  if (spec["type"] === "categorical") return (spec["vals"] as unknown[]).map(formatValue).join(" | ");
  if (spec["type"] === "log")
    return `${formatValue(spec["base"] ?? 10)}^[${formatValue(spec["minval"])}, ${formatValue(spec["maxval"])}]`;
  if ("minval" in spec) return `[${formatValue(spec["minval"])}, ${formatValue(spec["maxval"])}]`;
  return JSON.stringify(value);
}

export function hyperparameterNames(rows: readonly Experiment[]): string[] {
  const names = new Set<string>();
  for (const row of rows) {
    const all = (row.hyperparameters ?? row.config?.["hyperparameters"] ?? {}) as Record<string, unknown>;
    collect(all, "", names);
  }
  return [...names].sort();
}

function collect(node: Record<string, unknown>, prefix: string, into: Set<string>): void {
  for (const [key, value] of Object.entries(node)) {
    const name = prefix ? `${prefix}.${key}` : key;
    const isGroup = value && typeof value === "object" && !Array.isArray(value) && !("type" in value);
    if (isGroup) collect(value as Record<string, unknown>, name, into);
    else into.add(name);
  }
}

/** `metrics`: best trial's validation metrics by experiment, fetched only for the chosen metric columns. */
export function columnsFor(
  hparams: readonly string[],
  metrics: readonly string[],
  values: ReadonlyMap<number, Record<string, unknown>>,
): RowColumn[] {
  const all: ExperimentColumn[] = [
    ...FIXED,
    ...hparams.map((name): ExperimentColumn => ({
      id: `hp:${name}`,
      name,
      title: name,
      optional: true,
      numeric: true,
      cell: (row) => <span className="clip">{hyperparameter(row, name)}</span>,
    })),
    ...metrics.map((name): ExperimentColumn => ({
      id: `metric:${name}`,
      name,
      title: name,
      optional: true,
      numeric: true,
      cell: (row) => formatNumber(flatten(values.get(row.id))[name] ?? undefined),
    })),
  ];
  return all.map((column) => ({ ...column, cell: (row: Row) => (isGap(row) ? null : column.cell(row)) }));
}
