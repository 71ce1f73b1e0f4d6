/** What the generated types are for: a field that the server renames is an error here, not an empty cell on a page. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "..");
const SCHEMA = resolve(ROOT, "src/api/schema.ts");

/** Files with type errors when the schema reads as `change` leaves it. */
function brokenBy(change: (schema: string) => string): string[] {
  const config = ts.parseJsonConfigFileContent(
    ts.readConfigFile(resolve(ROOT, "tsconfig.json"), ts.sys.readFile).config,
    ts.sys,
    ROOT,
  );
  const host = ts.createCompilerHost(config.options);
  const read = host.readFile.bind(host);
  host.readFile = (file) => (resolve(file) === SCHEMA ? change(readFileSync(SCHEMA, "utf8")) : read(file));
  const program = ts.createProgram(
    config.fileNames.filter((file) => !file.includes("/tests/")),
    { ...config.options, noEmit: true },
    host,
  );
  const files = program.getSemanticDiagnostics().map((problem) => problem.file?.fileName.slice(ROOT.length + 1) ?? "");
  return [...new Set(files)].sort();
}

test("a renamed field, parameter or address breaks the type check where it is used", { timeout: 240_000 }, () => {
  const broken = brokenBy((schema) =>
    schema
      .replaceAll("bestTrialId", "topTrialId")
      .replaceAll("maxPoints", "pointsAtMost")
      .replaceAll("/api/v1/job-queues-v2", "/api/v1/jobs-v2"),
  );

  expect(broken).toContain("src/pages/experiment/OverviewTab.tsx");
  expect(broken).toContain("src/api/series.ts");
  expect(broken).toContain("src/api/queries.ts");
});
