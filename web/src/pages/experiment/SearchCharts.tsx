import { useMemo, useState, type ReactNode } from "react";
import { useNavigate } from "react-router";
import type { Experiment } from "../../api/types";
import { EChart } from "../../charts/echart";
import { ink } from "../../charts/palette";
import { useTheme } from "../../theme/theme";
import { formatNumber } from "../../text/format";
import { Panel } from "../../ui/parts";
import { heatOption, parallelOption, scatterOption } from "./searchOptions";
import { dimensionsOf, type Dimension, type Point } from "./searchData";

interface Props {
  kind: "parallel" | "scatter" | "heat";
  experiment: Experiment;
  points: readonly Point[];
  dimensions: ReturnType<typeof dimensionsOf>;
}

export default function SearchCharts({ kind, experiment, points, dimensions }: Props): ReactNode {
  const theme = useTheme();
  const metric = experiment.searcherMetric ?? "metric";
  const smaller = experiment.smallerIsBetter !== false;
  const paint = useMemo(() => ({ ink: ink(theme), theme, metric, smaller }), [theme, metric, smaller]);
  if (kind === "parallel") return <Parallel points={points} dimensions={dimensions} paint={paint} />;
  if (kind === "heat") return <Heat points={points} dimensions={dimensions} paint={paint} />;
  return (
    <div className="grid charts">
      {dimensions.map((dimension) => (
        <Scatter key={dimension.name} points={points} dimension={dimension} paint={paint} />
      ))}
    </div>
  );
}

export interface Paint {
  ink: ReturnType<typeof ink>;
  theme: "light" | "dark";
  metric: string;
  smaller: boolean;
}

interface ChartProps {
  points: readonly Point[];
  paint: Paint;
}

function Parallel({ points, dimensions, paint }: ChartProps & { dimensions: readonly Dimension[] }): ReactNode {
  const [kept, setKept] = useState<number[] | null>(null);
  const option = useMemo(() => parallelOption(points, dimensions, paint), [points, dimensions, paint]);
  const narrow = (_: unknown, chart: unknown): void => {
    const model = (
      chart as {
        getModel: () => {
          getSeriesByIndex: (i: number) => { getRawIndicesByActiveState: (state: string) => number[] };
        };
      }
    ).getModel();
    const active = model.getSeriesByIndex(0).getRawIndicesByActiveState("active");
    setKept(active.length ? active.map((index) => points[index]!.trial) : null);
  };
  const best = useMemo(() => pickBest(points, kept, paint.smaller), [points, kept, paint.smaller]);
  return (
    <Panel title="Parallel coordinates" actions={<span className="muted">Drag along an axis to keep a range</span>}>
      <EChart label="Parallel coordinates" option={option} height={360} on={{ axisareaselected: narrow }} />
      {kept && (
        <p className="muted">
          {kept.length} of {points.length} trials kept
          {best ? `; best ${paint.metric} among them ${formatNumber(best.metric)} (trial ${best.trial})` : ""}
        </p>
      )}
    </Panel>
  );
}

function pickBest(points: readonly Point[], kept: readonly number[] | null, smaller: boolean): Point | undefined {
  if (!kept) return undefined;
  const among = points.filter((point) => kept.includes(point.trial));
  return among.sort((a, b) => (smaller ? a.metric - b.metric : b.metric - a.metric))[0];
}

function Scatter({ points, dimension, paint }: ChartProps & { dimension: Dimension }): ReactNode {
  const navigate = useNavigate();
  const option = useMemo(() => scatterOption(points, dimension, paint), [points, dimension, paint]);
  return (
    <Panel title={`${paint.metric} by ${dimension.name}`} flush>
      <EChart
        label={`${paint.metric} by ${dimension.name}`}
        option={option}
        height={240}
        on={{ click: (event) => void navigate(`/trials/${(event as { value: number[] }).value[2]}`) }}
      />
    </Panel>
  );
}

function Heat({ points, dimensions, paint }: ChartProps & { dimensions: readonly Dimension[] }): ReactNode {
  const [first, setFirst] = useState(0);
  const [second, setSecond] = useState(1);
  const [x, y] = [dimensions[first] ?? dimensions[0]!, dimensions[second] ?? dimensions[dimensions.length - 1]!];
  const option = useMemo(() => heatOption(points, x, y, paint), [points, x, y, paint]);
  const pick = (value: number, onChange: (index: number) => void, label: string): ReactNode => (
    <select
      className="select"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(Number(event.target.value))}
    >
      {dimensions.map((dimension, i) => (
        <option key={dimension.name} value={i}>
          {dimension.name}
        </option>
      ))}
    </select>
  );
  return (
    <Panel
      title={`Mean ${paint.metric}`}
      actions={
        <>
          {pick(Math.min(first, dimensions.length - 1), setFirst, "Across")} by{" "}
          {pick(Math.min(second, dimensions.length - 1), setSecond, "Down")}
        </>
      }
    >
      <EChart label={`Mean ${paint.metric} by ${x.name} and ${y.name}`} option={option} height={380} />
    </Panel>
  );
}
