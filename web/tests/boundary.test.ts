import { expect, test } from "vitest";
import { isPartMissing, mayReload } from "../src/ui/PageBoundary";

test.each([
  "Failed to fetch dynamically imported module: http://x/det/assets/ClusterPage.js",
  "error loading dynamically imported module: http://x/a.js",
  "Importing a module script failed.",
  "Unable to preload CSS for /det/assets/a.css",
])("%s: a part of the program is missing", (message) => expect(isPartMissing(new TypeError(message))).toBe(true));

test("a mistake of the page's own is none of these", () =>
  expect(isPartMissing(new TypeError("x is undefined"))).toBe(false));

test("a part that is gone for good does not load the page again and again", () => {
  const kept = new Map<string, string>();
  const memory = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  };

  expect([100_000, 101_000, 119_000, 121_000].map((now) => mayReload(now, memory))).toEqual([true, false, false, true]);
});
