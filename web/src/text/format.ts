/** Numbers, times and sizes as people read them. Pure: `now` comes in. */
export function formatNumber(value: unknown, digits = 4): string {
  const number = toNumber(value);
  if (number === undefined) return typeof value === "string" ? value : "–";
  if (Number.isNaN(number)) return "NaN";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (Number.isInteger(number) && size < 1e6) return minus(String(number));
  if (size >= 1e6 || size < 1e-4) return minus(number.toExponential(Math.max(digits - 2, 1)).replace("e+", "e"));
  return minus(String(Number(number.toPrecision(digits))));
}

const minus = (text: string): string => text.replace(/^-/, "−").replace("e-", "e−");

/** Numbers arrive as numbers, or as text for NaN, infinities and int64. */
export function toNumber(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value !== "string" || value.trim() === "") return undefined;
  if (/^nan$/i.test(value)) return NaN;
  if (/^[+-]?inf(inity)?$/i.test(value)) return value.startsWith("-") ? -Infinity : Infinity;
  const number = Number(value);
  return Number.isNaN(number) ? undefined : number;
}

/** Steps on an axis: 20k, 1.5M. */
export function formatCount(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e9) return `${trimmed(value / 1e9)}G`;
  if (size >= 1e6) return `${trimmed(value / 1e6)}M`;
  if (size >= 1e4) return `${trimmed(value / 1e3)}k`;
  return trimmed(value);
}

const trimmed = (value: number): string => minus(String(Number(value.toPrecision(6))));

export function formatBytes(value: unknown): string {
  const bytes = toNumber(value);
  if (bytes === undefined) return "–";
  const units = ["B", "KB", "MB", "GB", "TB", "PB"];
  let size = bytes;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit && size < 10 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

export function formatDuration(seconds: number | undefined): string {
  if (seconds === undefined || Number.isNaN(seconds)) return "–";
  if (seconds < 1) return `${Math.max(0, Math.round(seconds * 1000))} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const [days, hours, minutes] = [
    Math.floor(whole / 86400),
    Math.floor(whole / 3600) % 24,
    Math.floor(whole / 60) % 60,
  ];
  if (days) return `${days} d ${hours} h`;
  if (hours) return `${hours} h ${minutes} min`;
  return `${minutes} min ${whole % 60} s`;
}

export function secondsBetween(
  start: string | null | undefined,
  end: string | null | undefined,
  now: number,
): number | undefined {
  if (!start) return undefined;
  const from = Date.parse(start);
  const to = end ? Date.parse(end) : now;
  return Number.isNaN(from) || Number.isNaN(to) ? undefined : Math.max(0, (to - from) / 1000);
}

export function formatAgo(when: string | null | undefined, now: number): string {
  const seconds = secondsBetween(when, null, now);
  if (seconds === undefined) return "–";
  if (seconds < 5) return "just now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  if (seconds < 30 * 86400) return `${Math.floor(seconds / 86400)} d ago`;
  return new Date(Date.parse(when!)).toISOString().slice(0, 10);
}

export function formatTime(when: string | null | undefined): string {
  if (!when) return "–";
  const date = new Date(when);
  return Number.isNaN(date.getTime())
    ? when
    : date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

/** Seconds since 1970 as the wall clock of the reader. */
export const formatClock = (seconds: number): string =>
  new Date(seconds * 1000).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;

/** Any JSON value on one line. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return formatNumber(value, 5);
  if (typeof value === "string") return value;
  return JSON.stringify(value);
}

/** `{a: {b: 1}}` becomes `{"a.b": 1}`. Lists stay values. */
export function flatten(value: Record<string, unknown> | null | undefined, prefix = ""): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value ?? {})) {
    const name = prefix ? `${prefix}.${key}` : key;
    if (item && typeof item === "object" && !Array.isArray(item))
      Object.assign(out, flatten(item as Record<string, unknown>, name));
    else out[name] = item;
  }
  return out;
}
