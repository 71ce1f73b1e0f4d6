import { describe, expect, test } from "vitest";
import { clockTexts, countTexts, linearTicks, logTicks, tickTexts, timeTexts, timeTicks } from "../src/charts/ticks";

describe("a logarithmic axis", () => {
  test.each([
    [0.0107 / 1.1, 1.1],
    [0.95e-3 / 1.1, 1],
    [9.7e-9, 3],
    [1e-300, 1e300],
    [0.0971, 0.0972],
  ])("is ready at once from %d to %d", (min, max) => {
    const began = performance.now();

    const ticks = logTicks(min, max, 6);

    expect(performance.now() - began).toBeLessThan(50);
    expect(ticks.length).toBeGreaterThanOrEqual(2);
    expect(ticks.length).toBeLessThanOrEqual(8);
    expect(ticks.every((tick) => tick >= min * 0.999 && tick <= max * 1.001)).toBe(true);
  });
  test("a falling loss passes every threshold", () => {
    for (let low = 1; low > 1e-6; low *= 0.97) expect(logTicks(low / 1.1, 1.1, 6).length).toBeGreaterThan(1);
  });
  test("under a decade has several marks", () => expect(logTicks(1.2, 4.8, 6).length).toBeGreaterThanOrEqual(3));
  test("decades are powers of ten", () =>
    expect(logTicks(0.001, 1000, 8)).toEqual([1e-3, 1e-2, 0.1, 1, 10, 100, 1000]));
  test("nothing positive is no endless loop", () => expect(logTicks(0, 0, 6)).toEqual([1]));
});

describe("marks on a linear axis", () => {
  test("are round and inside", () => expect(linearTicks(0.03, 1.04, 6)).toEqual([0.2, 0.4, 0.6, 0.8, 1]));
  test("a range of nothing is one mark", () => expect(linearTicks(2, 2, 5)).toEqual([2]));
  test("have texts that differ", () => {
    const texts = tickTexts([0.4415, 0.442, 0.4425, 0.443]);
    expect(new Set(texts).size).toBe(4);
    expect(tickTexts([0.1, 0.2, 0.30000000000000004])).toEqual(["0.1", "0.2", "0.3"]);
    expect(tickTexts([100000.1, 100000.2])).toEqual(["100000.1", "100000.2"]);
  });
});

test("steps that are far along and close together do not read alike", () => {
  expect(countTexts([0, 20_000, 40_000])).toEqual(["0", "20k", "40k"]);
  const texts = countTexts([12_345_678, 12_345_679, 12_345_680]);
  expect(new Set(texts).size).toBe(3);
});

describe("marks of time", () => {
  test("stand at minutes, not at hundreds of seconds", () => {
    expect(timeTexts(timeTicks(0, 900, 6))).toEqual(["0 min", "5 min", "10 min", "15 min"]);
  });
  test("of hours and days", () => {
    expect(timeTexts(timeTicks(0, 3 * 3600, 4))).toEqual(["0 h", "1 h", "2 h", "3 h"]);
    expect(timeTexts(timeTicks(0, 4 * 86_400, 5))).toEqual(["0 d", "1 d", "2 d", "3 d", "4 d"]);
  });
  test("of a blink", () =>
    expect(timeTexts(timeTicks(0, 0.8, 4))).toEqual(["0 s", "0.2 s", "0.4 s", "0.6 s", "0.8 s"]));
  test("never more than there is room for", () => {
    for (let span = 0.01; span < 1e8; span *= 1.7) expect(timeTicks(0, span, 6).length).toBeLessThanOrEqual(7);
  });
  test("of a clock have seconds only where marks are closer than minutes", () => {
    expect(clockTexts([0, 60]).every((text) => /^\d\d:\d\d$/.test(text))).toBe(true);
    expect(clockTexts([0, 15]).every((text) => /^\d\d:\d\d:\d\d$/.test(text))).toBe(true);
  });
  test("of a wall clock begin with its hours", () => expect(timeTicks(0, 7200, 2, 1800)).toEqual([1800, 5400]));
});
