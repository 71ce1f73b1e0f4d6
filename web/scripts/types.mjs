// Writes src/api/schema.ts from the server's OpenAPI document: messages, addresses, parameters and bodies.
// With --check it writes nothing and fails when the file differs from what would be written.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const root = new URL("../../", import.meta.url).pathname;
const venv = `${root}.venv/bin/python`;
const python = process.env.PYTHON ?? (existsSync(venv) ? venv : "python3");
const options = { encoding: "utf8", maxBuffer: 1 << 28, cwd: root };
const document = JSON.parse(execFileSync(python, ["-m", "resolute.server.openapi"], options));

// Titles only repeat the names, and defaults are the server's business.
(function prune(node) {
  if (!node || typeof node !== "object") return;
  if (typeof node.title === "string") delete node.title;
  if ("default" in node && ("type" in node || "anyOf" in node || "$ref" in node)) delete node.default;
  Object.values(node).forEach(prune);
})(document);

// Refusals are read by one function whatever the address; without an id an operation stands where it is used.
for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
  for (const key of ["operationId", "summary", "description", "tags"]) delete operation[key];
  for (const status of Object.keys(operation.responses))
    if (!status.startsWith("2")) delete operation.responses[status];
}

const note = "// Made from the server's OpenAPI document by `npm run types`; do not edit.\n";
const ast = await openapiTS(document, { alphabetize: true, excludeDeprecated: false });
// Methods that an address does not have are not worth a line each, nor are headers and cookies that no route declares.
const text =
  note + astToString(ast).replace(/^\s*(?:\w+\?: never;|headers: \{\s*\[name: string\]: unknown;\s*\};)\n/gm, "");

const path = "src/api/schema.ts";
const target = new URL(`../${path}`, import.meta.url);
const current = existsSync(target) ? readFileSync(target, "utf8") : "";
if (current !== text) {
  if (process.argv.includes("--check")) {
    console.error(`web/${path} differs from the server's schema. Run \`npm run types\` in web/ and commit it.`);
    process.exit(1);
  }
  writeFileSync(target, text);
}
