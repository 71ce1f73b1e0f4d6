import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useEffectEvent, useMemo, useRef, useState, type ReactNode } from "react";
import { useSearchParams } from "react-router";
import type { LogEntry } from "../api/types";
import { parseAnsi } from "../text/ansi";
import { plural } from "../text/format";
import { Icon } from "../ui/Icon";
import { useFeedback } from "../ui/Feedback";
import { Empty, ErrorNote, NoRows } from "../ui/parts";
import { saveText } from "../ui/saveFile";
import { useStored } from "../ui/useStored";
import { Menu } from "../ui/Menu";
import { errorStarts } from "./blocks";
import {
  fetchText,
  filterOf,
  NO_FILTER,
  paramsOf,
  textOf,
  type Anchor,
  type LogFilter,
  type LogSource,
} from "./stream";
import { useLog } from "./useLog";

const LINE_PX = 18;
const NEAR_PX = 40;
const LEVELS = [
  ["LOG_LEVEL_DEBUG", "Debug"],
  ["LOG_LEVEL_INFO", "Info"],
  ["LOG_LEVEL_WARNING", "Warning"],
  ["LOG_LEVEL_ERROR", "Error"],
  ["LOG_LEVEL_CRITICAL", "Critical"],
] as const;

export function LogView({
  source,
  live,
  height = "calc(100vh - 260px)",
}: {
  source: LogSource;
  live: boolean;
  height?: string;
}): ReactNode {
  const [params, setParams] = useSearchParams();
  const address = params.toString();
  // The address follows what is chosen here, and a link followed to this page chooses anew.
  const [filter, choose] = useState(() => filterOf(params));
  const [known, setKnown] = useState(address);
  const [sent, setSent] = useState(address);
  if (address !== known) {
    setKnown(address);
    if (address !== sent) choose(filterOf(params));
  }
  const anchor = useMemo(() => anchorOf(new URLSearchParams(address)), [address]);
  const setFilter = (next: LogFilter): void => {
    const after = paramsOf(next, params);
    choose(next);
    setSent(after.toString());
    setParams(after, { replace: true });
  };
  const { lines, isPending, error, older, loadOlder } = useLog(source, filter, live, anchor);
  const [following, setFollowing] = useState(!anchor);
  const [wrap, setWrap] = useStored("log.wrap", false);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_PX,
    overscan: 30,
  });
  const ranks = useRanks(lines);
  const errors = useMemo(() => errorStarts(lines), [lines]);
  const target = useMemo(() => (anchor ? lines.findIndex((line) => line.id === anchor.id) : -1), [lines, anchor]);

  useEffect(() => {
    if (following && lines.length) virtual.scrollToIndex(lines.length - 1, { align: "end" });
  }, [following, lines, virtual]);
  const isFound = target >= 0;
  const goThere = useEffectEvent(() => {
    setFollowing(false);
    virtual.scrollToIndex(target, { align: "center" });
  });
  useEffect(() => {
    if (isFound) goThere();
  }, [isFound, anchor]);
  // Heights were measured for the other way of breaking lines.
  useEffect(() => virtual.measure(), [wrap, virtual]);

  const onScroll = (): void => {
    const element = scroller.current!;
    const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
    if (atEnd !== following) setFollowing(atEnd);
    if (element.scrollTop < NEAR_PX && older && lines.length) void keepPlace(element, loadOlder);
  };
  const toError = (step: 1 | -1): void => {
    const at = topLine(virtual.getVirtualItems(), scroller.current!);
    const next = step > 0 ? errors.find((each) => each > at) : errors.findLast((each) => each < at);
    const chosen = next ?? (step > 0 ? errors[0] : errors.at(-1));
    if (chosen === undefined) return;
    setFollowing(false);
    virtual.scrollToIndex(chosen, { align: "start" });
  };
  const linkTo = (entry: LogEntry): void => {
    const next = paramsOf(filter, params);
    next.set("line", entry.id);
    next.set("at", entry.timestamp);
    setParams(next, { replace: true });
    void navigator.clipboard?.writeText(`${window.location.origin}${window.location.pathname}?${next}`).catch(() => {});
  };
  const isFiltered = filter.text || filter.levels.length || filter.ranks.length || filter.after;
  return (
    <section className="panel" style={{ display: "flex", flexDirection: "column", height, minHeight: 320 }}>
      <div className="panel-head">
        <Toolbar filter={filter} ranks={ranks} onChange={setFilter} />
        <span className="row wrap muted">
          {plural(lines.length, "line")}
          {live && (
            <span className="badge accent">
              <span className="dot pulse" />
              Live
            </span>
          )}
          {errors.length > 0 && (
            <>
              <button className="btn icon" aria-label="Previous error" onClick={() => toError(-1)}>
                <Icon name="up" />
              </button>
              <button className="btn icon" aria-label="Next error" onClick={() => toError(1)}>
                <Icon name="down" />
              </button>
            </>
          )}
          <button className={`btn ${wrap ? "on" : ""}`} aria-pressed={wrap} onClick={() => setWrap(!wrap)}>
            Wrap
          </button>
          <Download source={source} filter={filter} />
          <button
            className={`btn ${following ? "on" : ""}`}
            aria-pressed={following}
            onClick={() => setFollowing(!following)}
          >
            Follow
          </button>
        </span>
      </div>
      <ErrorNote error={error} />
      <div className="log grow" ref={scroller} onScroll={onScroll} tabIndex={0} role="log" aria-label="Log">
        {!lines.length ? (
          <NoRows of={{ isPending, error }}>
            <Empty title={isFiltered ? "No line matches" : "Nothing has been written yet"}>
              {isFiltered ? (
                <button className="btn" onClick={() => setFilter(NO_FILTER)}>
                  Clear the filter
                </button>
              ) : (
                <p>What the program prints appears here as it is written.</p>
              )}
            </Empty>
          </NoRows>
        ) : (
          <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
            {virtual.getVirtualItems().map((item) => (
              <LogLine
                key={item.key}
                entry={lines[item.index]!}
                index={item.index}
                top={item.start}
                find={filter.regex ? "" : filter.text}
                isTarget={item.index === target}
                onLink={linkTo}
                {...(wrap ? { measure: virtual.measureElement } : {})}
              />
            ))}
          </div>
        )}
      </div>
    </section>
  );
}

function anchorOf(params: URLSearchParams): Anchor | undefined {
  const [id, at] = [params.get("line"), params.get("at")];
  return id && at && /^\d+$/.test(id) && !Number.isNaN(Date.parse(at)) ? { id, at } : undefined;
}

/** The first line that is in view whole. */
function topLine(items: readonly { index: number; start: number }[], element: HTMLElement): number {
  return items.find((item) => item.start >= element.scrollTop - 1)?.index ?? 0;
}

function Download({ source, filter }: { source: LogSource; filter: LogFilter }): ReactNode {
  const { complain } = useFeedback();
  const [busy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    setBusy(true);
    try {
      const name = "trial" in source ? `trial-${source.trial}.log` : `${source.task}.log`;
      saveText(await fetchText(source, filter), name);
    } catch (problem) {
      complain(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <button className="btn" disabled={busy} onClick={() => void save()}>
      Download
    </button>
  );
}

/** Lines added above must not move what is being read. */
async function keepPlace(element: HTMLElement, load: () => Promise<number>): Promise<void> {
  const added = await load();
  if (added) element.scrollTop += added * LINE_PX;
}

/** Ranks that were ever seen: a filter must not take away the choice it was made by. */
function useRanks(lines: readonly LogEntry[]): readonly number[] {
  const [seen, setSeen] = useState<readonly number[]>([]);
  const shown = useMemo(() => new Set(lines.flatMap((line) => line.rankId ?? [])), [lines]);
  if ([...shown].every((rank) => seen.includes(rank))) return seen;
  const all = [...new Set([...seen, ...shown])].sort((a, b) => a - b);
  setSeen(all);
  return all;
}

interface LineProps {
  entry: LogEntry;
  index: number;
  top: number;
  find: string;
  isTarget: boolean;
  onLink: (entry: LogEntry) => void;
  /** Given when lines wrap, and have heights of their own. */
  measure?: (element: HTMLElement | null) => void;
}

function LogLine({ entry, index, top, find, isTarget, onLink, measure }: LineProps): ReactNode {
  const level = entry.level.replace("LOG_LEVEL_", "").toLowerCase();
  const platform = entry.source === "platform" ? "platform" : "";
  return (
    <div
      ref={measure}
      data-index={index}
      className={`log-line ${level} ${platform} ${measure ? "wrap" : ""} ${isTarget ? "target" : ""}`}
      style={measure ? { top } : { top, height: LINE_PX }}
    >
      <button
        type="button"
        className="when"
        tabIndex={-1}
        title={`${entry.timestamp}: copy a link to this line`}
        onClick={() => onLink(entry)}
      >
        {clock(entry.timestamp)}
      </button>
      <span className="rank">{typeof entry.rankId === "number" ? `[${entry.rankId}]` : ""}</span>
      <span className="text">
        {parseAnsi(textOf(entry)).map((span, i) => (
          <span
            key={i}
            style={{
              color: span.color,
              background: span.background,
              fontWeight: span.bold ? 700 : undefined,
              opacity: span.dim ? 0.7 : undefined,
              fontStyle: span.italic ? "italic" : undefined,
              textDecoration: span.underline ? "underline" : undefined,
            }}
          >
            {marked(span.text, find)}
          </span>
        ))}
      </span>
    </div>
  );
}

function clock(timestamp: string): string {
  const date = new Date(timestamp);
  const pad = (n: number, width = 2): string => String(n).padStart(width, "0");
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}.${pad(date.getMilliseconds(), 3)}`;
}

function marked(text: string, find: string): ReactNode {
  if (!find) return text;
  const parts = text.split(new RegExp(`(${find.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")})`, "gi"));
  return parts.map((part, i) => (i % 2 ? <mark key={i}>{part}</mark> : part));
}

function Toolbar({
  filter,
  ranks,
  onChange,
}: {
  filter: LogFilter;
  ranks: readonly number[];
  onChange: (filter: LogFilter) => void;
}): ReactNode {
  const flip = <T,>(list: readonly T[], item: T): T[] =>
    list.includes(item) ? list.filter((other) => other !== item) : [...list, item];
  return (
    <div className="toolbar">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onChange({ ...filter, text: String(new FormData(event.currentTarget).get("text") ?? "") });
        }}
      >
        <input
          className="input"
          type="search"
          style={{ width: 220 }}
          placeholder="Search, then Enter"
          aria-label="Search in the log"
          key={filter.text}
          name="text"
          defaultValue={filter.text}
          onChange={(event) => {
            if (!event.target.value) onChange({ ...filter, text: "" });
          }}
        />
      </form>
      <button
        className={`btn ${filter.regex ? "on" : ""}`}
        aria-pressed={filter.regex}
        title="Treat the search as a regular expression"
        onClick={() => onChange({ ...filter, regex: !filter.regex })}
      >
        .*
      </button>
      <Menu
        keepOpen
        align="left"
        label={
          <>
            Level{filter.levels.length ? ` (${filter.levels.length})` : ""}
            <Icon name="down" size={12} />
          </>
        }
      >
        {LEVELS.map(([level, word]) => (
          <label key={level} className="menu-item">
            <input
              type="checkbox"
              checked={filter.levels.includes(level)}
              onChange={() => onChange({ ...filter, levels: flip(filter.levels, level) })}
            />
            {word}
          </label>
        ))}
      </Menu>
      {ranks.length > 1 || filter.ranks.length ? (
        <Menu
          keepOpen
          align="left"
          label={
            <>
              Rank{filter.ranks.length ? ` (${filter.ranks.length})` : ""}
              <Icon name="down" size={12} />
            </>
          }
        >
          {ranks.map((rank) => (
            <label key={rank} className="menu-item">
              <input
                type="checkbox"
                checked={filter.ranks.includes(rank)}
                onChange={() => onChange({ ...filter, ranks: flip(filter.ranks, rank) })}
              />
              Rank {rank}
            </label>
          ))}
        </Menu>
      ) : null}
      <label className="check muted">
        From
        <input
          className="input"
          type="datetime-local"
          step={1}
          aria-label="From this time on"
          value={filter.after ? localTime(filter.after) : ""}
          onChange={(event) => onChange(withAfter(filter, event.target.value))}
        />
      </label>
    </div>
  );
}

function withAfter(filter: LogFilter, local: string): LogFilter {
  const { after: _, ...rest } = filter;
  return local ? { ...rest, after: new Date(local).toISOString() } : rest;
}

function localTime(iso: string): string {
  const date = new Date(iso);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
