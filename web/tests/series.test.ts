import { describe, expect, test } from "vitest";
import { metricIds } from "../src/api/series";
import type { Series, Trial } from "../src/api/types";
import {
  extent,
  mergeSeries,
  nearestIndex,
  normalise,
  planCharts,
  xValues,
  sectionsOf,
  spliceSeries,
  stretchOf,
} from "../src/charts/series";
import { strokeOf } from "../src/charts/palette";
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

describe("zoomed charts", () => {
  const known = {
    trialId: 1,
    group: "training",
    name: "loss",
    steps: [0, 100, 200, 300],
    values: [4, 3, 2, 1],
    times: [0, 1, 2, 3],
    totalPoints: 301,
  };

  test("show every point of the stretch that is looked at, and the coarse ones around it", () => {
    const finer = { ...known, steps: [100, 150, 200], values: [3, 9, 2], times: [1, 1.5, 2], totalPoints: 3 };

    const drawn = spliceSeries(known, finer);

    expect(drawn.steps).toEqual([0, 100, 150, 200, 300]);
    expect(drawn.values).toEqual([4, 3, 9, 2, 1]);
    expect(drawn.totalPoints).toBe(301);
  });

  test("ask for the steps around what is shown, whatever the axis counts", () => {
    const lines = [{ x: [0, 10, 20, 30], steps: [0, 100, 200, 300] }];

    expect(stretchOf(lines, [12, 18])).toEqual({ from: 100, to: 200 });
    expect(stretchOf(lines, [40, 50])).toBeNull();
  });
});

describe("sections of many charts", () => {
  const titles = (names: string[]): [string, string[]][] =>
    sectionsOf(names.map((title) => ({ title }))).map((section) => [
      section.name,
      section.plans.map((plan) => plan.title),
    ]);

  test("go by prefix, with what has none in front", () =>
    expect(titles(["a/x", "loss", "a/y", "test_set: acc", "test_set: f1"])).toEqual([
      ["", ["loss"]],
      ["a", ["a/x", "a/y"]],
      ["test_set", ["test_set: acc", "test_set: f1"]],
    ]));

  test("a prefix of one chart makes no section", () => expect(titles(["a/x", "b/y"])).toEqual([["", ["a/x", "b/y"]]]));
});

test("thirty trials in a row are drawn differently, and neighbours differ in more than colour", () => {
  const strokes = Array.from({ length: 30 }, (_, id) => strokeOf(id, "light"));

  expect(new Set(strokes.map((stroke) => JSON.stringify(stroke))).size).toBe(30);
  expect(strokes.every((stroke, at) => !at || stroke.dash !== strokes[at - 1]!.dash)).toBe(true);
});
