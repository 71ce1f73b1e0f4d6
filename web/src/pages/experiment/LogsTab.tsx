import { useQuery } from "@tanstack/react-query";
import { useMemo, type ReactNode } from "react";
import { useSearchParams } from "react-router";
import { trialsQuery } from "../../api/queries";
import type { Experiment, Trial } from "../../api/types";
import { LogView } from "../../logs/LogView";
import { isEnded, wordOf } from "../../text/state";
import { Empty, ErrorNote, NoRows, Panel } from "../../ui/parts";

export function LogsTab({ experiment }: { experiment: Experiment }): ReactNode {
  const page = useQuery(trialsQuery(experiment.id, { sortBy: "SORT_BY_ID", descending: false, limit: 1000 }));
  const [params, setParams] = useSearchParams();
  const chosen = Number(params.get("trial"));
  // Another trial has another log: nothing of the filter but the trial stays.
  const setChosen = (id: number): void => setParams({ trial: String(id) }, { replace: true });
  const trials = page.data?.trials ?? [];
  const trial = trials.find((candidate) => candidate.id === chosen) ?? trials[0];
  if (!trial)
    return (
      <Panel>
        <ErrorNote error={page.error} />
        <NoRows of={page}>
          <Empty title="No trial has started yet">
            <p>Its log appears here from the first line.</p>
          </Empty>
        </NoRows>
      </Panel>
    );
  return (
    <div className="stack" style={{ gap: "var(--s2)" }}>
      {trials.length > 1 && (
        <label className="check muted">
          Trial
          <select className="select" value={trial.id} onChange={(event) => setChosen(Number(event.target.value))}>
            {trials.map((item) => (
              <option key={item.id} value={item.id}>
                {item.id}, {wordOf(item.state).toLowerCase()}
              </option>
            ))}
          </select>
        </label>
      )}
      <TrialLog key={trial.id} trial={trial} />
    </div>
  );
}

function TrialLog({ trial }: { trial: Trial }): ReactNode {
  const source = useMemo(() => ({ trial: trial.id }), [trial.id]);
  return <LogView source={source} live={!isEnded(trial.state)} />;
}
