/** ECharts options for the search pictures. Pure: data in, option out. */
import type { EChartsCoreOption } from "echarts/core";
import { formatNumber } from "../../text/format";
import { html } from "../../text/html";
import { coordinate, heatCells, type Dimension, type Place, type Point } from "./searchData";
import type { Paint } from "./SearchCharts";

/** Good to poor: dark ink stands out on light ground, bright ink on dark. */
function ramp({ theme, smaller }: Paint): string[] {
  const goodFirst =
    theme === "dark" ? ["#7fe3c3", "#5a9fe0", "#7568b8", "#564c7c"] : ["#0b6e5f", "#2f7fc4", "#9aa5dc", "#dcd9ee"];
  return smaller ? goodFirst : [...goodFirst].reverse();
}

function metricRange(points: readonly Point[]): { min: number; max: number } {
  const sorted = points.map((point) => point.metric).sort((a, b) => a - b);
  // A few diverged trials must not flatten everybody else's colour.
  const cut = Math.floor(sorted.length * 0.02);
  return { min: sorted[cut]!, max: sorted[sorted.length - 1 - cut]! };
}

const tooltip = (paint: Pick<Paint, "ink">): object => ({
  backgroundColor: paint.ink.panel,
  borderColor: paint.ink.line,
  textStyle: { color: paint.ink.text, fontSize: 12 },
  confine: true,
});
const axisStyle = (paint: Pick<Paint, "ink">): object => ({
  nameTextStyle: { color: paint.ink.muted, fontSize: 11 },
  axisLine: { lineStyle: { color: paint.ink.line } },
  axisTick: { show: false },
  axisLabel: {
    color: paint.ink.muted,
    fontSize: 11,
    textBorderColor: paint.ink.panel,
    textBorderWidth: 3,
    formatter: (value: unknown) => (typeof value === "number" ? formatNumber(value, 3) : String(value)),
  },
  splitLine: { lineStyle: { color: paint.ink.grid } },
});

export function parallelOption(
  points: readonly Point[],
  dimensions: readonly Dimension[],
  paint: Paint,
): EChartsCoreOption {
  const axes = dimensions.map((dimension, dim) => ({
    dim,
    name: dimension.name,
    ...axisStyle(paint),
    ...(dimension.kind === "category"
      ? { type: "category", data: dimension.categories }
      : {
          type: dimension.kind === "log" ? "log" : "value",
          scale: true,
          ...(dimension.kind === "log" ? decades(points.map((point) => coordinate(point, dimension))) : {}),
        }),
  }));
  const last = dimensions.length;
  return {
    visualMap: { show: false, dimension: last, ...metricRange(points), inRange: { color: ramp(paint) } },
    parallel: {
      left: 40,
      right: 70,
      top: 40,
      bottom: 24,
      parallelAxisDefault: {
        areaSelectStyle: {
          width: 16,
          borderWidth: 1,
          borderColor: paint.ink.accent,
          color: paint.ink.accent,
          opacity: 0.25,
        },
      },
    },
    parallelAxis: [...axes, { dim: last, name: paint.metric, type: "value", scale: true, ...axisStyle(paint) }],
    series: [
      {
        type: "parallel",
        lineStyle: { width: points.length > 300 ? 0.8 : 1.4, opacity: points.length > 300 ? 0.45 : 0.75 },
        inactiveOpacity: 0.03,
        activeOpacity: 0.95,
        progressive: 0,
        data: points.map((point) => [
          ...dimensions.map((dimension) =>
            dimension.kind === "category"
              ? dimension.categories[coordinate(point, dimension)]!
              : coordinate(point, dimension),
          ),
          point.metric,
        ]),
      },
    ],
  };
}

function bounds(values: readonly number[]): { min: number; max: number } {
  return { min: Math.min(...values), max: Math.max(...values) };
}

/** Whole powers of ten around the values, so that a log axis ends on a label. */
function decades(values: readonly number[]): { min: number; max: number } {
  const { min, max } = bounds(values);
  return { min: 10 ** Math.floor(Math.log10(min)), max: 10 ** Math.ceil(Math.log10(max)) };
}

export function scatterOption(points: readonly Point[], dimension: Dimension, paint: Paint): EChartsCoreOption {
  const isCategory = dimension.kind === "category";
  return {
    grid: { left: 56, right: 16, top: 12, bottom: 28 },
    tooltip: {
      ...tooltip(paint),
      formatter: (item: { value: number[] }) =>
        html`trial ${item.value[2]}<br />${dimension.name}:
          <b>${isCategory ? dimension.categories[item.value[0]!] : formatNumber(item.value[0])}</b
          ><br />${paint.metric}: <b>${formatNumber(item.value[1])}</b>`,
    },
    xAxis: {
      type: isCategory ? "category" : dimension.kind === "log" ? "log" : "value",
      ...(isCategory
        ? { data: dimension.categories }
        : {
            scale: true,
            ...(dimension.kind === "log" ? decades(points.map((point) => coordinate(point, dimension))) : {}),
          }),
      ...axisStyle(paint),
      splitLine: { show: false },
    },
    yAxis: { type: "value", scale: true, ...axisStyle(paint) },
    series: [
      {
        type: "scatter",
        symbolSize: points.length > 300 ? 4 : 7,
        itemStyle: { color: paint.ink.accent, opacity: 0.7 },
        data: points.map((point) => [coordinate(point, dimension), point.metric, point.trial]),
      },
    ],
  };
}

export function heatOption(points: readonly Point[], x: Dimension, y: Dimension, paint: Paint): EChartsCoreOption {
  const { xs, ys, cells } = heatCells(points, x, y);
  const values = cells.map((cell) => cell[2]);
  return {
    grid: { left: 90, right: 90, top: 12, bottom: 44 },
    tooltip: {
      ...tooltip(paint),
      formatter: (item: { value: number[] }) =>
        html`${x.name} ≈ ${xs[item.value[0]!]}, ${y.name} ≈ ${ys[item.value[1]!]}<br />mean ${paint.metric}:
          <b>${formatNumber(item.value[2])}</b> over ${item.value[3]}`,
    },
    xAxis: {
      type: "category",
      data: xs,
      name: x.name,
      nameLocation: "middle",
      nameGap: 28,
      ...axisStyle(paint),
      splitLine: { show: false },
    },
    yAxis: {
      type: "category",
      data: ys,
      name: y.name,
      nameLocation: "middle",
      nameGap: 64,
      ...axisStyle(paint),
      splitLine: { show: false },
    },
    visualMap: {
      ...bounds(values),
      dimension: 2,
      calculable: false,
      right: 0,
      text: [formatNumber(Math.max(...values), 3), formatNumber(Math.min(...values), 3)],
      top: "middle",
      itemHeight: 160,
      textStyle: { color: paint.ink.muted, fontSize: 11 },
      inRange: { color: ramp(paint) },
    },
    series: [{ type: "heatmap", data: cells, itemStyle: { borderColor: paint.ink.panel, borderWidth: 2 } }],
  };
}

export function paretoOption(
  places: readonly Place[],
  [across, up]: readonly [string, string],
  colours: Paint["ink"],
): EChartsCoreOption {
  const paint = { ink: colours };
  const axis = (name: string, nameGap: number): object => ({
    type: "value",
    scale: true,
    name,
    nameLocation: "middle",
    nameGap,
    ...axisStyle(paint),
  });
  const dots = (isBest: boolean, symbolSize: number, color: string, opacity: number): object => ({
    type: "scatter",
    symbolSize,
    z: isBest ? 3 : 2,
    itemStyle: { color, opacity },
    data: places.filter((place) => place.isBest === isBest).map((place) => [place.x, place.y, place.trial]),
  });
  return {
    grid: { left: 64, right: 16, top: 12, bottom: 44 },
    tooltip: {
      ...tooltip(paint),
      formatter: (item: { value: number[] }) =>
        html`trial ${item.value[2]}<br />${across}: <b>${formatNumber(item.value[0])}</b><br />${up}:
          <b>${formatNumber(item.value[1])}</b>`,
    },
    xAxis: axis(across, 28),
    yAxis: axis(up, 48),
    series: [dots(false, 6, colours.muted, 0.5), dots(true, 11, colours.accent, 0.95)],
  };
}
