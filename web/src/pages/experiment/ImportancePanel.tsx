import { useMemo, type ReactNode } from "react";
import { importances, MIN_TRIALS } from "../../charts/importance";
import { Empty, Loading, Panel } from "../../ui/parts";
import type { Point } from "./searchData";

/** Without points they are still on their way. */
export function ImportancePanel({
  points,
  metric,
}: {
  points: readonly Point[] | undefined;
  metric: string;
}): ReactNode {
  const found = useMemo(
    () =>
      importances(
        (points ?? []).map((point) => point.values),
        (points ?? []).map((point) => point.metric),
      ),
    [points],
  );
  return (
    <Panel title="Hyperparameter importance">
      {!points ? (
        <Loading />
      ) : !found.length ? (
        <Empty title="Not enough trials yet">
          <p>It needs {MIN_TRIALS} validated trials whose hyperparameters differ.</p>
        </Empty>
      ) : (
        <div className="stack tight">
          {found.slice(0, 12).map(({ name, share }) => (
            <div key={name} className="row">
              <span className="ellipsis" style={{ width: 150 }} title={name}>
                {name}
              </span>
              <div className="bar grow" style={{ height: 10 }}>
                <i style={{ width: `${Math.round(share * 100)}%` }} />
              </div>
              <span className="num" style={{ width: 44 }}>
                {Math.round(share * 100)} %
              </span>
            </div>
          ))}
          <p className="faint">
            Share of the differences in {metric} that a random forest over {points.length} trials explains by each one.
          </p>
        </div>
      )}
    </Panel>
  );
}
