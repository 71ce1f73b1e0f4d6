import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";
import { useNavigate } from "react-router";
import { api } from "../../api/client";
import { trialsQuery, type TrialSort } from "../../api/queries";
import type { Experiment, Trial } from "../../api/types";
import { plural } from "../../text/format";
import { isEnded } from "../../text/state";
import { DataTable, type Sort } from "../../ui/DataTable";
import { useFeedback } from "../../ui/Feedback";
import { Empty, ErrorNote, Loading, Panel } from "../../ui/parts";
import { trialColumns } from "./trialColumns";

const BEST: TrialSort = "SORT_BY_BEST_VALIDATION_METRIC";
const PAGE = 1000;
const rowId = (trial: Trial): string => String(trial.id);

export function TrialsTab({ experiment }: { experiment: Experiment }): ReactNode {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { ask } = useFeedback();
  const [sort, setSort] = useState<Sort<TrialSort>>({ by: BEST, descending: false });
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const page = useQuery(trialsQuery(experiment.id, { sortBy: sort.by, descending: sort.descending, limit: PAGE }));
  const trials = useMemo(() => page.data?.trials ?? [], [page.data]);
  const columns = useMemo(() => trialColumns(trials, experiment), [trials, experiment]);
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
        rows={trials}
        columns={columns}
        rowId={rowId}
        sort={sort}
        onSort={setSort}
        picked={picked}
        onPick={setPicked}
        height="calc(100vh - 230px)"
        empty={
          page.isPending ? (
            <Loading />
          ) : (
            <Empty title="No trial has started yet">
              <p>Trials appear here as the searcher creates them.</p>
            </Empty>
          )
        }
      />
      {(page.data?.pagination.total ?? 0) > PAGE && (
        <div className="table-foot">
          The first {PAGE.toLocaleString("en-US")} of {plural(page.data!.pagination.total, "trial")} in this order
        </div>
      )}
    </Panel>
  );
}
