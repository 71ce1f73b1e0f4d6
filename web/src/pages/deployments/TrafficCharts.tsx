/** Requests, errors and latency of each revision over the last minutes. */
import { useMemo, useState, type ReactNode } from "react";
import { CurveChart, type Line } from "../../charts/CurveChart";
import { colorAt } from "../../charts/palette";
import type { Traffic } from "../../api/deployments";
import { useTheme } from "../../theme/theme";
import { Panel, Segment } from "../../ui/parts";
import { curvesOf, type Measure } from "./traffic";

export const SPANS = [
  ["60", "1 minute"],
  ["300", "5 minutes"],
  ["3600", "1 hour"],
] as const;
export type Span = (typeof SPANS)[number][0];

/** Over how many steps requests are counted, by the seconds shown. */
const STEPS: Record<number, number> = { 300: 5, 3600: 3 };

const LATENCIES = [
  ["p50Ms", "p50"],
  ["p95Ms", "p95"],
  ["p99Ms", "p99"],
] as const;

interface Props {
  traffic: Traffic;
  seconds: number;
  now: number;
}

export function TrafficCharts({ traffic, seconds, now }: Props): ReactNode {
  const [percentile, setPercentile] = useState<(typeof LATENCIES)[number][0]>("p95Ms");
  return (
    <div className="grid three">
      <Chart title="Requests per second" measure="rate" {...{ traffic, seconds, now }} />
      <Chart title="Errors, % of requests" measure="errors" high={1} {...{ traffic, seconds, now }} />
      <Chart
        title="Latency, ms"
        measure={percentile}
        actions={<Segment label="Percentile" value={percentile} options={LATENCIES} onChange={setPercentile} />}
        {...{ traffic, seconds, now }}
      />
    </div>
  );
}

interface ChartProps extends Props {
  title: string;
  measure: Measure;
  high?: number;
  actions?: ReactNode;
}

function Chart({ title, measure, traffic, seconds, now, high = 1, actions }: ChartProps): ReactNode {
  const theme = useTheme();
  const lines = useMemo(
    (): Line[] =>
      curvesOf(traffic.points, measure, { stepS: traffic.stepS, seconds, now, steps: STEPS[seconds] ?? 1 }).map(
        ({ revision, x, y }) => ({
          id: String(revision),
          label: `revision ${revision}`,
          color: colorAt(revision, theme),
          x,
          y,
        }),
      ),
    [traffic, measure, seconds, now, theme],
  );
  const bounds = useMemo(() => ({ x: [now - seconds, now] as const, y: [0, high] as const }), [now, seconds, high]);
  return (
    <Panel title={title} actions={actions}>
      <CurveChart lines={lines} xAxis="clock" yLabel={title} height={180} bounds={bounds} />
    </Panel>
  );
}
