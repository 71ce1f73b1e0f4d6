import { describe, expect, test } from "vitest";
import { isMeasured, percent, readEvaluation, shareOfRow, usedConfusion } from "../src/pages/checkpoint/evaluation";
import { coloursOf, detectionsOf, firstThreshold } from "../src/pages/deployments/detections";

describe("answers of a model", () => {
  test("objects with a box and a score are detections", () =>
    expect(detectionsOf([{ ship: [1, 2, 3, 4], score: 0.9 }])).toEqual([
      { label: "ship", box: [1, 2, 3, 4], score: 0.9 },
    ]));

  test("finding nothing is an answer too", () => expect(detectionsOf([])).toEqual([]));

  test.each([
    [{ ship: [1, 2, 3, 4], score: 0.9 }],
    [[0.1, 0.9]],
    [[{ ship: [1, 2, 3], score: 0.9 }]],
    [[{ ship: [1, 2, 3, 4] }]],
    [[{ label: "ship", box: [1, 2, 3, 4], score: 1 }]],
    ["ship"],
    [null],
  ])("%j is something else", (answer) => expect(detectionsOf(answer)).toBeNull());

  test("a class has one colour", () => {
    const found = detectionsOf([
      { ship: [0, 0, 1, 1], score: 1 },
      { car: [0, 0, 1, 1], score: 1 },
      { ship: [0, 0, 1, 1], score: 1 },
    ])!;

    expect([...coloursOf(found)]).toEqual([
      ["car", 0],
      ["ship", 1],
    ]);
  });

  test("an unsure model shows something at first", () => {
    expect(firstThreshold([{ label: "a", box: [0, 0, 1, 1], score: 0.9 }])).toBe(0.3);
    expect(firstThreshold([{ label: "a", box: [0, 0, 1, 1], score: 0.0164 }])).toBe(0.01);
    expect(firstThreshold([])).toBe(0);
  });
});

describe("an evaluation", () => {
  test("another kind or a newer format is refused with a sentence", () => {
    expect(() => readEvaluation({ kind: "detector" })).toThrow("is not an evaluation");
    expect(() => readEvaluation({ kind: "evaluation", format: 2 })).toThrow("has format 2");
    expect(readEvaluation({ kind: "evaluation", format: 1 })).toBeTruthy();
  });

  test("-1 is nothing to measure", () => {
    expect(isMeasured(-1)).toBe(false);
    expect(percent(-1)).toBe("–");
    expect(percent(0.4567)).toBe("45.7");
  });

  test("classes that neither occur nor were found are left out of the matrix", () => {
    const matrix = [
      [5, 0, 0, 1],
      [0, 0, 0, 0],
      [0, 0, 0, 0],
      [2, 0, 3, 0],
    ];

    const used = usedConfusion({ class_ids: [1, 2, 3], names: ["a", "b", "c"], matrix, iou: 0.5, score: 0.25 });

    expect(used).toEqual({
      rows: ["a", "background"],
      columns: ["a", "c", "background"],
      matrix: [
        [5, 0, 1],
        [2, 3, 0],
      ],
    });
  });

  test("shares are of the row", () => {
    expect(shareOfRow([1, 3], 1)).toBe(0.75);
    expect(shareOfRow([0, 0], 1)).toBe(0);
  });
});
