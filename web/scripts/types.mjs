// Writes src/api/schema.ts (and the list of what the server refuses for now) from the server's OpenAPI document.
// With --check it writes nothing and fails when the files differ from what would be written.
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

const later = Object.values(document.paths)
  .flatMap((path) => Object.values(path))
  .filter((operation) => operation.tags?.includes("not yet"))
  .map((operation) => operation.operationId)
  .sort();
// Pages use the messages; addresses are checked by the browser tests.
document.paths = {};
const note = "// Made from the server's OpenAPI document by `npm run types`; do not edit.\n";
const files = {
  "src/api/schema.ts": note + astToString(await openapiTS(document, { alphabetize: true })),
  "src/api/later.ts": `${note}/** Operations that the server knows but refuses: what they would do is not shown. */\nexport const LATER: readonly string[] = ${JSON.stringify(later, null, 2)};\n`,
};

let stale = false;
for (const [path, text] of Object.entries(files)) {
  const target = new URL(`../${path}`, import.meta.url);
  const current = existsSync(target) ? readFileSync(target, "utf8") : "";
  if (current === text) continue;
  stale = true;
  if (process.argv.includes("--check"))
    console.error(`web/${path} differs from the server's schema. Run \`npm run types\` in web/ and commit it.`);
  else writeFileSync(target, text);
}
if (stale && process.argv.includes("--check")) process.exit(1);
