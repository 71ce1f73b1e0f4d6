/**
 * The rows of a long list, fetched a stretch at a time as they come into view.
 *
 * The server sorts and filters; rows that have not been looked at yet are gaps of known number, so that the scroll bar
 * is right from the first answer on.
 */
import { useQueries } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { experimentsQuery, type ExperimentFilter } from "../../api/queries";
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
  const current = seen.question === question ? seen : { question, stretches: [0], inView: [0] };
  const answers = useQueries({
    queries: current.stretches.map((stretch) => ({
      ...experimentsQuery({ ...filter, offset: stretch * STRETCH, limit: STRETCH }),
      enabled: current.inView.includes(stretch),
    })),
  });
  const total = answers.find((answer) => answer.data)?.data?.pagination.total ?? 0;
  const fresh = answers.map((answer) => answer.dataUpdatedAt).join();
  const rows = useMemo(() => {
    const all: Row[] = Array.from({ length: total }, (_, gap) => ({ gap }));
    current.stretches.forEach((stretch, i) =>
      answers[i]?.data?.experiments.forEach((row, at) => {
        if (stretch * STRETCH + at < total) all[stretch * STRETCH + at] = row;
      }),
    );
    return all;
  }, [fresh, total, question, current.stretches.length]);
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
    isPending: answers[0]?.isPending ?? true,
    error: answers.find((answer) => answer.error)?.error,
    onRange,
  };
}
