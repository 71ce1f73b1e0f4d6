/** A search with several objectives: every trial by two of them, and those that no other one beats. */
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState, type ReactNode } from "react";
import { Link, useNavigate } from "react-router";
import { paretoQuery } from "../../api/queries";
import type { Experiment, ParetoTrial, Trial } from "../../api/types";
import { ink } from "../../charts/palette";
import { formatNumber, plural, toNumber } from "../../text/format";
import { isLive } from "../../text/state";
import { useTheme } from "../../theme/theme";
import { Empty, ErrorNote, Loading, NoRows, Panel } from "../../ui/parts";
import { paretoOption } from "./searchOptions";
import { objectivesOf, placesOf } from "./searchData";

const EChart = lazy(() => import("../../charts/echart").then((module) => ({ default: module.EChart })));
const REFRESH_MS = 5000;

export function ParetoPanel({ experiment, trials }: { experiment: Experiment; trials: readonly Trial[] }): ReactNode {
  const objectives = objectivesOf(experiment.config);
  const found = useQuery({
    ...paretoQuery(experiment.id),
    refetchInterval: isLive(experiment.state) ? REFRESH_MS : false,
  });
  const best = useMemo(() => found.data ?? [], [found.data]);
  return (
    <Panel
      title="Pareto set"
      actions={<span className="muted">{plural(best.length, "trial")} that no other beats</span>}
    >
      <ErrorNote error={found.error} />
      {best.length ? (
        <div className="stack">
          <Plane trials={trials} best={best} objectives={objectives} />
          <BestTrials best={best} objectives={objectives} />
        </div>
      ) : (
        <NoRows of={found}>
          <Empty title="No trial has reported all objectives yet">
            <p>The set appears with the first validation that has {objectives.join(" and ")}.</p>
          </Empty>
        </NoRows>
      )}
    </Panel>
  );
}

interface Shown {
  best: readonly ParetoTrial[];
  objectives: readonly string[];
}

function Plane({ trials, best, objectives }: Shown & { trials: readonly Trial[] }): ReactNode {
  const theme = useTheme();
  const navigate = useNavigate();
  const [across, setAcross] = useState(objectives[0]!);
  const [up, setUp] = useState(objectives[1]!);
  const option = useMemo(() => {
    const members = new Set(best.map((trial) => trial.trialId));
    return paretoOption(placesOf(trials, across, up, members), [across, up], ink(theme));
  }, [trials, best, across, up, theme]);
  const open = (event: unknown): void => void navigate(`/trials/${(event as { value: number[] }).value[2]}`);
  return (
    <div className="stack tight">
      {objectives.length > 2 && (
        <div className="row">
          <Choice label="Across" value={across} options={objectives} onChange={setAcross} />
          <Choice label="Up" value={up} options={objectives} onChange={setUp} />
        </div>
      )}
      <Suspense fallback={<Loading />}>
        <EChart label={`${up} over ${across}`} option={option} height={320} on={{ click: open }} />
      </Suspense>
    </div>
  );
}

function Choice(props: {
  label: string;
  value: string;
  options: readonly string[];
  onChange: (value: string) => void;
}): ReactNode {
  return (
    <select
      className="select"
      aria-label={props.label}
      value={props.value}
      onChange={(event) => props.onChange(event.target.value)}
    >
      {props.options.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

function BestTrials({ best, objectives }: Shown): ReactNode {
  return (
    <table className="table" aria-label="Pareto set">
      <thead>
        <tr>
          <th>Trial</th>
          <th className="num">Steps</th>
          {objectives.map((name) => (
            <th key={name} className="num">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {best.map((trial) => (
          <tr key={trial.trialId}>
            <td>
              <Link to={`/trials/${trial.trialId}`}>{trial.trialId}</Link>
            </td>
            <td className="num">{formatNumber(trial.steps)}</td>
            {objectives.map((name) => (
              <td key={name} className="num">
                {formatNumber(toNumber(trial.metrics[name]))}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
