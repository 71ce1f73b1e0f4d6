import { describe, expect, test } from "vitest";
import {
  flatten,
  formatAgo,
  formatBytes,
  formatCount,
  formatDuration,
  formatNumber,
  plural,
  toNumber,
} from "../src/text/format";

describe("numbers", () => {
  test.each([
    [0, "0"],
    [12, "12"],
    [0.30000000000000004, "0.3"],
    [0.123456, "0.1235"],
    [-2.5, "−2.5"],
    [1234567, "1.23e6"],
    [0.0000321, "3.21e−5"],
    [NaN, "NaN"],
    [Infinity, "∞"],
    [-Infinity, "−∞"],
    ["NaN", "NaN"],
    ["12", "12"],
    [undefined, "–"],
    ["adam", "adam"],
  ])("%j reads %s", (value, text) => expect(formatNumber(value)).toBe(text));

  test.each([
    ["NaN", NaN],
    ["Infinity", Infinity],
    ["-inf", -Infinity],
    ["7", 7],
    ["", undefined],
    ["x", undefined],
    [null, undefined],
  ])("%j is %d", (value, number) => expect(toNumber(value)).toEqual(number));

  test.each([
    [20000, "20k"],
    [1500000, "1.5M"],
    [9999, "9999"],
    [0.25, "0.25"],
  ])("%d on an axis reads %s", (value, text) => expect(formatCount(value)).toBe(text));
});

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1300, "1.3 KB"],
  ["37000", "37 KB"],
  [5.4e9, "5.4 GB"],
  [null, "–"],
])("%j bytes read %s", (bytes, text) => expect(formatBytes(bytes)).toBe(text));

test.each([
  [0.02, "20 ms"],
  [3.14, "3.1 s"],
  [59, "59 s"],
  [61, "1 min 1 s"],
  [3700, "1 h 1 min"],
  [90000, "1 d 1 h"],
  [undefined, "–"],
])("%j seconds read %s", (seconds, text) => expect(formatDuration(seconds)).toBe(text));

test("the past is told from now", () => {
  const now = Date.parse("2026-01-02T00:00:00Z");
  expect(formatAgo("2026-01-01T23:59:58Z", now)).toBe("just now");
  expect(formatAgo("2026-01-01T23:30:00Z", now)).toBe("30 min ago");
  expect(formatAgo("2025-06-01T00:00:00Z", now)).toBe("2025-06-01");
  expect(formatAgo(null, now)).toBe("–");
});

test("nested values become dotted names and lists stay values", () => {
  expect(flatten({ a: { b: 1, c: { d: "x" } }, e: [1, 2] })).toEqual({ "a.b": 1, "a.c.d": "x", e: [1, 2] });
});

test("one trial, two trials", () =>
  expect([plural(1, "trial"), plural(1200, "trial")]).toEqual(["1 trial", "1,200 trials"]));
