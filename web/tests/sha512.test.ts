import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { sha512 } from "../src/text/sha512";

test.each(["", "abc", "pässword", "x".repeat(111), "x".repeat(112), "y".repeat(500)])(
  "agrees with the reference for %j",
  (text) => {
    expect(sha512(text)).toBe(createHash("sha512").update(text).digest("hex"));
  },
);
