import { describe, expect, test } from "vitest";
import { metricIds } from "../src/api/series";
import type { Series, Trial } from "../src/api/types";
import { extent, mergeSeries, nearestIndex, normalise, planCharts, xValues } from "../src/charts/series";
import { smooth } from "../src/charts/smoothing";

const series = (steps: number[], values = steps.map(Number)): Series => ({
  trialId: 1,
  group: "training",
  name: "loss",
  steps,
  values,
  times: steps.map((step) => 100 + step),
  totalPoints: steps.length,
});

describe("joining a live tail", () => {
  test("new points are added behind", () =>
    expect(mergeSeries(series([1, 2]), series([3, 4])).steps).toEqual([1, 2, 3, 4]));
  test("points that a restart wrote again replace the old ones", () => {
    const joined = mergeSeries(series([1, 2, 3, 4]), series([3, 4, 5], [30, 40, 50]));
    expect(joined.steps).toEqual([1, 2, 3, 4, 5]);
    expect(joined.values).toEqual([1, 2, 30, 40, 50]);
  });
  test("an empty tail changes nothing", () => expect(mergeSeries(series([1, 2]), series([])).steps).toEqual([1, 2]));
  test("with nothing known the tail is all there is", () =>
    expect(mergeSeries(undefined, series([5])).steps).toEqual([5]));
});

test("NaN and infinities that travel as text become numbers", () => {
  expect(normalise({ ...series([1, 2, 3]), values: [1, "NaN", "Infinity"] }).values).toEqual([1, NaN, Infinity]);
});

test.each([
  [0, 0],
  [4, 0],
  [6, 1],
  [100, 2],
])("the point nearest to %d is number %d", (x, at) => expect(nearestIndex([1, 8, 20], x)).toBe(at));

test("train and validation of one metric share a chart, the searcher's first", () => {
  const plans = planCharts(
    [
      { group: "training", name: "accuracy" },
      { group: "training", name: "loss" },
      { group: "validation", name: "val_loss" },
      { group: "system", name: "cpu" },
    ],
    "val_loss",
  );
  expect(plans.map((plan) => plan.title)).toEqual(["loss", "accuracy", "system: cpu"]);
  expect(plans[0]!.metrics).toHaveLength(2);
});

describe("the x axis", () => {
  test("time starts at the first report", () => expect(xValues(series([10, 20]), "time")).toEqual([0, 10]));
  test("epochs are read between the reports that name them", () => {
    const epochs = { ...series([10, 20], [1, 2]), name: "epoch" };
    expect(xValues(series([5, 10, 15, 30]), "epoch", epochs)).toEqual([0.5, 1, 1.5, 3]);
  });
});

test("the extent of what is shown leaves out gaps and what lies outside", () => {
  expect(extent([1, 2, 3, 4], [5, NaN, 1, 100], 1, 3, false)).toEqual([1, 100]);
  expect(extent([1, 2, 3, 4, 5], [5, NaN, 1, 2, 100], 1, 3, false)).toEqual([1, 5]);
  expect(extent([1, 2], [-1, 0], 0, 9, true)).toBeNull();
});

describe("smoothing", () => {
  test("none leaves the data alone", () => expect(smooth([3, 1, 2], 0)).toEqual([3, 1, 2]));
  test("it starts where the data starts and stays between the extremes", () => {
    const smoothed = smooth([10, 0, 0, 0], 0.9);
    expect(smoothed[0]).toBeCloseTo(10);
    expect(Math.min(...smoothed)).toBeGreaterThan(0);
  });
  test("a constant stays constant", () => smooth([4, 4, 4], 0.97).forEach((value) => expect(value).toBeCloseTo(4)));
  test("gaps stay gaps and do not poison what follows", () => {
    const [, gap, after] = smooth([1, NaN, 1], 0.5);
    expect(gap).toBeNaN();
    expect(after).toBeCloseTo(1);
  });
});

test("numbers inside nested metrics are found by their path", () => {
  const summaryMetrics = {
    avg_metrics: { loss: { type: "number" }, note: { type: "string", last: "x" } },
    cpu: { "node-1": { type: "object", last: { cpu_util: 3, name: "x", deep: { cores: 2 } } } },
  };

  expect(metricIds([{ summaryMetrics } as unknown as Trial])).toEqual([
    { group: "cpu", name: "node-1.cpu_util" },
    { group: "cpu", name: "node-1.deep.cores" },
    { group: "training", name: "loss" },
  ]);
});
