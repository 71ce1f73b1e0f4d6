import { expect, test } from "vitest";
import { isOfTask } from "../src/api/taskPages";

test.each(["/proxy/3f2a/", "/proxy/3f2a/lab?token=1", "/det/interactive/3f2a/lab", "/proxy/3f2a"])(
  "%s is a page of a task",
  (address) => {
    expect(isOfTask(address)).toBe(true);
  },
);

test.each([
  "/experiments/1",
  "//evil.org/proxy/a/",
  "/\\evil.org",
  "https://evil.org/proxy/a/",
  "/proxy/\\evil.org",
  "",
])("%s is none", (address) => {
  expect(isOfTask(address)).toBe(false);
});
