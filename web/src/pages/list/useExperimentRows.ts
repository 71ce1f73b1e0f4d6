import { experimentsQuery, type ExperimentFilter, type ExperimentPage } from "../../api/queries";
import type { Experiment } from "../../api/types";
import { isGap, useStretches, type Gap, type Page, type Stretches } from "../../api/useStretches";

export { isGap };
export type Row = Experiment | Gap;

export function useExperimentRows(filter: ExperimentFilter): Stretches<Experiment> {
  return useStretches(
    JSON.stringify(filter),
    (offset, limit) => experimentsQuery({ ...filter, offset, limit }),
    pageOf,
  );
}

const pageOf = (answer: ExperimentPage): Page<Experiment> => ({
  rows: answer.experiments,
  total: answer.pagination.total,
});
