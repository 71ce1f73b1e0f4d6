import { describe, expect, test } from "vitest";
import { queryString, sentenceOf } from "../src/api/http";
import { topicsOf } from "../src/api/events";
import { joinLines, parseLine, textOf } from "../src/logs/stream";
import { lineOf } from "../src/pages/create/useValidation";
import { wireFiles, textFile } from "../src/pages/create/upload";
import { diffLines, foldDiff } from "../src/text/diff";
import { highlight } from "../src/text/highlight";
import { isLive, toneOf, wordOf } from "../src/text/state";
import { toYaml } from "../src/text/yaml";

describe("the server's sentence", () => {
  test.each([
    ['{"error":{"code":5,"error":"experiment not found: 9"}}', "experiment not found: 9"],
    ['{"message":"invalid credentials"}', "invalid credentials"],
    ['{"detail":"no"}', "no"],
    ["<html>bad gateway</html>", "The server answered with status 502."],
    ["", "The server answered with status 502."],
  ])("%s", (body, sentence) => expect(sentenceOf(body, 502)).toBe(sentence));
});

test("lists repeat their key and empty values are left out", () => {
  expect(queryString({ states: ["A", "B"], name: "", offset: 0, archived: false, x: undefined })).toBe(
    "?states=A&states=B&offset=0&archived=false",
  );
});

describe("notices", () => {
  test("carry their topic as data", () => expect(topicsOf('data: {"topic":"trial/3"}')).toEqual(["trial/3"]));
  test("comments are only a heartbeat", () => expect(topicsOf(": still here")).toEqual([]));
  test("plain data works too", () => expect(topicsOf("data: queue")).toEqual(["queue"]));
});

describe("log lines", () => {
  const line = (id: number): ReturnType<typeof parseLine> => ({
    id: String(id),
    level: "LOG_LEVEL_INFO",
    message: "m",
    timestamp: "",
  });
  test("seen twice are kept once, older ones go in front", () => {
    expect(joinLines([line(5), line(6)], [line(4), line(6), line(7)]).map((entry) => entry.id)).toEqual([
      "4",
      "5",
      "6",
      "7",
    ]);
  });
  test("nothing new is the same list", () => {
    const known = [line(1)];
    expect(joinLines(known, [line(1)])).toBe(known);
  });
  test("a failure in mid-stream is said", () =>
    expect(() => parseLine('{"error":{"message":"gone"}}')).toThrow("gone"));
  test("the stamp of the formatted line is taken off", () => {
    expect(textOf({ ...line(1), message: "[2026-01-01T00:00:00Z]          [rank=0] || INFO: hello: world\n" })).toBe(
      "hello: world",
    );
  });
});

describe("differences", () => {
  const kinds = (left: string, right: string): string =>
    diffLines(left, right)
      .map((line) => ({ same: " ", add: "+", del: "-", skip: "." })[line.kind] + line.text)
      .join("|");
  test("a changed line is one out and one in", () => expect(kinds("a\nb\nc", "a\nB\nc")).toBe(" a|-b|+B| c"));
  test("an inserted line leaves its neighbours alone", () => expect(kinds("a\nc", "a\nb\nc")).toBe(" a|+b| c"));
  test("a new file is all added", () => expect(kinds("", "x\ny")).toBe("+x|+y"));
  test("any two texts are rebuilt from their difference", () => {
    const left = "one two three four five six".split(" ");
    const right = "zero one three 3 five six seven".split(" ");
    const lines = diffLines(left.join("\n"), right.join("\n"));
    expect(lines.filter((line) => line.kind !== "add").map((line) => line.text)).toEqual(left);
    expect(lines.filter((line) => line.kind !== "del").map((line) => line.text)).toEqual(right);
  });
  test("long equal stretches are folded", () => {
    const text = Array.from({ length: 30 }, (_, i) => `line ${i}`).join("\n");
    const folded = foldDiff(diffLines(text, text.replace("line 15", "changed")));
    expect(folded[0]!.kind).toBe("skip");
    expect(folded).toHaveLength(2 + 3 + 2 + 3);
  });
});

test("values are written as YAML that reads back the same", () => {
  const text = toYaml({ name: "x", list: [1, { a: true }], none: null, odd: "a: b", number: "7", deep: { e: {} } });
  expect(text).toBe('name: x\nlist:\n  - 1\n  - a: true\nnone: null\nodd: "a: b"\nnumber: "7"\ndeep:\n  e: {}\n');
});

test.each([
  ["config.yaml:7: searcher.name", 7],
  ["line 12, column 3: bad", 12],
  ["nothing here", undefined],
])("%s points at line %s", (message, line) => expect(lineOf(message)).toBe(line));

test("folders come before their files", () => {
  const files = wireFiles([textFile("pkg/sub/a.py", "x"), textFile("train.py", "y")]);
  expect(files.map((file) => [file.path, file.type])).toEqual([
    ["pkg", 53],
    ["pkg/sub", 53],
    ["pkg/sub/a.py", 48],
    ["train.py", 48],
  ]);
  expect(files[3]!.content).toBe(btoa("y"));
});

test("comments, strings and keywords are told apart", () => {
  expect(highlight('x = "a#b"  # note', "py").map((token) => token.kind)).toEqual(["", "s", "", "c"]);
  expect(highlight("rate: 0.5 # half", "yaml").map((token) => token.kind)).toEqual(["p", "", "n", "", "c"]);
});

test("states have words and colours", () => {
  expect([wordOf("STATE_STOPPING_KILLED"), wordOf("STATE_PARTIALLY_DELETED"), wordOf("")]).toEqual([
    "Stopping",
    "Partially deleted",
    "Unknown",
  ]);
  expect([toneOf("STATE_ERROR"), toneOf("STATE_RUNNING"), toneOf("STATE_CANCELED")]).toEqual(["bad", "accent", ""]);
  expect([isLive("STATE_QUEUED"), isLive("STATE_PAUSED"), isLive("STATE_COMPLETED")]).toEqual([true, false, false]);
});
