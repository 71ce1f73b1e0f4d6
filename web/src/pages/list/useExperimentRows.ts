/**
 * The rows of a long list, fetched a stretch at a time as they come into view.
 *
 * The server sorts and filters; rows that have not been looked at yet are gaps of known number, so that the scroll bar
 * is right from the first answer on.
 */
import { useQueries, type UseQueryResult } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { experimentsQuery, type ExperimentFilter, type ExperimentPage } from "../../api/queries";
import type { Experiment } from "../../api/types";

const STRETCH = 100;

export type Gap = { gap: number };
export type Row = Experiment | Gap;
export const isGap = (row: Row): row is Gap => "gap" in row;

interface Rows {
  rows: readonly Row[];
  loaded: readonly Experiment[];
  total: number;
  isPending: boolean;
  error: unknown;
  onRange: (first: number, last: number) => void;
}

export function useExperimentRows(filter: ExperimentFilter): Rows {
  const question = JSON.stringify(filter);
  const [seen, setSeen] = useState<{ question: string; stretches: readonly number[]; inView: readonly number[] }>({
    question,
    stretches: [0],
    inView: [0],
  });
  const current = useMemo(
    () => (seen.question === question ? seen : { question, stretches: [0], inView: [0] }),
    [seen, question],
  );
  const { stretches, inView } = current;
  const pages = useQueries({
    queries: stretches.map((stretch) => ({
      ...experimentsQuery({ ...filter, offset: stretch * STRETCH, limit: STRETCH }),
      enabled: inView.includes(stretch),
    })),
    combine: joined,
  });
  const { total } = pages;
  const rows = useMemo(() => {
    const all: Row[] = Array.from({ length: total }, (_, gap) => ({ gap }));
    stretches.forEach((stretch, i) =>
      pages.experiments[i]?.forEach((row, at) => {
        if (stretch * STRETCH + at < total) all[stretch * STRETCH + at] = row;
      }),
    );
    return all;
  }, [pages.experiments, total, stretches]);
  const loaded = useMemo(() => rows.filter((row) => !isGap(row)) as Experiment[], [rows]);
  const onRange = useCallback(
    (first: number, last: number) => {
      const inView = [...new Set([0, Math.floor(first / STRETCH), Math.floor(last / STRETCH)])];
      setSeen((before) => {
        const known = before.question === question ? before : { question, stretches: [0], inView: [0] };
        if (inView.join() === known.inView.join()) return before.question === question ? before : known;
        return { question, inView, stretches: [...new Set([...known.stretches, ...inView])].sort((a, b) => a - b) };
      });
    },
    [question],
  );
  return {
    rows,
    loaded,
    total,
    isPending: pages.isPending,
    error: pages.error,
    onRange,
  };
}

interface Pages {
  /** By stretch; absent while a stretch is on its way. */
  experiments: (readonly Experiment[] | undefined)[];
  total: number;
  isPending: boolean;
  error: unknown;
}

function joined(answers: readonly UseQueryResult<ExperimentPage>[]): Pages {
  return {
    experiments: answers.map((answer) => answer.data?.experiments),
    total: answers.find((answer) => answer.data)?.data?.pagination.total ?? 0,
    isPending: answers[0]?.isPending ?? true,
    error: answers.find((answer) => answer.error)?.error ?? null,
  };
}
