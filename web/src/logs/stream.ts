/** Lines of a task's log: the newest first, older ones on demand, new ones as they are written. */
import { addressOf, open, type Address, type QueryOf } from "../api/client";
import type { LogEntry, LogLevel } from "../api/types";

export interface LogFilter {
  levels: readonly LogLevel[];
  ranks: readonly number[];
  text: string;
  regex: boolean;
  /** RFC 3339; only lines from then on. */
  after?: string;
}

/** Whose log it is. */
export type LogSource = { trial: number } | { task: string };
type LogQuery = QueryOf<"/api/v1/trials/{trial_id}/logs"> & QueryOf<"/api/v1/tasks/{task_id}/logs">;

const logOf = (source: LogSource, query: LogQuery): Address =>
  "trial" in source
    ? addressOf("/api/v1/trials/{trial_id}/logs", { path: { trial_id: source.trial }, query })
    : addressOf("/api/v1/tasks/{task_id}/logs", { path: { task_id: source.task }, query });

export const PAGE_LINES = 1000;
export const NO_FILTER: LogFilter = { levels: [], ranks: [], text: "", regex: false };

function queryOf(filter: LogFilter): LogQuery {
  return {
    levels: [...filter.levels],
    rankIds: [...filter.ranks],
    searchText: filter.text,
    enableRegex: filter.text ? filter.regex : undefined,
  };
}

/** Newest `PAGE_LINES` before a moment (or of all), in the order of time. */
export async function fetchBefore(
  source: LogSource,
  filter: LogFilter,
  before: string | undefined,
  signal: AbortSignal,
): Promise<LogEntry[]> {
  const query: LogQuery = {
    ...queryOf(filter),
    limit: PAGE_LINES,
    orderBy: "ORDER_BY_DESC",
    timestampBefore: before,
    timestampAfter: filter.after,
  };
  const lines: LogEntry[] = [];
  await readLines(source, query, signal, (batch) => lines.push(...batch));
  return lines.reverse();
}

/** First `PAGE_LINES` from a moment on. */
export async function fetchAfter(
  source: LogSource,
  filter: LogFilter,
  after: string,
  signal: AbortSignal,
): Promise<LogEntry[]> {
  const lines: LogEntry[] = [];
  await readLines(
    source,
    { ...queryOf(filter), limit: PAGE_LINES, orderBy: "ORDER_BY_ASC", timestampAfter: after },
    signal,
    (batch) => lines.push(...batch),
  );
  return lines;
}

/** Calls back with what is new until the task ends or `signal` aborts. */
export async function follow(
  source: LogSource,
  filter: LogFilter,
  after: { id?: string | undefined; time?: string | undefined },
  signal: AbortSignal,
  onLines: (lines: LogEntry[]) => void,
): Promise<void> {
  await readLines(
    source,
    {
      ...queryOf(filter),
      follow: true,
      afterId: after.id === undefined ? undefined : Number(after.id),
      timestampAfter: after.id ? undefined : after.time,
    },
    signal,
    onLines,
  );
}

async function readLines(
  source: LogSource,
  query: LogQuery,
  signal: AbortSignal,
  onLines: (lines: LogEntry[]) => void,
): Promise<void> {
  const response = await open(logOf(source, query), signal);
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop() ?? "";
    const lines = parts.filter(Boolean).map(parseLine);
    if (lines.length) onLines(lines);
  }
}

export function parseLine(line: string): LogEntry {
  const parsed = JSON.parse(line) as { result?: LogEntry; error?: { message?: string } };
  if (parsed.error || !parsed.result) throw new Error(parsed.error?.message ?? "The log ended early.");
  return parsed.result;
}

/** Join two stretches of one log; ids grow with time, so a line seen twice is dropped. */
export function joinLines(known: readonly LogEntry[], fresh: readonly LogEntry[]): LogEntry[] {
  const last = known.length ? BigInt(known[known.length - 1]!.id) : -1n;
  const first = known.length ? BigInt(known[0]!.id) : null;
  const newer = fresh.filter((line) => BigInt(line.id) > last);
  const older = first === null ? [] : fresh.filter((line) => BigInt(line.id) < first);
  return older.length || newer.length ? [...older, ...known, ...newer] : (known as LogEntry[]);
}

/** The text a program wrote, without the stamp that terminals are shown. */
export function textOf(entry: LogEntry): string {
  if (entry.log !== undefined) return entry.log.replace(/\n$/, "");
  return entry.message
    .replace(/^\[[^\]]+\]\s+(?:\S{8}\s+)?(?:\[rank=\d+\]\s+)?\|\| (?:[A-Z]+: )?/, "")
    .replace(/\n$/, "");
}
