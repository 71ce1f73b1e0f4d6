import { describe, expect, test } from "vitest";
import { heatOption, paretoOption, scatterOption } from "../src/pages/experiment/searchOptions";
import type { Dimension, Point } from "../src/pages/experiment/searchData";
import type { Paint } from "../src/pages/experiment/SearchCharts";
import { html } from "../src/text/html";

const ATTACK = '<img src=x onerror="alert(1)">';
const ink = { panel: "", line: "", text: "", muted: "", grid: "", accent: "", faint: "" };
const paint = { ink, theme: "light", smaller: true, metric: `metric ${ATTACK}` } as unknown as Paint;
const kinds: Dimension = { name: `name ${ATTACK}`, kind: "category", categories: [`value ${ATTACK}`, "plain"] };
const points: Point[] = kinds.categories.map((value, i) => ({
  trial: i,
  state: "",
  steps: 1,
  values: { [kinds.name]: value },
  metric: i,
}));

function tooltipOf(option: unknown, value: number[]): string {
  return (option as { tooltip: { formatter: (item: object) => string } }).tooltip.formatter({ value });
}

describe("what a user named is text in a tooltip, never markup", () => {
  test.each([
    ["scatter", tooltipOf(scatterOption(points, kinds, paint), [0, 1, 2]), ["name", "value", "metric"]],
    ["heat map", tooltipOf(heatOption(points, kinds, kinds, paint), [0, 0, 1, 1]), ["name", "value", "metric"]],
    ["pareto", tooltipOf(paretoOption([], [`a ${ATTACK}`, `b ${ATTACK}`], paint.ink), [1, 2, 3]), ["a", "b"]],
  ])("%s", (_, tooltip, words) => {
    expect(tooltip).not.toContain("<img");
    for (const word of words) expect(tooltip).toContain(`${word} &lt;img src=x onerror=&quot;`);
    expect(tooltip).toContain("<b>");
  });
  test("every character that could end a text or an attribute is escaped", () =>
    expect(html`<i>${`&<>"'`}</i>${undefined}`).toBe("<i>&amp;&lt;&gt;&quot;&#39;</i>"));
});
