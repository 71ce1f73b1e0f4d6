import { describe, expect, test } from "vitest";
import { importances } from "../src/charts/importance";
import { bracketsOf, rungCountsOf, unitOf } from "../src/charts/rungs";
import { heatCells, objectivesOf, placesOf, type Dimension, type Point } from "../src/pages/experiment/searchData";
import type { Trial } from "../src/api/types";

describe("importance", () => {
  const rows = Array.from({ length: 60 }, (_, i) => ({
    rate: (i * 37) % 60,
    width: (i * 13) % 4,
    kind: i % 2 ? "a" : "b",
    same: 1,
  }));
  test("the one that moves the metric comes first", () => {
    const found = importances(
      rows,
      rows.map((row) => row.rate ** 2),
    );
    expect(found[0]!.name).toBe("rate");
    expect(found[0]!.share).toBeGreaterThan(0.8);
  });
  test("what never varies is left out and shares add up to one", () => {
    const found = importances(
      rows,
      rows.map((row) => row.rate + row.width),
    );
    expect(found.map((item) => item.name)).not.toContain("same");
    expect(found.reduce((sum, item) => sum + item.share, 0)).toBeCloseTo(1);
  });
  test("the same trials give the same picture", () => {
    const target = rows.map((row) => Math.sin(row.rate));
    expect(importances(rows, target)).toEqual(importances(rows, target));
  });
  test("too few trials give none", () => expect(importances(rows.slice(0, 3), [1, 2, 3])).toEqual([]));
});

describe("the ladder of a search", () => {
  test("asha climbs by its divisor", () => {
    expect(bracketsOf({ name: "async_halving", max_time: 64, divisor: 4, num_rungs: 3 })).toEqual([
      { rungs: [4, 16, 64] },
    ]);
  });
  test("an adaptive search has brackets, the tallest first", () => {
    const brackets = bracketsOf({
      name: "adaptive_asha",
      max_length: { batches: 256 },
      max_trials: 64,
      divisor: 4,
      max_rungs: 5,
      mode: "standard",
    });
    expect(brackets.map((bracket) => bracket.rungs.length)).toEqual([4, 3, 2]);
    expect(brackets[0]!.rungs).toEqual([4, 16, 64, 256]);
  });
  test("other searchers have none", () => expect(bracketsOf({ name: "random", max_length: 10 })).toEqual([]));
  test("its unit is the time metric, or that of the length", () => {
    expect(unitOf({ time_metric: "epochs" })).toBe("epochs");
    expect(unitOf({ max_length: { records: 5 } })).toBe("records");
  });
  test("trials are counted at every rung they reached", () => {
    expect(rungCountsOf([4, 16], [3, 4, 20])).toEqual([
      { at: 4, reached: 2 },
      { at: 16, reached: 1 },
    ]);
  });
});

test("a heat map averages the trials of a cell", () => {
  const point = (rate: number, kind: string, metric: number): Point => ({
    trial: 1,
    state: "",
    steps: 1,
    values: { rate, kind },
    metric,
  });
  const x: Dimension = { name: "rate", kind: "number", categories: [] };
  const y: Dimension = { name: "kind", kind: "category", categories: ["a", "b"] };
  const { xs, ys, cells } = heatCells([point(1, "a", 2), point(1, "a", 4), point(2, "b", 7)], x, y);
  expect([xs, ys]).toEqual([
    ["1", "2"],
    ["a", "b"],
  ]);
  expect(cells).toEqual([
    [0, 0, 3, 2],
    [1, 1, 7, 1],
  ]);
});

describe("several objectives", () => {
  const trial = (id: number, avgMetrics: Record<string, unknown>): Trial =>
    ({ id, latestValidation: { metrics: { avgMetrics } } }) as unknown as Trial;
  test("a searcher may have one metric, several or none", () => {
    expect(objectivesOf({ searcher: { metric: ["loss", "size"] } })).toEqual(["loss", "size"]);
    expect(objectivesOf({ searcher: { metric: "loss" } })).toEqual(["loss"]);
    expect(objectivesOf({})).toEqual([]);
  });
  test("a trial stands where its latest validation puts it, and nowhere when a number is missing", () => {
    const trials = [trial(1, { loss: 0.5, size: 3 }), trial(2, { loss: "NaN", size: 1 }), trial(3, { loss: 0.1 })];
    expect(placesOf(trials, "loss", "size", new Set([1]))).toEqual([{ trial: 1, x: 0.5, y: 3, isBest: true }]);
  });
});
