/** How curves are drawn, chosen once for all charts of a page and remembered. */
import type { ReactNode } from "react";
import { Segment } from "../ui/parts";
import { useStored } from "../ui/useStored";
import type { XAxis } from "./series";

export interface ChartChoice {
  xAxis: XAxis;
  logY: boolean;
  smoothing: number;
}

const DEFAULT: ChartChoice = { xAxis: "step", logY: false, smoothing: 0 };

export function useChartChoice(): [ChartChoice, (choice: ChartChoice) => void] {
  return useStored<ChartChoice>("chart", DEFAULT);
}

export function ChartControls({
  choice,
  onChange,
  hasEpochs,
  timed = false,
}: {
  choice: ChartChoice;
  onChange: (choice: ChartChoice) => void;
  hasEpochs: boolean;
  timed?: boolean;
}): ReactNode {
  const axes: [XAxis, string][] = hasEpochs
    ? [
        ["step", "Step"],
        ["epoch", "Epoch"],
        ["time", "Time"],
      ]
    : [
        ["step", "Step"],
        ["time", "Time"],
      ];
  return (
    <div className="toolbar">
      {!timed && (
        <Segment
          label="Horizontal axis"
          value={choice.xAxis}
          options={axes}
          onChange={(xAxis) => onChange({ ...choice, xAxis })}
        />
      )}
      <Segment
        label="Vertical axis"
        value={choice.logY ? "log" : "linear"}
        options={[
          ["linear", "Linear"],
          ["log", "Log"],
        ]}
        onChange={(scale) => onChange({ ...choice, logY: scale === "log" })}
      />
      <label className="check muted">
        Smoothing
        <input
          type="range"
          min={0}
          max={0.99}
          step={0.01}
          value={choice.smoothing}
          onChange={(event) => onChange({ ...choice, smoothing: Number(event.target.value) })}
          style={{ width: 90 }}
        />
        <span style={{ width: 30 }}>{choice.smoothing.toFixed(2)}</span>
      </label>
      <span className="faint">Drag to zoom, double-click to reset</span>
    </div>
  );
}
