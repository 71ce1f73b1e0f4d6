/** Which line is which trial, for all charts of a page: point at one to see it, press it to hide it. */
import type { ReactNode } from "react";
import type { TrialInk } from "./MetricCharts";

interface Props {
  trials: readonly TrialInk[];
  hidden: ReadonlySet<number>;
  onHidden: (hidden: ReadonlySet<number>) => void;
  onHighlight?: ((trialId: string | null) => void) | undefined;
}

export function RunLegend({ trials, hidden, onHidden, onHighlight }: Props): ReactNode {
  const flip = (id: number): void => {
    const next = new Set(hidden);
    if (!next.delete(id)) next.add(id);
    onHidden(next);
  };
  return (
    <div className="legend" role="group" aria-label="Trials" onMouseLeave={() => onHighlight?.(null)}>
      {trials.map((trial) => (
        <button
          key={trial.id}
          type="button"
          aria-pressed={!hidden.has(trial.id)}
          onClick={() => flip(trial.id)}
          onMouseEnter={() => onHighlight?.(String(trial.id))}
        >
          <LineSample color={trial.color} dash={trial.dash ?? []} />
          {trial.label}
        </button>
      ))}
      {hidden.size > 0 && (
        <button type="button" onClick={() => onHidden(new Set())}>
          Show all
        </button>
      )}
    </div>
  );
}

/** A stretch of the line itself: colour and dashes. */
export function LineSample({ color, dash }: { color: string; dash: readonly number[] }): ReactNode {
  return (
    <svg width="22" height="8" aria-hidden>
      <line x1="0" x2="22" y1="4" y2="4" stroke={color} strokeWidth="2.5" strokeDasharray={dash.join(" ")} />
    </svg>
  );
}
