import { expect, test } from "vitest";
import { parseAnsi } from "../src/text/ansi";

const E = "\u001b";

test("plain text stays one span", () => expect(parseAnsi("hello")).toEqual([{ text: "hello" }]));

test("colours begin and end where they say", () => {
  expect(parseAnsi(`a ${E}[1;31mred${E}[0m b`)).toEqual([
    { text: "a " },
    { text: "red", bold: true, color: "var(--bad)" },
    { text: " b" },
  ]);
});

test("palette and true colours are understood", () => {
  expect(parseAnsi(`${E}[38;5;196mx${E}[38;2;1;2;3my`)).toEqual([
    { text: "x", color: "rgb(255 0 0)" },
    { text: "y", color: "rgb(1 2 3)" },
  ]);
});

test("a progress bar shows its last state", () =>
  expect(parseAnsi("10 %\r50 %\r100 %\r")).toEqual([{ text: "100 %" }]));

test("cursor moves and bells are dropped", () =>
  expect(parseAnsi(`${E}[2K${E}[1Adone\u0007`)).toEqual([{ text: "done" }]));

test("a cut sequence does not swallow the line", () =>
  expect(
    parseAnsi(`ok ${E}[3`)
      .map((span) => span.text)
      .join(""),
  ).toContain("ok "));
