/** What jumps out of a log: stretches of errors, and the exception that ended a program. Pure. */
import type { LogEntry } from "../api/types";
import { textOf } from "./stream";

const TRACEBACK = "Traceback (most recent call last):";
const AROUND = 12;

export const isError = (entry: LogEntry): boolean => /ERROR|CRITICAL/.test(entry.level);

/** Where stretches of errors begin: a traceback of forty lines is one. */
export function errorStarts(lines: readonly LogEntry[]): number[] {
  return lines.flatMap((line, at) => (isError(line) && !(at && isError(lines[at - 1]!)) ? [at] : []));
}

export interface Failure {
  /** `RuntimeError: boom`, or the platform's own last word; empty when nothing says why. */
  reason: string;
  lines: readonly LogEntry[];
}

/** Of the end of a log: its last traceback, else its last errors, else its last lines. */
export function failureOf(lines: readonly LogEntry[]): Failure {
  const start = lines.findLastIndex((line) => textOf(line).includes(TRACEBACK));
  if (start >= 0) {
    const rank = lines[start]!.rankId;
    const own = lines.slice(start).filter((line) => line.rankId === rank && line.source !== "platform");
    const end = own.findIndex((line, at) => at > 0 && /^[^\s|+~^]/.test(textOf(line)));
    const block = end < 0 ? own : own.slice(0, end + 1);
    return { reason: textOf(block.at(-1)!).trim(), lines: block };
  }
  const last = lines.findLastIndex(isError);
  if (last >= 0) {
    let first = last;
    while (first > 0 && isError(lines[first - 1]!) && last - first < AROUND) first--;
    return { reason: textOf(lines[last]!).trim(), lines: lines.slice(first, last + 1) };
  }
  return { reason: "", lines: lines.slice(-AROUND) };
}
