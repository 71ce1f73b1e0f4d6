/**
 * Learning curves on a canvas: uPlot keeps scales, axes, cursor and zoom; lines are drawn here.
 *
 * Each line has its own x values (trials report at different steps), so lines are painted in uPlot's draw hook
 * instead of being aligned to one x column: a thousand trials stay cheap.
 */
import { useEffect, useEffectEvent, useMemo, useRef, useState, type ReactNode } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useTheme } from "../theme/theme";
import { formatClock, formatDuration, formatNumber } from "../text/format";
import { drawLines, nearestLine, type Line } from "./lines";
import { ink } from "./palette";
import { extent, nearestIndex, type XAxis } from "./series";
import { smooth } from "./smoothing";
import { clockTexts, countTexts, linearTicks, logTicks, marksIn, tickTexts, timeTexts, timeTicks } from "./ticks";

export type { Line } from "./lines";

/** What x counts: as for metrics, or the time of day in seconds, or a share. */
export type ChartAxis = XAxis | "clock" | "recall";
/** What is shown at least, whatever the lines hold. `x` is then also all that is shown. */
export interface Bounds {
  x?: readonly [number, number];
  y?: readonly [number, number];
}

interface Props {
  lines: readonly Line[];
  xAxis: ChartAxis;
  bounds?: Bounds;
  yLabel?: string;
  height?: number;
  logY?: boolean;
  smoothing?: number;
  highlight?: string | null;
  onHighlight?: (id: string | null) => void;
  onPick?: (id: string) => void;
  /** What is shown after a drag; null after a reset. */
  onZoom?: (shown: readonly [number, number] | null) => void;
}

interface Painted {
  lines: readonly Line[];
  raw: readonly Line[];
  highlight: string | null;
  bounds: Bounds;
}

const X_LABEL: Record<ChartAxis, string> = {
  step: "step",
  epoch: "epoch",
  time: "time",
  clock: "time of day",
  recall: "recall",
};
const ANYTHING: Bounds = {};
const REACH_PX = 36;
const DOUBLE_CLICK_MS = 250;
const NO_DATA: uPlot.AlignedData = [
  [0, 1],
  [0, 1],
];

export function CurveChart(props: Props): ReactNode {
  const { lines, xAxis, yLabel = "", height = 220, logY = false, smoothing = 0, highlight = null } = props;
  const bounds = props.bounds ?? ANYTHING;
  const theme = useTheme();
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const painted = useRef<Painted>({ lines: [], raw: [], highlight: null, bounds: ANYTHING });
  const [tip, setTip] = useState<Tip | null>(null);
  const point = useEffectEvent((u: uPlot, next: Tip | null) => {
    setTip(next);
    const id = next?.line.id ?? null;
    if (id === painted.current.highlight) return;
    if (props.onHighlight) return props.onHighlight(id);
    painted.current.highlight = id;
    u.redraw(false, false);
  });
  const pick = useEffectEvent(() => {
    if (painted.current.highlight) props.onPick?.(painted.current.highlight);
  });

  const zoom = useEffectEvent((shown: readonly [number, number] | null) => props.onZoom?.(shown));

  const smoothed = useMemo(
    () => (smoothing > 0 ? lines.map((line) => ({ ...line, y: smooth(line.y, smoothing) })) : lines),
    [lines, smoothing],
  );

  useEffect(() => {
    const element = host.current!;
    const options = chartOptions({ width: element.clientWidth, height, theme, xAxis, logY, painted });
    options.hooks = {
      ...options.hooks,
      setCursor: [(u) => point(u, hover(u, painted.current))],
      setSelect: [
        (u) => {
          const { left, width } = u.select;
          (u as ZoomedPlot).zoomed = width > 2;
          if (width > 2) zoom([u.posToVal(left, "x"), u.posToVal(left + width, "x")]);
        },
      ],
    };
    const u = new uPlot(options, NO_DATA, element);
    plot.current = u;
    const stopPicking = onSingleClick(u.over, () => pick());
    u.over.addEventListener("dblclick", () => zoom(null));
    const resize = new ResizeObserver(() => u.setSize({ width: element.clientWidth, height }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      stopPicking();
      u.destroy();
      plot.current = null;
    };
  }, [theme, xAxis, logY, height]);

  useEffect(() => {
    painted.current = { lines: smoothed, raw: smoothing > 0 ? lines : [], highlight, bounds };
    const u = plot.current;
    if (!u) return;
    const zoomed = isZoomed(u, painted.current.lines);
    if (zoomed) u.redraw(false, true);
    else u.setData(NO_DATA, true);
  }, [smoothed, lines, smoothing, highlight, theme, xAxis, logY, height, bounds]);

  const points = lines.reduce((sum, line) => sum + line.x.length, 0);
  return (
    <figure
      className="chart"
      aria-label={`${yLabel} by ${X_LABEL[xAxis]}`}
      data-points={points}
      data-lines={lines.length}
      onMouseLeave={() => setTip(null)}
    >
      <div ref={host} style={{ height }} />
      {tip && <ChartTip tip={tip} xAxis={xAxis} />}
    </figure>
  );
}

/** A click that is neither the end of a drag (zoom) nor the first half of a double click (reset). */
function onSingleClick(element: HTMLElement, act: () => void): () => void {
  let from = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const down = (event: MouseEvent): void => {
    from = event.clientX;
  };
  const click = (event: MouseEvent): void => {
    clearTimeout(timer);
    if (event.detail === 1 && Math.abs(event.clientX - from) < 4) timer = setTimeout(act, DOUBLE_CLICK_MS);
  };
  element.addEventListener("mousedown", down);
  element.addEventListener("click", click);
  return () => clearTimeout(timer);
}

interface Tip {
  left: number;
  top: number;
  flip: boolean;
  x: number;
  line: Line;
  rows: { line: Line; value: number }[];
}

function ChartTip({ tip, xAxis }: { tip: Tip; xAxis: ChartAxis }): ReactNode {
  const style = {
    left: tip.left,
    top: tip.top,
    transform: `translate(${tip.flip ? "calc(-100% - 12px)" : "12px"}, -50%)`,
  };
  return (
    <div className="chart-tip" style={style} role="status">
      <div className="muted">
        {X_LABEL[xAxis]} {xText(tip.x, xAxis)}
      </div>
      {tip.rows.map(({ line, value }) => (
        <div key={line.id} className="row">
          <span className="swatch" style={{ background: line.color }} />
          <span className="grow">{line.label}</span>
          <b>{formatNumber(value, 5)}</b>
        </div>
      ))}
    </div>
  );
}

function xText(value: number, axis: ChartAxis): string {
  if (axis === "time") return formatDuration(value);
  if (axis === "clock") return formatClock(value);
  return value.toLocaleString("en-US", { maximumFractionDigits: 2 });
}

/** Room for one mark and its text, in pixels. */
const MARK_WIDTH: Record<ChartAxis, number> = { step: 56, epoch: 56, recall: 56, time: 76, clock: 72 };
const MARK_HEIGHT = 28;
/** About what the axes take from the picture. */
const [X_AXIS_PX, Y_AXIS_PX] = [46, 60];
const CLOCK_OFFSET_S = -60 * new Date().getTimezoneOffset();

function xTicks(axis: ChartAxis, min: number, max: number, most: number): number[] {
  if (axis === "time") return timeTicks(min, max, most);
  return axis === "clock" ? timeTicks(min, max, most, CLOCK_OFFSET_S) : linearTicks(min, max, most);
}

function xTexts(axis: ChartAxis, ticks: readonly number[]): string[] {
  if (axis === "time") return timeTexts(ticks);
  return axis === "clock" ? clockTexts(ticks) : countTexts(ticks);
}

function hover(u: uPlot, painted: Painted): Tip | null {
  const { left, top } = u.cursor;
  if (left === undefined || top === undefined || left < 0) return null;
  const found = nearestLine(u, painted.lines, left, top, REACH_PX);
  if (!found) return null;
  const x = found.x[nearestIndex(found.x, u.posToVal(left, "x"))]!;
  const shown = painted.lines.length <= 6 ? painted.lines : [found];
  const rows = shown.flatMap((line) => {
    const at = nearestIndex(line.x, x);
    return at < 0 ? [] : [{ line, value: line.y[at]! }];
  });
  const box = u.over.getBoundingClientRect();
  const host = u.root.parentElement!.getBoundingClientRect();
  const flip = left > box.width * 0.6;
  return { left: left + box.left - host.left, top: top + box.top - host.top, flip, x, line: found, rows };
}

function xExtent(lines: readonly Line[]): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const line of lines) {
    if (!line.x.length) continue;
    low = Math.min(low, line.x[0]!);
    high = Math.max(high, line.x[line.x.length - 1]!);
  }
  if (low > high) return [0, 1];
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

const shownExtent = ({ lines, bounds }: Painted): [number, number] =>
  bounds.x ? [bounds.x[0], bounds.x[1]] : xExtent(lines);

function isZoomed(u: uPlot, lines: readonly Line[]): boolean {
  const { min, max } = u.scales["x"]!;
  const zoom = (u as ZoomedPlot).zoomed;
  return !!zoom && min != null && max != null && xExtent(lines)[1] >= min;
}

/** What uPlot does not keep for us: whether the reader zoomed, and the x range of the draw under way. */
type ZoomedPlot = uPlot & { zoomed?: boolean; shownX?: [number, number] };

interface OptionsInput {
  width: number;
  height: number;
  theme: "light" | "dark";
  xAxis: ChartAxis;
  logY: boolean;
  painted: { current: Painted };
}

function chartOptions({ width, height, theme, xAxis, logY, painted }: OptionsInput): uPlot.Options {
  const colors = ink(theme);
  const axis = {
    stroke: colors.muted,
    font: "11px Inter Variable, system-ui, sans-serif",
    grid: { stroke: colors.grid, width: 1 },
    ticks: { show: false },
  };
  return {
    width: Math.max(width, 50),
    height,
    legend: { show: false },
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: true, y: false, setScale: true },
      bind: { dblclick: (u) => () => resetZoom(u, painted) },
    },
    scales: {
      x: { time: false, range: (u, min, max) => xRange(u as ZoomedPlot, min, max, painted.current) },
      y: { distr: logY ? 3 : 1, range: (u) => yRange(u as ZoomedPlot, painted.current, logY) },
    },
    axes: [
      {
        ...axis,
        size: 30,
        label: X_LABEL[xAxis],
        labelSize: 16,
        labelGap: -2,
        labelFont: axis.font,
        splits: (u, _, min, max) => xTicks(xAxis, min, max, marksIn(u.width - Y_AXIS_PX, MARK_WIDTH[xAxis])),
        values: (_, ticks) => xTexts(xAxis, ticks),
      },
      {
        ...axis,
        size: (_, values) => 16 + 6.5 * Math.max(3, ...(values ?? []).map((value) => (value ?? "").length)),
        // Ours, because uPlot's own never end for a logarithmic axis whose lowest value is just above a power of ten.
        splits: (u, _, min, max) =>
          (logY ? logTicks : linearTicks)(min, max, marksIn(u.height - X_AXIS_PX, MARK_HEIGHT)),
        filter: (_, ticks) => ticks,
        values: (_, ticks) => tickTexts(ticks),
      },
    ],
    series: [{}, { show: true, stroke: "transparent", points: { show: false }, paths: () => null }],
    hooks: {
      draw: [(u) => drawLines(u, painted.current, colors.faint)],
    },
  };
}

/** The first range call after a drag carries the selection; all others show everything. */
function xRange(u: ZoomedPlot, min: number, max: number, painted: Painted): uPlot.Range.MinMax {
  u.shownX = u.zoomed && !(min === 0 && max === 1) ? [min, max] : shownExtent(painted);
  return u.shownX;
}

function resetZoom(u: uPlot, painted: { current: Painted }): null {
  (u as ZoomedPlot).zoomed = false;
  const [min, max] = shownExtent(painted.current);
  u.setScale("x", { min, max });
  return null;
}

function yRange(u: ZoomedPlot, painted: Painted, logY: boolean): uPlot.Range.MinMax {
  const [from, to] = u.zoomed && u.shownX ? u.shownX : [-Infinity, Infinity];
  let [low, high] = painted.bounds.y ?? [Infinity, -Infinity];
  for (const line of painted.lines) {
    const found = extent(line.x, line.y, from, to, logY);
    if (!found) continue;
    low = Math.min(low, found[0]);
    high = Math.max(high, found[1]);
  }
  if (low > high) return logY ? [0.1, 1] : [0, 1];
  if (logY) return low === high ? [low / 2, high * 2] : [low / 1.1, high * 1.1];
  const pad = low === high ? Math.max(Math.abs(low) * 0.1, 0.5) : (high - low) * 0.05;
  return [painted.bounds.y ? low : low - pad, high + pad];
}
