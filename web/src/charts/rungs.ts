/** The ladder an ASHA search climbs, from its configuration. Pure; same arithmetic as the searcher's. */
export interface Bracket {
  rungs: number[];
}

interface Searcher {
  name?: unknown;
  max_time?: unknown;
  max_length?: unknown;
  time_metric?: unknown;
  divisor?: unknown;
  num_rungs?: unknown;
  max_rungs?: unknown;
  max_trials?: unknown;
  mode?: unknown;
  bracket_rungs?: unknown;
}

export function bracketsOf(searcher: Searcher): Bracket[] {
  const units = lengthOf(searcher.max_time) ?? lengthOf(searcher.max_length);
  const divisor = Number(searcher.divisor ?? 4);
  if (!units || divisor <= 1) return [];
  if (searcher.name === "async_halving") return [{ rungs: ladder(units, divisor, Number(searcher.num_rungs ?? 5)) }];
  if (searcher.name !== "adaptive_asha") return [];
  return rungCounts(searcher, units, divisor).map((count) => ({ rungs: ladder(units, divisor, count) }));
}

export function lengthOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (value && typeof value === "object") {
    const inner = Object.values(value).find((item) => typeof item === "number");
    return inner as number | undefined;
  }
  return undefined;
}

/** What the ladder counts: the unit of `max_length`, or the metric named by `time_metric`. */
export function unitOf(searcher: Searcher): string {
  if (typeof searcher.time_metric === "string" && searcher.time_metric) return searcher.time_metric;
  if (searcher.max_length && typeof searcher.max_length === "object")
    return Object.keys(searcher.max_length)[0] ?? "batches";
  return "batches";
}

function ladder(units: number, divisor: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => Math.max(Math.trunc(units / divisor ** (count - 1 - i)), 1));
}

function rungCounts(searcher: Searcher, units: number, divisor: number): number[] {
  if (Array.isArray(searcher.bracket_rungs) && searcher.bracket_rungs.length) {
    return (searcher.bracket_rungs as number[]).slice().sort((a, b) => b - a);
  }
  const logOf = (n: number): number => Math.trunc(Math.log(n) / Math.log(divisor) + 1e-9) + 1;
  const most = Math.max(
    1,
    Math.min(Number(searcher.max_rungs ?? 5), logOf(units), logOf(Number(searcher.max_trials ?? 1))),
  );
  const mode = String(searcher.mode ?? "standard");
  const least = mode === "aggressive" ? most : mode === "conservative" ? 1 : Math.trunc((most - 1) / 2) + 1;
  return Array.from({ length: most - least + 1 }, (_, i) => most - i);
}

/** How many of `reached` got to each rung, and how many stopped there. */
export function rungCountsOf(rungs: readonly number[], reached: readonly number[]): { at: number; reached: number }[] {
  return rungs.map((at) => ({ at, reached: reached.filter((length) => length >= at).length }));
}
