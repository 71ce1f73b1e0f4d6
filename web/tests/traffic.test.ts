import { describe, expect, test } from "vitest";
import type { Deployment, TrafficPoint } from "../src/api/types";
import { curvesOf, figuresOf, roleOf, sourceLabel } from "../src/pages/deployments/traffic";

const point = (second: number, revision: number, rest: Partial<TrafficPoint> = {}): TrafficPoint => ({
  time: new Date(second * 1000).toISOString(),
  revision,
  requests: 10,
  errors: 0,
  p50Ms: 5,
  p95Ms: 20,
  p99Ms: 30,
  inFlight: 0,
  ...rest,
});

describe("curves", () => {
  const window = { stepS: 1, seconds: 5, now: 1005.5 };

  test("seconds without requests count as zero", () => {
    const [curve] = curvesOf([point(1002, 1), point(1004, 1, { requests: 4 })], "rate", window);

    expect(curve!.x).toEqual([1001, 1002, 1003, 1004]);
    expect(curve!.y).toEqual([0, 10, 0, 4]);
  });

  test("seconds without requests have no latency and no error rate", () => {
    const points = [point(1002, 1, { errors: 1 })];

    expect(curvesOf(points, "p95Ms", window)).toEqual([{ revision: 1, x: [1002], y: [20] }]);
    expect(curvesOf(points, "errors", window)).toEqual([{ revision: 1, x: [1002], y: [10] }]);
  });

  test("short breaks of a latency are bridged, long ones are gaps", () => {
    const points = [point(1000, 1), point(1003, 1), point(1030, 1)];

    const [curve] = curvesOf(points, "p50Ms", { stepS: 1, seconds: 60, now: 1040 });

    expect(curve).toEqual({ revision: 1, x: [1000, 1003, 1004, 1030], y: [5, 5, NaN, 5] });
  });

  test("requests can be counted over several steps, whole ones only", () => {
    const points = [point(1001, 1), point(1004, 1), point(1006, 1)];

    const [curve] = curvesOf(points, "rate", { stepS: 1, seconds: 12, now: 1009.5, steps: 5 });

    expect(curve).toEqual({ revision: 1, x: [1000], y: [4] });
  });

  test("each revision has its own, and longer steps are a rate per second", () => {
    const curves = curvesOf([point(1000, 2), point(1000, 1)], "rate", { stepS: 10, seconds: 20, now: 1015 });

    expect(curves.map((curve) => curve.revision)).toEqual([1, 2]);
    expect(curves[0]).toEqual({ revision: 1, x: [1000], y: [1] });
  });
});

describe("figures", () => {
  test("are those the server counted over the whole while", () => {
    const recent = [point(1000, 1, { requests: 60, errors: 3, p50Ms: 8, p95Ms: 40, p99Ms: 90 })];

    const found = figuresOf({ recent, recentS: 30 }, 1);

    expect(found).toEqual({ rate: 2, errorShare: 0.05, p50Ms: 8, p95Ms: 40, p99Ms: 90 });
  });

  test("a revision without requests has none", () =>
    expect(figuresOf({ recent: [], recentS: 30 }, 3)).toEqual({
      rate: 0,
      errorShare: null,
      p50Ms: null,
      p95Ms: null,
      p99Ms: null,
    }));
});

test("a revision's part is told from the deployment", () => {
  const deployment = { stableRevision: 1, canaryRevision: 2, shadowRevision: 3 } as Deployment;

  expect([1, 2, 3, 4].map((number) => roleOf(deployment, number))).toEqual(["stable", "canary", "shadow", ""]);
});

test("sources are named shortly", () => {
  expect(sourceLabel("model:tiles/3")).toBe("tiles/3");
  expect(sourceLabel("checkpoint:53e8604d-be2c-554d")).toBe("checkpoint 53e8604d");
  expect(sourceLabel("/models/a.mar")).toBe("/models/a.mar");
});
