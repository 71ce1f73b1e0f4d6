import { useQueryClient } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";
import { useNavigate } from "react-router";
import { api, type Answer } from "../../api/client";
import { isGap, useStretches, type Gap, type Page } from "../../api/useStretches";
import { trialsQuery, type TrialSort } from "../../api/queries";
import type { Experiment, Trial } from "../../api/types";
import { plural } from "../../text/format";
import { isEnded } from "../../text/state";
import { DataTable, type Sort } from "../../ui/DataTable";
import { useFeedback } from "../../ui/Feedback";
import { Empty, ErrorNote, NoRows, Panel } from "../../ui/parts";
import { trialColumns } from "./trialColumns";

const BEST: TrialSort = "SORT_BY_BEST_VALIDATION_METRIC";
type Row = Trial | Gap;
const rowId = (row: Row): string => (isGap(row) ? `gap-${row.gap}` : String(row.id));
const pageOf = (answer: Answer<"get", "/api/v1/experiments/{experiment_id}/trials">): Page<Trial> => ({
  rows: answer.trials,
  total: answer.pagination.total,
});

export function TrialsTab({ experiment }: { experiment: Experiment }): ReactNode {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { ask } = useFeedback();
  const [sort, setSort] = useState<Sort<TrialSort>>({ by: BEST, descending: false });
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const page = useStretches(
    JSON.stringify([experiment.id, sort]),
    (offset, limit) => trialsQuery(experiment.id, { sortBy: sort.by, descending: sort.descending, offset, limit }),
    pageOf,
  );
  const trials = page.loaded;
  const columns = useMemo(
    () =>
      trialColumns(trials, experiment).map((column) => ({
        ...column,
        cell: (row: Row) => (isGap(row) ? null : column.cell(row)),
      })),
    [trials, experiment],
  );
  const chosen = trials.filter((trial) => picked.has(String(trial.id)));
  const killable = chosen.filter((trial) => !isEnded(trial.state));
  const kill = (): void =>
    ask({
      title: `Kill ${plural(killable.length, "trial")}?`,
      text: "They end at once. Work since their last checkpoint is lost.",
      action: "Kill",
      danger: true,
      run: async () => {
        await Promise.all(
          killable.map((trial) => api.post("/api/v1/trials/{trial_id}/kill", { path: { trial_id: trial.id } })),
        );
        await client.invalidateQueries({ queryKey: ["experiment", experiment.id] });
      },
    });
  return (
    <Panel flush>
      <ErrorNote error={page.error} />
      {picked.size > 0 && (
        <div className="selection-bar">
          <b>{plural(picked.size, "trial")} selected</b>
          <button className="btn" onClick={() => void navigate(`/compare?trials=${[...picked].join(",")}`)}>
            Compare
          </button>
          <button className="btn danger" disabled={!killable.length} onClick={kill}>
            Kill
          </button>
          <span className="grow" />
          <button className="btn quiet" onClick={() => setPicked(new Set())}>
            Clear
          </button>
        </div>
      )}
      <DataTable
        label="Trials"
        rows={page.rows}
        isGap={isGap}
        onRange={page.onRange}
        columns={columns}
        rowId={rowId}
        sort={sort}
        onSort={setSort}
        picked={picked}
        onPick={setPicked}
        height="calc(100vh - 230px)"
        empty={
          <NoRows of={page}>
            <Empty title="No trial has started yet">
              <p>Trials appear here as the searcher creates them.</p>
            </Empty>
          </NoRows>
        }
      />
      {page.total > 0 && <div className="table-foot">{plural(page.total, "trial")}</div>}
    </Panel>
  );
}
