/** Experiments, sorted and filtered by the server a page at a time. The address holds the filter, so it can be shared. */
import { useQueries, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { useSearchParams } from "react-router";
import { useLive } from "../../api/events";
import { trialsByIdQuery, usersQuery, type ExperimentFilter } from "../../api/queries";
import type { Trial } from "../../api/types";
import { plural } from "../../text/format";
import { DataTable } from "../../ui/DataTable";
import { Empty, ErrorNote, NoRows } from "../../ui/parts";
import { useStored } from "../../ui/useStored";
import { FirstExperiment } from "../FirstExperiment";
import { ColumnPicker } from "./ColumnPicker";
import { columnsFor, hyperparameterNames, sortOf } from "./columns";
import { SelectionBar } from "./SelectionBar";
import { isGap, useExperimentRows, type Row } from "./useExperimentRows";

const STATES = [
  ["STATE_ACTIVE", "Active"],
  ["STATE_PAUSED", "Paused"],
  ["STATE_COMPLETED", "Completed"],
  ["STATE_ERROR", "Error"],
  ["STATE_CANCELED", "Canceled"],
] as const;
const HIDDEN_AT_FIRST = { project: true, pool: true, checkpoints: true, size: true, parent: true, description: true };
const AT_ONCE = 100;
const NONE: ReadonlySet<string> = new Set();

export function ExperimentList({ projectId }: { projectId?: number }): ReactNode {
  const [params, setParams] = useSearchParams();
  const [hidden, setHidden] = useStored<Record<string, boolean>>("list.hidden", HIDDEN_AT_FIRST);
  const [picked, setPicked] = useState<ReadonlySet<string>>(NONE);
  useLive(["experiments"], [["experiments"]], 500);

  const filter = filterOf(params, projectId);
  const page = useExperimentRows(filter);
  const rows = page.loaded;
  const wantsMetrics = Object.entries(hidden).some(([id, off]) => id.startsWith("metric:") && !off);
  const best = useBestMetrics(
    rows.map((row) => row.bestTrialId ?? 0),
    wantsMetrics,
  );
  const values = useMemo(
    () => new Map(rows.map((row) => [row.id, best.get(row.bestTrialId ?? 0) ?? {}])),
    [rows, best],
  );
  const metricNames = useMemo(() => {
    const chosen = Object.keys(hidden).filter((id) => id.startsWith("metric:") && !hidden[id]);
    const known = rows.flatMap((row) => row.searcherMetric ?? []);
    const reported = [...best.values()].flatMap(Object.keys);
    return [...new Set([...chosen.map((id) => id.slice("metric:".length)), ...known, ...reported])]
      .filter(Boolean)
      .sort();
  }, [hidden, rows, best]);
  const columns = useMemo(
    () => columnsFor(hyperparameterNames(rows), metricNames, values),
    [rows, metricNames, values],
  );
  const off = useMemo(
    () => Object.fromEntries(columns.map((column) => [column.id, hidden[column.id] ?? !!column.optional])),
    [columns, hidden],
  );

  const change = (next: Record<string, string | undefined>): void => {
    const merged = new URLSearchParams(params);
    for (const [key, value] of Object.entries(next)) {
      if (value) merged.set(key, value);
      else merged.delete(key);
    }
    setParams(merged, { replace: true });
  };
  const isFiltered = ["name", "state", "user", "label"].some((key) => params.has(key));
  const empty = (
    <NoRows of={page} rows={8}>
      {isFiltered ? (
        <Empty title="No experiment matches">
          <button className="btn" onClick={() => setParams({})}>
            Clear the filter
          </button>
        </Empty>
      ) : (
        <FirstExperiment />
      )}
    </NoRows>
  );
  return (
    <div className="stack" style={{ gap: "var(--s3)" }}>
      <div className="toolbar">
        <TextFilter
          label="Filter by name"
          width={220}
          value={params.get("name") ?? ""}
          onChange={(name) => change({ name })}
        />
        <select
          className="select"
          aria-label="State"
          value={params.get("state") ?? ""}
          onChange={(event) => change({ state: event.target.value })}
        >
          <option value="">Any state</option>
          {STATES.map(([key, word]) => (
            <option key={key} value={key}>
              {word}
            </option>
          ))}
        </select>
        <UserFilter value={params.get("user") ?? ""} onChange={(user) => change({ user })} />
        <TextFilter label="Tag" width={120} value={params.get("label") ?? ""} onChange={(label) => change({ label })} />
        <label className="check muted">
          <input
            type="checkbox"
            checked={params.get("archived") === "1"}
            onChange={(event) => change({ archived: event.target.checked ? "1" : undefined })}
          />
          Archived
        </label>
        <span className="grow" />
        <ColumnPicker
          columns={columns}
          hidden={off}
          onChange={(id, isHidden) => setHidden({ ...hidden, [id]: isHidden })}
        />
      </div>
      <ErrorNote error={page.error} />
      <section className="panel">
        {picked.size > 0 && (
          <SelectionBar
            experiments={rows.filter((row) => picked.has(String(row.id)))}
            onClear={() => setPicked(NONE)}
          />
        )}
        <DataTable
          label="Experiments"
          rows={page.rows}
          columns={columns}
          hidden={off}
          rowId={rowId}
          isGap={isGap}
          onRange={page.onRange}
          picked={picked}
          onPick={setPicked}
          height="calc(100vh - 200px)"
          empty={empty}
          sort={{ by: filter.sortBy!, descending: !!filter.descending }}
          onSort={(sort) => change({ sort: sort.by, order: sort.descending ? "desc" : "asc" })}
        />
        {page.total > 0 && <div className="table-foot">{plural(page.total, "experiment")}</div>}
      </section>
    </div>
  );
}

const rowId = (row: Row): string => (isGap(row) ? `gap-${row.gap}` : String(row.id));

function filterOf(params: URLSearchParams, projectId?: number): ExperimentFilter {
  const filter: ExperimentFilter = {
    sortBy: sortOf(params.get("sort")),
    descending: (params.get("order") ?? "desc") === "desc",
    archived: params.get("archived") === "1",
  };
  const name = params.get("name");
  const state = STATES.find(([key]) => key === params.get("state"))?.[0];
  const user = params.get("user");
  const label = params.get("label");
  if (name) filter.name = name;
  if (state) filter.states = [state];
  if (user) filter.users = [user];
  if (label) filter.labels = [label];
  if (projectId !== undefined) filter.projectId = projectId;
  return filter;
}

/** Validation metrics of the best trials, a hundred by a request, asked for only when a metric column is on. */
function useBestMetrics(trialIds: readonly number[], enabled: boolean): Map<number, Record<string, unknown>> {
  const wanted = enabled ? [...new Set(trialIds)].filter(Boolean) : [];
  const parts = Array.from({ length: Math.ceil(wanted.length / AT_ONCE) }, (_, part) =>
    wanted.slice(part * AT_ONCE, (part + 1) * AT_ONCE),
  );
  const trials = useQueries({
    queries: parts.map((ids) => ({ ...trialsByIdQuery(ids), staleTime: 30_000 })),
    combine: trialsOf,
  });
  return useMemo(
    () => new Map(trials.map((trial) => [trial.id, trial.bestValidation?.metrics.avgMetrics ?? {}])),
    [trials],
  );
}

const trialsOf = (answers: readonly UseQueryResult<Trial[]>[]): Trial[] =>
  answers.flatMap((answer) => answer.data ?? []);

const TYPING_MS = 200;

interface TextFilterProps {
  label: string;
  width: number;
  /** As the address has it; what is typed gets there a moment later, and what clears the address clears the box. */
  value: string;
  onChange: (value: string) => void;
}

function TextFilter({ label, width, value, onChange }: TextFilterProps): ReactNode {
  const [text, setText] = useState(value);
  const [sent, setSent] = useState(value);
  const [seen, setSeen] = useState(value);
  if (value !== seen) {
    // It comes back changed: what was sent is no news, all else is somebody else's doing.
    setSeen(value);
    if (value !== sent) setText(value);
  }
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (next: string): void => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      setSent(next);
      onChange(next);
    }, TYPING_MS);
  };
  return (
    <input
      className="input"
      type="search"
      style={{ width }}
      placeholder={label}
      aria-label={label}
      value={text}
      onChange={(event) => type(event.target.value)}
    />
  );
}

function UserFilter({ value, onChange }: { value: string; onChange: (value: string) => void }): ReactNode {
  const users = useQuery(usersQuery).data ?? [];
  return (
    <select className="select" aria-label="User" value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">Any user</option>
      {users.map((user) => (
        <option key={user.id} value={user.username}>
          {user.displayName || user.username}
        </option>
      ))}
    </select>
  );
}
