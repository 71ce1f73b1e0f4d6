/** Where an axis has its marks and what stands beside them. Pure: range and room in, values and texts out. */
import { formatClock, formatCount, formatNumber } from "../text/format";

/** At most so many marks of a width fit; at least two, so that a range can be read off. */
export const marksIn = (pixels: number, each: number): number => Math.max(2, Math.floor(pixels / each));

/** Round steps: 1, 2 or 5 times a power of ten. */
export function linearTicks(min: number, max: number, most: number): number[] {
  if (!(max > min) || !Number.isFinite(max - min)) return [min];
  return multiples(min, max, roundStep((max - min) / most));
}

/** The smallest of 1, 2, 5 times a power of ten that is at least `rough`. */
function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((each) => each * power >= rough * (1 - 1e-9)) ?? 10;
  return factor * power;
}

function multiples(min: number, max: number, step: number): number[] {
  const first = Math.ceil(min / step - 1e-9);
  const count = Math.floor(max / step + 1e-9) - first + 1;
  // Through the decimal text, so that 3 × 0.1 is 0.3.
  return Array.from({ length: Math.max(0, count) }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

/** Powers of ten when there are enough of them, else 1-2-5 within the decades, else as on a linear axis. */
export function logTicks(min: number, max: number, most: number): number[] {
  if (!(min > 0) || !(max > min)) return [max > 0 ? max : 1];
  const [low, high] = [Math.ceil(Math.log10(min) - 1e-9), Math.floor(Math.log10(max) + 1e-9)];
  const decades = high - low + 1;
  if (decades > most) {
    const every = Math.ceil(decades / most);
    return range(low, high, every).map((exponent) => 10 ** exponent);
  }
  for (const factors of [
    [1, 2, 5],
    [1, 3],
  ]) {
    const found = range(low - 1, high, 1)
      .flatMap((exponent) => factors.map((factor) => Number(`${factor}e${exponent}`)))
      .filter((value) => value >= min * (1 - 1e-9) && value <= max * (1 + 1e-9));
    if (found.length >= 3 && found.length <= most) return found;
  }
  return decades >= 2 ? range(low, high, 1).map((exponent) => Number(`1e${exponent}`)) : linearTicks(min, max, most);
}

const range = (from: number, to: number, step: number): number[] =>
  Array.from({ length: Math.max(0, Math.floor((to - from) / step) + 1) }, (_, at) => from + at * step);

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Steps that people count time in, in seconds. */
const TIME_STEPS = [
  1,
  2,
  5,
  10,
  15,
  30,
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 28].map((n) => n * DAY),
];

/** `offset` is where the day begins: wall clocks have their marks at local hours. */
export function timeTicks(min: number, max: number, most: number, offset = 0): number[] {
  if (!(max > min)) return [min];
  const rough = (max - min) / most;
  if (rough <= 0.5) return linearTicks(min, max, most);
  const step = TIME_STEPS.find((each) => each >= rough * (1 - 1e-9)) ?? roundStep(rough / DAY) * DAY;
  return multiples(min + offset, max + offset, step).map((tick) => tick - offset);
}

/** As many digits as tell neighbours apart: never 0.442, 0.442, 0.441. */
export function tickTexts(ticks: readonly number[]): string[] {
  for (let digits = 3; digits < 12; digits++) {
    const texts = ticks.map((tick) => formatNumber(tick, digits));
    if (new Set(texts).size === new Set(ticks).size && texts.every((text, at) => isNear(text, ticks, at))) return texts;
  }
  return ticks.map((tick) => formatNumber(tick, 12));
}

/** Rounded for reading, but not by more than a twentieth of the step between marks. */
function isNear(text: string, ticks: readonly number[], at: number): boolean {
  const step =
    Math.abs((ticks[at + 1] ?? ticks[at]!) - (ticks[at] ?? 0)) || Math.abs(ticks[at]! - (ticks[at - 1] ?? 0));
  const shown = Number(text.replaceAll("−", "-"));
  return !step || !Number.isFinite(shown) || Math.abs(shown - ticks[at]!) <= step / 20;
}

/** `90 s` beside `2 min` reads badly: all marks of an axis are told in the unit that fits their step. */
export function timeTexts(ticks: readonly number[]): string[] {
  const step = ticks.length > 1 ? ticks[1]! - ticks[0]! : Math.abs(ticks[0] ?? 1);
  if (step < 1) return tickTexts(ticks).map((text) => `${text} s`);
  return ticks.map((tick) => timeText(tick, step));
}

function timeText(seconds: number, step: number): string {
  if (seconds < 0) return `−${timeText(-seconds, step)}`;
  const whole = Math.round(seconds);
  const [days, hours, minutes] = [
    Math.floor(whole / DAY),
    Math.floor(whole / HOUR) % 24,
    Math.floor(whole / MINUTE) % 60,
  ];
  const parts: string[] = [];
  if (days) parts.push(`${days} d`);
  if (hours) parts.push(`${hours} h`);
  if (minutes && step < DAY) parts.push(`${minutes} min`);
  if (whole % MINUTE && step < HOUR) parts.push(`${whole % MINUTE} s`);
  if (parts.length) return parts.join(" ");
  return step >= DAY ? "0 d" : step >= HOUR ? "0 h" : step >= MINUTE ? "0 min" : "0 s";
}

/** Steps and epochs: 20k, 1.5M; with all digits where those would read alike. */
export function countTexts(ticks: readonly number[]): string[] {
  const texts = ticks.map(formatCount);
  return new Set(texts).size === new Set(ticks).size ? texts : tickTexts(ticks);
}

/** The reader's clock; seconds only where the marks are less than a minute apart. */
export function clockTexts(ticks: readonly number[]): string[] {
  const step = ticks.length > 1 ? ticks[1]! - ticks[0]! : 1;
  return ticks.map((tick) => (step < MINUTE ? formatClock(tick) : formatClock(tick).slice(0, -3)));
}
