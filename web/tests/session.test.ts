import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { hashPassword } from "../src/api/session";

test.each(["abc", "pässword", "x".repeat(111), "y".repeat(500)])("%j travels as the salted hash", async (password) => {
  const expected = createHash("sha512")
    .update("GubPEmmotfiK9TMD6Zdw" + password)
    .digest("hex");

  expect(await hashPassword(password)).toBe(expected);
});

test("the empty password stays empty", async () => expect(await hashPassword("")).toBe(""));
