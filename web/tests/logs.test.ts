import { describe, expect, test } from "vitest";
import type { LogEntry } from "../src/api/types";
import { errorStarts, failureOf } from "../src/logs/blocks";
import { filterOf, NO_FILTER, paramsOf, type LogFilter } from "../src/logs/stream";

const line = (log: string, rest: Partial<LogEntry> = {}): LogEntry =>
  ({ id: "1", log, level: "LOG_LEVEL_INFO", timestamp: "2026-01-01T00:00:00Z", message: "", ...rest }) as LogEntry;

describe("why a trial failed", () => {
  test("is the last exception, with the lines that led to it", () => {
    const failure = failureOf([
      line("Traceback (most recent call last):"),
      line("ValueError: an earlier try"),
      line("step 50"),
      line("Traceback (most recent call last):"),
      line('  File "train.py", line 3, in <module>'),
      line("RuntimeError: boom"),
      line("exit code 1", { source: "platform", level: "LOG_LEVEL_ERROR" }),
    ]);

    expect(failure.reason).toBe("RuntimeError: boom");
    expect(failure.lines).toHaveLength(3);
  });

  test("is of one rank where several write at once", () => {
    const failure = failureOf([
      line("Traceback (most recent call last):", { rankId: 1 }),
      line("loss 0.5", { rankId: 0 }),
      line("KeyError: 'x'", { rankId: 1 }),
    ]);

    expect(failure.reason).toBe("KeyError: 'x'");
  });

  test("is the platform's own sentence where no program raised anything", () => {
    const failure = failureOf([line("step 1"), line("There is no file train.py.", { level: "LOG_LEVEL_ERROR" })]);

    expect(failure.reason).toBe("There is no file train.py.");
  });
});

test("a traceback is one error to jump to, not one for each of its lines", () => {
  const [info, error] = ["LOG_LEVEL_INFO", "LOG_LEVEL_ERROR"] as const;

  const starts = errorStarts([info, error, error, error, info, error].map((level) => line("", { level })));

  expect(starts).toEqual([1, 5]);
});

test("a filter of the log stands in the address and comes back from it", () => {
  const filter: LogFilter = {
    levels: ["LOG_LEVEL_ERROR"],
    ranks: [0, 3],
    text: "loss & co",
    regex: true,
    after: "2026-01-01T00:00:00.000Z",
  };

  expect(filterOf(paramsOf(filter, new URLSearchParams("trial=7")))).toEqual(filter);
  expect(paramsOf(NO_FILTER, paramsOf(filter, new URLSearchParams("trial=7"))).toString()).toBe("trial=7");
});
