/**
 * The rows of a long list, fetched a stretch at a time as they come into view.
 *
 * The server sorts and filters; rows that have not been looked at yet are gaps of known number, so that the scroll bar
 * is right from the first answer on.
 */
import { useQueries, type QueryFunction, type QueryKey, type UseQueryResult } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";

export const STRETCH = 100;

export type Gap = { gap: number };
export const isGap = <T extends object>(row: T | Gap): row is Gap => "gap" in row;

export interface Page<T> {
  rows: readonly T[];
  total: number;
}
export interface Stretches<T> {
  rows: readonly (T | Gap)[];
  loaded: readonly T[];
  total: number;
  isPending: boolean;
  error: unknown;
  onRange: (first: number, last: number) => void;
}

interface Seen {
  question: string;
  stretches: readonly number[];
  inView: readonly number[];
}

/** `question`: what is asked, as a text; another one begins anew. `read` must be the same function at every call. */
export function useStretches<P, T extends object>(
  question: string,
  /** Query options whose answer `read` understands; their own key type is narrower than the library can take here. */
  ask: (offset: number, limit: number) => { queryKey: QueryKey },
  read: (answer: P) => Page<T>,
): Stretches<T> {
  const [seen, setSeen] = useState<Seen>({ question, stretches: [0], inView: [0] });
  const current = useMemo<Seen>(
    () => (seen.question === question ? seen : { question, stretches: [0], inView: [0] }),
    [seen, question],
  );
  const { stretches, inView } = current;
  const combine = useCallback((answers: readonly UseQueryResult<P>[]) => joined(answers, read), [read]);
  const pages = useQueries({
    queries: stretches.map((stretch) => ({
      ...(ask(stretch * STRETCH, STRETCH) as { queryKey: QueryKey; queryFn: QueryFunction<P> }),
      enabled: inView.includes(stretch),
    })),
    combine,
  });
  const { total } = pages;
  const rows = useMemo(() => {
    const all: (T | Gap)[] = Array.from({ length: total }, (_, gap) => ({ gap }));
    stretches.forEach((stretch, i) =>
      pages.rows[i]?.forEach((row, at) => {
        if (stretch * STRETCH + at < total) all[stretch * STRETCH + at] = row;
      }),
    );
    return all;
  }, [pages.rows, total, stretches]);
  const loaded = useMemo(() => rows.filter((row): row is T => !isGap(row)), [rows]);
  const onRange = useCallback(
    (first: number, last: number) => {
      const next = [...new Set([0, Math.floor(first / STRETCH), Math.floor(last / STRETCH)])];
      setSeen((before) => {
        const known = before.question === question ? before : { question, stretches: [0], inView: [0] };
        if (next.join() === known.inView.join()) return known;
        const stretches = [...new Set([...known.stretches, ...next])].sort((a, b) => a - b);
        return { question, inView: next, stretches };
      });
    },
    [question],
  );
  return { rows, loaded, total, isPending: pages.isPending, error: pages.error, onRange };
}

interface Joined<T> {
  /** By stretch; absent while a stretch is on its way. */
  rows: (readonly T[] | undefined)[];
  total: number;
  isPending: boolean;
  error: unknown;
}

function joined<P, T>(answers: readonly UseQueryResult<P>[], read: (answer: P) => Page<T>): Joined<T> {
  const pages = answers.map((answer) => (answer.data === undefined ? undefined : read(answer.data)));
  return {
    rows: pages.map((page) => page?.rows),
    total: pages.find((page) => page)?.total ?? 0,
    isPending: answers[0]?.isPending ?? true,
    error: answers.find((answer) => answer.error)?.error ?? null,
  };
}
