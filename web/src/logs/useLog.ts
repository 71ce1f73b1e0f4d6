import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError } from "../api/http";
import { useConnection } from "../api/connection";
import type { LogEntry } from "../api/types";
import {
  fetchAfter,
  fetchAround,
  fetchBefore,
  follow,
  joinLines,
  PAGE_LINES,
  type Anchor,
  type LogFilter,
  type LogSource,
} from "./stream";

const FRAME_MS = 100;
const RETRY_MS = 1500;

interface Log {
  lines: readonly LogEntry[];
  isPending: boolean;
  error: unknown;
  older: boolean;
  /** Resolves to how many lines were put above. */
  loadOlder: () => Promise<number>;
}

/** A log that grows for days must not grow in here: its oldest lines are let go, and fetched again when scrolled to. */
export const MOST_LINES = 20_000;

export function useLog(source: LogSource, filter: LogFilter, live: boolean, anchor?: Anchor): Log {
  const [lines, setLines] = useState<readonly LogEntry[]>([]);
  const [isPending, setPending] = useState(true);
  const [error, setError] = useState<unknown>(null);
  const [older, setOlder] = useState(false);
  const latest = useRef<readonly LogEntry[]>([]);
  const loading = useRef(false);
  const connection = useConnection();
  const shown = useRef("");

  const put = useCallback((next: readonly LogEntry[]) => {
    latest.current = next;
    setLines(next);
  }, []);

  useEffect(() => {
    if (connection !== "up") return;
    const stop = new AbortController();
    const question = JSON.stringify([source, filter, anchor]);
    const isSame = shown.current === question;
    const run = async (): Promise<void> => {
      if (!isSame) {
        setPending(true);
        put([]);
      }
      setError(null);
      const known = latest.current.at(-1)?.timestamp;
      if (!isSame || !known) {
        const first = anchor
          ? await fetchAround(source, filter, anchor, stop.signal)
          : filter.after
            ? await fetchAfter(source, filter, filter.after, stop.signal)
            : await fetchBefore(source, filter, undefined, stop.signal);
        put(joinLines([], first));
        setOlder(first.length >= PAGE_LINES && (!filter.after || !!anchor));
        shown.current = question;
      }
      setPending(false);
      const grow = (next: readonly LogEntry[]): void => {
        if (next.length > MOST_LINES) setOlder(true);
        put(next.slice(-MOST_LINES));
      };
      if (live || isSame || anchor) await followOn(source, filter, latest, grow, stop.signal, live);
    };
    run().catch((problem: unknown) => {
      if (stop.signal.aborted) return;
      setPending(false);
      setError(problem);
    });
    return () => stop.abort();
  }, [source, filter, live, anchor, connection, put]);

  const loadOlder = useCallback(async (): Promise<number> => {
    const first = latest.current[0];
    if (loading.current || !first) return 0;
    loading.current = true;
    try {
      const before = await fetchBefore(source, filter, first.timestamp, new AbortController().signal);
      const joined = joinLines(latest.current, before);
      const added = joined.length - latest.current.length;
      if (before.length < PAGE_LINES || !added) setOlder(false);
      put(joined);
      return added;
    } finally {
      loading.current = false;
    }
  }, [source, filter, put]);

  return { lines, isPending, error, older, loadOlder };
}

/** Lines arrive one by one; the page redraws at most every `FRAME_MS`. A stream that breaks is taken up again. */
async function followOn(
  source: LogSource,
  filter: LogFilter,
  latest: { current: readonly LogEntry[] },
  put: (lines: readonly LogEntry[]) => void,
  signal: AbortSignal,
  live: boolean,
): Promise<void> {
  let waiting: LogEntry[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    timer = undefined;
    put(joinLines(latest.current, waiting));
    waiting = [];
  };
  const take = (lines: LogEntry[]): void => {
    waiting.push(...lines);
    timer ??= setTimeout(flush, FRAME_MS);
  };
  for (;;) {
    try {
      await follow(source, filter, { id: latest.current.at(-1)?.id, time: filter.after }, signal, take);
      return;
    } catch (error) {
      if (signal.aborted || !live || error instanceof ApiError) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}
