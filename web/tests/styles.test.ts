import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const FOLDER = new URL("../src/theme/", import.meta.url);
const sheets = readdirSync(FOLDER).filter((name) => name.endsWith(".css"));

/** Selectors of rules outside of media queries, with the sheet they stand in. */
function selectorsOf(name: string): string[] {
  const text = readFileSync(new URL(name, FOLDER), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
  const found: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "{" && depth++ === 0) found.push(text.slice(from, at).trim());
    if (text[at] === "}") {
      depth--;
      from = at + 1;
    }
  }
  return found
    .filter((head) => !head.startsWith("@"))
    .flatMap((head) => head.split(/,(?![^(]*\))/).map((each) => each.trim()));
}

test("a class name is given its look in one place: a second rule would change pages that nobody looked at", () => {
  const places = new Map<string, number>();
  for (const selector of sheets.flatMap(selectorsOf))
    if (/^\.[\w-]+$/.test(selector)) places.set(selector, (places.get(selector) ?? 0) + 1);

  const twice = [...places].filter(([, count]) => count > 1).map(([selector]) => selector);

  expect(places.size).toBeGreaterThan(50);
  expect(twice.filter((selector) => !GROUPED.has(selector))).toEqual([]);
});

/** They share one rule with their kind, and have one of their own. */
const GROUPED = new Set([".input", ".select", ".textarea", ".num", ".mono"]);
