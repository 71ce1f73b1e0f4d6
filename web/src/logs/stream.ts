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
  limit = PAGE_LINES,
): Promise<LogEntry[]> {
  const query: LogQuery = {
    ...queryOf(filter),
    limit,
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

/** Every line that the filter lets through, as text; `limit` 0 asks for all. */
export async function fetchText(source: LogSource, filter: LogFilter, signal?: AbortSignal): Promise<string> {
  const parts: string[] = [];
  const query: LogQuery = { ...queryOf(filter), limit: 0, timestampAfter: filter.after };
  await readLines(source, query, signal ?? new AbortController().signal, (batch) =>
    parts.push(batch.map((line) => `${line.timestamp} ${rankOf(line)}${textOf(line)}\n`).join("")),
  );
  return parts.join("");
}

const rankOf = (line: LogEntry): string => (typeof line.rankId === "number" ? `[rank=${line.rankId}] ` : "");

/** A line to begin at, as a link names it. */
export interface Anchor {
  id: string;
  at: string;
}

/** The lines around one. */
export async function fetchAround(
  source: LogSource,
  filter: LogFilter,
  anchor: Anchor,
  signal: AbortSignal,
): Promise<LogEntry[]> {
  const [before, after] = await Promise.all([
    fetchBefore(source, filter, anchor.at, signal),
    fetchAfter(source, filter, anchor.at, signal),
  ]);
  return joinLines(before, after);
}

/** The filter as an address holds it, and back. */
export function filterOf(params: URLSearchParams): LogFilter {
  const after = params.get("from");
  return {
    levels: params.getAll("level").filter((level): level is LogLevel => level.startsWith("LOG_LEVEL_")),
    ranks: params.getAll("rank").map(Number).filter(Number.isInteger),
    text: params.get("search") ?? "",
    regex: params.get("regex") === "1",
    ...(after && !Number.isNaN(Date.parse(after)) ? { after } : {}),
  };
}

export function paramsOf(filter: LogFilter, others: URLSearchParams): URLSearchParams {
  const params = new URLSearchParams(others);
  for (const key of ["level", "rank", "search", "regex", "from", "line", "at"]) params.delete(key);
  filter.levels.forEach((level) => params.append("level", level));
  filter.ranks.forEach((rank) => params.append("rank", String(rank)));
  if (filter.text) params.set("search", filter.text);
  if (filter.regex) params.set("regex", "1");
  if (filter.after) params.set("from", filter.after);
  return params;
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
